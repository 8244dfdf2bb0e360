"""The networks and learners of MuZero: steps of the optimizer against plain sums, reanalysis, and interrupts."""

import numpy as np
import pytest

from punish_fast.games.episodes import NONE
from punish_fast.games.learn.hyperparameters import MuZeroMethod
from punish_fast.games.learn.muzero import learner as learner_module
from punish_fast.games.learn.muzero.learner import MuZeroLearner
from punish_fast.games.learn.muzero.network import ModelShape, kinds_of, losses, mean_of, muzero_steps, networks_of
from punish_fast.games.learn.muzero.replay import remember
from punish_fast.games.learn.muzero.search import Found
from punish_fast.games.learn.networks import n_weights_of, random_weights
from punish_fast.games.learn.strength import strength_of

pytestmark = pytest.mark.usefixtures("fast_compilation")
METHOD = MuZeroMethod(
    simulations=4,
    width=4,
    games=6,
    replay_size=3,
    steps=2,
    batch=16,
    unroll=2,
    max_plies=20,
    priority=0.5,
    reanalyzed=0.5,
)


def grown(vector, method=METHOD, rounds=3, seed=7):
    learner = MuZeroLearner.new(vector, method, seed)
    learner.plan(rounds * method.games)
    while learner.rounds < learner.wanted:
        learner.learn_round()
    return learner


def test_games_that_are_searched_again_keep_their_actions(tictactoe):
    learner = grown(tictactoe, rounds=2)
    before = [(part.games.action.copy(), part.games.value.copy()) for part in learner.replay]
    learner.learn_round()
    kept = list(zip(learner.replay, before, strict=False))
    assert all(np.array_equal(part.games.action, action) for part, (action, _) in kept)
    # Half as many as a round has, of both rounds.
    assert 1 <= sum((part.games.value != value).any(axis=1).sum() for part, (_, value) in kept) <= 3
    part = remember(tictactoe, learner.replay[0].games, learner.method)
    assert np.array_equal(part.target, learner.replay[0].target)


def test_values_follow_old_games_only_where_a_search_of_today_finds_their_actions(tictactoe, monkeypatch):
    learner = grown(tictactoe, METHOD, rounds=1)
    (part,) = learner.replay

    def finds_the_first_action(_plan, vector, _weights, states, _seed):
        n = len(states)
        return Found(np.zeros(n, dtype=int), np.full((n, vector.n_moves), 1 / 9), np.zeros(n))

    monkeypatch.setattr(learner_module, "search", finds_the_first_action)
    again = learner._searched_again(None, part, np.arange(len(part.length)), np.random.default_rng(1))
    taken = part.games.action != NONE
    assert np.array_equal(again.games.is_random, taken & (part.games.action != 0))
    assert not np.array_equal(again.games.is_random, part.games.is_random)


@pytest.mark.parametrize("name", ["draw", "muzero_steps"])
def test_an_interrupt_leaves_everything_as_it_was(tictactoe, monkeypatch, name):
    learner, whole = grown(tictactoe), grown(tictactoe, rounds=4)

    def interrupted(*_args, **_settings):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learner_module, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.learn_round()
    assert learner.digest == grown(tictactoe).digest
    learner.learn_round()
    assert learner.digest == whole.digest


@pytest.fixture
def fast_searches(fast_compilation):  # noqa: ARG001
    """Let JAX compile as usual, for thousands of games."""
    import jax

    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.mark.slow
@pytest.mark.usefixtures("fast_searches")
@pytest.mark.parametrize(("model", "games", "least"), [("learned", 8_000, 0.72), ("rules", 3_000, 0.93)])
def test_tic_tac_toe_is_learned_from_nothing(tictactoe, model, games, least):
    method = MuZeroMethod.for_game(tictactoe, model=model)
    learner, strength = grown(tictactoe, method, -(-games // method.games), seed=0), strength_of(tictactoe)
    measures = strength.measure(learner.values_of(learner.weights), True)
    assert measures["perfect"] > least
    assert measures["first"]["loss"] < 0.1


SHAPE = ModelShape((2, 3, 3), (), 6, 9)


@pytest.fixture(scope="module")
def weights():
    return random_weights(SHAPE.shapes, np.random.default_rng(1))


def test_hidden_states_are_between_0_and_1_and_reach_both(weights):
    networks, generator = networks_of(SHAPE, weights), np.random.default_rng(2)
    hidden = networks.represent(generator.normal(size=(20, 18)).astype(np.float32))
    for _ in range(3):
        assert np.asarray(hidden).min(axis=1) == pytest.approx(0)
        assert np.asarray(hidden).max(axis=1) == pytest.approx(1, abs=1e-3)
        hidden, reward = networks.advance(hidden, generator.integers(9, size=20))
        logits, value = networks.predict(hidden)
        assert (logits.shape, value.shape, reward.shape) == ((20, 9), (20, 3), (20, 3))
    layers = [*networks.convolved, *networks.representation, *networks.dynamics, *networks.prediction]
    assert sum(part.size for layer in layers for part in layer) == len(weights) == n_weights_of(SHAPE.shapes)


def test_a_number_is_the_mean_of_its_kinds():
    number = np.linspace(-1, 1, 21, dtype=np.float32)
    kinds = np.asarray(kinds_of(number))
    assert (kinds >= 0).all()
    assert kinds.sum(axis=1) == pytest.approx(1)
    assert kinds @ [-1, 0, 1] == pytest.approx(number)
    with np.errstate(divide="ignore"):
        assert np.asarray(mean_of(np.log(np.maximum(kinds, 1e-30)))) == pytest.approx(number, abs=1e-5)
    assert np.array_equal(kinds_of(np.float32([-1.5, 3])), [[1, 0, 0], [0, 0, 1]])


SMALL = ModelShape((4,), (), 3, 2)


def batch_of(n, unrolled, seed=1):
    generator = np.random.default_rng(seed)
    return {
        "features": generator.normal(size=(n, 4)).astype(np.float32),
        "action": generator.integers(2, size=(n, unrolled), dtype=np.int32),
        "reward": generator.integers(-1, 2, size=(n, unrolled)).astype(np.float32),
        "value": generator.uniform(-1, 1, size=(n, unrolled + 1)).astype(np.float32),
        "policy": generator.dirichlet(np.ones(2), size=(n, unrolled + 1)).astype(np.float32),
        "has_value": generator.random((n, unrolled + 1)) < 0.8,
        "has_policy": generator.random((n, unrolled + 1)) < 0.8,
        "weight": generator.random(n).astype(np.float32),
    }


@pytest.fixture(scope="module")
def small_weights():
    return random_weights(SMALL.shapes, np.random.default_rng(1))


def surprise(wanted, logits):
    probability = np.exp(logits) / np.exp(logits).sum()
    return -(wanted * np.log(probability)).sum()


def kinds(number):
    return np.array([max(-number, 0), 1 - abs(number), max(number, 0)])


def test_the_loss_is_the_sum_of_what_surprises(small_weights):
    unrolled = 2
    batch, networks, total = batch_of(6, unrolled), networks_of(SMALL, small_weights), 0.0
    for k in range(6):
        hidden = networks.represent(batch["features"][k : k + 1])
        for step in range(unrolled + 1):
            share = batch["weight"][k] * (1 / unrolled if step else 1)
            logits, value = (np.asarray(part[0], dtype=np.float64) for part in networks.predict(hidden))
            total += batch["has_policy"][k, step] * share * surprise(batch["policy"][k, step], logits)
            total += batch["has_value"][k, step] * share * surprise(kinds(batch["value"][k, step]), value)
            if step < unrolled:
                hidden, reward = networks.advance(hidden, batch["action"][k : k + 1, step])
                told = surprise(kinds(batch["reward"][k, step]), np.asarray(reward[0], dtype=np.float64))
                total += batch["has_value"][k, step] * batch["weight"][k] * told
    assert float(losses(SMALL, small_weights, batch)) == pytest.approx(total / 6, rel=1e-4)


def test_the_rate_falls_with_the_root_of_the_number_of_steps(small_weights):
    update, batch = muzero_steps(SMALL, 0.02, 0.0), batch_of(16, 2)
    once = {name: array[np.newaxis] for name, array in batch.items()}
    moments = np.full_like(small_weights, 0.1), np.full_like(small_weights, 1.0)
    early, late = (
        np.asarray(update(small_weights, *moments, np.int32(n), once)[0]) - small_weights for n in (30_000, 630_000)
    )
    assert early == pytest.approx(4 * late, rel=0.02, abs=1e-5)
