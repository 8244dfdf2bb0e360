"""Lengths of the games of two agents, for ``arena``: by measure, and by breath of the measure.

Exact results include who wins in each measure; simulated games are only counted by their length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.report import print_table

if TYPE_CHECKING:
    import numpy as np

# Measures that a smaller share of games reaches are not printed.
_LEAST = 5e-4


def lengths_of_duel(outcomes: np.ndarray) -> list[dict[str, Any]]:
    """Return when exact games end, by measure.

    Args:
        outcomes: float64 ``[measures, breaths, 2]``, probability that the first and the second agent win in each
            breath.
    """
    entries = _entries(outcomes.sum(axis=2))
    for entry, wins in zip(entries, outcomes.sum(axis=1).tolist(), strict=True):
        entry["wins"] = wins
    return entries


def lengths_of_games(lengths: np.ndarray, breaths: int) -> list[dict[str, Any]]:
    """Return when simulated games end, by measure of ``breaths``.

    ``lengths`` is int64 ``[longest + 1]``, the number of games by their length in breaths.
    """
    import numpy as np

    ended = np.pad(lengths[1:], (0, -(len(lengths) - 1) % breaths)).reshape(-1, breaths)
    return _entries(ended / lengths.sum())


def _entries(ended: np.ndarray) -> list[dict[str, Any]]:
    # Summed from the end, so that small remainders are exact.
    total = ended.sum(axis=1)
    going_on = [*total[::-1].cumsum()[::-1][1:].tolist(), 0.0]
    return [
        {"measure": number, "ended": each, "going_on": left, "wins": None}
        for number, (each, left) in enumerate(zip(ended.tolist(), going_on, strict=True), 1)
    ]


def print_lengths(entries: list[dict[str, Any]], agents: list[str]) -> None:
    """Print one line for each measure that games reach."""
    breaths, has_wins = len(entries[0]["ended"]), entries[0]["wins"] is not None
    columns = [f"{agent} wins" for agent in agents] if has_wins else ["ended"]
    rows = [["measure", *columns, "continue", *(f"breath {k}" for k in range(1, breaths + 1))]]
    reached = 1.0
    for entry in entries:
        if reached < _LEAST:
            break
        reached = entry["going_on"]
        ended = entry["wins"] if has_wins else [sum(entry["ended"])]
        rows.append([str(entry["measure"]), *(f"{share:.2%}" for share in (*ended, reached, *entry["ended"]))])
    print_table(rows)
