"""Agents judged by the exact solution of a small game.

The score of an agent against random play says how it punishes mistakes, the number of its losing lines how it can be
beaten, and the share of positions in which it keeps the value how much of the game it understands. Symmetric positions
may be different to a neural network, so judge it on positions that are not folded (`positions.enumerate_positions`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.games.exact_matches import Endings, exact_match, play_backwards
from punish_fast.games.positions import Positions
from punish_fast.games.retrograde import PerfectPlay
from punish_fast.mdp.policy import SUM_TOLERANCE


class LosingLines(NamedTuple):
    """The number of lines of play that an agent loses.

    Attributes:
        first: When it moves first.
        second: When it moves second.
    """

    first: int
    second: int


class Judgement(NamedTuple):
    """What an agent is worth.

    Attributes:
        first: Its endings against random play when it moves first.
        second: The same when it moves second.
        losing_lines: The number of lines of play that it loses.
        keeps_value: The share of all positions before the end in which it keeps the value.
        keeps_choice: The same where some action does not keep it.
    """

    first: Endings
    second: Endings
    losing_lines: LosingLines
    keeps_value: float
    keeps_choice: float


def unfold_policy(folded: Positions, policy: np.ndarray, positions: Positions) -> np.ndarray:
    """A policy on other positions of the same game, in which equivalent states are told apart.

    Args:
        folded: The positions of the policy.
        policy: float64 ``[folded.n_rows]``.
        positions: The other positions.

    Returns:
        float64 ``[positions.n_rows]``.

    Raises:
        GameError: A state has no position among the first ones.
    """
    unfolded = np.zeros(positions.n_rows)
    for number in positions.live.tolist():
        state = positions.states[number]
        unfolded[positions.rows_of(state)] = policy[folded.rows_of(state)]
    return unfolded


def losing_lines(positions: Positions, policy: np.ndarray) -> LosingLines:
    """The number of different lines of play from the first position that an agent loses.

    A line is the sequence of all moves to the end. The enemy makes any moves, the agent those with a probability above
    0, so the lines of a deterministic agent are the enemy's ways to play. An illegal move of the agent ends a line,
    lost.

    Args:
        positions: The positions of the game.
        policy: float64 ``[n_rows]``; illegal moves have what is missing to 1.

    Raises:
        GameError: Play can go on for ever.
    """
    plays = (policy > 0).tolist()
    total = np.bincount(positions.position_of_row, policy, len(positions))
    may_fail = (total < 1 - SUM_TOLERANCE).tolist()

    def ours(rows: range, found: list[int]) -> int:
        lost = sum(lines for row, lines in zip(rows, found, strict=True) if plays[row])
        return lost + int(may_fail[positions.position_of_row[rows.start]])

    def theirs(_rows: range, found: list[int]) -> int:
        return sum(found)

    moving, waiting = play_backwards(positions, (0, 0, 1), ours, theirs)
    return LosingLines(moving[0], waiting[0])


def judge(perfect: PerfectPlay, policy: np.ndarray) -> Judgement:
    """Judge an agent by perfect play.

    Args:
        perfect: The solution of the game.
        policy: float64 ``[n_rows]``; illegal moves have what is missing to 1.

    Raises:
        GameError: Play can go on for ever.
        PolicyError: ``policy`` is no policy.
    """
    positions, keeps = perfect.positions, perfect.keeps_value()
    match = exact_match(positions, policy, positions.uniform())
    kept = np.bincount(positions.position_of_row, policy * keeps, len(positions))
    is_choice = np.bincount(positions.position_of_row, ~keeps, len(positions)) > 0
    return Judgement(
        match.first,
        match.second,
        losing_lines(positions, policy),
        float(kept[positions.live].mean()),
        float(kept[is_choice].mean()) if is_choice.any() else 1.0,
    )
