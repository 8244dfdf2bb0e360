"""Random processes of about 10^3 to 10^5 states, with goal states and states to avoid.

A kind, a seed and the maximum number of states determine a process.

random
    Each of three actions has up to four successors, at most 50 states away, so that the factors of linear systems are
    sparse.
penalties
    The same as *random*, but a third of the actions other than the first have rewards from -1e6 to -1e12.
ring
    A slow walk on a ring. A step leaves the state with a probability from 1e-6 to 1e-1. The action determines the
    drift.
queue
    A queue of jobs that are served fast at a cost, or slowly. Waiting jobs also have a cost.
queues
    The process of ``queues.py``, with scaled rewards.
grid
    A move goes ahead with probability 0.7 and in each other direction with probability 0.1. Moves against the border
    have no effect. Each cell has a random cost.

The first state and about one in a hundred others are goals. The last state and about one in a hundred others must be
avoided, unless they are goals. In queues, the only goal is the empty state, and the only state to avoid is the full
state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.processes import queues
from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP

LARGEST = 100_000
_SMALLEST = 1_000
_REACH = 50
_AHEAD, _ASIDE = 0.7, 0.1


class Seeded(NamedTuple):
    """A random process, its goal, states to avoid, and a policy."""

    mdp: MDP  # the process. No reward exceeds 1
    goal: np.ndarray  # bool ``[n_states]``, goal states
    avoid: np.ndarray  # bool ``[n_states]``, states to avoid, without goal states
    guide: np.ndarray  # float64 ``[n_rows]``, policy: the first action of each state, or uniform in grids


def make(kind: str, seed: int, largest: int = LARGEST) -> Seeded:
    """Build a random process of at most ``largest`` states."""
    random = np.random.default_rng([list(KINDS).index(kind), seed])
    size = round(10 ** random.uniform(np.log10(min(_SMALLEST, largest)), np.log10(largest)))
    mdp = KINDS[kind](size, random)
    n, per_state = mdp.n_states, mdp.n_rows // mdp.n_states
    goal, avoid = (random.random((2, n)) < 0.01) if not kind.startswith("queue") else np.zeros((2, n), dtype=bool)
    goal[0], avoid[-1] = True, True
    guide = np.zeros(mdp.n_rows)
    guide[mdp.state_ptr[:-1]] = 1.0
    return Seeded(mdp, goal, avoid & ~goal, np.full(mdp.n_rows, 1 / per_state) if kind == "grid" else guide)


def _process(parts: list[Transitions], n: int, reward: np.ndarray) -> MDP:
    """Build a process from transitions and rewards ``[n_states, n_actions]``."""
    n_actions = reward.shape[1]
    matrix = matrix_of(parts, (n * n_actions, n))
    return process_of(matrix, np.full(n, n_actions), reward.ravel(), np.tile(np.arange(n_actions), n))


def _local(n: int, random: np.random.Generator, n_actions: int = 3, n_successors: int = 4) -> MDP:
    row = np.repeat(np.arange(n * n_actions), n_successors)
    column = np.clip(row // n_actions + random.integers(-_REACH, _REACH + 1, len(row)), 0, n - 1)
    p = random.dirichlet(np.ones(n_successors), n * n_actions).ravel()
    return _process([Transitions(row, column, p)], n, random.random((n, n_actions)))


def _penalties(n: int, random: np.random.Generator) -> MDP:
    mdp = _local(n, random)
    is_forbidden = random.random(mdp.n_rows) < 1 / 3
    is_forbidden[mdp.state_ptr[:-1]] = False
    mdp.reward[is_forbidden] = -(10.0 ** random.integers(6, 13, int(is_forbidden.sum())))
    return mdp


def _ring(n: int, random: np.random.Generator) -> MDP:
    moves, state = 10.0 ** -random.integers(1, 7), np.arange(n)
    parts = []
    for action, forward in enumerate((0.7, 0.4)):
        row = 2 * state + action
        for column, p in (((state + 1) % n, moves * forward), ((state - 1) % n, moves * (1 - forward))):
            parts.append(Transitions(row, column, np.full(n, p)))
        parts.append(Transitions(row, state, np.full(n, 1 - moves)))
    return _process(parts, n, random.random((n, 2)))


def _queue(n: int, random: np.random.Generator) -> MDP:
    state, arrives = np.arange(n), random.uniform(0.2, 0.4)
    parts, reward = [], np.empty((n, 2))
    for action, served in enumerate((arrives * random.uniform(1.1, 1.5), arrives * random.uniform(0.9, 1.0))):
        row = 2 * state + action
        parts += [
            Transitions(row, np.minimum(state + 1, n - 1), np.full(n, arrives)),
            Transitions(row, np.maximum(state - 1, 0), np.full(n, served)),
            Transitions(row, state, np.full(n, 1 - arrives - served)),
        ]
        reward[:, action] = -state / n - (0.3 if action == 0 else 0.0)
    return _process(parts, n, reward)


def _queues(n: int, _random: np.random.Generator) -> MDP:
    mdp = queues.make(int(n**0.5) - 1)
    mdp.reward[:] /= np.abs(mdp.reward).max()
    return mdp


def _grid(n: int, random: np.random.Generator) -> MDP:
    side = int(n**0.5)
    y, x = np.divmod(np.arange(side * side), side)
    ends = [
        np.clip(y + down, 0, side - 1) * side + np.clip(x + right, 0, side - 1)
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
    ]
    parts = [
        Transitions(4 * np.arange(len(y)) + action, ends[(action + turn) % 4], np.full(len(y), p))
        for action in range(4)
        for turn, p in enumerate((_AHEAD, _ASIDE, _ASIDE, _ASIDE))
    ]
    return _process(parts, len(y), -np.repeat(random.random((len(y), 1)), 4, axis=1))


KINDS: dict[str, Callable[[int, np.random.Generator], MDP]] = {
    "random": _local,
    "penalties": _penalties,
    "ring": _ring,
    "queue": _queue,
    "queues": _queues,
    "grid": _grid,
}
