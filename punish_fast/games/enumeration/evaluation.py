"""Evaluation of agents by comparison with the exact solution of a small game.

Three measures describe an agent: the score against random play (how well the agent exploits mistakes), the number of
losing lines of play (how easily the agent can be beaten), and the share of positions whose value under perfect play the
agent preserves. A neural network may treat symmetric positions differently, so evaluate networks on unfolded positions
(``is_folded=False`` in `positions.enumerate_positions`).
"""

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.matches import Score, best_response, both_scores
from punish_fast.games.enumeration.positions import Positions
from punish_fast.games.enumeration.retrograde import PerfectPlay
from punish_fast.mdp.arrays.policy import SUM_TOLERANCE, greedy

# Number of decimal places of win probabilities when they are compared.
_DIGITS = 12


@dataclass(frozen=True)
class LosingLines:
    """Numbers of different lines of play that an agent loses."""

    first: int  # Number of lines lost when moving first.
    second: int  # Number of lines lost when moving second.


@dataclass(frozen=True)
class AgentEvaluation:
    """Measures of an agent's quality.

    JSON keys:
        first (object): Games against random play as the first player.
            *_shares
        second (object): Games against random play as the second player.
            *_shares
        losing_lines (object): Numbers of lines of play that the agent loses.
            first (integer): Number of lines lost as the first player.
            second (integer): Number of lines lost as the second player.
        keeps_value (number, from 0 to 1): Mean probability that the agent's move keeps the value of the position.
        keeps_choice (number, from 0 to 1): The same probability over the positions in which some move gives away the
                value.
    """

    # Exact scores against random play, when moving first and when moving second.
    first: Score
    second: Score
    losing_lines: LosingLines
    # Mean probability that the agent's action preserves the value of the position: over all nonterminal positions, and
    # over the positions with at least one action that does not preserve the value.
    keeps_value: float
    keeps_choice: float  # 1 without such positions


def unfold_policy(folded: Positions, policy: np.ndarray, positions: Positions) -> np.ndarray:
    """Convert a policy on folded positions, float64 ``[folded.n_rows]``, to a policy on unfolded ``positions``."""
    unfolded = np.zeros(positions.n_rows)
    for number in positions.live.tolist():
        state = positions.states[number]
        unfolded[positions.rows_of(state)] = policy[folded.rows_of(state)]
    return unfolded


def losing_lines(positions: Positions, policy: np.ndarray) -> LosingLines:
    """Count the different lines of play from the initial position that an agent loses.

    A line is the sequence of all moves in a game. The enemy can make any move, and the agent can make any move of
    positive probability. ``policy``, float64 ``[n_rows]``, contains the probabilities of the agent's moves. If the
    probabilities in a position sum to less than 1, the agent can also make an illegal move, which counts as one losing
    line.
    """
    total = np.bincount(positions.position_of_row, policy, len(positions))
    fails = (total < 1 - SUM_TOLERANCE) & ~positions.is_terminal
    moving, waiting = ((positions.payoff < 0) | fails).astype(int).tolist(), (positions.payoff > 0).astype(int).tolist()
    plays, passes, after = (policy > 0).tolist(), (positions.sign < 0).tolist(), positions.after.tolist()
    for number in last_first(positions):
        for row in positions.rows(number):
            ours, theirs = (waiting, moving) if passes[row] else (moving, waiting)
            moving[number] += ours[after[row]] * plays[row]
            waiting[number] += theirs[after[row]]
    return LosingLines(moving[0], waiting[0])


def winning_policy(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
    """Return a policy that maximizes the win probability against ``enemy``. Ties go to the first action.

    Actions outside the mask ``allowed``, bool ``[n_rows]``, count as losses and are taken only if no action is allowed.
    By default, all actions are allowed.
    """
    win = best_response(positions, enemy, allowed).row_win.round(_DIGITS)
    # Win probabilities are at most 1, so each allowed action is better than all others.
    return greedy(positions.live_ptr, win if allowed is None else win - 2.0 * ~allowed)


def evaluate_policy(perfect: PerfectPlay, policy: np.ndarray) -> AgentEvaluation:
    """Evaluate an agent by comparison with perfect play. See `losing_lines` for the format of ``policy``.

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
    return AgentEvaluation(
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
