"""Puzzle of the day: a position in which the choice that most people make is a mistake.

All users have the same puzzle on the same day in UTC. ``puzzles.txt`` contains the positions as state codes, one per
line, for the standard rules.
"""

from datetime import date
from functools import cache
from pathlib import Path

from punish_fast.play.punish.practice import Question
from punish_fast.punish.codes import from_decimal, layout_of
from punish_fast.punish.rules import PRESETS

FILE = Path(__file__).with_name("puzzles.txt")
RULES = PRESETS["tabletop"]
# The list begins on this day.
_FIRST_DAY = date(2026, 12, 1).toordinal()


@cache
def codes() -> tuple[str, ...]:
    """Return the state codes of all puzzles."""
    return tuple(FILE.read_text(encoding="utf-8").split())


def puzzle_of(day: date) -> tuple[int, Question]:
    """Return the number of a day's puzzle, from 1, and its position. After the last puzzle, the first one follows."""
    number = (day.toordinal() - _FIRST_DAY) % len(codes())
    return number + 1, Question(from_decimal(layout_of(RULES), int(codes()[number])), stake=0.0)
