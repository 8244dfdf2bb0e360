from __future__ import annotations

import math

import numpy as np
import pytest

from enemies.recorded import recorded, recorded_counts, taste
from punish_fast.enemies.choice_model import (
    ChoiceModel,
    choice_model_policy,
    choice_probabilities,
    counts_at,
    features_of,
    fit_choice_model,
)
from punish_fast.enemies.counts import CountsError, FoldsError, count_located
from punish_fast.punish.codes import ACTIONS, digits_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask, table_of_policy

RIDGE = 2.0


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return StateSpace(PRESETS["tiny"])


@pytest.fixture(scope="module")
def model(space) -> ChoiceModel:
    return fit_choice_model(space, *recorded(space), ridge=RIDGE)


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


def test_the_rest_has_no_weights(model):
    assert (model.weights[-1] == 0).all()


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


def test_many_choices_outweigh_the_prior_and_few_do_not(space, model):
    rows = np.array([0])
    legal = legal_mask(space)[rows]
    before = choice_probabilities(
        space, ChoiceModel(model.weights, 0.0, 20.0, recorded_counts(space, n_games=0)), rows, legal
    )
    column = int(np.flatnonzero(legal[0])[0])
    for n in (1, 1_000_000):
        counts = count_located(space, np.zeros(n, dtype=np.int64), np.full(n, column))
        after = choice_probabilities(space, ChoiceModel(model.weights, 0.0, 20.0, counts), rows, legal)
        assert after[0, column] == pytest.approx((20 * before[0, column] + n) / (20 + n))


def test_it_finds_the_taste_of_the_players(space, model):
    """It is nearer to what the players really do than uniform play is, in states that were never seen too."""
    rows = np.arange(space.layer_ptr[-2])
    legal = legal_mask(space)[rows]
    truth = taste(space, rows)

    def distance(p):
        return (truth * np.log(np.where(legal, truth, 1) / np.where(legal, p, 1))).sum(axis=1).mean()

    unseen = ~np.isin(rows, model.counts.state)
    assert unseen.sum() > 30
    uniform = legal / legal.sum(axis=1, keepdims=True)
    p = choice_probabilities(space, model, rows, legal)
    assert distance(p) < 0.25 * distance(uniform)
    assert (p[unseen] - truth[unseen]).std() < 0.5 * (uniform[unseen] - truth[unseen]).std()


def test_concentration_is_large_if_the_logit_says_all_and_small_if_states_differ(space):
    """Players who follow the features need no correction; players with a whim for each state need much."""
    row, column, game = recorded(space, n_games=300)
    steady = fit_choice_model(space, row, column, game).concentration
    generator = np.random.default_rng(1)
    whim = np.array([generator.permutation(np.flatnonzero(legal))[0] for legal in legal_mask(space)])
    moody = fit_choice_model(space, row, whim[row], game).concentration
    assert moody < 1
    assert steady > 10


def test_same_choices_in_any_order_give_the_same_habit(space, model):
    row, column, game = recorded(space)
    order = np.random.default_rng(3).permutation(len(row))
    again = fit_choice_model(space, row[order], column[order], game[order], ridge=RIDGE)
    assert np.array_equal(again.weights, model.weights)
    assert again.concentration == model.concentration


def test_illegal_and_unknown_choices_change_nothing(space, model):
    row, column, game = recorded(space)
    row, column = np.append(row, [-1, row[0]]), np.append(column, [-1, -1])
    again = fit_choice_model(space, row, column, np.append(game, game[:2]), ridge=RIDGE)
    assert np.array_equal(again.weights, model.weights)


def test_counts_at_states_seen_and_not_seen(space):
    counts = count_located(space, np.array([7, 3, 7]), np.array([2, 4, 2]))
    found = counts_at(counts, np.array([0, 3, 7, 8]))
    assert found.sum(axis=1).tolist() == [0, 1, 2, 0]
    assert found[2, 2] == 2
    assert found[1, 4] == 1


@pytest.mark.parametrize("ridge", [0.0, -1.0, math.nan, math.inf])
def test_penalties_not_above_zero_are_refused(space, ridge):
    with pytest.raises(CountsError, match=r"^ridge: .* is not allowed, it must be above 0$"):
        fit_choice_model(space, *recorded(space), ridge=ridge)


@pytest.mark.parametrize("lapse", [-0.1, 1.1, math.nan])
def test_shares_that_are_none_are_refused(space, lapse):
    with pytest.raises(CountsError, match=r"^lapse: .* is not allowed, it must be from 0 to 1$"):
        fit_choice_model(space, *recorded(space), lapse=lapse)


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
        CountsError, match=r"^choices: 0 of 6 were between two legal actions, at least 1 is needed to learn"
    ):
        fit_choice_model(space, forced, column, np.arange(6))


def test_fewer_games_than_folds_are_refused(space):
    row, column, game = recorded(space, n_games=4)
    with pytest.raises(FoldsError, match=r"^folds: 5 is not allowed, it needs at least 5 games; there are 4$"):
        fit_choice_model(space, row, column, game)


def test_a_fold_may_leave_nothing_to_learn_from(space):
    """Of two games, only one has a choice between two legal actions."""
    n_legal = legal_mask(space).sum(axis=1)
    row = np.array([np.flatnonzero(n_legal > 1)[0], np.flatnonzero(n_legal == 1)[0]])
    fitted = fit_choice_model(space, row, legal_mask(space)[row].argmax(axis=1), np.arange(2), folds=2)
    assert np.isfinite(fitted.weights).all()
