"""Judgement of agents by comparison with the exact solution of a small game.

Three measures describe an agent: the score against random play (how well the agent punishes mistakes), the number of
losing lines of play (how easily the agent can be beaten), and the share of positions in which the agent preserves the
value under perfect play. A neural network may treat symmetric positions differently, so judge networks on unfolded
positions (``is_folded=False`` in `positions.enumerate_positions`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.matches import Score, both_scores
from punish_fast.games.solve.positions import Positions
from punish_fast.games.solve.retrograde import PerfectPlay
from punish_fast.mdp.policy import SUM_TOLERANCE

# Win probabilities are rounded to this number of decimal places before they are compared.
_DIGITS = 12


@dataclass(frozen=True)
class LosingLines:
    """Numbers of lines of play that an agent loses."""

    first: int  # Number of lines lost when moving first.
    second: int  # Number of lines lost when moving second.


@dataclass(frozen=True)
class Judgement:
    """Measures of an agent's quality."""

    # Exact scores against random play, when moving first and when moving second.
    first: Score
    second: Score
    losing_lines: LosingLines
    # Mean probability that the agent's action preserves the value of the position: over all nonterminal positions, and
    # over the positions in which at least one action does not preserve the value.
    keeps_value: float
    keeps_choice: float


def unfold_policy(folded: Positions, policy: np.ndarray, positions: Positions) -> np.ndarray:
    """Convert a policy on folded positions, float64 ``[folded.n_rows]``, to a policy on unfolded ``positions``."""
    unfolded = np.zeros(positions.n_rows)
    for number in positions.live.tolist():
        state = positions.states[number]
        unfolded[positions.rows_of(state)] = policy[folded.rows_of(state)]
    return unfolded


def losing_lines(positions: Positions, policy: np.ndarray) -> LosingLines:
    """Count the different lines of play from the initial position that an agent loses.

    A line is the sequence of all moves of a game; the enemy may make any move, and the agent may make any move of
    positive probability. If the probabilities in ``policy``, float64 ``[n_rows]``, of the moves of a position sum to
    less than 1, the agent may also make an illegal move, which counts as one losing line.
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


def winning_policy(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
    """Return a policy that maximizes the win probability against ``enemy``; ties go to the first action.

    Actions outside the mask ``allowed``, bool ``[n_rows]``, count as losses; by default, all actions are allowed. Raise
    `GameError` if positions can repeat.
    """
    may_take = np.ones(positions.n_rows, dtype=np.bool_) if allowed is None else allowed
    policy = np.zeros(positions.n_rows)

    def ours(rows: range, found: list[float]) -> float:
        best = max(range(len(rows)), key=lambda k: (may_take[rows[k]], round(found[k], _DIGITS), -k))
        policy[rows[best]] = 1.0
        return found[best] if may_take[rows[best]] else 0.0

    def theirs(rows: range, found: list[float]) -> float:
        return float(enemy[rows.start : rows.stop] @ found)

    play_backwards(positions, (0.0, 1.0, 0.0), ours, theirs)
    return policy


def judge(perfect: PerfectPlay, policy: np.ndarray) -> Judgement:
    """Judge an agent by comparison with perfect play; see `losing_lines` for the format of ``policy``.

    Raise `GameError` if positions can repeat.
    """
    positions, keeps = perfect.positions, perfect.keeps_value()
    row, uniform = positions.position_of_row, positions.uniform()
    total = np.bincount(row, policy, len(positions))
    errs = np.where(total < 1 - SUM_TOLERANCE, 1 - total, 0.0)
    legal = np.where(total[row] > 0, policy / np.maximum(total[row], SUM_TOLERANCE), uniform)
    first, second = both_scores(positions, np.where((errs[row] > 0) & (policy >= 0), legal, policy), uniform, errs)
    kept = np.bincount(row, policy * keeps, len(positions))
    is_choice = np.bincount(row, ~keeps, len(positions)) > 0
    return Judgement(
        first,
        second,
        losing_lines(positions, policy),
        float(kept[positions.live].mean()),
        float(kept[is_choice].mean()) if is_choice.any() else 1.0,
    )


def last_first(positions: Positions) -> list[int]:
    """Return the indices of all positions, each after all of its successors.

    Raise `GameError` if positions can repeat.
    """
    ptr = positions.state_ptr
    after = {number: positions.after[ptr[number] : ptr[number + 1]].tolist() for number in range(len(positions))}
    try:
        return list(TopologicalSorter(after).static_order())
    except CycleError:
        raise GameError(f"{positions.game.name}: play can continue forever, so agents cannot be judged") from None


T = TypeVar("T")
_Rule = Callable[[range, list[T]], T]


def play_backwards(
    positions: Positions, ended: Sequence[T], ours: _Rule[T], theirs: _Rule[T]
) -> tuple[list[T], list[T]]:
    """Evaluate all positions by backward induction; return their values with us and with the enemy to move.

    ``ended`` contains the values of a draw, a win and a loss. ``ours`` computes the value of a position with us to move
    from the rows and the values of the successors; ``theirs`` does this for a position with the enemy to move.
    """
    moving, waiting = [ended[0]] * len(positions), [ended[0]] * len(positions)
    for number in last_first(positions):
        rows, result = positions.rows(number), int(np.sign(positions.payoff[number]))
        if not rows:
            moving[number], waiting[number] = ended[result], ended[-result]
            continue
        after, passes = positions.after[rows.start : rows.stop], positions.sign[rows.start : rows.stop] < 0
        for worth, other, rule in ((moving, waiting, ours), (waiting, moving, theirs)):
            found = [(other if passed else worth)[p] for p, passed in zip(after, passes, strict=True)]
            worth[number] = rule(rows, found)
    return moving, waiting
