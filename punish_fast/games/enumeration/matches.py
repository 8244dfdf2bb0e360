"""Exact scores of matches between two policies, and the best response to a policy.

A game against a known policy is a Markov decision process. The process has two states for each nonterminal position. In
one state, the player is to move and has a row for each action. In the other, the enemy is to move, and a single row
contains the probability of each successor. The terminals are win, draw and loss. An endless game does not count as a
win, so the maximum win probability is a least fixed point. ``mdp/objectives/solver.py`` bounds it from both sides.
"""

from dataclasses import dataclass, replace

import numpy as np

from punish_fast.games.enumeration.positions import Positions
from punish_fast.mdp.graph.row_selection import states_of_rows
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Solution
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime.lazy_modules import sparse
from punish_fast.runtime.parallel import cumulated

_WIN, _DRAW, _LOSS = 0, 1, 2
_TERMINALS = 3
# Maximum error of a probability. Rounding errors prevent smaller bounds.
_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class GameResponse:
    """A best response to a policy."""

    first: float  # Win probability from the initial position when moving first.
    second: float  # Win probability from the initial position when moving second.
    win: np.ndarray  # float64 ``[n]``, win probability from each position if the player is to move.
    row_win: np.ndarray  # float64 ``[n_rows]``, win probability after each of the player's actions, allowed or not.
    error_bound: float  # Bound on the error of these win probabilities.


@dataclass(frozen=True, eq=False)
class Score:
    """Exact score of a policy."""

    win: float  # Probability of a win.
    draw: float  # Probability of a draw or of an endless game.
    loss: float  # Probability of a loss.
    illegal: float = 0.0  # Probability of an illegal move. It ends the game and is not counted as a loss.

    @property
    def points(self) -> float:
        """Expected points: 1 for a win and 1/2 for a draw."""
        return self.win + self.draw / 2


def process_against(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> MDP:
    """Build the Markov decision process of a game against a fixed policy.

    For ``m`` nonterminal positions, the process has ``2 m`` states. In the first ``m`` states the player is to move,
    and in the others the enemy is to move. The terminals win, draw and loss pay 1, 0 and -1.

    Args:
        enemy: The policy, float64 ``[n_rows]``.
        allowed: Mask of the player's allowed actions, bool ``[n_rows]``. Other actions lose immediately. None allows
            all actions.
    """
    n_live, n_rows = len(positions.live), positions.n_rows
    number = np.cumsum(~positions.is_terminal) - 1
    own, other = (_columns(positions, number, n_live, is_enemy) for is_enemy in (False, True))
    if allowed is not None:
        own = np.where(allowed, own, 2 * n_live + _LOSS)
    played = np.flatnonzero(enemy)
    rows = np.concatenate([np.arange(n_rows), n_rows + number[positions.position_of_row[played]]])
    data = np.concatenate([np.ones(n_rows), enemy[played]])
    shape = (n_rows + n_live, 2 * n_live + _TERMINALS)
    matrix = sparse.csr_array((data, (rows, np.concatenate([own, other[played]]))), shape=shape)
    state_ptr = cumulated(np.concatenate([np.diff(positions.live_ptr), np.ones(n_live, dtype=np.int64)]))
    return MDP.from_scipy(matrix, np.zeros(shape[0]), state_ptr, [1.0, 0.0, -1.0], normalize=True)


def _columns(positions: Positions, number: np.ndarray, n_live: int, is_enemy: bool) -> np.ndarray:
    """Return the successor's column for each row. The enemy acts if ``is_enemy`` is True, otherwise the player acts."""
    after = positions.after
    enemy_next = (positions.sign < 0) != is_enemy
    payoff = positions.payoff[after] * np.where(enemy_next, -1, 1)
    terminal = 2 * n_live + np.where(payoff > 0, _WIN, np.where(payoff < 0, _LOSS, _DRAW))
    return np.where(positions.is_terminal[after], terminal, number[after] + n_live * enemy_next)


def best_response(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> GameResponse:
    """Return a response that maximizes the win probability. See `process_against` for the arguments."""
    found = _solve(process_against(positions, enemy, allowed))
    n_live, win = len(positions.live), (positions.payoff > 0).astype(np.float64)
    win[positions.live] = found.v[:n_live]
    number = np.cumsum(~positions.is_terminal) - 1
    row_win = np.append(found.v, [1.0, 0.0, 0.0])[_columns(positions, number, n_live, is_enemy=False)]
    return GameResponse(float(found.v[0]), float(found.v[n_live]), win, row_win, found.error_bound)


def _solve(mdp: MDP) -> Solution:
    return solve(mdp, objective="reach-probability", tolerance=_TOLERANCE)


def pair_points(positions: Positions, own: np.ndarray, other: np.ndarray) -> float:
    """Return the expected points (0 to 1) of the policy ``own`` against ``other``, averaged over both seats."""
    return sum(score.points for score in both_scores(positions, own, other)) / 2


def both_scores(
    positions: Positions, policy: np.ndarray, enemy: np.ndarray, errs: np.ndarray | None = None
) -> tuple[Score, Score]:
    """Return the exact scores of ``policy`` against ``enemy`` when moving first and when moving second.

    ``errs``, float64 ``[n]``, is the probability of an illegal move by ``policy`` in each position, 0 by default.
    """
    process, n_live = process_against(positions, enemy), len(positions.live)
    n_states, state = process.n_states, states_of_rows(process)
    illegal = np.zeros(n_states)
    if errs is not None:
        illegal[:n_live] = errs[positions.live]
    weight = np.append(policy, np.ones(n_live)) * (1 - illegal[state])
    mixing = sparse.csr_array((weight, (state, np.arange(len(state)))))
    transitions = sparse.hstack([mixing @ process.to_scipy(), sparse.csr_array(illegal[:, np.newaxis])])
    ends = np.eye(_TERMINALS + 1)
    chain = MDP.from_scipy(transitions, np.zeros(n_states), np.arange(n_states + 1), ends[0], normalize=True)
    chains = (replace(chain, terminal_reward=ends[k]) for k in (_WIN, _LOSS, _TERMINALS))
    win, loss, fails = (_solve(each).v[[0, n_live]] for each in chains)
    draw = np.maximum(1 - win - loss - fails, 0.0)
    first, second = np.column_stack([win, draw, loss, fails]).tolist()
    return Score(*first), Score(*second)
