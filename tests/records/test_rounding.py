from dataclasses import replace
from decimal import Decimal

import pytest
from playing import some_games, written

from punish_fast.records.importing import ROUNDED, import_logs
from punish_fast.records.log_fields import roundings_of
from records.test_importing import rows

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
    path.write_text(written(games, "games", int if in_numbers else str))
    return path


@pytest.fixture(scope="module")
def many():
    return some_games(30, seed=5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_rounded_games_are_never_imported_as_other_games(tmp_path, space, many, program):
    """In one log, as numbers or as texts, and each game in its own log."""
    import_logs(space, [write(tmp_path / "y.json", many)], tmp_path / "y.db")
    changed = [rewritten(game, PROGRAMS[program]) for game in many]
    for in_numbers in (True, False):
        log, db = write(tmp_path / "x.json", changed, in_numbers), tmp_path / f"{in_numbers}.db"
        report = import_logs(space, [log], db)
        assert report.imported + report.rejected == len(many)
        assert set(report.count("rejected")) == {ROUNDED}
        assert "53 bits" in next(remark.reason for remark in report.remarks if remark.kind == ROUNDED)
        assert report.imported == 0 or set(rows(db)) <= set(rows(tmp_path / "y.db"))
    others = [other for other, game in zip(changed, many, strict=True) if other != game]
    logs = [write(tmp_path / f"{k}.json", [other]) for k, other in enumerate(others)]
    report = import_logs(space, logs, tmp_path / "z.db")
    assert (report.imported, report.rejected) == (0, len(others))


def test_exact_games_are_imported_alone_and_together(tmp_path, space, many):
    """Also games whose states are doubles by chance: as text, as they are exported."""
    together = write(tmp_path / "x.json", many)
    assert import_logs(space, [together], tmp_path / "x.db").imported == len(many)
    alone = [write(tmp_path / f"{k}.json", [game], in_numbers=False) for k, game in enumerate(many)]
    assert any(roundings_of([*game.winner.states, *game.loser.states]) for game in many)
    report = import_logs(space, alone, tmp_path / "y.db")
    assert (report.imported, report.rejected) == (len(many), 0)
    assert roundings_of([1, 2**53]) == []
    assert roundings_of([101010200220000001]) == []
