"""Tabular Q-learning by playing: one number for each action of each position, moved towards a target after each move.

With a learning rate ``a``, every visit of an action does ``Q <- Q + a (target - Q)``. Two schemes differ in the target.

*negamax*. What is good for one player is as bad for the other, so the best the opponent can do next says it all::

    target  =  worth of the end to the mover,                       if the action ends play
               -discount * max over legal b of Q(next position, b)  otherwise

(without the minus if the mover keeps the turn). Every move of a game teaches, whoever makes it, and it does not matter
how badly it was chosen; the values are those of perfect play.

*author*. Two agents with a table each, of which the first is kept. An agent waits for the reply, and takes the position
after it as what its action led to::

    target  =  worth of the end to the agent,                       if action or reply end play
               discount * max over all b of Q(position after the reply, b)  otherwise

All ``b``, legal or not, and actions that are not legal keep the value 0 for ever. So the maximum is never below 0, and
what a loss teaches goes back no further than to the last action before it. This is how TapnSwap's author did it.

Each game has random numbers of its own, begun with a word made of seed and game (see ``punish/_simulator.py``) and
carried on by G. Marsaglia's xorshift ("Xorshift RNGs", J. Stat. Softw. 8, 2003), which takes two nanoseconds a move.

The best row of every position, the first one of equals, is kept up to date while the table changes: only where the best
one falls must a position be searched anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._random import draw_words

NEGAMAX, AUTHOR = 0, 1
RANDOM, SELF = 0, 1

# Columns of the tally.
GAMES_WON, GAMES_LOST, GAMES_BROKEN, PLIES = range(4)
N_TALLIES = 4

# Numbers the stream of random numbers.
_LEARN = 1
_WORD_BITS = np.uint64(32)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_FIRST, _SECOND, _THIRD = np.uint64(13), np.uint64(7), np.uint64(17)
_TOP_BITS = np.uint64(11)
# An agent explores if 53 bits are below its epsilon times this.
_CERTAIN = float(1 << 53)
_NOT_ZERO = np.uint64(1)


class Board(NamedTuple):
    """Positions as `Positions` has them, and how many actions there are in all."""

    state_ptr: np.ndarray
    after: np.ndarray
    sign: np.ndarray
    worth: np.ndarray
    n_actions: int


class Settings(NamedTuple):
    """How agents learn, one number of each for every agent.

    Attributes:
        scheme: int64, `NEGAMAX` or `AUTHOR`.
        opponent: int64, `RANDOM` or `SELF`.
        epsilon: float64, the share of actions chosen at random.
        rate: float64, the learning rate; 0 for one over the visits.
        discount: float64.
        seed: uint64.
        first_game: int64, the number of the first game.
    """

    scheme: np.ndarray
    opponent: np.ndarray
    epsilon: np.ndarray
    rate: np.ndarray
    discount: np.ndarray
    seed: np.ndarray
    first_game: np.ndarray


@kernel
def learn(begin, end, board, settings, n_games, most_plies, q, visits, tally):
    """Let the agents from number ``begin`` to ``end`` play and learn.

    Args:
        begin: The first agent.
        end: The one after the last.
        board: The game.
        settings: How they learn.
        n_games: How many games each plays.
        most_plies: When a game is broken off; what it has taught stays.
        q: float64 ``[n_agents, 2, n_rows]``, tables: that of the agent, and that of its twin if it has one.
        visits: int64 ``[n_agents, 2, n_rows]``, how often each action was learned from.
        tally: int64 ``[n_agents, 4]``, to which games won, lost and broken off and plies are added.
    """
    for agent in range(begin, end):
        against_self = settings.opponent[agent] == SELF
        by_author = settings.scheme[agent] == AUTHOR
        rate, discount = settings.rate[agent], settings.discount[agent]
        explore_below = np.uint64(settings.epsilon[agent] * _CERTAIN)
        best = _best_rows(board, q[agent])
        for game in range(settings.first_game[agent], settings.first_game[agent] + n_games):
            words = draw_words(game, 0, _LEARN, settings.seed[agent])
            random = (words[0] << _WORD_BITS) | words[1] | _NOT_ZERO
            # The agent begins every second game.
            seat = game % 2
            args = (random, against_self, seat, explore_below, rate, discount, most_plies)
            if by_author:
                result, plies = _learn_waiting(board, *args, q[agent], visits[agent], best)
            else:
                result, plies = _learn_negamax(board, *args, q[agent, 0], visits[agent, 0], best[0])
            tally[agent, GAMES_WON] += result > 0
            tally[agent, GAMES_LOST] += result < 0
            tally[agent, GAMES_BROKEN] += plies == most_plies
            tally[agent, PLIES] += plies


@routine
def _next_word(random):
    random ^= random << _FIRST
    random ^= random >> _SECOND
    random ^= random << _THIRD
    return random


@routine
def _best_row(board, q, position):
    """The first of the best rows of a position."""
    row = board.state_ptr[position]
    best = row
    row += 1
    while row < board.state_ptr[position + 1]:
        best = row if q[row] > q[best] else best
        row += 1
    return best


@routine
def _best_rows(board, q):
    """int64 ``[2, n]``: the best rows of all positions in both tables."""
    n = len(board.worth)
    best = np.empty((2, n), dtype=np.int64)
    for position in range(n):
        # At the end of play there is none.
        for table in range(2):
            best[table, position] = -1
            if board.state_ptr[position] < board.state_ptr[position + 1]:
                best[table, position] = _best_row(board, q[table], position)
    return best


@routine
def _chosen_row(board, position, random):
    """One row or another, all alike."""
    begin = board.state_ptr[position]
    n = np.uint64(board.state_ptr[position + 1] - begin)
    return begin + np.int64(((random & _LOW_WORD) * n) >> _WORD_BITS)


@routine
def _move_towards(board, q, visits, best, position, row, target, rate):
    """Learn from a visit of a row of a position."""
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
def _learn_negamax(board, random, against_self, seat, explore_below, rate, discount, most_plies, q, visits, best):
    """One game; 1 if the agent won, -1 if it lost, and the plies."""
    position, mover, ply = 0, 0, 0
    while ply < most_plies:
        random = _next_word(random)
        if (random >> _TOP_BITS) < explore_below or not (against_self or mover == seat):
            row = _chosen_row(board, position, random)
        else:
            row = best[position]
        before, position = position, board.after[row]
        sign = board.sign[row]
        mover = mover if sign > 0 else 1 - mover
        ply += 1
        reply = best[position]
        if reply < 0:
            _move_towards(board, q, visits, best, before, row, sign * board.worth[position], rate)
            break
        _move_towards(board, q, visits, best, before, row, sign * discount * q[reply], rate)
    worth = board.worth[position] if mover == seat else -board.worth[position]
    return (1 if worth > 0 else 0) - (1 if worth < 0 else 0), ply


@routine
def _learn_waiting(board, random, against_self, seat, explore_below, rate, discount, most_plies, q, visits, best):
    """One game by the scheme of the author; both players must move in turns."""
    position, mover, ply = 0, 0, 0
    # The row that waits for a reply, and its position.
    waiting, waited = -1, 0
    while ply < most_plies:
        random = _next_word(random)
        table = 0 if mover == seat else 1
        learns = against_self or table == 0
        if (random >> _TOP_BITS) < explore_below or not learns:
            row = _chosen_row(board, position, random)
        else:
            row = best[table, position]
        before, position = position, board.after[row]
        ply += 1
        n_legal = board.state_ptr[position + 1] - board.state_ptr[position]
        if n_legal == 0 and learns:
            _move_towards(board, q[table], visits[table], best[table], before, row, -board.worth[position], rate)
        if waiting >= 0 and (against_self or table == 1):
            other = 1 - table
            target = board.worth[position]
            if n_legal > 0:
                value = q[other, best[other, position]]
                target = discount * (max(value, 0.0) if n_legal < board.n_actions else value)
            _move_towards(board, q[other], visits[other], best[other], waited, waiting, target, rate)
        waiting, waited = row, before
        mover = 1 - mover
        if n_legal == 0:
            break
    worth = board.worth[position] if mover == seat else -board.worth[position]
    return (1 if worth > 0 else 0) - (1 if worth < 0 else 0), ply
