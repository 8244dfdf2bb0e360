"""Deep Q-networks: one round against plain NumPy, learning, and how strong networks are."""

from dataclasses import fields
from importlib.util import find_spec

import numpy as np
import pytest
from games.small import Corridor

from learn.test_networks import by_hand
from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.retrograde import solve_game
from punish_fast.games.enumeration.vector_games import VectorPositions
from punish_fast.games.learn import strength
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod, values_of
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.networks import Architecture, random_weights
from punish_fast.games.learn.qlearning import assess
from punish_fast.games.learn.strength import SampledStrength, strength_of
from punish_fast.games.registry import make_game, vector_game

pytestmark = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")

SMALL = {"hidden": (8,), "games": 16, "replay_size": 3, "steps": 2, "batch": 16, "renewal": 2, "decay": 64}
FORMS = [(target, illegal) for target in ("mc", "td") for illegal in ("mask", "punish")]


def trained(vector, rounds, seed=1, **method):
    learner = DqnLearner.new(vector, DqnMethod(**SMALL | method), seed)
    for _ in range(rounds):
        learner.learn_round()
    return learner


def test_the_same_seed_learns_the_same_to_the_bit(tictactoe):
    one, two, other = (trained(tictactoe, 3, seed) for seed in (1, 1, 2))
    assert one.digest == two.digest
    assert np.array_equal(one.weights, two.weights)
    assert other.digest != one.digest
    assert np.isfinite(one.weights).all()
    assert (one.rounds, one.games) == (3, 48)
    learner = trained(tictactoe, 1)
    assert not np.array_equal(learner.target, learner.weights)
    learner.learn_round()
    assert np.array_equal(learner.target, learner.weights)
    learner.learn_round()
    assert not np.array_equal(learner.target, learner.weights)


def squared_error(learner, weights, samples, is_compared):
    """The mean squared error of samples, by plain NumPy in float64."""
    vector, architecture, method = learner.vector, learner.shape, learner.method

    def values(each, states):
        return by_hand(architecture, each.astype(np.float64), vector.features(states).astype(np.float64))

    found, follows = values(weights, samples.state), 0
    if method.target == "td":
        best = np.where(is_compared(samples.after), values(learner.target, samples.after), -np.inf).max(axis=1)
        follows = np.where(samples.sign == 0, 0, samples.sign * method.discount * np.where(samples.sign == 0, 0, best))
    return np.mean((found[np.arange(len(found)), samples.action] - samples.value - follows) ** 2)


@pytest.mark.parametrize(("target", "illegal"), FORMS)
def test_the_first_step_descends_the_squared_error(tictactoe, target, illegal):
    """Adam's first step has the size of the rate in the direction of each gradient."""
    learner = trained(tictactoe, 0, target=target, illegal=illegal, steps=1, rate=1e-3)
    before = learner.weights
    learner.learn_round()
    samples = learner.replay[0].samples
    drawn = np.random.Generator(np.random.Philox(key=np.array([1, 1], dtype=np.uint64))).integers(
        len(samples.state), size=16
    )
    batch = type(samples)(*(part[drawn] for part in samples))
    mean = learner.momentum / 0.1

    def is_compared(states):
        return tictactoe.legal(states) | (illegal == "punish")

    for k in np.argsort(-np.abs(mean))[:12]:
        nudge = np.zeros(len(before))
        nudge[k] = 1e-4
        errors = [squared_error(learner, before + sign * nudge, batch, is_compared) for sign in (1, -1)]
        assert mean[k] == pytest.approx((errors[0] - errors[1]) / 2e-4, rel=2e-2, abs=1e-5)
        assert learner.weights[k] - before[k] == pytest.approx(-1e-3 * np.sign(mean[k]), rel=1e-2)


def test_only_the_latest_rounds_are_remembered_and_plans_are_whole(tictactoe):
    method = DqnMethod(epsilon=0.2, decay=100)
    assert [method.epsilon_after(n) for n in (0, 50, 100, 1000)] == pytest.approx([1, 0.6, 0.2, 0.2])
    learner = trained(tictactoe, 4)
    assert [len(part.games.action) for part in learner.replay] == [16] * 3
    learner = DqnLearner.new(tictactoe, DqnMethod(**SMALL))
    learner.plan(17)
    assert learner.wanted == 2
    with pytest.raises(LearnError, match=r"^games: 0 is not allowed"):
        learner.plan(0)
    assert (learner.name, learner.games) == ("dqn-mc-mask", 0)


def test_a_short_game_is_learned():
    """From place 0 a player steps on or stays, and hands the next one a win or not."""
    vector = VectorPositions(Corridor({3: 1.0}))
    learner = trained(vector, 60, target="td", hidden=(16,), games=32, steps=8, rate=0.01, decay=640, max_plies=20)
    values = values_of(vector, learner.shape, learner.weights)(vector.initial(1))
    assert values.shape == (1, 2)
    places = np.array([[number] for number, state in enumerate(vector.positions.states) if state[0] == 2], np.uint64)
    # Whoever steps onto 3 hands the other a win.
    assert values_of(vector, learner.shape, learner.weights)(places)[:, 1] == pytest.approx(-1, abs=0.15)


def test_methods_that_do_not_fit_a_game_are_refused():
    vector = vector_game(make_game("tapnswap", {}))
    with pytest.raises(LearnError, match=r"^seed: -1 is not allowed"):
        DqnLearner.new(vector, DqnMethod(), -1)
    of_chance = vector_game(make_game("gwent", {}))
    with pytest.raises(LearnError, match=r"^target: 'td' is impossible; gwent is not a zero-sum game of two players "):
        DqnMethod(target="td").shape_for(of_chance)


def test_weights_that_leave_all_bounds_are_an_error(tictactoe, monkeypatch):
    learner = trained(tictactoe, 1)
    before = learner.digest
    monkeypatch.setattr(type(learner), "_step", lambda *_: (np.array([np.nan], np.float32),) * 3)
    with pytest.raises(LearnError, match=r"^rate: 0.001 is too high; the weights have diverged$"):
        learner.learn_round()
    assert learner.digest == before


def test_games_of_cards_are_learned_to_the_same_bits():
    vector = vector_game(make_game("incan-gold", {}))
    method = DqnMethod.for_game(vector, games=8, replay_size=2, steps=2, batch=16, hidden=(8,))
    assert (method.temperature, method.discount) == (0.1, 1.0)
    one, other = (DqnLearner.new(vector, method, 5) for _ in range(2))
    for learner in (one, other):
        learner.plan(16)
        learner.learn_round()
    other = DqnLearner(**{each.name: getattr(other, each.name) for each in fields(other)})
    for learner in (one, other):
        learner.learn_round()
    assert one.digest == other.digest
    assert one.shape.n_moves == vector.n_moves


SHAPE = Architecture((2, 3, 3), (), (8,), 9)
ENDINGS = {"win", "draw", "loss", "illegal"}


@pytest.fixture(scope="module")
def exact(tictactoe):
    return strength_of(tictactoe)


@pytest.fixture(scope="module")
def networks(tictactoe):
    weights = [random_weights(SHAPE.shapes, np.random.default_rng(seed)) for seed in range(3)]
    return [values_of(tictactoe, SHAPE, each) for each in weights]


def test_legal_play_is_measured_as_that_of_other_learners(exact, networks):
    policy, _ = exact.play(networks[0])
    found = exact.measure(networks[0], True)
    wanted = assess(solve_game(exact.positions), policy)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)
    for seat in ("first", "second"):
        assert found[seat].keys() == ENDINGS
        assert sum(found[seat].values()) == pytest.approx(1)
        assert found[seat]["illegal"] == 0


@pytest.mark.parametrize("keeps_rules", [True, False])
def test_sampled_measures_are_near_exact_ones(tictactoe, exact, networks, keeps_rules):
    measures = exact, SampledStrength(tictactoe, games=4000)
    found, sampled = (each.measure(networks[0], keeps_rules) for each in measures)
    assert (found["first"]["illegal"] > 0.1) != keeps_rules
    for seat in ("first", "second"):
        assert sampled[seat] == pytest.approx(found[seat], abs=0.05)
    assert sampled["win_share"] == pytest.approx(found["win_share"], abs=0.03)
    assert (sampled["mistakes"], sampled["perfect"]) == (None, None)


def test_illegal_moves_are_mistakes_and_networks_play_once(exact, networks):
    _, is_illegal = exact.play(networks[0])
    legal, free = (exact.measure(networks[0], keeps_rules) for keeps_rules in (True, False))
    assert is_illegal.any()
    assert not is_illegal[exact.positions.is_terminal].any()
    assert max(legal["mistakes"], is_illegal.sum()) <= free["mistakes"] <= legal["mistakes"] + is_illegal.sum()
    asked = []

    def values(states):
        asked.append(len(states))
        return networks[0](states)

    measures = exact.measure(values, True)
    assert exact.evaluate(values, True)["keeps_value"] == pytest.approx(measures["perfect"])
    assert asked == [len(exact.positions.live)]
    assert exact.measure(networks[1], True) != measures == exact.measure(networks[0], True)


def test_points_of_a_match_add_up(tictactoe, exact, networks, monkeypatch):
    one, other, third = networks
    found = exact.points(one, [other, third, one])
    assert found[0] == pytest.approx(1 - exact.points(other, [one])[0])
    assert found[2] == pytest.approx(0.5)
    sampled = SampledStrength(tictactoe).points(one, [other, third])
    assert all(0 <= points <= 1 for points in sampled)
    assert SampledStrength(tictactoe).points(one, [other, third]) == sampled
    shares = {0: {"win": 0.5, "draw": 0.3}, 1: {"win": 0.25, "draw": 0.25}}
    with monkeypatch.context() as with_shares:
        with_shares.setattr(SampledStrength, "_shares", lambda _self, _own, _other, seat: shares[seat])
        assert SampledStrength(tictactoe).points(one, [other]) == pytest.approx([0.5125])

    def refuse(*_args, **_settings):
        raise GameError("too large")

    monkeypatch.setattr(strength, "enumerate_positions", refuse)
    assert isinstance(strength_of(tictactoe), SampledStrength)
