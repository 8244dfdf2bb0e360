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


def test_a_table_has_a_row_for_each_game(capsys):
    assert playouts.main(["tictactoe", "tapnswap", "incan-gold", "--seconds", "0.05"]) == 0
    lines = capsys.readouterr().out.splitlines()
    temples = ["incan-gold, at random", "incan-gold, leave at 8"]
    assert [line.split("|")[1].strip() for line in lines] == ["game", "---", "tictactoe", "tapnswap", *temples]
