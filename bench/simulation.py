"""Test of simulated games against exact duels: ``python -m bench.simulation``.

Both use the same graph: simulation walks it game by game, exact evaluation propagates probabilities. Twelve pairs of
policies, softmax policies and random tables among them, play ten million games each. The share of wins, and the share
of games of each length, must be within four standard errors of the exact probability,

    |k / n - p|  <=  4 sqrt(p (1 - p) / n),

and Pearson's chi-square of the lengths at most four standard deviations above its mean. Games are not paired, so they
are independent. Rare lengths form one class.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.tables import markdown
from punish_fast.arena.players import Player
from punish_fast.duel.exact_evaluation import head_to_head, outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulated_evaluation import simulate
from punish_fast.punish.rules import load_rules
from punish_fast.punish.space import StateSpace

LIMIT = 4.0
PAIRS = (
    ("random", "random"),
    ("random", "naive"),
    ("naive", "naive@0.1"),
    ("naive@0.02", "punisher"),
    ("naive@0.1", "aggressive"),
    ("naive@0.5", "random"),
    ("careful", "punisher"),
    ("table 1", "table 2"),
    ("table 2", "table 3"),
    ("table 3", "naive"),
    ("table 1", "naive@0.1"),
    ("aggressive", "table 2"),
)
# A class of lengths has at least this many expected games.
_FEW = 25
_REST = 1e-9
# Shape of the gamma weights of a random table; a smaller one concentrates play on fewer actions.
_SHAPE = 0.4


@dataclass(frozen=True)
class Agreement:
    """Simulated games of two policies, compared with their exact duel.

    Attributes:
        exact: The exact win probability.
        played: The share of simulated games won.
        wins: Their difference, in standard errors.
        length: The largest error of the share of games of one length, in standard errors.
        chi_square: Chi-square of the lengths.
        freedom: Its degrees of freedom.
        seconds: Duration of the simulation.
    """

    exact: float
    played: float
    wins: float
    length: float
    chi_square: float
    freedom: int
    seconds: float

    @property
    def excess(self) -> float:
        """The chi-square less its mean, in standard deviations."""
        return (self.chi_square - self.freedom) / float(np.sqrt(2 * max(self.freedom, 1)))

    @property
    def ok(self) -> bool:
        """Whether all errors are within `LIMIT`."""
        return max(abs(self.wins), self.length, self.excess) <= LIMIT


def agreement(graph: Graph, own: np.ndarray, enemy: np.ndarray, n_games: int, seed: int) -> Agreement:
    """Simulate games of two policies and compare them with the exact duel.

    Args:
        graph: The game.
        own: float64 ``[n_rows]``, the own policy.
        enemy: float64 ``[n_rows]``, the enemy's.
        n_games: Number of games.
        seed: From 0 to 2^64 - 1.

    Raises:
        DuelError: a policy is invalid, or a game may never end.
    """
    begin = time.perf_counter()
    batch = simulate(graph, own, enemy, n_games, seed, paired=False)
    seconds = time.perf_counter() - begin
    exact = head_to_head(graph, own, enemy).win_probability
    law = outcome_distribution(graph, own, enemy, _REST).sum(axis=2).ravel()
    found, p = _classes(batch.lengths[1:], law, n_games)
    off = (found / n_games - p) / np.sqrt(p * (1 - p) / n_games)
    return Agreement(
        exact=exact,
        played=batch.win_probability,
        wins=float((batch.win_probability - exact) / np.sqrt(exact * (1 - exact) / n_games)),
        length=float(np.abs(off).max()),
        chi_square=float(((found - n_games * p) ** 2 / (n_games * p)).sum()),
        freedom=len(p) - 1,
        seconds=seconds,
    )


def _classes(lengths: np.ndarray, law: np.ndarray, n_games: int) -> tuple[np.ndarray, np.ndarray]:
    """Games by length and their probabilities; rare lengths form one class."""
    size = max(len(lengths), len(law))
    found, p = (np.pad(array, (0, size - len(array))).astype(np.float64) for array in (lengths, law))
    often = n_games * p >= _FEW
    rest_found, rest = found[~often].sum(), 1 - p[often].sum()
    if n_games * rest < _FEW:
        # Too rare even together: they join the rarest of the other classes.
        last = np.flatnonzero(often)[np.argmin(p[often])]
        found[last] += rest_found
        p[last] += rest
        return found[often], p[often]
    return np.append(found[often], rest_found), np.append(p[often], rest)


def policy(space: StateSpace, name: str) -> np.ndarray:
    """The policy of a name: a random table, or a player of the arena."""
    kind, _, seed = name.partition(" ")
    if kind != "table":
        return Player(name).policy(space)
    weight = np.random.default_rng(int(seed)).gamma(_SHAPE, size=len(space.action))
    return np.asarray(weight / np.repeat(np.add.reduceat(weight, space.state_ptr[:-1]), np.diff(space.state_ptr)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 1 if simulation and exact duels disagree."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.simulation", description="Test simulated games against exact duels."
    )
    parser.add_argument(
        "--games", type=int, default=10_000_000, metavar="N", help="games of each pair (default: 10000000)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="random seed (default: 1)")
    parser.add_argument("--rules", default="tabletop", metavar="R", help="a preset or a TOML file (default: tabletop)")
    options = parser.parse_args(arguments)
    graph = Graph(StateSpace(load_rules(options.rules)._replace(redeal="reshuffle")))
    policies = {name: policy(graph.view, name) for pair in PAIRS for name in pair}
    table = [
        ["", "wins, exact", "simulated", "error", "error of lengths", "chi-square", "degrees of freedom", "games/s"]
    ]
    ok = True
    for k, (own, enemy) in enumerate(PAIRS):
        found = agreement(graph, policies[own], policies[enemy], options.games, options.seed + k)
        ok = ok and found.ok
        table.append(_row(f"{own}, {enemy}", found, options.games))
        print(" ".join(table[-1]), file=sys.stderr, flush=True)
    print("\n".join(markdown(table)))
    print(f"\n{options.games:,} games of each pair: {'all' if ok else 'NOT all'} within {LIMIT:g} standard errors")
    return 0 if ok else 1


def _row(name: str, found: Agreement, n_games: int) -> list[str]:
    return [
        name,
        f"{found.exact:.6f}",
        f"{found.played:.6f}",
        f"{found.wins:+.2f}",
        f"{found.length:.2f}",
        f"{found.chi_square:.1f}",
        f"{found.freedom}",
        f"{n_games / found.seconds:,.0f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
