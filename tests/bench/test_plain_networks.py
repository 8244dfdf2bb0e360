"""The searches of the package beside plain ones: the same networks, rules and tree."""

from __future__ import annotations

import numpy as np
import pytest

from bench.plain_networks import LearnedModel, RulesModel
from bench.tree_search import search_gumbel, search_puct
from punish_fast.games.random_play import random_mover
from punish_fast.games.registry import make_game, vectorise
from punish_fast.learn.muzero.method import muzero_method_for
from punish_fast.learn.muzero.search import plan_of, policy_logits, search, shape_of

pytestmark = pytest.mark.usefixtures("fast_compilation")

# As in `test_tree_search`.
CLOSE, SHARE = 1e-5, 0.05


def position_set(vector, n, seed):
    """States after random plies, none of them over."""
    generator = np.random.default_rng(seed)
    states = vector.initial(n)
    for _ in range(5):
        after, _, ended = vector.step(states, random_mover(states, vector.legal(states), generator))
        goes_on = ~ended & (generator.random(n) < 0.8)
        states[goes_on] = after[goes_on]
    return states


def found_by_hand(method, vector, weights, state):
    """What the plain search says of a state, without noise."""
    networks = LearnedModel(shape_of(vector, method), weights, method.discount)
    if method.is_learned:
        root, step = networks.root(vector.features(state[np.newaxis])[0]), networks.step
    else:
        model = RulesModel(vector, networks, method.discount)
        root, step = model.root(state), model.step
    legal = vector.legal(state[np.newaxis])[0]
    if method.search == "puct":
        return search_puct(root, step, method.simulations, legal)
    return search_gumbel(root, step, method.simulations, np.zeros(vector.n_moves), legal, method.considered)


@pytest.mark.parametrize(("name", "filters"), [("tictactoe", ()), ("connect4", (4, 3))])
def test_plain_networks_predict_what_compiled_ones_do(name, filters):
    vector = vectorise(make_game(name, {}))
    method = muzero_method_for(vector, width=8, filters=filters)
    shape, states = shape_of(vector, method), position_set(vector, 20, 2)
    weights = shape.first_weights(np.random.default_rng(1)) + np.float32(0.01)
    logits = policy_logits(shape, weights, vector.features(states))
    networks = LearnedModel(shape, weights)
    for features, each in zip(vector.features(states), logits, strict=True):
        np.testing.assert_allclose(networks.root(features)[0], each, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tictactoe", {"model": "rules"}),
        ("connect4", {"filters": (4,), "search": "puct", "discount": 0.9}),
    ],
)
def test_searches_are_those_of_plain_trees(name, options):
    vector = vectorise(make_game(name, {}))
    method = muzero_method_for(vector, **{"width": 8, "simulations": 16} | options)
    # Larger weights than a learner begins with, so that values differ.
    weights = 3 * shape_of(vector, method).first_weights(np.random.default_rng(1))
    states = position_set(vector, 32, 1)
    found = search(plan_of(vector, method), vector, weights, states)
    different = 0
    for k, state in enumerate(states):
        by_hand = found_by_hand(method, vector, weights, state)
        is_same = np.allclose(by_hand.weights, found.policy[k], atol=1e-3)
        is_same &= abs(by_hand.value - found.value[k]) < 1e-4
        if not is_same:
            assert by_hand.margin < CLOSE
            different += 1
        elif method.search == "gumbel":
            assert by_hand.action == found.action[k]
        else:
            assert by_hand.weights[found.action[k]] == by_hand.weights.max()
    assert different <= SHARE * len(states)
