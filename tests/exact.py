"""Comparing tensors with the exact model of ``bench/reference.py``, entry by entry."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from bench import reference
from punish_fast.mdp.model.mdp import MDP
from punish_fast.punish.codes import ACTIONS, State
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of_table


def twin_of(state: State) -> reference.State:
    return reference.State(*state)


def strategy_of(space: StateSpace, policy: np.ndarray) -> dict[reference.State, dict[int, Fraction]]:
    """``policy`` in the form of the exact model, without rounding."""
    chosen = {}
    for state in range(space.n_states):
        rows = slice(*space.state_ptr[state : state + 2])
        actions, p = space.action[rows].tolist(), policy[rows].tolist()
        chosen[twin_of(space.state(state))] = dict(zip(actions, map(Fraction, p), strict=True))
    return chosen


def random_policy(space: StateSpace, seed: int, support: float = 0.7) -> np.ndarray:
    """The policy of `random_table`."""
    return policy_of_table(space, *random_table(space, seed, support))


def random_table(space: StateSpace, seed: int, support: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Some states and their action table; the strategy never plays some of the legal actions."""
    generator = np.random.default_rng(seed)
    rows = np.flatnonzero(generator.random(space.n_states) < support)
    p = np.zeros((len(rows), len(ACTIONS)))
    for i, row in enumerate(rows.tolist()):
        legal = [ACTIONS.index(action) for action in reference.legal_actions(space.rules, twin_of(space.state(row)))]
        played = generator.permutation(legal)[: generator.integers(1, len(legal) + 1)]
        p[i, played] = generator.dirichlet(np.ones(len(played)))
    p[p < 1e-6] = 0.0
    return rows, p / p.sum(axis=1, keepdims=True)


def exact_row(space: StateSpace, row: reference.Transition) -> dict[int, Fraction]:
    """A row of the exact model, by columns of the tensor."""
    terminals = {reference.WIN: space.n_states, reference.LOSS: space.n_states + 1}
    return {terminals[t] if isinstance(t, str) else space.index(State(*t)): p for t, p in row.items()}


def assert_rows_exact(
    space: StateSpace, mdp: MDP, states: Iterable[int], strategy: reference.Strategy | None = None, error: float = 0.0
) -> None:
    """Check all rows of the given states: exact up to a relative ``error``, where 0 asks for the nearest float64."""
    for number in states:
        state = twin_of(space.state(number))
        rows = range(mdp.state_ptr[number], mdp.state_ptr[number + 1])
        legal = reference.legal_actions(space.rules, state)
        assert mdp.action[rows.start : rows.stop].tolist() == legal
        for row, action in zip(rows, legal, strict=True):
            exact = reference.transition(space.rules, state, action, strategy)
            expected = exact_row(space, exact)
            columns = mdp.indices[mdp.indptr[row] : mdp.indptr[row + 1]].tolist()
            data = mdp.data[mdp.indptr[row] : mdp.indptr[row + 1]].tolist()
            assert columns == sorted(expected), (state, action)
            for column, p in zip(columns, data, strict=True):
                assert abs(p - float(expected[column])) <= error * p, (state, action, column)
            assert abs(mdp.reward[row] - float(reference.expected_reward(exact))) <= 1e-15 + error
