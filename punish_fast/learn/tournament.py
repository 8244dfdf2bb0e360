"""Tournaments of policies: everybody meets everybody, in both seats, exactly.

What comes of a meeting is worked out rather than played (``games/meeting.py``). A win is a point, a draw half of one,
and play without end is a draw; the points of a pair are the mean over both seats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from punish_fast.games.matches import meet
from punish_fast.games.positions import Positions


@dataclass(frozen=True)
class Place:
    """An agent's place in the ranking.

    Attributes:
        agent: Its name.
        score: Mean points against each of the others, from 0 to 1.
    """

    agent: str
    score: float


def points(positions: Positions, own: np.ndarray, other: np.ndarray) -> float:
    """The points of ``own`` against ``other``, from 0 to 1."""
    return (meet(positions, own, other).score + 1 - meet(positions, other, own).score) / 2


def rank(names: list[str], table: np.ndarray) -> list[Place]:
    """Agents by score, the best one first, equals by name.

    Args:
        names: Of two agents or more.
        table: float64 ``[n, n]``, points of the row against the column; the diagonal does not count.
    """
    others = ~np.eye(len(names), dtype=np.bool_)
    scores = table.mean(axis=1, where=others).tolist()
    places = [Place(name, score) for name, score in zip(names, scores, strict=True)]
    return sorted(places, key=lambda place: (-place.score, place.agent))


def table_of(names: list[str], known: Mapping[str, Mapping[str, float]]) -> np.ndarray:
    """Points as a table, float64 ``[n, n]``, from those of pairs: ``known[one][other]``, ``one`` being first."""
    table = np.full((len(names), len(names)), 0.5)
    for i, one in enumerate(names):
        for j in range(i + 1, len(names)):
            table[i, j] = known[one][names[j]]
            table[j, i] = 1 - table[i, j]
    return table
