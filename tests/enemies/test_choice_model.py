import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from exact import random_table
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import uniform

from enemies.recorded import recorded, recorded_counts
from punish_fast.enemies.choice_model import (
    FOLDS,
    RIDGE,
    ChoiceModel,
    choice_model_policy,
    choice_probabilities,
    features_of,
    fit_choice_model,
)
from punish_fast.enemies.counts import FoldsError, count_choices, folds_of
from punish_fast.enemies.entropy import entropies, entropy
from punish_fast.enemies.parless import parless
from punish_fast.mdp.arrays.policy import greedy
from punish_fast.punish.codes import ACTIONS, decimals_of, digits_of, from_decimal, split_digits
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask, policy_of_table, table_of_policy, uniform_policy
from punish_fast.runtime.errors import ArgumentError


@pytest.fixture(scope="module")
def model(space) -> ChoiceModel:
    return fit_choice_model(space, *recorded(space))


def slow_loss(space, counts, parts, ridge):
    """The penalized likelihood, choice by choice; ``parts``: alpha (5), beta (1), gamma (5), each over the features."""
    alpha, beta, gamma = parts[:5], parts[5], parts[6:]
    x = features_of(space.rules, digits_of(space, counts.state))
    loss = ridge / 2 * (parts**2).sum()
    for i in range(len(counts.state)):
        legal = np.flatnonzero(counts.legal[i])
        if len(legal) == 1:
            continue
        utility = {
            a: x[i] @ (alpha[ACTIONS[a] // 10 - 1] + ACTIONS[a] % 10 * (beta + gamma[ACTIONS[a] // 10 - 1]))
            for a in legal
        }
        total = math.log(sum(math.exp(value) for value in utility.values()))
        loss -= sum(counts.count[i, a] * (utility[a] - total) for a in legal)
    return loss


def test_weights_maximize_the_penalized_likelihood(space, model):
    """No small step in any direction that leads anywhere improves it; the parts follow from the weights at the maximum.

    With ``w(c, f)`` for the weights, the penalty is least where beta and gamma share what feints differ by.
    """
    counts = recorded_counts(space)
    plain, feint = model.weights[0:10:2], model.weights[1:10:2]

    def split(shared):
        return np.vstack([plain, shared, feint - plain - shared])

    # Over beta alone, the sum of squares is least at a sixth of the sum of all five differences.
    parts = split((feint - plain).sum(axis=0) / 6)
    best = slow_loss(space, counts, parts, RIDGE)
    generator = np.random.default_rng(0)
    for _ in range(12):
        step = generator.normal(size=parts.shape)
        step *= 1e-3 / np.linalg.norm(step)
        there = slow_loss(space, counts, parts + step, RIDGE)
        back = slow_loss(space, counts, parts - step, RIDGE)
        assert there > best
        assert back > best
        # At a maximum both ways are alike, up to the third order.
        assert abs(there - back) < 1e-3 * (there + back - 2 * best)


def test_strategy_is_a_dirichlet_posterior_around_the_logit(space, model):
    policy = choice_model_policy(space, model)
    row = int(model.counts.state[model.counts.count.sum(axis=1).argmax()])
    count = model.counts.count[model.counts.state == row][0]
    utility = np.where(
        legal_mask(space)[row],
        features_of(space.rules, digits_of(space, np.array([row])))[0] @ model.weights.T,
        -np.inf,
    )
    legal = legal_mask(space)[row]
    prior = 0.99 * np.exp(utility) / np.exp(utility).sum() + 0.01 * legal / legal.sum()
    k = model.concentration
    assert table_of_policy(space, policy, np.array([row]))[0] == pytest.approx(
        (k * prior + count) / (k + count.sum()), abs=1e-12
    )


def test_same_choices_in_any_order_give_the_same_habit(space, model):
    row, column, game = recorded(space)
    order = np.random.default_rng(3).permutation(len(row))
    again = fit_choice_model(space, row[order], column[order], game[order])
    assert np.array_equal(again.weights, model.weights)
    assert again.concentration == model.concentration


def test_the_concentration_maximizes_the_likelihood_of_held_out_games(space):
    row, _, game = recorded(space, n_games=40)
    row %= 40
    taste = np.random.default_rng(2).random((len(row), 11))
    # In two of three choices, the favorite action of the state; the last choice is illegal.
    taste[::3], taste[1::3] = taste[row[::3]], taste[row[1::3]]
    column = (taste * legal_mask(space)[row]).argmax(axis=1)
    column[-1] = -1
    fold, number = folds_of(game, FOLDS, groups="games"), range(FOLDS)
    others = [fit_choice_model(space, row[fold != k], column[fold != k], game[fold != k]) for k in number]

    def loss(concentration):
        total = 0.0
        for k in number:
            test = (fold == k) & (column != -1)
            model = replace(others[k], concentration=concentration)
            p = choice_probabilities(space, model, row[test], legal_mask(space)[row[test]])
            total -= np.log(p[np.arange(len(p)), column[test]]).sum()
        return total

    found = fit_choice_model(space, row, column, game).concentration
    assert loss(found) < min(loss(0.99 * found), loss(1.01 * found))


def test_lapses_lift_what_nobody_does_and_all_lapses_are_uniform_play(space, model):
    rows = np.arange(space.layer_ptr[-2])
    legal = legal_mask(space)[rows]
    nothing = recorded_counts(space, n_games=0)
    p, lifted, uniform = (
        choice_probabilities(space, ChoiceModel(20 * model.weights, lapse, 1.0, nothing), rows, legal)
        for lapse in (0, 0.1, 1)
    )
    n_legal = legal.sum(axis=1, keepdims=True)
    assert uniform == pytest.approx(legal / n_legal, abs=1e-15)
    assert lifted == pytest.approx(0.9 * p + 0.1 * uniform, abs=1e-15)
    assert p[legal].min() < 1e-3 < lifted[legal].min()


def test_nothing_to_learn_is_said(space):
    forced = np.flatnonzero(legal_mask(space).sum(axis=1) == 1)[:6]
    column = legal_mask(space)[forced].argmax(axis=1)
    with pytest.raises(
        ArgumentError, match=r"^choices: 0 of 6 were between two or more legal actions; at least 1 is needed to learn"
    ):
        fit_choice_model(space, forced, column, np.arange(6))


def test_fewer_games_than_folds_are_refused(space):
    row, column, game = recorded(space, n_games=4)
    with pytest.raises(FoldsError, match=r"^folds: 5 is not allowed; it needs at least 5 games, but there are 4$"):
        fit_choice_model(space, row, column, game)


@settings(max_examples=10)
@given(house_rules())
def test_features_lie_between_zero_and_one_and_begin_with_one(rules):
    space = StateSpace(rules)
    x = features_of(rules, digits_of(space))
    assert x.shape[0] == space.n_states
    assert np.isfinite(x).all()
    assert (x >= 0).all()
    assert (x <= 1).all()
    assert (x[:, 0] == 1).all()


@pytest.mark.parametrize("decimal", [101112300350021000, 301011301330032201])
def test_chance_that_the_enemy_holds_a_card_by_counting_hands(decimal):
    """Of every hand that can be dealt from the unseen cards, each copy a card of its own."""
    rules = PRESETS["notebook"]
    digits = split_digits(np.array([decimal]))
    hand, discard, size = digits[0, 1:6].astype(int), digits[0, 13:18].astype(int), int(digits[0, 10])
    unseen = [card for card in range(5) for _ in range(3 - hand[card] - discard[card])]
    hands = list(combinations(unseen, size))
    expected = [np.mean([card in held for held in hands]) for card in range(5)]
    assert features_of(rules, digits)[0, -5:] == pytest.approx(expected, abs=1e-15)


def test_features_by_hand():
    # Breath 3, and an exhausted enemy with 1 HP; the player or the enemy has made a feint.
    digits = split_digits(np.array([311200201131000121, 311200200131100121]))
    known = [2 / 5, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1 / 3, 2 / 3, 1, 2 / 3, 2 / 3, 0, 1 / 3, 0, 0, 0, 0, 0, 0]
    known = [1, 4 / 5, 3 / 5, 1 / 5, 1 / 5, *known]
    expected = [[1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, *feints, *known] for feints in ([1, 0], [0, 1])]
    assert features_of(PRESETS["notebook"]._replace(copies=(3, 3, 3, 3, 1)), digits).tolist() == expected


def test_an_exhausted_enemy_can_play_nothing(tiny):
    digits = digits_of(tiny)
    is_exhausted = digits[:, 11] == 1
    assert is_exhausted.any()
    x = features_of(tiny.rules, digits)
    assert (x[is_exhausted, -5:] == 0).all()
    assert (x[~is_exhausted, -5:] > 0).any()


class Rows:
    """One state for each list of weights."""

    def __init__(self, weights):
        self.state_ptr = np.cumsum([0, *map(len, weights)])
        self.policy = np.concatenate([np.array(each) / sum(each) for each in weights])


def test_entropies_by_hand():
    rows = Rows([[1, 0, 0, 0], [1, 1], [1, 1, 1, 1], [2, 1, 1]])
    found = entropy(rows, rows.policy)
    assert found == pytest.approx([0.0, np.log(2), np.log(4), 1.5 * np.log(2)], abs=1e-15)
    assert found[0] == 0


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=11))
def test_entropy_is_at_most_that_of_uniform_play(weights):
    rows = Rows([weights])
    (found,) = entropy(rows, rows.policy)
    assert 0 <= found <= np.log(len(weights)) + 1e-12


def test_a_greedy_agent_has_no_entropy(tiny, tiny_mdp):
    found = entropies(tiny, greedy(tiny.state_ptr, tiny_mdp.reward))
    assert np.array_equal(found.n_covered, found.n_states)
    assert found.n_states.tolist() == tiny.states_by_breath
    assert not found.mean.any()


def test_means_are_those_of_single_states(tiny):
    state, p = random_table(tiny, 1, support=0.3)
    support = np.isin(np.arange(tiny.n_states), state)
    found = entropies(tiny, policy_of_table(tiny, state, p), support)
    single = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1)
    for layer in range(len(tiny.layer_ptr) - 1):
        inside = (tiny.layer_ptr[layer] <= state) & (state < tiny.layer_ptr[layer + 1])
        assert found.n_covered[layer] == inside.sum()
        assert found.mean[layer] == pytest.approx(single[inside].mean(), abs=1e-12)
    assert found.overall()[0] == pytest.approx(single.mean(), rel=1e-12)


def test_nothing_covered_has_no_mean(tiny):
    found = entropies(tiny, uniform(tiny), np.zeros(tiny.n_states, dtype=bool))
    assert found.n_covered.sum() == 0
    assert np.isnan(found.mean).all()
    assert np.isnan(found.overall()).all()


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
    index = space.index(from_decimal(space.layout, KNOWN))
    assert probabilities(space, policy, index) == {20: 0.1875, 21: 0.1875, 40: 0.4375, 41: 0.1875}
    others = np.delete(np.arange(len(policy)), np.arange(*space.state_ptr[index : index + 2]))
    assert np.array_equal(policy[others], uniform_policy(space)[others])


def test_an_illegal_choice_changes_nothing_but_makes_the_state_seen(space):
    index = space.index(from_decimal(space.layout, KNOWN))
    only_illegal = parless(space, count_choices(space, [KNOWN, KNOWN], [10, 90]))
    assert probabilities(space, only_illegal, index) == dict.fromkeys((20, 21, 40, 41), 0.25)
    both = parless(space, count_choices(space, [KNOWN, KNOWN], [40, 50]))
    assert probabilities(space, both, index)[40] == 0.4375


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
    with pytest.raises(ArgumentError, match=f"^prior: {prior} is not allowed; it must be above 0$"):
        parless(space, count_choices(space, [KNOWN], [40]), prior)


def played(space, policy, decimal):
    return probabilities(space, policy, space.index(from_decimal(space.layout, decimal)))


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
