"""Connect Four positions with the score of every move, for evaluating policies.

``bench/make/connect4.py`` created four sets of 1,000 positions by random play and scored them with ``search.py``.
Positions in *ends* have 26 to 32 stones, and positions in *middles* have 14 to 24. With perfect play, *easy* positions
are won or lost within 12 moves. *Hard* positions end later or in a draw.

A policy is evaluated by two shares of positions: where its move preserves the outcome, and where its move has the best
score. The baselines are random play and a depth-limited search, whose moves are derived from the scores.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punish_fast.games.connect4.game import Connect4State
from punish_fast.games.connect4.search import plies_to_end

SETS = ("easy-ends", "hard-ends", "easy-middles", "hard-middles")
# Entry of `PositionSet.scores` for full columns.
FULL = -128
FILE = Path(__file__).with_name("known_scores.npz")


class PositionSet(NamedTuple):
    """Nonterminal positions that cannot be won with the next stone."""

    boards: np.ndarray  # uint64 ``[n, 2]``, the fields of `Connect4State`.
    scores: np.ndarray  # int8 ``[n, 7]``, the mover's score for each column, or `FULL` if the column is full.

    @property
    def states(self) -> list[Connect4State]:
        """States of the positions."""
        return [Connect4State(own, filled) for own, filled in self.boards.tolist()]

    @property
    def score(self) -> np.ndarray:
        """Scores of the positions, int8 ``[n]``."""
        return np.asarray(self.scores.max(axis=1))

    def keeps_value(self) -> np.ndarray:
        """Return a mask of the columns with the same outcome as the best column, bool ``[n, 7]``."""
        kept = np.sign(self.scores) == np.sign(self.score)[:, np.newaxis]
        return np.asarray(kept & (self.scores != FULL))

    def is_best(self) -> np.ndarray:
        """Return a mask of the columns with the best score, bool ``[n, 7]``."""
        return np.asarray(self.scores == self.score[:, np.newaxis])


class Shares(NamedTuple):
    """Strength of a policy on a set of positions, as shares from 0 to 1."""

    keeps_value: float  # Share of positions whose outcome (win, draw or loss) the move preserves.
    best_score: float  # Share of positions where the move has the best score.


def shares(found: PositionSet, policy: np.ndarray) -> Shares:
    """Evaluate a policy, given the probability of each column, float64 ``[n, 7]``. Full columns count as mistakes."""
    total = len(policy)
    return Shares(float(policy[found.keeps_value()].sum() / total), float(policy[found.is_best()].sum() / total))


def search_policy(found: PositionSet, depth: int) -> np.ndarray:
    """Return the policy of a search limited to ``depth`` moves, float64 ``[n, 7]``.

    The search plays the fastest win within its depth. If it finds none, it avoids losses within its depth. If all moves
    lose within its depth, it plays the slowest loss. Moves of equal value have equal probabilities. A depth of 0
    results in random play.
    """
    n_stones = np.bitwise_count(found.boards[:, 1]).astype(np.int64)[:, np.newaxis]
    scores = found.scores.astype(np.int64)
    seen = np.where(plies_to_end(n_stones, scores) <= depth, scores, 0)
    seen[found.scores == FULL] = FULL
    best = seen == seen.max(axis=1, keepdims=True)
    return np.asarray(best / best.sum(axis=1, keepdims=True))


@lru_cache(maxsize=1)
def position_sets() -> dict[str, PositionSet]:
    """Return the four position sets by name."""
    with np.load(FILE) as file:
        return {name: PositionSet(file[f"{name}/boards"], file[f"{name}/scores"]) for name in SETS}
