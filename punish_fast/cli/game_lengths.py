"""When games of two agents end, for ``arena``: measure by measure, and in which breath of it.

Exact chances come with who wins then; of simulated games only their lengths are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from punish_fast.cli.report import print_table

# Measures that fewer games reach are not printed.
_LEAST = 5e-4


def course_of_chances(law: np.ndarray) -> list[dict[str, Any]]:
    """What each measure contributes, ready for JSON.

    Args:
        law: float64 ``[measures, breaths, 2]``, the chances that the first agent and the second one win in each breath.
    """
    course = _course(law.sum(axis=2))
    for entry, wins in zip(course, law.sum(axis=1).tolist(), strict=True):
        entry["wins"] = wins
    return course


def course_of_games(lengths: np.ndarray, breaths: int) -> list[dict[str, Any]]:
    """The same of simulated games, without who wins.

    Args:
        lengths: int64 ``[longest + 1]``, games by how many breaths they lasted.
        breaths: Breaths of a measure.
    """
    ended = lengths[1:]
    ended = np.pad(ended, (0, -len(ended) % breaths)).reshape(-1, breaths)
    return _course(ended / lengths.sum())


def _course(ended: np.ndarray) -> list[dict[str, Any]]:
    # From the end, so that few games that go on are not lost among many that ended.
    total = ended.sum(axis=1)
    going_on = np.append(np.cumsum(total[::-1])[::-1][1:], 0.0)
    return [
        {"measure": number, "ended": each, "going_on": left, "wins": None}
        for number, (each, left) in enumerate(zip(ended.tolist(), going_on.tolist(), strict=True), 1)
    ]


def print_course(course: list[dict[str, Any]], agents: list[str]) -> None:
    """Print how games go, one line for each measure that is reached at all."""
    breaths, has_wins = len(course[0]["ended"]), course[0]["wins"] is not None
    columns = [f"{agent} wins" for agent in agents] if has_wins else ["ended"]
    rows = [["measure", *columns, "going on", *(f"breath {k}" for k in range(1, breaths + 1))]]
    reached = 1.0
    for entry in course:
        if reached < _LEAST:
            break
        reached = entry["going_on"]
        ends = entry["wins"] if has_wins else [sum(entry["ended"])]
        rows.append([str(entry["measure"]), *(f"{chance:.2%}" for chance in (*ends, reached, *entry["ended"]))])
    print_table(rows)
