"""Puzzle of the day: a position in which the choice that most people make is a mistake.

All users have the same puzzle on the same day in UTC. Each line of ``puzzles.txt`` contains a position under the
standard rules as a state code, and the rating of the puzzle in Elo points. A user with the same rating solves the
puzzle with probability 1/2. A user with rating 0 solves it as often as the recorded human players, according to the
published network of their choices.
"""

from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np

from punish_fast.arena.ratings import rate_against
from punish_fast.play.punish.practice import Question
from punish_fast.punish.codes import from_decimal, layout_of
from punish_fast.punish.rules import PRESETS

FILE = Path(__file__).with_name("puzzles.txt")
RULES = PRESETS["tabletop"]
# The list begins on this day.
_FIRST_DAY = date(2026, 12, 1).toordinal()


# Minimum number of answers for a rating.
FEWEST_RATED = 10


@cache
def ratings() -> dict[int, int]:
    """Return the ratings of all puzzles by state code, in the order of the days."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {int(code): int(rating) for code, rating in map(str.split, lines)}


def puzzle_of(day: date) -> tuple[int, Question, float]:
    """Return the number of a day's puzzle, from 1, its position, and the probability that a typical user solves it.

    After the last puzzle, the first one follows. A typical user has rating 0.
    """
    puzzles = list(ratings().items())
    number = (day.toordinal() - _FIRST_DAY) % len(puzzles)
    code, rating = puzzles[number]
    return number + 1, Question(from_decimal(layout_of(RULES), code), stake=0.0), 1 / (1 + 10 ** (rating / 400))


def puzzle_rating(answers: Sequence[tuple[int, bool]]) -> dict[str, float | None]:
    """Return the number of a user's answers to known puzzles, the user's Elo rating and its margin.

    After fewer than `FEWEST_RATED` answers, there is no rating and no margin (None). Each of the ``answers`` contains
    the state code of the puzzle, and True if the answer was right.
    """
    known = [(ratings()[state], is_right) for state, is_right in answers if state in ratings()]
    report: dict[str, float | None] = {"answers": len(known), "rating": None, "rating_margin": None}
    if len(known) >= FEWEST_RATED:
        opponents, scores = np.array(known, dtype=np.float64).T
        report["rating"], report["rating_margin"] = rate_against(opponents, scores)
    return report
