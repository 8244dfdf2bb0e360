"""How strong networks are: exact measures against sampled ones, and against policies that are known."""

from importlib.util import find_spec

import numpy as np
import pytest

from punish_fast.games.contract import GameError
from punish_fast.games.learn import strength
from punish_fast.games.learn.dqn import values_of
from punish_fast.games.learn.networks import Architecture, random_weights
from punish_fast.games.learn.qlearning import assess
from punish_fast.games.learn.strength import SampledStrength, strength_of
from punish_fast.games.registry import make_game, vectorise
from punish_fast.games.solve.retrograde import solve_game

pytestmark = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")

SHAPE = Architecture((2, 3, 3), (), (8,), 9)
ENDINGS = {"win", "draw", "loss", "illegal"}


@pytest.fixture(scope="module")
def tictactoe():
    return vectorise(make_game("tictactoe", {}))


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
    wanted = assess(exact.positions, solve_game(exact.positions), policy)
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
    assert exact.judge(values, True)["keeps_value"] == pytest.approx(measures["perfect"])
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
