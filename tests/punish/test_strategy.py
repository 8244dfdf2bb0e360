from __future__ import annotations

import numpy as np
import pytest
from exact import random_table
from houses import house_rules
from hypothesis import given
from policies import mixed

from punish_fast.punish.codes import ACTIONS, to_decimal
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyError, from_policy, naive, policy_of, strategy_table
from punish_fast.punish.tensor import build


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return StateSpace(PRESETS["tiny"])


def one_action(space: StateSpace, row: int, which: int = 0) -> np.ndarray:
    """Probabilities of a state that plays one of its legal actions always."""
    p = np.zeros(len(ACTIONS))
    p[ACTIONS.index(space.action[space.state_ptr[row] + which])] = 1.0
    return p


def test_naive_enemy_is_an_empty_table(space):
    assert naive().is_naive
    assert naive().name == "naive"
    assert strategy_table(space, np.zeros(0, dtype=np.int64), np.zeros((0, 11))).is_naive


def test_table_is_sorted_by_state_and_keeps_what_it_is_given(space):
    rows = np.array([7, 0, 300])
    p = np.stack([one_action(space, row) for row in rows])
    table = strategy_table(space, rows, p, name="stubborn")
    assert table.name == "stubborn"
    assert not table.is_naive
    assert table.state.tolist() == [0, 7, 300]
    assert table.state.dtype == np.int32
    assert np.array_equal(table.p, p[[1, 0, 2]])
    assert table.p.flags.c_contiguous


def test_lists_serve_as_arrays(space):
    assert strategy_table(space, [0], [one_action(space, 0).tolist()]).state.tolist() == [0]


@given(house_rules(largest_hp=2, most_breaths=2))
def test_random_tables_over_legal_actions_are_accepted(rules):
    space = StateSpace(rules)
    table = random_table(space, 1, covered=1.0)
    assert table.state.tolist() == list(range(space.n_states))
    assert np.abs(table.p.sum(axis=1) - 1).max() <= 1e-12


@pytest.mark.parametrize(
    ("state", "shape"), [([0], (1, 10)), ([0], (2, 11)), ([[0]], (1, 11)), (0, (11,)), ([], (1, 11)), ([0], (11,))]
)
def test_wrong_shapes_are_refused(space, state, shape):
    with pytest.raises(StrategyError, match=r"^strategy: shapes are .*, allowed are \(k,\) and \(k, 11\)"):
        strategy_table(space, np.array(state), np.zeros(shape))


@pytest.mark.parametrize("state", [[-1], [558], [0.0], [True]])
def test_rows_that_are_no_states_are_refused(space, state):
    with pytest.raises(StrategyError, match=r"^strategy: states must be rows from 0 to 557"):
        strategy_table(space, np.array(state), one_action(space, 0)[None])


def test_state_that_stands_twice_is_named(space):
    p = np.stack([one_action(space, row) for row in (5, 3, 5)])
    with pytest.raises(StrategyError, match=f"state {to_decimal(space.state(5))} stands twice"):
        strategy_table(space, np.array([5, 3, 5]), p)


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf, -np.inf])
def test_probability_below_zero_or_not_finite_is_refused(space, value):
    p = one_action(space, 4)
    p[np.argmin(p)] = value
    name = to_decimal(space.state(4))
    with pytest.raises(StrategyError, match=f"state {name} has a probability below 0 or not finite"):
        strategy_table(space, np.array([3, 4]), np.stack([one_action(space, 3), p]))


@pytest.mark.parametrize("scale", [0.0, 0.999, 1.001])
def test_probabilities_that_do_not_add_up_to_one_are_refused(space, scale):
    name = to_decimal(space.state(4))
    with pytest.raises(StrategyError, match=f"state {name} has probabilities that add up to {scale}"):
        strategy_table(space, np.array([4]), scale * one_action(space, 4)[None])


def test_illegal_action_is_named(space):
    p = np.zeros((1, 11))
    p[0, -1] = 1.0
    name = to_decimal(space.state(0))
    with pytest.raises(StrategyError, match=f"state {name} plays 90, which is not legal there"):
        strategy_table(space, np.array([0]), p)


def test_between_two_measures_everyone_rests(space):
    row = space.n_states - 1
    p = np.zeros((1, 11))
    p[0, -1] = 1.0
    assert strategy_table(space, np.array([row]), p).state.tolist() == [row]
    with pytest.raises(StrategyError, match="plays 10, which is not legal there"):
        strategy_table(space, np.array([row]), np.eye(11)[:1])


def test_policy_becomes_a_table_of_all_states(tiny, tiny_mdp):
    generator = np.random.default_rng(2)
    weight = generator.random(tiny_mdp.n_rows)
    weight /= np.repeat(np.add.reduceat(weight, tiny.state_ptr[:-1]), np.diff(tiny.state_ptr))
    table = from_policy(tiny, weight, name="best")
    assert table.name == "best"
    assert table.state.tolist() == list(range(tiny.n_states))
    for row in range(tiny.n_states):
        rows = slice(*tiny.state_ptr[row : row + 2])
        played = {ACTIONS[k]: p for k, p in enumerate(table.p[row]) if p}
        assert played == {action: p for action, p in zip(tiny.action[rows], weight[rows], strict=True) if p}


def test_strategy_of_other_rules_builds_nothing():
    rules = PRESETS["tiny"]
    space, other = StateSpace(rules), StateSpace(rules._replace(hp=1))
    table = from_policy(space, np.repeat(1 / np.diff(space.state_ptr), np.diff(space.state_ptr)))
    with pytest.raises(StrategyError, match=f"{space.rules.digest}.*{other.rules.digest}"):
        build(other, table)


def test_policy_of_the_wrong_length_is_refused():
    with pytest.raises(StrategyError, match="shape of the policy"):
        from_policy(StateSpace(PRESETS["tiny"]), np.ones(3))


def test_a_table_and_its_policy_are_the_same(space):
    table = random_table(space, seed=4, covered=1.0)
    again = from_policy(space, policy_of(space, table))
    assert np.array_equal(again.p, table.p)


def test_states_that_a_table_leaves_out_are_played_uniformly(space):
    lengths = np.diff(space.state_ptr)
    uniform = np.repeat(1 / lengths, lengths)
    assert np.array_equal(policy_of(space, naive()), uniform)
    table = random_table(space, seed=5, covered=0.5)
    weight = policy_of(space, table)
    is_covered = np.repeat(np.isin(np.arange(space.n_states), table.state), lengths)
    assert np.array_equal(weight[~is_covered], uniform[~is_covered])
    assert not np.array_equal(weight[is_covered], uniform[is_covered])


def test_a_table_of_other_rules_has_no_policy_here(space):
    other = StateSpace(space.rules._replace(healing=0))
    with pytest.raises(StrategyError, match="made for rules"):
        policy_of(space, random_table(other, seed=1))


@pytest.mark.parametrize("factor", [1 - 9e-15, 1.0, 1 + 9e-15])
def test_sums_are_off_by_no_more_than_rounding(space, factor):
    table = from_policy(space, factor * mixed(space, 1))
    assert np.abs(table.p.sum(axis=1) - 1).max() <= 2**-52
