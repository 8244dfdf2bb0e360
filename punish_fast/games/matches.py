"""Two policies that meet, and the best answer to one of them.

Against a player whose policy is known, a game is a Markov decision process. Its states are the positions before the
end, each twice: with the own side to move, where every action is a row, and with the enemy to move, where one row has
the chances of what the enemy will do. The ends are won, drawn or lost. Play may go on for ever, and then nobody has
won, so the best chance to win is a least fixed point (``mdp/reaching.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.games import _matches
from punish_fast.games.positions import Positions
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy_iteration import absorption_values, reach
from punish_fast.mdp.solver import solve
from punish_fast.mdp.stopping_rule import SolveError
from punish_fast.runtime.parallel import cumulated, for_each

_WIN, _DRAW, _LOSS = 0, 1, 2
_ENDS = 3
_ROUNDING = 1e-9
# As near as brackets come in floating point.
_PROOF = 1e-13


class PolicyError(ValueError):
    """Numbers that are no policy of a game; the message says why."""


@dataclass(frozen=True, eq=False)
class Response:
    """The best answer to a policy.

    Attributes:
        policy: float64 ``[n_rows]``, 1 for the actions taken.
        first: The chance to win from the beginning, if the answer moves first.
        second: The same if it moves second.
        win: float64 ``[n]``, the chance to win from every position, being to move.
        excess: By how much another action looks better anywhere: 0 but for rounding.
    """

    policy: np.ndarray
    first: float
    second: float
    win: np.ndarray
    excess: float


@dataclass(frozen=True, eq=False)
class Meeting:
    """What comes of two policies, for the one that moves first, from the beginning.

    Attributes:
        win: The chance to win.
        draw: The chance of a drawn end, or none at all.
        loss: The chance to lose.
    """

    win: float
    draw: float
    loss: float

    @property
    def score(self) -> float:
        """The share of points: 1 for a win and 1/2 for a draw."""
        return self.win + self.draw / 2


@dataclass(frozen=True, eq=False)
class Played:
    """What came of simulated games, for the one that moves first.

    Attributes:
        wins: Games won.
        draws: Games that were drawn or broken off.
        losses: Games lost.
        plies: Actions of all games.
    """

    wins: int
    draws: int
    losses: int
    plies: int


def check_policy(positions: Positions, policy: np.ndarray) -> np.ndarray:
    """Return ``policy`` if it is one.

    Raises:
        PolicyError: it has another shape, a negative number, or does not add up to 1 in some position.
    """
    policy = np.asarray(policy, dtype=np.float64)
    if policy.shape != (positions.n_rows,):
        raise PolicyError(f"policy: shape is {policy.shape}, allowed is {(positions.n_rows,)}")
    sums = np.bincount(positions.position_of_row, policy, len(positions))[~positions.is_terminal]
    if not ((policy >= 0).all() and (np.abs(sums - 1) <= _ROUNDING).all()):
        raise PolicyError("policy: must be 0 or more everywhere, and add up to 1 in every position")
    return policy


def process_against(positions: Positions, enemy: np.ndarray) -> MDP:
    """The game against a policy as a Markov decision process.

    Args:
        positions: Those of the game.
        enemy: float64 ``[n_rows]``, what the enemy plays.

    Returns:
        A process with ``2 m`` states, for ``m`` positions before the end: those in which we are to move, in their
        order, then those in which the enemy is. Terminals are win, draw and loss, and pay 1, 0 and -1.

    Raises:
        PolicyError: ``enemy`` is no policy.
    """
    from scipy.sparse import csr_array

    enemy = check_policy(positions, enemy)
    live = np.flatnonzero(~positions.is_terminal)
    number = np.cumsum(~positions.is_terminal) - 1
    n_live, n_rows = len(live), positions.n_rows
    own, other = (_targets(positions, number, n_live, is_enemy) for is_enemy in (False, True))
    played = np.flatnonzero(enemy)
    rows = np.concatenate([np.arange(n_rows), n_rows + number[positions.position_of_row[played]]])
    data = np.concatenate([np.ones(n_rows), enemy[played]])
    shape = (n_rows + n_live, 2 * n_live + _ENDS)
    # The constructor adds up what leads to the same state.
    matrix = csr_array((data, (rows, np.concatenate([own, other[played]]))), shape=shape)
    matrix.sort_indices()
    counts = np.concatenate([np.diff(positions.state_ptr)[live], np.ones(n_live, dtype=np.int64)])
    slot = np.arange(n_rows) - positions.state_ptr[positions.position_of_row]
    return MDP(
        state_ptr=cumulated(counts),
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int32),
        data=matrix.data,
        reward=np.zeros(shape[0]),
        terminal_reward=np.array([1.0, 0.0, -1.0]),
        layer_ptr=np.array([0, n_live, 2 * n_live]),
        action=np.concatenate([slot, np.zeros(n_live, dtype=np.int64)]).astype(np.uint8),
    )


def _targets(positions: Positions, number: np.ndarray, n_live: int, is_enemy: bool) -> np.ndarray:
    """The column that each row leads to, taken by us or by the enemy."""
    after = positions.after
    enemy_next = (positions.sign < 0) != is_enemy
    worth = positions.worth[after] * np.where(enemy_next, -1, 1)
    end = 2 * n_live + np.where(worth > 0, _WIN, np.where(worth < 0, _LOSS, _DRAW))
    return np.where(positions.is_terminal[after], end, number[after] + n_live * enemy_next)


def best_response(positions: Positions, enemy: np.ndarray) -> Response:
    """The policy that wins most often against ``enemy``, and how often that is.

    Raises:
        PolicyError: ``enemy`` is no policy.
        SolveError: the best answer is not found, which should not be possible.
    """
    mdp = process_against(positions, enemy)
    found = reach(mdp, np.array([1.0, 0.0, 0.0]))
    live = np.flatnonzero(~positions.is_terminal)
    policy = np.zeros(positions.n_rows)
    policy[found.choice[: len(live)]] = 1.0
    win = (positions.worth > 0).astype(np.float64)
    win[live] = found.v[: len(live)]
    return Response(policy, float(found.v[0]), float(found.v[len(live)]), win, found.excess)


def error_bound(positions: Positions, enemy: np.ndarray, response: Response) -> float | None:
    """How far any chance of a best response can be from the truth, proved by brackets from below and above.

    Args:
        positions: Those of the game.
        enemy: float64 ``[n_rows]``, what the enemy plays.
        response: What `best_response` found.

    Returns:
        The bound, or None where some answer would make play go on for ever: there is no bracket then.

    Raises:
        PolicyError: ``enemy`` is no policy.
    """
    mdp = process_against(positions, enemy)
    try:
        bracket = solve(mdp, objective="win-probability", tolerance=_PROOF)
    except SolveError:
        return None
    live = np.flatnonzero(~positions.is_terminal)
    found = np.append(response.win[live], response.second)
    proved = bracket.v[: len(live) + 1]
    return bracket.error_bound + float(np.abs(proved - found).max())


def meet(positions: Positions, first: np.ndarray, second: np.ndarray) -> Meeting:
    """What comes of it exactly if ``first`` plays ``second`` and begins.

    Raises:
        PolicyError: one of them is no policy.
    """
    from scipy.sparse import csr_array

    first = check_policy(positions, first)
    mdp = process_against(positions, second)
    weight = np.concatenate([first, np.ones(mdp.n_rows - positions.n_rows)])
    state = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr))
    mixing = csr_array((weight, (state, np.arange(mdp.n_rows))), shape=(mdp.n_states, mdp.n_rows))
    chain = mixing @ mdp.to_scipy()
    win, loss = (float(absorption_values(chain, np.eye(_ENDS)[end])[0]) for end in (_WIN, _LOSS))
    return Meeting(win, max(1 - win - loss, 0.0), loss)


def play(
    positions: Positions, first: np.ndarray, second: np.ndarray, n_games: int, seed: int = 0, most_plies: int = 10_000
) -> Played:
    """Let ``first`` play ``second`` and begin in every game, as often as wanted.

    Args:
        positions: Those of the game.
        first: float64 ``[n_rows]``, a policy; played with probabilities rounded to multiples of 2^-32.
        second: The other one.
        n_games: How many games.
        seed: From 0 to 2^64 - 1; the same games come out for any number of threads.
        most_plies: After so many actions a game is broken off.

    Raises:
        PolicyError: one of them is no policy.
    """
    until = np.stack([_cumulated(positions, check_policy(positions, policy)) for policy in (first, second)])
    result, plies = np.empty(n_games, dtype=np.int8), np.empty(n_games, dtype=np.int32)
    arrays = (positions.state_ptr, positions.after, positions.sign, positions.worth)
    for_each(_matches.play_games, n_games, 0, np.uint64(seed), arrays, until, most_plies, result, plies)
    wins, losses = int((result > 0).sum()), int((result < 0).sum())
    return Played(wins, n_games - wins - losses, losses, int(plies.sum()))


def _cumulated(positions: Positions, policy: np.ndarray) -> np.ndarray:
    total = np.cumsum(policy)
    before = np.concatenate([[0.0], total])[positions.state_ptr[positions.position_of_row]]
    return np.asarray(total - before)
