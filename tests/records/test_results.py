from __future__ import annotations

import pytest

from punish_fast.records.choices import Selection
from punish_fast.records.database import RecordsError
from punish_fast.records.results import read_results


def test_results_of_an_original_database(original):
    results = read_results(original)
    assert results.game.tolist() == [100, 200]
    assert results.winner.tolist() == ["Ann", "naive"]
    assert results.loser.tolist() == ["Ben", "Ben"]
    assert results.winner_is_bot.tolist() == [False, True]
    assert results.loser_is_bot.tolist() == [False, False]
    assert results.n_breaths.tolist() == [2, 1]
    assert results.choice_game.tolist() == [100] * 4 + [200] * 2
    assert len(results.decimal) == 6


def test_results_agree_with_the_games(db, games):
    results = read_results(db)
    assert results.n_breaths.tolist() == [len(game.winner.number) for game in games]
    assert results.winner.tolist() == [game.winner.name for game in games]
    assert read_results(db, Selection(humans_only=True)).winner_is_bot.sum() == 0
    chosen = read_results(db, Selection(player="Ann"))
    assert len(chosen) == sum("Ann" in (game.winner.name, game.loser.name) for game in games)
    assert set(chosen.choice_game.tolist()) == set(chosen.game.tolist())


def test_no_games_are_no_error(db):
    results = read_results(db, Selection(until=5))
    assert len(results) == 0
    assert all(len(array) == 0 for array in vars(results).values())
    with pytest.raises(RecordsError, match="there is no player 'Zoe'"):
        read_results(db, Selection(player="Zoe"))
