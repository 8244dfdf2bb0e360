from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.enemies.counts import CountsError, FoldsError, count_choices, folds_of
from punish_fast.enemies.parless import parless
from punish_fast.punish.codes import ACTIONS, decimals_of, from_decimal
from punish_fast.punish.strategy import legal_mask, table_of_policy, uniform_policy


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), max_size=60))
def test_every_choice_is_counted_or_left_out(space, choices):
    rows = np.array([row for row, _ in choices], dtype=np.int64) * 18
    actions = np.array([ACTIONS[column] for _, column in choices], dtype=np.uint8)
    counts = count_choices(space, decimals_of(space, rows), actions)
    assert counts.count.sum() + counts.n_illegal == len(choices)
    assert counts.n_unknown == 0
    assert counts.state.tolist() == sorted(set(rows.tolist()))
    assert np.array_equal(counts.legal, legal_mask(space)[counts.state])
    for state, count in zip(counts.state, counts.count, strict=True):
        chosen = [ACTIONS.index(action) for row, action in zip(rows, actions, strict=True) if row == state]
        legal = legal_mask(space)[state]
        assert count.tolist() == [chosen.count(column) * legal[column] for column in range(11)]


@pytest.mark.parametrize("action", [0, 12, 91, 266, -246, 10**12])
def test_what_is_no_action_is_illegal(space, action):
    counts = count_choices(space, decimals_of(space, np.array([558 - 1])), [action])
    assert (counts.n_illegal, counts.n_unknown, counts.count.sum()) == (1, 0, 0)
    assert counts.state.tolist() == [557]


def test_states_that_no_game_reaches_are_unknown(space):
    decimal = int(decimals_of(space, np.array([0]))[0])
    counts = count_choices(space, [decimal, -1, -2, 0, 999999999999999999], [space.action[0], 90, 90, 20, 20])
    assert (counts.n_illegal, counts.n_unknown, len(counts.state)) == (0, 4, 1)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=60), st.integers(0, 5), st.integers(2, 7))
def test_groups_stay_whole_and_folds_even(group, seed, n_folds):
    n_groups = len(set(group))
    if n_groups < n_folds:
        with pytest.raises(
            FoldsError,
            match=f"^folds: {n_folds} is not allowed; it needs at least {n_folds} groups, but there are {n_groups}",
        ):
            folds_of(np.array(group), n_folds, seed)
        return
    fold = folds_of(np.array(group), n_folds, seed)
    pairs = set(zip(group, fold.tolist(), strict=True))
    assert len(pairs) == n_groups
    sizes = np.bincount([number for _, number in pairs], minlength=n_folds)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1


def test_the_deal_follows_from_the_seed_and_not_from_the_order():
    group = np.arange(40)
    fold = folds_of(group, 4, seed=7)
    assert np.array_equal(fold, folds_of(group, 4, seed=7))
    assert not np.array_equal(fold, folds_of(group, 4, seed=8))
    assert np.array_equal(fold[::-1], folds_of(group[::-1], 4, seed=7))


def test_too_few_folds_are_refused(n_folds=1):
    with pytest.raises(FoldsError, match=rf"^folds: {n_folds} is not allowed; it must be at least 2$"):
        folds_of(np.arange(3), n_folds)


# Rush and strike in hand, punish revealed, all HP: rush, strike, and a feint with either.
KNOWN = 101010200220000001


def probabilities(space, policy, state):
    """The actions that a policy plays in a state."""
    rows = slice(*space.state_ptr[state : state + 2])
    return dict(zip(space.action[rows].tolist(), policy[rows].tolist(), strict=True))


def test_one_choice_among_four_actions(space):
    policy = parless(space, count_choices(space, [KNOWN], [40]))
    row = space.row(from_decimal(space.layout, KNOWN))
    assert probabilities(space, policy, row) == {20: 0.1875, 21: 0.1875, 40: 0.4375, 41: 0.1875}
    others = np.delete(np.arange(len(policy)), np.arange(*space.state_ptr[row : row + 2]))
    assert np.array_equal(policy[others], uniform_policy(space)[others])


def test_an_illegal_choice_changes_nothing_but_makes_the_state_seen(space):
    row = space.row(from_decimal(space.layout, KNOWN))
    only_illegal = parless(space, count_choices(space, [KNOWN, KNOWN], [10, 90]))
    assert probabilities(space, only_illegal, row) == dict.fromkeys((20, 21, 40, 41), 0.25)
    both = parless(space, count_choices(space, [KNOWN, KNOWN], [40, 50]))
    assert probabilities(space, both, row)[40] == 0.4375


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), min_size=1, max_size=40),
    st.fractions(Fraction(1, 100), 50, max_denominator=100),
)
def test_probabilities_are_the_posterior_means(space, choices, prior):
    rows = np.array([row for row, _ in choices]) * 18
    counts = count_choices(space, decimals_of(space, rows), [ACTIONS[column] for _, column in choices])
    p_all = table_of_policy(space, parless(space, counts, float(prior)), counts.state)
    legal = legal_mask(space)
    for state, p, count in zip(counts.state, p_all, counts.count, strict=True):
        for column in range(11):
            expected = (int(count[column]) + prior / int(legal[state].sum())) / (int(count.sum()) + prior)
            assert p[column] == pytest.approx(float(expected * bool(legal[state, column])), rel=1e-14, abs=0)


@pytest.mark.parametrize("prior", [0, -1, np.nan, np.inf])
def test_a_prior_that_is_none_is_refused(space, prior):
    with pytest.raises(CountsError, match=f"^prior: {prior} is not allowed; it must be above 0$"):
        parless(space, count_choices(space, [KNOWN], [40]), prior)


def played(space, policy, decimal):
    return probabilities(space, policy, space.row(from_decimal(space.layout, decimal)))


@pytest.mark.slow
@pytest.mark.full
def test_published_probabilities_of_the_general_enemy(notebook, published_choices):
    general_choices = published_choices()
    counts = count_choices(notebook, general_choices.decimal, general_choices.action)
    assert (len(counts.state), counts.n_unknown) == (3991, 0)
    assert counts.count.sum() + counts.n_illegal == len(general_choices) == 5070
    policy = parless(notebook, counts)
    expected = dict.fromkeys((20, 21, 30, 31, 40, 41, 51), 0.09375)
    assert played(notebook, policy, 101112300350021000) == expected | {50: 0.34375}
    expected = dict.fromkeys((11, 21, 31, 41, 51), 0.01875)
    assert played(notebook, policy, 111111300350011100) == pytest.approx(
        expected | {10: 0.14375, 20: 0.26875, 30: 0.33125, 40: 0.01875, 50: 0.14375}, rel=1e-14
    )
