"""Matches between two policies: exact scores, and the best response to a policy.

Against a known policy, a game is a Markov decision process. Its states are the positions before the end, each twice:
with us to move, where every action is a row, and with the enemy to move, where one row has the probabilities of the
enemy's actions. Its terminals are win, draw and loss. Endless play is no win, so the largest probability of winning is
a least fixed point (``mdp/policy_iteration.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.games.solve.positions import Positions
from punish_fast.mdp.graph.row_selection import states_of_rows
from punish_fast.mdp.methods.policy_iteration import absorption_values, reach
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import check_policy
from punish_fast.mdp.solver import solve
from punish_fast.runtime.parallel import cumulated

_WIN, _DRAW, _LOSS = 0, 1, 2
_TERMINALS = 3
# Floating point allows no narrower brackets.
_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class GameResponse:
    """The best response to a policy."""

    policy: np.ndarray  # float64 ``[n_rows]``, 1 for the actions taken.
    first: float  # The probability of winning from the initial position when it moves first.
    second: float  # The same when it moves second.
    win: np.ndarray  # float64 ``[n]``, the probability of winning from each position when it is to move.
    excess: float  # The largest advantage of any other action: 0 up to rounding.


@dataclass(frozen=True, eq=False)
class Score:
    """Exact score of a policy."""

    win: float  # Probability of a win.
    draw: float  # Probability of a draw or of endless play.
    loss: float  # Probability of a loss.
    illegal: float = 0.0  # Probability that it makes an illegal move, which ends the game, and is none of the others.

    @property
    def points(self) -> float:
        """The expected points: 1 for a win and 1/2 for a draw."""
        return self.win + self.draw / 2


def process_against(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> MDP:
    """The game against a policy as a Markov decision process.

    Args:
        positions: The positions of the game.
        enemy: float64 ``[n_rows]``, the policy of the enemy.
        allowed: bool ``[n_rows]``, the actions that we may take, since all others lose at once; None for all.

    Returns:
        A process with ``2 m`` states for ``m`` positions before the end: first all with us to move, then all with the
        enemy to move. Its terminals win, draw and loss pay 1, 0 and -1.
    """
    from scipy.sparse import csr_array

    enemy = check_policy(positions.live_ptr, enemy)
    n_live, n_rows = len(positions.live), positions.n_rows
    number = np.cumsum(~positions.is_terminal) - 1
    own, other = (_columns(positions, number, n_live, is_enemy) for is_enemy in (False, True))
    if allowed is not None:
        own = np.where(allowed, own, 2 * n_live + _LOSS)
    played = np.flatnonzero(enemy)
    rows = np.concatenate([np.arange(n_rows), n_rows + number[positions.position_of_row[played]]])
    data = np.concatenate([np.ones(n_rows), enemy[played]])
    shape = (n_rows + n_live, 2 * n_live + _TERMINALS)
    # The constructor adds equal entries.
    matrix = csr_array((data, (rows, np.concatenate([own, other[played]]))), shape=shape)
    matrix.sort_indices()
    slot = np.arange(n_rows) - positions.state_ptr[positions.position_of_row]
    return MDP(
        state_ptr=cumulated(np.concatenate([np.diff(positions.live_ptr), np.ones(n_live, dtype=np.int64)])),
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int32),
        data=matrix.data,
        reward=np.zeros(shape[0]),
        terminal_reward=np.array([1.0, 0.0, -1.0]),
        layer_ptr=np.array([0, n_live, 2 * n_live]),
        action=np.concatenate([slot, np.zeros(n_live, dtype=np.int64)]).astype(np.uint8),
    )


def _columns(positions: Positions, number: np.ndarray, n_live: int, is_enemy: bool) -> np.ndarray:
    """The column of each row's successor when we or the enemy take the action."""
    after = positions.after
    enemy_next = (positions.sign < 0) != is_enemy
    payoff = positions.payoff[after] * np.where(enemy_next, -1, 1)
    terminal = 2 * n_live + np.where(payoff > 0, _WIN, np.where(payoff < 0, _LOSS, _DRAW))
    return np.where(positions.is_terminal[after], terminal, number[after] + n_live * enemy_next)


def best_response(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> GameResponse:
    """The policy with the largest probability of winning against ``enemy``.

    Args:
        positions: The positions of the game.
        enemy: float64 ``[n_rows]``, the policy of the enemy.
        allowed: bool ``[n_rows]``, the actions that it may take; None for all. A position without any counts as lost.
    """
    found = reach(process_against(positions, enemy, allowed), np.array([1.0, 0.0, 0.0]))
    n_live = len(positions.live)
    policy = np.zeros(positions.n_rows)
    policy[found.choice[:n_live]] = 1.0
    win = (positions.payoff > 0).astype(np.float64)
    win[positions.live] = found.v[:n_live]
    return GameResponse(policy, float(found.v[0]), float(found.v[n_live]), win, found.excess)


def error_bound(
    positions: Positions, enemy: np.ndarray, response: GameResponse, allowed: np.ndarray | None = None
) -> float:
    """A certified bound on the error of a best response's probabilities, by interval iteration.

    Args:
        positions: The positions of the game.
        enemy: float64 ``[n_rows]``, the policy of the enemy.
        response: The result of `best_response`.
        allowed: The actions that it may take, as there.
    """
    bracket = solve(process_against(positions, enemy, allowed), objective="win-probability", tolerance=_TOLERANCE)
    found = np.append(response.win[positions.live], response.second)
    return bracket.error_bound + float(np.abs(bracket.v[: len(found)] - found).max())


def exact_score(positions: Positions, first: np.ndarray, second: np.ndarray) -> Score:
    """The exact score of ``first``, which moves first, against ``second``."""
    return both_scores(positions, first, second)[0]


def both_scores(
    positions: Positions, policy: np.ndarray, enemy: np.ndarray, errs: np.ndarray | None = None
) -> tuple[Score, Score]:
    """The exact scores of a policy that moves first and of the same that moves second.

    Args:
        positions: The positions of the game.
        policy: float64 ``[n_rows]``.
        enemy: float64 ``[n_rows]``, the policy of the enemy.
        errs: float64 or bool ``[n]``, the probability that ``policy`` makes an illegal move instead; None if always 0.
    """
    from scipy.sparse import csr_array, hstack

    policy, n_live = check_policy(positions.live_ptr, policy), len(positions.live)
    mdp = process_against(positions, enemy)
    illegal = np.zeros(mdp.n_states)
    if errs is not None:
        illegal[:n_live] = errs[positions.live]
    state = states_of_rows(mdp)
    weight = np.concatenate([policy, np.ones(mdp.n_rows - positions.n_rows)]) * (1 - illegal[state])
    mixing = csr_array((weight, (state, np.arange(mdp.n_rows))), shape=(mdp.n_states, mdp.n_rows))
    chain = hstack([mixing @ mdp.to_scipy(), csr_array(illegal[:, np.newaxis])])
    ends = [absorption_values(chain, worth) for worth in np.eye(_TERMINALS + 1)[[_WIN, _LOSS, _TERMINALS]]]
    scores = []
    for start in (0, n_live):
        win, loss, fails = (float(end[start]) for end in ends)
        scores.append(Score(win, max(1 - win - loss - fails, 0.0), loss, fails))
    return scores[0], scores[1]
