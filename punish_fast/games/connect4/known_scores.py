"""Positions of Connect Four with the score of every move, to judge players by.

There are four sets of 1,000 positions, made by random play and scored by our solver (``bench/make/connect4.py``). In
*ends* there are 26 to 32 stones, in *middles* 14 to 24. *Easy* positions end within 12 moves of perfect play; *hard*
ones end later, or in a draw.

A policy is judged by the shares of positions in which it keeps the value, and in which it makes a move of the best
score. Random play and search of limited depth are yardsticks; the scores tell what such a search would see.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punish_fast.games.connect4.game import Connect4State
from punish_fast.games.connect4.solver import MOST

SETS = ("easy-ends", "hard-ends", "easy-middles", "hard-middles")
# The stones of ends and middles, and the last move at which an easy position ends.
STONES = {"ends": (26, 32), "middles": (14, 24)}
EASY_PLIES = 12
# In place of the score of a full column.
FULL = -128
FILE = Path(__file__).with_name("known_scores.npz")


class PositionSet(NamedTuple):
    """Positions, none of which is over, or won with the next stone."""

    boards: np.ndarray  # uint64 ``[n, 2]``, the words of `connect4.Connect4State`.
    scores: np.ndarray  # int8 ``[n, 7]``, of the move into each column (see ``solver.py``), or `FULL`.

    @property
    def states(self) -> list[Connect4State]:
        """The positions."""
        return [Connect4State(own, filled) for own, filled in self.boards.tolist()]

    @property
    def score(self) -> np.ndarray:
        """int8 ``[n]``: the scores of the positions."""
        return np.asarray(self.scores.max(axis=1))

    def keeps_value(self) -> np.ndarray:
        """Whether the move into each column wins, draws or loses as the best one does, bool ``[n, 7]``."""
        kept = np.sign(self.scores) == np.sign(self.score)[:, np.newaxis]
        return np.asarray(kept & (self.scores != FULL))

    def is_best(self) -> np.ndarray:
        """Whether the move into each column has the best score, bool ``[n, 7]``."""
        return np.asarray(self.scores == self.score[:, np.newaxis])


class Shares(NamedTuple):
    """Strength of a policy in a set."""

    keeps_value: float  # Share of positions in which its move keeps the value: win, draw or loss.
    best_score: float  # Share of positions in which its move has the best score.


def shares(found: PositionSet, policy: np.ndarray) -> Shares:
    """Judge a policy.

    Args:
        policy: float64 ``[n, 7]``, the probability of each column; a full one is a mistake.
    """
    total = len(policy)
    return Shares(float(policy[found.keeps_value()].sum() / total), float(policy[found.is_best()].sum() / total))


def search_policy(found: PositionSet, depth: int) -> np.ndarray:
    """The policy of a search that sees ``depth`` moves ahead, float64 ``[n, 7]``.

    It makes the fastest win in sight, and else avoids losses in sight, the fastest ones first. What it cannot tell
    apart, it plays equally often. A depth of 0 is random play.
    """
    n_stones = np.bitwise_count(found.boards[:, 1]).astype(np.int64)[:, np.newaxis]
    scores = found.scores.astype(np.int64)
    # A winner at score s has 22 - |s| stones in the end.
    n_last = MOST + 1 - np.abs(scores)
    plies = np.where(scores > 0, 2 * (n_last - n_stones // 2) - 1, 2 * (n_last - (n_stones + 1) // 2))
    seen = np.where((scores != 0) & (plies <= depth), scores, 0)
    seen[found.scores == FULL] = FULL
    best = seen == seen.max(axis=1, keepdims=True)
    return np.asarray(best / best.sum(axis=1, keepdims=True))


@lru_cache(maxsize=1)
def position_sets() -> dict[str, PositionSet]:
    """All sets by name."""
    with np.load(FILE) as file:
        return {name: PositionSet(file[f"{name}/boards"], file[f"{name}/scores"]) for name in SETS}


def set_of(n_stones: int, plies: int | None) -> str | None:
    """The set that a position belongs to, by its stones and the moves until perfect play ends; None for a draw."""
    for part, (fewest, most) in STONES.items():
        if fewest <= n_stones <= most:
            return f"easy-{part}" if plies is not None and plies <= EASY_PLIES else f"hard-{part}"
    return None
