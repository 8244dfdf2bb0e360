"""Kernels of tabular Q-learning, with one value for each action of each position.

With learning rate ``a``, every visit to an action sets ``Q <- Q + a (target - Q)``. Two schemes differ in the target.

*negamax*. The game is zero-sum, so the target depends only on the opponent's best reply::

    target  =  payoff of the mover,                                 if the action ends the game
               -discount * max over legal b of Q(successor, b)      otherwise

(without the minus sign if the mover keeps the turn). Learning is off-policy: the table estimates the values under
perfect play, regardless of the opponent and of epsilon.

*author*. Each of the two players has a table, and the agent's table is the result. A player updates the table after the
opponent's reply, with the position after the reply as the successor::

    target  =  payoff of the player,                                if the action or the reply ends the game
               discount * max over all b of Q(position after the reply, b)    otherwise

The maximum includes illegal actions ``b``, whose values stay 0. In positions with illegal actions, the maximum is
therefore never below 0, so a loss affects only the value of the loser's last action. The author of TapnSwap uses this
scheme.

The random numbers of each game come from G. Marsaglia's xorshift generator ("Xorshift RNGs", J. Stat. Softw. 8, 2003),
which takes two nanoseconds per move. Its seed is derived from the random seed and the index of the game
(``runtime/_random.py``).

The best row of every position (the first row if several are equal) is cached. All rows of a position are compared again
only if the value of the best row decreases.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

NEGAMAX, AUTHOR = 0, 1
RANDOM, SELF = 0, 1

# Index of the random stream of Q-learning.
_LEARN = 1
_WORD_BITS = np.uint64(32)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_FIRST, _SECOND, _THIRD = np.uint64(13), np.uint64(7), np.uint64(17)
_TOP_BITS = np.uint64(11)
# An agent takes a random action if a 53-bit random number is below epsilon times this constant.
_CERTAIN = float(1 << 53)
_NOT_ZERO = np.uint64(1)


class Board(NamedTuple):
    """Arrays of `Positions`, and the number of actions in the game."""

    state_ptr: np.ndarray
    after: np.ndarray
    sign: np.ndarray
    payoff: np.ndarray
    n_actions: int


class AgentSettings(NamedTuple):
    """Settings of an agent."""

    scheme: int  # `NEGAMAX` or `AUTHOR`
    opponent: int  # `RANDOM` or `SELF`
    epsilon: float  # probability of a random action
    rate: float  # learning rate, or 0 for 1 / visits
    discount: float
    seed: np.uint64  # random seed
    first_game: int  # index of the first game


@kernel
def learn_by_playing(board, settings, n_games, max_plies, q, visits):
    """Train an agent by playing games, updating ``q`` and ``visits`` in place.

    Args:
        board: `Board` of the game.
        settings: `AgentSettings` of the agent.
        n_games: Number of games to play.
        max_plies: Number of plies after which a game is stopped. Updates from stopped games are not undone.
        q: Action values, float64 ``[2, n_rows]``: the agent's table, and the opponent's table in self-play (*author*).
        visits: Number of updates per action value, int64 ``[2, n_rows]``.
    """
    against_self = settings.opponent == SELF
    explore_below = np.uint64(settings.epsilon * _CERTAIN)
    best = _best_rows(board, q)
    for game in range(settings.first_game, settings.first_game + n_games):
        words = draw_words(game, 0, _LEARN, settings.seed)
        random = (words[0] << _WORD_BITS) | words[1] | _NOT_ZERO
        # The agent moves first in even-numbered games.
        seat = game % 2
        args = (random, against_self, seat, explore_below, settings.rate, settings.discount, max_plies)
        if settings.scheme == AUTHOR:
            _learn_by_author(board, *args, q, visits, best)
        else:
            _learn_negamax(board, *args, q[0], visits[0], best[0])


@routine
def _next_word(random):
    random ^= random << _FIRST
    random ^= random >> _SECOND
    random ^= random << _THIRD
    return random


@routine
def _best_row(board, q, position):
    """Return the first row of maximum value in a nonterminal position."""
    row = board.state_ptr[position]
    best = row
    row += 1
    while row < board.state_ptr[position + 1]:
        best = row if q[row] > q[best] else best
        row += 1
    return best


@routine
def _best_rows(board, q):
    """Return the best row of each position in both tables, int64 ``[2, n]``, or -1 in terminal positions."""
    n = len(board.payoff)
    best = np.empty((2, n), dtype=np.int64)
    for position in range(n):
        for table in range(2):
            best[table, position] = -1
            if board.state_ptr[position] < board.state_ptr[position + 1]:
                best[table, position] = _best_row(board, q[table], position)
    return best


@routine
def _random_row(board, position, random):
    begin = board.state_ptr[position]
    n = np.uint64(board.state_ptr[position + 1] - begin)
    return begin + np.int64(((random & _LOW_WORD) * n) >> _WORD_BITS)


@routine
def _update(board, q, visits, best, position, row, target, rate):
    """Move the value of a row towards its target and update the best row of its position."""
    visits[row] += 1
    before = q[row]
    now = before + (rate if rate > 0.0 else 1.0 / visits[row]) * (target - before)
    q[row] = now
    first = best[position]
    if row == first:
        if now < before:
            best[position] = _best_row(board, q, position)
    elif now > q[first] or (now == q[first] and row < first):
        best[position] = row


@routine
def _learn_negamax(board, random, against_self, seat, explore_below, rate, discount, max_plies, q, visits, best):
    """Play one game under the negamax scheme and update the table."""
    position, mover = 0, 0
    for _ in range(max_plies):
        random = _next_word(random)
        if (random >> _TOP_BITS) < explore_below or not (against_self or mover == seat):
            row = _random_row(board, position, random)
        else:
            row = best[position]
        before, position = position, board.after[row]
        sign = board.sign[row]
        mover = mover if sign > 0 else 1 - mover
        reply = best[position]
        if reply < 0:
            _update(board, q, visits, best, before, row, sign * board.payoff[position], rate)
            break
        _update(board, q, visits, best, before, row, sign * discount * q[reply], rate)


@routine
def _learn_by_author(board, random, against_self, seat, explore_below, rate, discount, max_plies, q, visits, best):
    """Play one game under the author's scheme and update the tables. The scheme requires alternating moves."""
    position, mover = 0, 0
    # Row of the previous action and its position. The row is updated after the reply.
    waiting, waited = -1, 0
    for _ in range(max_plies):
        random = _next_word(random)
        table = 0 if mover == seat else 1
        learns = against_self or table == 0
        if (random >> _TOP_BITS) < explore_below or not learns:
            row = _random_row(board, position, random)
        else:
            row = best[table, position]
        before, position = position, board.after[row]
        n_legal = board.state_ptr[position + 1] - board.state_ptr[position]
        if n_legal == 0 and learns:
            _update(board, q[table], visits[table], best[table], before, row, -board.payoff[position], rate)
        if waiting >= 0 and (against_self or table == 1):
            other = 1 - table
            target = board.payoff[position]
            if n_legal > 0:
                value = q[other, best[other, position]]
                target = discount * (max(value, 0.0) if n_legal < board.n_actions else value)
            _update(board, q[other], visits[other], best[other], waited, waiting, target, rate)
        waiting, waited = row, before
        mover = 1 - mover
        if n_legal == 0:
            break
