"""What games teach."""

import numpy as np
import pytest
from games.small import Corridor

from punish_fast.games.learn.dqn import Samples, drawn_samples, samples_of
from punish_fast.games.learn.episodes import NONE, play, random_mover, retrace
from punish_fast.games.registry import make_game, vectorise
from punish_fast.games.solve.vector_games import vectorise_positions

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def tictactoe():
    return vectorise(make_game("tictactoe", {}))


def games(*actions):
    width = max(map(len, actions))
    return np.array([[*each, *[NONE] * (width - len(each))] for each in actions], dtype=np.int16)


WON = [0, 3, 1, 4, 2]
DRAWN = [0, 1, 2, 4, 3, 5, 7, 6, 8]


def test_returns_and_differences_of_whole_games(tictactoe):
    samples = samples_of(tictactoe, games(WON), "mc", 0.5)
    assert samples.action.tolist() == WON
    assert samples.value.tolist() == [0.25, -0.5, 0.5, -1, 1]
    assert not samples.sign.any()
    samples = samples_of(tictactoe, games(WON, DRAWN), "td", 0.5)
    assert samples.value.tolist() == [0, 0, 0, 0, 1] + [0] * 9
    assert samples.sign.tolist() == [-1] * 4 + [0] + [-1] * 8 + [0]
    # The state after an action is the one before the next.
    assert np.array_equal(samples.after[:4], samples.state[1:5])
    assert not samples_of(tictactoe, games(WON[:3]), "mc", 0.5).value.any()
    assert samples_of(tictactoe, games(WON[:3]), "td", 0.5).sign.tolist() == [-1, -1, -1]


def test_samples_of_illegal_actions_and_kept_turns(tictactoe):
    for target, n_samples in (("mc", 1), ("td", 3)):
        samples = samples_of(tictactoe, games([0, 1, 0]), target, 0.5)
        assert len(samples.value) == n_samples
        assert (samples.action[-1], samples.value[-1], samples.sign[-1]) == (0, -1, 0)
        assert not samples.value[:-1].any()
    vector = vectorise_positions(Corridor({3: 1.0}, keeps=True))
    # From 0 the mover steps on and keeps the turn, from 1 it steps on and passes it, from 2 it ends the game.
    action = games([1, 0, 1])
    differences, returns = (samples_of(vector, action, target, 0.5) for target in ("td", "mc"))
    assert differences.sign.tolist() == [1, -1, 0]
    assert returns.value.tolist() == [-0.5, -1, 1]
    assert differences.value.tolist() == [0, 0, 1]


def test_samples_are_drawn_from_all_parts_as_if_they_were_one(tictactoe):
    parts = [samples_of(tictactoe, games(*each), "td", 0.5) for each in ([WON], [WON, DRAWN], [DRAWN])]
    joined = Samples(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    drawn = np.random.default_rng(3).integers(len(joined.state), size=100)
    for found, wanted in zip(drawn_samples(parts, drawn), joined, strict=True):
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted[drawn])


def test_three_players_learn_from_a_trajectory_each_and_chance_from_none():
    vector = vectorise(make_game("incan-gold", {}))
    action = play(vector, [random_mover] * 3, 20, np.random.default_rng(4), 500)
    played, samples = retrace(vector, action), samples_of(vector, action, "mc", 1.0)
    moves = played.player >= 0
    assert samples.action.tolist() == action[(action != NONE) & moves].tolist()
    owner = np.nonzero((action != NONE) & moves)
    assert samples.value.tolist() == played.returns[owner[0], played.player[owner]].tolist()
    assert samples.after.shape == (len(samples.value), 0)
