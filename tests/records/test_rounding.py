from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from playing import some_games, written

from punish_fast.records.importing import ROUNDED, import_logs
from punish_fast.records.log_fields import may_be_rounded

# Programs that read numbers as doubles, by their way to write them: in full, shortest, by digits.
PROGRAMS = {
    "all digits": lambda code: int(float(code)),
    "shortest": lambda code: int(Decimal(repr(float(code)))),
    "17 digits": lambda code: int(Decimal(f"{float(code):.17g}")),
    "16 digits": lambda code: int(Decimal(f"{float(code):.16g}")),
    "15 digits": lambda code: int(Decimal(f"{float(code):.15g}")),
}


def rewritten(game, rounding):
    winner, loser = (replace(side, states=tuple(map(rounding, side.states))) for side in (game.winner, game.loser))
    return replace(game, winner=winner, loser=loser)


def write(path, games, in_numbers=True):
    """Write the layout by game."""
    path.write_text(written(games, "games", int if in_numbers else str))
    return path


@pytest.fixture(scope="module")
def many():
    return some_games(30, seed=5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_rounded_games_are_not_imported(tmp_path, space, many, program):
    games = [rewritten(game, PROGRAMS[program]) for game in many]
    for in_numbers in (True, False):
        log = write(tmp_path / f"{in_numbers}.json", games, in_numbers)
        report = import_logs(space, [log], tmp_path / "x.db")
        assert (report.imported, report.count("rejected")) == (0, {ROUNDED: len(many)})
        assert "53-bit" in report.remarks[0].reason


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_game_that_is_rounded_is_not_imported_as_another(tmp_path, space, many, program):
    """Each game in a log of its own."""
    games = [game for game in many if rewritten(game, PROGRAMS[program]) != game]
    logs = [write(tmp_path / f"{k}.json", [rewritten(game, PROGRAMS[program])]) for k, game in enumerate(games)]
    report = import_logs(space, logs, tmp_path / "x.db")
    assert (report.imported, report.rejected) == (0, len(games))


def test_exact_games_are_imported_alone_and_together(tmp_path, space, many):
    """Also games whose states are doubles by chance: as text, as they are exported."""
    together = write(tmp_path / "x.json", many)
    assert import_logs(space, [together], tmp_path / "x.db").imported == len(many)
    alone = [write(tmp_path / f"{k}.json", [game], in_numbers=False) for k, game in enumerate(many)]
    assert any(may_be_rounded([*game.winner.states, *game.loser.states]) for game in many)
    report = import_logs(space, alone, tmp_path / "y.db")
    assert (report.imported, report.rejected) == (len(many), 0)


def test_numbers_that_are_small_are_not_rounded():
    assert not may_be_rounded([1, 2**53])
    assert not may_be_rounded([101010200220000001])
    assert may_be_rounded([101010200220000000, 1])
