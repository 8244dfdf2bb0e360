from __future__ import annotations

import numpy as np
import pytest

from punish_fast.records.choices import Selection, read_choices
from punish_fast.records.database import RecordsError
from records.conftest import run_sql


def test_choices_of_an_original_database_stand_in_order(original):
    choices = read_choices(original, humans_only=False)
    assert len(choices) == 6
    assert choices.game.tolist() == [100, 100, 100, 100, 200, 200]
    assert choices.won.tolist() == [True, True, False, False, True, False]
    assert choices.player.tolist() == ["Ann", "Ann", "Ben", "Ben", "naive", "Ben"]
    assert choices.action.tolist() == [40, 20, 10, 91, 20, 90]
    assert choices.decimal[0] == 101010200220000001
    assert [array.dtype.kind for array in vars(choices).values()] == ["i", "u", "i", "b", "U"]


def test_choices_are_selected(original):
    assert len(read_choices(original)) == 4
    assert len(read_choices(original, winners=True)) == 2
    assert len(read_choices(original, humans_only=False, until=100)) == 4
    assert len(read_choices(original, humans_only=False, until=99)) == 0
    assert set(read_choices(original, humans_only=False, player="Ben").player) == {"Ben"}
    assert read_choices(original, humans_only=False, player="Ben", winners=True).decimal.dtype == np.int64


def test_the_order_that_was_recorded_goes_before_that_of_the_rows(original):
    run_sql(original, "ALTER TABLE breaths ADD COLUMN number INT; UPDATE breaths SET number = 9 - rowid")
    assert read_choices(original).action.tolist() == [20, 40, 91, 10]


def test_unknown_players_and_ids_that_cannot_be_are_refused(original):
    with pytest.raises(RecordsError, match="no player 'Zoe', allowed are Ann, Ben, naive"):
        read_choices(original, player="Zoe")
    run_sql(original, "UPDATE players SET username = 'A' || char(10) || 'nn' WHERE player_id = 1")
    with pytest.raises(RecordsError, match=r"allowed are 'A\\nnn', Ben, naive"):
        read_choices(original, player="Zoe")
    for wrong in ({"game": 2**63}, {"until": -(2**63) - 1}):
        with pytest.raises(RecordsError, match="allowed are whole numbers of 64 bits"):
            Selection(**wrong)


def test_human_choices_that_the_notebook_learned_from(real_db):
    choices = read_choices(real_db, until=1668358800)
    assert len(choices) == 5070
    assert len(np.unique(choices.game)) == 667
    assert len(np.unique(choices.decimal)) == 3991
    assert len(read_choices(real_db, humans_only=False)) == 9382
