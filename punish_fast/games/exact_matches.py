"""Exact probabilities, as fractions, in games that always end.

Play without repetition is a graph without cycles, so one pass from the last positions to the first finds the
probability of every ending. A policy is float64 ``[n_rows]``, as in `matches`, and its probabilities are those numbers
over their sum, so that equal numbers are equal fractions. An agent may also make illegal moves, which lose the game at
once: where its probabilities add up to less than 1, an illegal move has the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeVar

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.positions import Positions
from punish_fast.mdp.policy import SUM_TOLERANCE, PolicyError, check_policy

_ONE = Fraction(1)
_ZERO = Fraction(0)


class Endings(NamedTuple):
    """The probability of each ending for one of two players.

    Attributes:
        win: Of a win.
        draw: Of a draw.
        loss: Of a loss by legal moves.
        illegal: Of an illegal move, which loses too.
    """

    win: Fraction
    draw: Fraction
    loss: Fraction
    illegal: Fraction

    @property
    def points(self) -> Fraction:
        """The expected points: 1 for a win and 1/2 for a draw."""
        return self.win + self.draw / 2


# Those of finished games, by the result: 0 for a draw, 1 for a win, -1 for a loss.
ENDINGS = (Endings(_ZERO, _ONE, _ZERO, _ZERO), Endings(_ONE, _ZERO, _ZERO, _ZERO), Endings(_ZERO, _ZERO, _ONE, _ZERO))


class ExactMatch(NamedTuple):
    """The endings of a match of a policy against an enemy.

    Attributes:
        first: Those of the policy when it moves first.
        second: The same when it moves second.
    """

    first: Endings
    second: Endings


@dataclass(frozen=True, eq=False)
class ExactResponse:
    """The best response to a policy.

    Attributes:
        policy: float64 ``[n_rows]``, 1 for the actions taken; the first of equally good ones.
        first: The probability of winning from the first position when it moves first.
        second: The same when it moves second.
    """

    policy: np.ndarray
    first: Fraction
    second: Fraction


def last_first(positions: Positions) -> list[int]:
    """The positions in an order in which each comes after all of its successors.

    Raises:
        GameError: A position may repeat, so that play can go on for ever.
    """
    ptr = positions.state_ptr
    after = {number: positions.after[ptr[number] : ptr[number + 1]].tolist() for number in range(len(positions))}
    try:
        return list(TopologicalSorter(after).static_order())
    except CycleError:
        raise GameError(f"{positions.game.name}: play can go on for ever, so there are no exact fractions") from None


def always_ends(positions: Positions) -> bool:
    """Whether no position can repeat."""
    try:
        last_first(positions)
    except GameError:
        return False
    return True


def exact_match(positions: Positions, policy: np.ndarray, enemy: np.ndarray) -> ExactMatch:
    """How a policy fares against an enemy, exactly.

    Args:
        positions: The positions of the game.
        policy: float64 ``[n_rows]``; illegal moves have what is missing to 1.
        enemy: float64 ``[n_rows]``; it makes no illegal moves.

    Raises:
        GameError: Play can go on for ever.
        PolicyError: An argument is no policy.
    """
    own, other = _weights(positions, policy), _weights(positions, check_policy(positions.live_ptr, enemy))

    def mean(weights: list[Fraction], rows: range, found: list[Endings]) -> Endings:
        kinds = zip(*found, strict=True)
        chosen = weights[rows.start : rows.stop]
        return Endings(*(Fraction(sum(w * p for w, p in zip(chosen, kind, strict=True))) for kind in kinds))

    def ours(rows: range, found: list[Endings]) -> Endings:
        endings = mean(own, rows, found)
        return endings._replace(illegal=endings.illegal + 1 - sum(own[rows.start : rows.stop]))

    def theirs(rows: range, found: list[Endings]) -> Endings:
        return mean(other, rows, found)

    moving, waiting = play_backwards(positions, ENDINGS, ours, theirs)
    return ExactMatch(moving[0], waiting[0])


def exact_response(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> ExactResponse:
    """The policy with the largest probability of winning against ``enemy``, exactly.

    Args:
        positions: The positions of the game.
        enemy: float64 ``[n_rows]``.
        allowed: bool ``[n_rows]``, the actions that it may take; None for all. A position without any counts as lost.

    Raises:
        GameError: Play can go on for ever.
        PolicyError: ``enemy`` is no policy.
    """
    other = _weights(positions, check_policy(positions.live_ptr, enemy))
    may_take = np.ones(positions.n_rows, dtype=np.bool_) if allowed is None else allowed
    policy = np.zeros(positions.n_rows)

    def ours(rows: range, found: list[Endings]) -> Endings:
        best = max(range(len(rows)), key=lambda k: (may_take[rows[k]], found[k].win, -k))
        policy[rows[best]] = 1.0
        return found[best] if may_take[rows[best]] else ENDINGS[-1]

    def theirs(rows: range, found: list[Endings]) -> Endings:
        win = sum((other[row] * each.win for row, each in zip(rows, found, strict=True)), _ZERO)
        return Endings(win, _ZERO, 1 - win, _ZERO)

    moving, waiting = play_backwards(positions, ENDINGS, ours, theirs)
    return ExactResponse(policy, moving[0].win, waiting[0].win)


def _weights(positions: Positions, policy: np.ndarray) -> list[Fraction]:
    """The probability of each row; those of a position add up to exactly 1 or to less.

    Raises:
        PolicyError: The shape or dtype is wrong, a probability is negative, or those of a position exceed 1.
    """
    if policy.shape != (positions.n_rows,) or policy.dtype != np.float64:
        raise PolicyError(f"policy: {policy.dtype} {policy.shape}, allowed is float64 ({positions.n_rows},)")
    total = np.bincount(positions.position_of_row, policy, len(positions))
    if not (policy >= 0).all() or (total > 1 + SUM_TOLERANCE).any():
        raise PolicyError("policy: a probability is below 0 or not a number, or those of a position exceed 1")
    weights = list(map(Fraction, policy.tolist()))
    for number in np.flatnonzero(np.abs(total - 1) <= SUM_TOLERANCE).tolist():
        rows = positions.rows(number)
        whole = sum(weights[rows.start : rows.stop])
        weights[rows.start : rows.stop] = [weight / whole for weight in weights[rows.start : rows.stop]]
    return weights


T = TypeVar("T")
_Rule = Callable[[range, list[T]], T]


def play_backwards(
    positions: Positions, ended: Sequence[T], ours: _Rule[T], theirs: _Rule[T]
) -> tuple[list[T], list[T]]:
    """What any play of ours is worth, from the last positions to the first.

    Args:
        positions: The positions of the game.
        ended: The worth of a draw, of our win and of our loss.
        ours: The worth where we move, from the rows and the worth after each of them.
        theirs: The same where the enemy moves.

    Returns:
        The worth of every position with us to move, and with the enemy to move.

    Raises:
        GameError: Play can go on for ever.
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
