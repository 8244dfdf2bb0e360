"""The round-robin tournament of policies: exact points of every pair, and the ranking.

A win counts 1 point, a draw or endless play 1/2. The points of a pair are the mean of both seats, and the score of an
agent is its mean over all others. Perfect play never gives away value, but among actions of equal value it does not
look for the one on which an opponent errs. An agent with mistakes may therefore score more than one without any.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from punish_fast.games.matches import exact_score
from punish_fast.games.positions import Positions

# The points of an agent against each agent after it, by name.
Row = dict[str, float]


def pair_points(positions: Positions, own: np.ndarray, other: np.ndarray) -> float:
    """The expected points of the policy ``own`` against ``other``, 0 to 1."""
    return (exact_score(positions, own, other).points + 1 - exact_score(positions, other, own).points) / 2


def score_table(names: list[str], rows: Mapping[str, Row]) -> np.ndarray:
    """The points of the row's agent against the column's, float64 ``[n, n]``, from those of every pair."""
    table = np.full((len(names), len(names)), 0.5)
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        table[i, j] = rows[one][other]
        table[j, i] = 1 - table[i, j]
    return table


def rank(names: list[str], rows: Mapping[str, Row]) -> list[tuple[str, float]]:
    """The agents and their scores, 0 to 1, best first, equal ones by name."""
    others = ~np.eye(len(names), dtype=np.bool_)
    scores = score_table(names, rows).mean(axis=1, where=others).tolist()
    return sorted(zip(names, scores, strict=True), key=lambda place: (-place[1], place[0]))
