"""Whole games, played and traced again; matches, and the best threshold responders of Incan Gold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from punish_fast.games.enumeration.vector_games import VectorPositions
from punish_fast.games.episodes import (
    NONE,
    EpisodeError,
    ValueMover,
    drawn_actions,
    first_best_actions,
    match_of,
    play,
    play_match,
    play_out,
    random_mover,
    retrace,
    softmax,
)
from punish_fast.games.gwent.decks import DEFAULT_DECK, deck_rows
from punish_fast.games.gwent.movers import play_games, rule_player
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.incan_gold.movers import best_responder, player_named
from punish_fast.games.registry import make_game, vector_game
from punish_fast.games.tapnswap import TapnSwap, Variant


@pytest.fixture
def generator():
    return np.random.default_rng(5)


def lowest(states):
    return np.tile(-np.arange(9.0), (len(states), 1))


@pytest.mark.parametrize(("name", "max_plies"), [("tictactoe", 9), ("incan-gold", 500)])
def test_traces_agree_with_the_game(name, max_plies, generator):
    vector = vector_game(make_game(name, {}))
    action = play(vector, [random_mover] * vector.game.n_players, 50, generator, max_plies)
    played, game = retrace(vector, action), vector.game
    for number, actions in enumerate(action):
        state = game.initial()
        for ply, each in enumerate(actions[actions != NONE].tolist()):
            assert played.player[number, ply] == game.player(state)
            state = game.apply(state, each)
        assert played.is_over[number]
        assert game.is_terminal(state)
        assert played.returns[number].tolist() == list(game.returns(state))
    assert played.is_legal[action != NONE].all()


def test_seats_move_by_their_own_values_and_illegal_actions_end_a_game(tictactoe, generator):
    action = play(tictactoe, [ValueMover(lowest), ValueMover(lambda states: -lowest(states))], 3, generator, 9)
    assert action.tolist() == [[0, 8, 1, 7, 2]] * 3
    action = play(tictactoe, [ValueMover(lowest, keeps_rules=False)] * 2, 2, generator, 9)
    assert action.tolist() == [[0, 0]] * 2
    played = retrace(tictactoe, action)
    assert played.is_legal.tolist() == [[True, False]] * 2
    assert not played.is_over.any()
    assert not played.returns.any()


def test_openings_are_random_and_long_games_stop(tictactoe, generator):
    action = play(tictactoe, [ValueMover(lowest)] * 2, 200, generator, 9, n_random=2)
    assert len(np.unique(action[:, :2], axis=0)) > 50
    assert len(np.unique(action, axis=0)) == len(np.unique(action[:, :2], axis=0))
    vector = VectorPositions(TapnSwap(Variant(rolls_over=True)))
    action = play(vector, [random_mover] * 2, 20, generator, 6)
    assert action.shape == (20, 6)
    assert not retrace(vector, action).is_over.all()


def test_chance_draws_by_its_probabilities(generator):
    vector = vector_game(make_game("incan-gold", {}))
    cards = play(vector, [random_mover] * 3, 4000, generator, 1)[:, 0]
    (expected,) = vector.probabilities(vector.initial(1))
    assert np.bincount(cards, minlength=len(expected)) / len(cards) == pytest.approx(expected, abs=0.02)


def test_whole_games_have_the_returns_of_the_rules_and_illegal_actions_lose(tictactoe, generator):
    orderly = play_out(tictactoe, [ValueMover(lowest)] * 2, 2, generator, 9)
    assert orderly.tolist() == [[1, -1]] * 2
    careless = play_out(tictactoe, [ValueMover(lowest), ValueMover(lowest, keeps_rules=False)], 2, generator, 9)
    assert careless.tolist() == [[0, -1]] * 2
    with pytest.raises(EpisodeError, match=r"^max_plies: 3 is too low; 2 of 2 games are not over$"):
        play_out(tictactoe, [ValueMover(lowest)] * 2, 2, generator, 3)


@pytest.mark.parametrize(
    ("name", "action", "text"),
    [
        # The artifact is drawn for a second time; a player answers with a card.
        ("incan-gold", [16, 1, 1, 1, 16], "a chance event is impossible"),
        ("incan-gold", [16, 2], "actions of players must be from 0 to 1"),
        ("tictactoe", [9], "actions must be from -1 to 8"),
        ("tictactoe", [-2], "actions must be from -1 to 8"),
        ("tictactoe", [0, NONE, 1], "an action follows the end of its game"),
        ("tictactoe", [0, 0, 1], "an action follows the end of its game"),
        ("tictactoe", [0, 3, 1, 4, 2, 5], "an action follows the end of its game"),
    ],
)
def test_what_are_no_games_is_refused(name, action, text):
    with pytest.raises(EpisodeError, match=text):
        retrace(vector_game(make_game(name, {})), np.array([action], dtype=np.int16))


def test_first_places_are_shared():
    returns = [[1, -1, -1], [0, 0, -1], [0, 0, 0], [-1, 1, -1], [-1, 0, 0], [0, -1, 0]]
    match = match_of(np.array(returns, dtype=np.float32))
    assert (match.games, match.win, match.tie, match.loss) == (6, 1 / 6, 3 / 6, 2 / 6)
    assert match.first == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 2) / 6)
    assert match.errors["win"] == pytest.approx(np.sqrt(5 / 36 / 6))


def test_the_player_sits_everywhere_equally_often():
    vector, asked = IncanGold().vector, []

    def player(states, _legal, _generator):
        asked.append(vector.player(states))
        return np.zeros(len(states), dtype=np.int64)

    # It leaves after the first card of each round.
    found = play_match(vector, player, player_named("random"), 31)
    assert {name: each.games for name, each in found.items()} == {"first": 11, "second": 11, "third": 11, "all": 33}
    assert np.bincount(np.concatenate(asked)).tolist() == [55, 55, 55]


@pytest.mark.compiled
def test_the_best_responder_is_found():
    found = best_responder(IncanGold().vector, player_named("leave-at-12"), 600, seed=1, thresholds=(2, 8, 30))
    assert found.leave_at == 8
    assert len(found.tried) == 3
    assert found.tried[1] == max(found.tried)
    # Other games than those that chose it.
    assert found.match.first != found.tried[1]
    # Shares of games won alone and of first places against two of leave-at-12, in two million games.
    assert abs(found.match.win - 0.8225) < 4 * found.match.errors["win"]
    assert abs(found.match.first - 0.8419) < 4 * found.match.errors["first"]


def test_illegal_actions_lose():
    vector = vector_game(make_game("gwent", {}))
    found = play_match(vector, lambda states, _legal, _generator: np.full(len(states), 10), rule_player, 20)
    # A full hand has a tenth slot, the next one has none.
    assert (found["both"].win, found["both"].tie, found["both"].loss) == (0, 0, 1)
    found = play_match(vector, rule_player, lambda states, _legal, _generator: np.full(len(states), 10), 20)
    assert (found["both"].win, found["both"].tie, found["both"].first) == (1, 0, 1)


@pytest.mark.compiled
def test_matches_agree_with_the_kernel_of_games():
    vector = vector_game(make_game("gwent", {}))
    found = play_match(vector, rule_player, random_mover, 1000, seed=5)["both"]
    pairs = deck_rows([DEFAULT_DECK] * 2)[np.newaxis]
    returns = play_games(pairs, ("rule-of-thumb", "random"), 20_000, seed=7).returns
    known = match_of(np.stack([returns, -returns], axis=1))
    for name in ("win", "tie", "loss"):
        # Few ties leave an error of its own uncertain.
        error = (max(found.errors[name], 0.0005) ** 2 + known.errors[name] ** 2) ** 0.5
        assert abs(getattr(found, name) - getattr(known, name)) < 4 * error


N = 4000
LEGAL = np.tile([True, False, True, True], (N, 1))
STATES = np.zeros((N, 1), dtype=np.uint64)


def rising(states):
    """The values of four actions; the greatest is illegal, and the last two are equal."""
    return np.tile(np.array([0.0, 9.0, 2.0, 2.0], dtype=np.float32), (len(states), 1))


def shares(actions):
    return np.bincount(actions, minlength=4) / len(actions)


def test_greedy_play_takes_the_best_but_for_epsilon(generator):
    even = [1 / 3, 0, 1 / 3, 1 / 3]
    for epsilon, keeps_rules, wanted in ((0, True, np.eye(4)[2]), (0, False, np.eye(4)[1]), (1, True, even)):
        found = shares(ValueMover(rising, 0, epsilon, keeps_rules)(STATES, LEGAL, generator))
        assert found == pytest.approx(wanted, abs=0.03)
    assert shares(random_mover(STATES, LEGAL, generator)) == pytest.approx(even, abs=0.03)
    values = np.array([[1.0, 2.0, 2.0], [5.0, 2.0, 2.0]])
    assert first_best_actions(values, np.array([[True] * 3, [False, True, True]])).tolist() == [1, 1]


def test_mixed_play_follows_the_values(generator):
    found = shares(ValueMover(rising, 2.0)(STATES, LEGAL, generator))
    low, high = np.exp([0.0, 1.0]) / np.exp([0.0, 1.0, 1.0]).sum()
    assert found == pytest.approx([low, 0, high, high], abs=0.03)
    found = shares(ValueMover(rising, 2.0, epsilon=0.6)(STATES, LEGAL, generator))
    assert found == pytest.approx(0.4 * np.array([low, 0, high, high]) + np.array([0.2, 0, 0.2, 0.2]), abs=0.03)
    assert shares(ValueMover(rising, 0.1, keeps_rules=False)(STATES, LEGAL, generator))[1] == 1
    for temperature, wanted in ((1e-310, [0, 0, 0, 1]), (1e-9, [0, 0, 0, 1]), (1e9, [1 / 3, 0, 1 / 3, 1 / 3])):
        assert softmax(np.array([[-1.0, 9.0, 0.5, 1.0]]), LEGAL[:1], temperature)[0] == pytest.approx(wanted)


@given(arrays(np.float64, (3, 4), elements=st.floats(-50, 50)), st.floats(0.01, 100))
def test_probabilities_add_up_and_never_break_rules(values, temperature):
    found = softmax(values, LEGAL[:3], temperature)
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    assert not found[:, 1].any()
    # A higher value is never less likely.
    legal, likely = values[:, [0, 2, 3]], found[:, [0, 2, 3]]
    assert (np.diff(np.take_along_axis(likely, legal.argsort(axis=1), axis=1)) >= -1e-12).all()


@given(arrays(np.float64, (5, 4), elements=st.sampled_from([0.0, 1e-300, 0.1, 3.0])), st.integers(0, 99))
def test_what_has_no_weight_is_never_drawn(weights, seed):
    weights[:, 2] = 0.3
    found = drawn_actions(weights, np.random.default_rng(seed))
    assert (weights[np.arange(5), found] > 0).all()
