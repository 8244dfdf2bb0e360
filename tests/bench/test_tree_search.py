"""The slow tree search: by hand, and beside ``mctx``."""

from __future__ import annotations

import numpy as np
import pytest

from bench.tree_search import search_gumbel, search_puct

METHODS = ("gumbel", "puct")
# Float32 may order scores otherwise that are closer than this; no more than such a share of searches may show it.
CLOSE, SHARE = 1e-5, 0.01


def random_model(n_actions, n_states=400, seed=0):
    """Tables of a random game; float32, so that both searches are given the same numbers.

    The first state is the end of the game: nothing is worth anything there, and nothing leads out of it.
    """
    generator = np.random.default_rng(seed)
    shape = (n_states, n_actions)
    model = {
        "after": generator.integers(n_states, size=shape).astype(np.int32),
        "reward": generator.choice([0, 0, 0, 1, -1], size=shape) * generator.random(shape),
        "discount": generator.choice([-1, -0.97, 0.9, 0], size=shape),
        "logits": generator.normal(scale=1.5, size=shape),
        "value": generator.uniform(-1, 1, n_states),
    }
    model["after"][0] = model["reward"][0] = model["value"][0] = 0
    model["discount"][model["after"] == 0] = 0
    return {name: array.astype(np.int32 if name == "after" else np.float32) for name, array in model.items()}


def random_roots(n_actions, n, seed=1):
    """Logits, value, state and legal actions of roots."""
    generator = np.random.default_rng(seed)
    legal = generator.random((n, n_actions)) < 0.7
    legal[np.arange(n), generator.integers(n_actions, size=n)] = True
    # A third of the roots has no illegal action.
    legal[::3] = True
    logits = generator.normal(scale=2, size=(n, n_actions)).astype(np.float32)
    return logits, generator.uniform(-1, 1, n).astype(np.float32), generator.integers(1, 400, n).astype(np.int32), legal


def stepper(model):
    """The tables as a model of the slow search."""

    def step(action, state):
        after = model["after"][state, action]
        return model["reward"][state, action], model["discount"][state, action], *position(after)

    def position(state):
        return model["logits"][state], model["value"][state], state

    return step


def search_by_mctx(method, model, roots, simulations, considered=16):
    """Visits, Q-values, values, actions, weights and Gumbel noise of all roots."""
    import jax
    import mctx

    def after(model, _key, action, state):
        following = model["after"][state, action]
        output = mctx.RecurrentFnOutput(
            reward=model["reward"][state, action],
            discount=model["discount"][state, action],
            prior_logits=model["logits"][following],
            value=model["value"][following],
        )
        return output, following

    def search(model, key, logits, value, state, legal):
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        if method == "gumbel":
            rest = {"max_num_considered_actions": considered}
            output = mctx.gumbel_muzero_policy(model, key, root, after, simulations, ~legal, **rest)
            noise = output.search_tree.extra_data.root_gumbel
        else:
            rest = {"dirichlet_fraction": 0.0, "temperature": 0.0}
            output = mctx.muzero_policy(model, key, root, after, simulations, ~legal, **rest)
            noise = logits
        summary = output.search_tree.summary()
        return summary.visit_counts, summary.qvalues, summary.value, output.action, output.action_weights, noise

    return [np.asarray(array) for array in jax.jit(search)(model, jax.random.key(3), *roots)]


def search_by_hand(method, step, root, simulations, noise, considered=16):
    *start, legal = root
    if method == "puct":
        return search_puct(start, step, simulations, legal)
    return search_gumbel(start, step, simulations, noise, legal, considered)


def compare(method, model, roots, simulations, considered=16):
    """Compare both searches from each root, with the same noise."""
    visits, q, value, action, weights, noise = search_by_mctx(method, model, roots, simulations, considered)
    step, different = stepper(model), 0
    for k, root in enumerate(zip(*roots, strict=True)):
        found = search_by_hand(method, step, root, simulations, noise[k], considered)
        assert found.visits.sum() == simulations == visits[k].sum()
        assert not visits[k][~root[3]].any()
        if not np.array_equal(found.visits, visits[k]):
            assert found.margin < CLOSE
            different += 1
            continue
        np.testing.assert_allclose(found.q, q[k], atol=2e-6)
        np.testing.assert_allclose(found.value, value[k], atol=2e-6)
        np.testing.assert_allclose(found.weights, weights[k], atol=1e-4 if method == "gumbel" else 1e-6)
        if method == "gumbel":
            assert found.action == action[k]
        else:
            assert visits[k][found.action] == visits[k][action[k]] == visits[k].max()
    assert different <= SHARE * len(visits)


@pytest.mark.usefixtures("fast_compilation")
@pytest.mark.parametrize(
    ("method", "n_actions", "simulations", "considered"),
    [("gumbel", 9, 25, 16), ("gumbel", 7, 50, 4), ("puct", 7, 50, 16)],
)
def test_the_search_is_that_of_mctx(method, n_actions, simulations, considered):
    compare(method, random_model(n_actions), random_roots(n_actions, 60), simulations, considered)


def tree_of_values(values, discount=-1.0):
    """A model of two plies and two actions: values of leaves by the actions that lead there, 0.25 above."""

    def step(action, path):
        path += (action,)
        return 0.0, discount, [0.0, 0.0], values.get(path, 0.25), path

    return step


def search(method, root, step, simulations, legal=None, noise=None):
    if method == "puct":
        return search_puct(root, step, simulations, legal)
    return search_gumbel(root, step, simulations, np.zeros(len(root[0])) if noise is None else noise, legal)


def test_four_actions_share_sixteen_simulations():
    def step(action, path):
        return [0.1, 0.9, 0.3, 0.7][action] if not path else 0.0, 0.0, [0.0] * 4, 0.0, (*path, action)

    found = search("gumbel", ([0.0] * 4, 0.0, ()), step, 16)
    assert found.visits.tolist() == [2, 6, 2, 6]
    assert found.action == 1
    np.testing.assert_allclose(found.q, [0.1, 0.9, 0.3, 0.7])
    # Of values stretched to [0, 1], times 0.1 (50 + 6).
    odds = np.exp(5.6 * np.array([0, 1, 0.25, 0.75]))
    np.testing.assert_allclose(found.weights, odds / odds.sum())
    np.testing.assert_allclose(found.value, (2 * 0.1 + 6 * 0.9 + 2 * 0.3 + 6 * 0.7) / 17)


@pytest.mark.parametrize("method", METHODS)
def test_one_simulation_takes_the_likeliest_action(method):
    found = search(method, ([0.0, 1.0, 0.5], 0.5, ()), lambda *_: (0.25, -0.5, [0.0] * 3, 0.75, ()), 1)
    assert found.visits.tolist() == [0, 1, 0]
    assert found.q.tolist() == [0, 0.25 - 0.5 * 0.75, 0]
    assert found.value == (0.5 + found.q[1]) / 2
    assert found.action == 1
    if method == "puct":
        assert found.weights.tolist() == [0, 1, 0]
    else:
        # The others count as the mixed value, above that of the action that was tried.
        odds = np.exp([5.1, 1.0, 0.5 + 5.1])
        np.testing.assert_allclose(found.weights, odds / odds.sum())


def test_a_search_without_a_legal_action_is_refused():
    with pytest.raises(ValueError, match="no action is legal"):
        search("puct", ([0.0, 0.0], 0.0, ()), tree_of_values({}), 3, legal=[False, False])


def test_equal_scores_have_no_margin():
    step = tree_of_values({})
    assert search("puct", ([0.0, 0.0], 0.0, ()), step, 1).margin == 0
    assert search("puct", ([0.0], 0.0, ()), step, 1).margin == np.inf
