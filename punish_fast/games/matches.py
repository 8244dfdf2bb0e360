"""Exact scores of matches between two policies, and the best response to a policy.

A game against a known policy is a Markov decision process. The process has two states for each nonterminal position:
one with us to move, with a row for each action, and one with the enemy to move, with a single row that contains the
probability of each successor. The terminals are win, draw and loss. Endless play does not count as a win, so the
maximum win probability is a least fixed point (``mdp/methods/policy_iteration.py``).
"""

from dataclasses import dataclass

import numpy as np

from punish_fast.games.solve.positions import Positions
from punish_fast.mdp.graph.row_selection import states_of_rows
from punish_fast.mdp.methods.policy_iteration import absorption_values, reach
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve
from punish_fast.runtime.parallel import cumulated

_WIN, _DRAW, _LOSS = 0, 1, 2
_TERMINALS = 3
# Width of the brackets in interval iteration; rounding errors prevent narrower brackets.
_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class GameResponse:
    """A best response to a policy."""

    first: float  # Win probability from the initial position when moving first.
    second: float  # Win probability from the initial position when moving second.
    win: np.ndarray  # float64 ``[n]``, win probability from each position with us to move.
    row_win: np.ndarray  # float64 ``[n_rows]``, win probability after each of our actions, allowed or not.


@dataclass(frozen=True, eq=False)
class Score:
    """Exact score of a policy."""

    win: float  # Probability of a win.
    draw: float  # Probability of a draw or of endless play.
    loss: float  # Probability of a loss.
    illegal: float = 0.0  # Probability of an illegal move, which ends the game and is not counted as a loss.

    @property
    def points(self) -> float:
        """Expected points: 1 for a win and 1/2 for a draw."""
        return self.win + self.draw / 2


def process_against(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> MDP:
    """Build the Markov decision process of a game against a fixed policy.

    For ``m`` nonterminal positions, the process has ``2 m`` states: ``m`` with us to move, followed by ``m`` with the
    enemy to move. The terminals win, draw and loss pay 1, 0 and -1.

    Args:
        enemy: The policy, float64 ``[n_rows]``.
        allowed: Mask of our actions, bool ``[n_rows]``; all other actions lose immediately. None allows all actions.
    """
    from scipy.sparse import csr_array

    n_live, n_rows = len(positions.live), positions.n_rows
    number = np.cumsum(~positions.is_terminal) - 1
    own, other = (_columns(positions, number, n_live, is_enemy) for is_enemy in (False, True))
    if allowed is not None:
        own = np.where(allowed, own, 2 * n_live + _LOSS)
    played = np.flatnonzero(enemy)
    rows = np.concatenate([np.arange(n_rows), n_rows + number[positions.position_of_row[played]]])
    data = np.concatenate([np.ones(n_rows), enemy[played]])
    shape = (n_rows + n_live, 2 * n_live + _TERMINALS)
    # The constructor sums duplicate entries.
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
    """Return the successor's column for each row; the enemy acts if ``is_enemy``, otherwise we act."""
    after = positions.after
    enemy_next = (positions.sign < 0) != is_enemy
    payoff = positions.payoff[after] * np.where(enemy_next, -1, 1)
    terminal = 2 * n_live + np.where(payoff > 0, _WIN, np.where(payoff < 0, _LOSS, _DRAW))
    return np.where(positions.is_terminal[after], terminal, number[after] + n_live * enemy_next)


def best_response(positions: Positions, enemy: np.ndarray, allowed: np.ndarray | None = None) -> GameResponse:
    """Return a response that maximizes the win probability; see `process_against` for the arguments."""
    mdp, worth = process_against(positions, enemy, allowed), np.array([1.0, 0.0, 0.0])
    v, _ = reach(mdp, worth)
    n_live = len(positions.live)
    win = (positions.payoff > 0).astype(np.float64)
    win[positions.live] = v[:n_live]
    number = np.cumsum(~positions.is_terminal) - 1
    row_win = np.append(v, worth)[_columns(positions, number, n_live, is_enemy=False)]
    return GameResponse(float(v[0]), float(v[n_live]), win, row_win)


def error_bound(
    positions: Positions, enemy: np.ndarray, response: GameResponse, allowed: np.ndarray | None = None
) -> float:
    """Certify a best response by interval iteration; return a bound on the error of its win probabilities."""
    bracket = solve(process_against(positions, enemy, allowed), objective="win-probability", tolerance=_TOLERANCE)
    found = np.append(response.win[positions.live], response.second)
    return bracket.error_bound + float(np.abs(bracket.v[: len(found)] - found).max())


def pair_points(positions: Positions, own: np.ndarray, other: np.ndarray) -> float:
    """Return the expected points (0 to 1) of the policy ``own`` against ``other``, averaged over both seats."""
    return sum(score.points for score in both_scores(positions, own, other)) / 2


def both_scores(
    positions: Positions, policy: np.ndarray, enemy: np.ndarray, errs: np.ndarray | None = None
) -> tuple[Score, Score]:
    """Return the exact scores of ``policy`` against ``enemy`` when moving first and when moving second.

    ``errs``, float64 ``[n]``, is the probability of an illegal move by ``policy`` in each position, 0 by default.
    """
    from scipy.sparse import csr_array, hstack

    n_live = len(positions.live)
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
