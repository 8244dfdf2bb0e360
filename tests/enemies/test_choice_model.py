import math
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
    RIDGE,
    ChoiceModel,
    choice_model_policy,
    choice_probabilities,
    features_of,
    fit_choice_model,
)
from punish_fast.enemies.counts import CountsError, FoldsError
from punish_fast.enemies.entropy import entropies, entropy
from punish_fast.mdp.policy import greedy
from punish_fast.punish.codes import ACTIONS, digits_of, split_digits
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask, policy_of_table, table_of_policy


@pytest.fixture(scope="module")
def model(space) -> ChoiceModel:
    return fit_choice_model(space, *recorded(space))


def slow_loss(space, counts, parts, ridge):
    """The penalised likelihood, choice by choice; ``parts``: alpha (5), beta (1), gamma (5), each over the features."""
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


def test_weights_maximise_the_penalised_likelihood(space, model):
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
        CountsError, match=r"^choices: 0 of 6 were between two or more legal actions; at least 1 is needed to learn"
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
    state, p = random_table(tiny, 1, covered=0.3)
    covered = np.isin(np.arange(tiny.n_states), state)
    found = entropies(tiny, policy_of_table(tiny, state, p), covered)
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
