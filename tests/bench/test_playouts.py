from __future__ import annotations

import numpy as np

from bench import _playouts, playouts
from punish_fast.games.registry import make_game, vectorise


def test_every_legal_action_has_the_same_share():
    legal = np.array([[False, True, True, False, True]] * 6 + [[False, False, False, False, True]])
    action = np.empty(7, dtype=np.int64)
    _playouts.choose(legal, np.array([0, 0.3, 0.34, 0.6, 0.67, 0.999, 0.5], dtype=np.float32), action)
    assert action.tolist() == [1, 1, 2, 2, 4, 4, 4]


def test_random_games_are_won_as_often_as_they_should():
    vector = vectorise(make_game("tictactoe", {}))
    speed = playouts.play(vector, 0.3)
    assert 5 <= speed.moves / speed.games <= 9
    assert abs(speed.first - 0.584920634921) <= 4 * (0.25 / speed.games) ** 0.5


def test_random_games_of_gwent_are_as_long_and_as_often_won_as_they_can_be():
    speed = playouts.play_gwent("random", 0.05)
    # Between two passes in each of two rounds, and sixteen cards and three passes of each player.
    assert 4 <= speed.moves / speed.games <= 2 * (16 + 3)
    # Players are equal, and some 3 % of games are ties.
    assert abs(speed.first - 0.485) <= 0.005 + 4 * (0.25 / speed.games) ** 0.5


def test_a_table_has_a_row_for_each_game(capsys):
    assert playouts.main(["tictactoe", "tapnswap", "incan-gold", "gwent", "--seconds", "0.05"]) == 0
    lines = capsys.readouterr().out.splitlines()
    temples = ["incan-gold, at random", "incan-gold, leave at 8"]
    duels = ["gwent, at random", "gwent, rule of thumb"]
    assert [line.split("|")[1].strip() for line in lines] == ["game", "---", "tictactoe", "tapnswap", *temples, *duels]
