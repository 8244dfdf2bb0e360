"""Games that run simultaneously, with chance events drawn."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from punish_fast.games.contract import GameError
from punish_fast.games.episodes import random_mover
from punish_fast.games.registry import GAMES, make_game, vector_game
from punish_fast.games.running_games import RunningGames

MADE = {name: make_game(name, {"limit": 3} if name == "tapnswap" else {}) for name in GAMES}


def some_steps(games, n_steps, seed):
    """Choose random legal actions and restart finished games. Return the states, and the returns of finished games."""
    rng, states, returns = np.random.default_rng(seed), [], []
    for _ in range(n_steps):
        games.step(random_mover(games.states, games.legal, rng))
        states.append(games.states)
        over = games.is_over
        returns.append(games.returns[over])
        games.restart(over)
    return np.array(states), np.concatenate(returns)


@pytest.mark.parametrize("game", MADE.values(), ids=MADE)
def test_a_player_is_to_move_until_the_game_is_over(game):
    vector = vector_game(game)
    games, rng = RunningGames(game, 50, seed=1), np.random.default_rng(2)
    for _ in range(120):
        live = ~games.is_over
        assert (games.player[live] >= 0).all()
        assert np.array_equal(games.legal, vector.legal(games.states))
        assert np.array_equal(games.legal.any(axis=1), live)
        assert np.array_equal(games.features(), vector.features(games.states))
        assert not games.returns[live].any()
        games.step(random_mover(games.states, games.legal, rng))
    assert (~live).any()


@pytest.mark.parametrize("game", MADE.values(), ids=MADE)
def test_seeds_determine_games(game):
    first, second = (some_steps(RunningGames(game, 20, seed=4), 30, seed=5) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    if not game.is_open:
        assert not np.array_equal(first[0], some_steps(RunningGames(game, 20, seed=6), 30, seed=5)[0])


def test_random_games_end_as_often_as_known():
    _, returns = some_steps(RunningGames(MADE["tictactoe"], 500), 60, seed=7)
    # The exact probabilities of both players' wins are 0.5849 and 0.2881.
    shares = (returns == 1).mean(axis=0)
    assert shares == pytest.approx([0.5849, 0.2881], abs=4 * 0.5 / np.sqrt(len(returns)))


def test_only_chosen_games_move():
    games = RunningGames(MADE["connect4"], 3)
    games.step(np.array([3, 9, 9]), np.array([True, False, False]))
    assert games.player.tolist() == [1, 0, 0]
    games.step(np.array([3, 3, 3]), np.zeros(3, bool))
    assert games.player.tolist() == [1, 0, 0]
    games.restart(np.array([True, True, False]))
    assert games.player.tolist() == [0, 0, 0]


def test_invalid_arguments_are_refused_and_change_nothing():
    games = RunningGames(MADE["connect4"], 2)
    for actions, message in (
        ([0, 7], "actions: 7 is illegal in game 1; legal: 0, 1, 2, 3, 4, 5, 6"),
        ([-1, 0], "actions: -1 is illegal in game 0; legal: 0, 1"),
        ([0.0, 0.0], "actions: must be 2 integers, one for each game"),
        ([0], "actions: must be 2 integers"),
        (None, "actions: must be 2 integers"),
    ):
        with pytest.raises(GameError, match=message):
            games.step(actions)
    for mask in ([True], [1, 0], "all"):
        with pytest.raises(GameError, match=r"which: .* is not allowed; it must be bool \(2,\)"):
            games.restart(mask)
    for column in (0, 1, 0, 1, 0, 1, 0):
        games.step([column, 3], np.array([True, False]))
    assert (games.is_over.tolist(), games.returns.tolist()) == ([True, False], [[1, -1], [0, 0]])
    with pytest.raises(GameError, match="actions: 2 is illegal in game 0; the game is over"):
        games.step([2, 2], np.array([True, True]))
    games.step([99, 2])
    assert games.player[1] == 1
    with pytest.raises(GameError, match="n_games: -3 is not allowed; it must be an integer from 1 to"):
        RunningGames(MADE["gwent"], -3)
    for seed in (-1, 2**64, None, "x"):
        with pytest.raises(GameError, match=r"seed: .* is not allowed; it must be an integer from 0 to 2.64 - 1"):
            RunningGames(MADE["gwent"], 2, seed)
    games.legal[:] = True
    games.states[:] = 0
    assert not games.legal[0].any()


def refuse_illegal_calls(n_calls):
    script = Path(__file__).with_name("illegal_calls.py")
    done = subprocess.run([sys.executable, script, str(n_calls), "1"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{n_calls} refused\n"), done.stderr


def test_illegal_calls_never_crash():
    refuse_illegal_calls(2000)


@pytest.mark.slow
def test_a_hundred_thousand_illegal_calls_never_crash():
    refuse_illegal_calls(100_000)
