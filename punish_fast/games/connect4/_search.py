"""Search for Connect Four that decides if the player to move can score at least a given target.

**Scores.** A win scores 22 minus the number of stones that the winner will have played, a loss scores the negative
of the winner's score, and a draw scores 0. With ``n`` stones on the board, an immediate win scores ``(43 - n) // 2``.

**Null windows.** The search answers one question about a position: is its score at least ``target``? The corresponding
question about a successor is whether the opponent's score is at least ``1 - target``. If it is not, the move reaches
the target. The search therefore passes one number down the tree instead of two bounds. Each answer is a bound on the
score: either a lower bound that reaches the target or an upper bound below the target. `_next_target` chooses targets
that first determine the winner and then narrow the bounds until they are equal. An answer often improves a bound by
several points, so a few questions are enough.

**Pruning of short games.** Positions that end within two moves are not searched. The player to move never has an
immediate win, because the search skips moves that allow the opponent to win immediately. If the opponent threatens to
win, the search considers only moves that block the threat. It also never places a stone below a square on which the
opponent would win. If no move remains, the opponent wins with the next stone. A move wins without further search if it
creates two immediate threats, or an immediate threat with another threat directly above it.

**Move ordering.** Moves that create more threats come first. Threats have a higher weight in the rows whose squares the
player usually gets late in the game: odd rows for the first player and even rows for the second, counted from 1. Ties
go to the move nearest to the center. The table entries of successors are prefetched while moves are ordered. In early
positions, all successors are looked up before any of them is searched.

**Follow-up.** If every column has an even height, the second player can always reply in the same column, and thus gets
all empty squares in even rows. If the first player's stones and the empty squares in odd rows contain no line, the
first player cannot win. If the second player's stones and the empty squares in even rows also contain a line, the
second player wins.

Answers are stored in a transposition table (``_table.py``). The search maintains an explicit stack: each call searches
a limited number of nodes, and the next call continues from there, so the search can be interrupted between calls.
"""

import numpy as np

from punish_fast.games.connect4._game import (
    BOARD,
    BOTTOM,
    COLUMN,
    N_SQUARES,
    STEP,
    WIDTH,
    contains_line,
    count_bits,
    playable_squares,
    winning_squares,
)
from punish_fast.games.connect4._table import board_key, find_entry, lower_bound, place_of, store_answer, upper_bound
from punish_fast.runtime._jit import kernel, routine
from punish_fast.runtime._prefetch import prefetch

# Words of a job: the stones of the player to move, all stones, the lower and upper bound on the score, a flag that is
# set if the exact score is required, a flag that is set during a search, its target, and the number of nodes searched.
OWN, FILLED, LOW, HIGH, IS_EXACT, IS_RUNNING, TARGET, NODES = range(8)
N_JOB_WORDS = 8
# Words of a stack: the position to enter next (the stones of the player to move, all stones, the squares on which the
# opponent would win, and the depth), followed by the levels.
_AT_OWN, _AT_FILLED, _AT_THREATS, _AT_DEPTH, _LEVELS = range(5)
# Words of a level: the table key of the board (0 if its answer is not stored), the stones of the player to move, all
# stones, the best score so far, the number of nodes searched when the level was entered, the index of the next move,
# the number of moves, the moves, and the threats that each move creates.
_KEY, _OWN, _FILLED, _BEST, _BEFORE, _NEXT, _N_MOVES, _MOVES = range(8)
_LEVEL_WORDS = _MOVES + 2 * WIDTH
STACK_WORDS = _LEVELS + (N_SQUARES + 1) * _LEVEL_WORDS
# The weight of a move, a weighted count of its threats, is stored above the bits of the move.
_WEIGHT_SHIFT = WIDTH * STEP
_SQUARES = (1 << _WEIGHT_SHIFT) - 1

# Masks of the columns, from the center outwards.
_COLUMNS = tuple(COLUMN << (STEP * column) for column in (3, 2, 4, 1, 5, 0, 6))
# Rows are counted from 1. In a column with even height, the next square is in an odd row, or above the board.
_ODD_ROWS = BOTTOM * 0b010101
_EVEN_ROWS = BOTTOM * 0b101010

# Number of stones below which all successors are looked up before any of them is searched.
_LOOK_AHEAD_BELOW = 26
# Stands for an unknown score. It is higher than all scores.
_UNKNOWN = 100


@kernel
def open_jobs(begin, end, boards, is_exact, jobs):
    """Fill jobs ``begin`` to ``end - 1``, with score bounds derived from the number of stones.

    If the game is over or can be won with the next stone, both bounds equal the score, and the job is finished.

    Args:
        boards: int64 ``[n, 2]``, the stones of the player to move and all stones.
        is_exact: True to find scores, False to find only the winners.
        jobs: Output, int64 ``[n, N_JOB_WORDS]``: the jobs.
    """
    for k in range(begin, end):
        own, filled = boards[k, 0], boards[k, 1]
        n_stones = count_bits(filled)
        low, high = -((N_SQUARES - n_stones) >> 1), (N_SQUARES - 1 - n_stones) >> 1
        if contains_line(own ^ filled):
            low = high = -((N_SQUARES + 2 - n_stones) >> 1)
        elif filled == BOARD:
            low = high = 0
        elif winning_squares(own, filled) & playable_squares(filled):
            low = high = (N_SQUARES + 1 - n_stones) >> 1
        jobs[k] = 0
        jobs[k, OWN], jobs[k, FILLED], jobs[k, LOW], jobs[k, HIGH] = own, filled, low, high
        jobs[k, IS_EXACT] = is_exact


@kernel
def search_jobs(begin, end, ranges, queue, jobs, stacks, table, budget):
    """Process the jobs of workers ``begin`` to ``end - 1``, searching about ``budget`` nodes per worker.

    Args:
        ranges: int64 ``[n_workers, 2]``, the start and the exclusive end of each worker's part of the queue. The start
            increases with each finished job.
        queue: int64 ``[n_queued]``, indices of unfinished jobs.
        jobs: int64 ``[n_jobs, N_JOB_WORDS]``, jobs from `open_jobs`, updated in place. ``LOW`` and ``HIGH`` bound the
            score. In a finished job, they are equal if ``IS_EXACT`` is set, and otherwise determine the sign of the
            score.
        stacks: int64 ``[n_workers, STACK_WORDS]``, the stack of each worker's current job.
        table: int64 ``[2^k]``, the transposition table, initially zero.
    """
    for worker in range(begin, end):
        left = budget
        while left > 0 and ranges[worker, 0] < ranges[worker, 1]:
            job = jobs[queue[ranges[worker, 0]]]
            before = job[NODES]
            if _advance(job, stacks[worker], table, left):
                ranges[worker, 0] += 1
            left -= job[NODES] - before


@routine
def _advance(job, stack, table, budget):
    """Search until the job is decided or the budget is spent. Return True if the job is decided."""
    limit = job[NODES] + budget
    while not _is_decided(job):
        if not job[IS_RUNNING]:
            job[TARGET], job[IS_RUNNING] = _next_target(job[LOW], job[HIGH], job[IS_EXACT]), 1
            stack[_AT_OWN], stack[_AT_FILLED], stack[_AT_DEPTH] = job[OWN], job[FILLED], 0
            stack[_AT_THREATS] = winning_squares(job[OWN] ^ job[FILLED], job[FILLED])
        score = _search(job, stack, table, limit)
        if score == _UNKNOWN:
            return False
        job[IS_RUNNING] = 0
        if score >= job[TARGET]:
            job[LOW] = max(job[LOW], score)
        else:
            job[HIGH] = min(job[HIGH], score)
    return True


@routine
def _is_decided(job):
    if job[LOW] >= job[HIGH]:
        return True
    return not job[IS_EXACT] and (job[LOW] > 0 or job[HIGH] < 0)


@routine
def _next_target(low, high, is_exact):
    """Return a target that decides the winner or, if the winner is known, narrows the bounds ``low`` and ``high``."""
    if not is_exact or low < 0 < high:
        return 1 if high > 0 else 0
    if low >= 0:
        return low + 1
    return high


@routine
def _search(job, stack, table, limit):
    """Return a bound that decides if a job reaches its target, or ``_UNKNOWN`` after ``limit`` nodes."""
    own, filled, threats = stack[_AT_OWN], stack[_AT_FILLED], stack[_AT_THREATS]
    depth, nodes = stack[_AT_DEPTH], job[NODES]
    target = job[TARGET] if depth % 2 == 0 else 1 - job[TARGET]
    base = _LEVELS + depth * _LEVEL_WORDS
    while nodes < limit:
        nodes += 1
        score = _open_level(stack, base, own, filled, threats, target, table)
        if score == _UNKNOWN:
            stack[base + _BEFORE] = nodes
        while score != _UNKNOWN:
            if depth == 0:
                job[NODES] = nodes
                return score
            # Return to the predecessor.
            depth -= 1
            base -= _LEVEL_WORDS
            target = 1 - target
            score = max(stack[base + _BEST], -score)
            if score < target and stack[base + _NEXT] < stack[base + _N_MOVES]:
                stack[base + _BEST] = score
                score = _UNKNOWN
            elif stack[base + _KEY] != 0:
                store_answer(table, stack[base + _KEY], score, target, nodes - stack[base + _BEFORE])
        move = base + _MOVES + stack[base + _NEXT]
        stack[base + _NEXT] += 1
        filled = stack[base + _FILLED]
        own = stack[base + _OWN] ^ filled
        filled |= stack[move] & _SQUARES
        threats = stack[move + WIDTH]
        depth += 1
        base += _LEVEL_WORDS
        target = 1 - target
    stack[_AT_OWN], stack[_AT_FILLED], stack[_AT_THREATS], stack[_AT_DEPTH] = own, filled, threats, depth
    job[NODES] = nodes
    return _UNKNOWN


@routine
def _open_level(stack, base, own, filled, threats, target, table):
    """Return a bound that decides whether a position reaches ``target``, or write its level and return ``_UNKNOWN``."""
    n_stones = count_bits(filled)
    moves = _safe_moves(filled, threats)
    score = _score_at_sight(own, filled, moves, n_stones, target)
    if score != _UNKNOWN:
        return score
    key = 0
    # A position with a single move is neither looked up nor stored, because its successor is.
    if moves & (moves - 1):
        key = board_key(own, filled, n_stones)
        score = _score_in_table(table, key, target)
        if score != _UNKNOWN:
            return score
    stack[base + _KEY], stack[base + _OWN], stack[base + _FILLED] = key, own, filled
    stack[base + _BEST], stack[base + _NEXT] = -_UNKNOWN, 0
    if _order_moves(stack, base, moves, n_stones, table):
        return (N_SQUARES - 1 - n_stones) >> 1
    if n_stones < _LOOK_AHEAD_BELOW:
        return _score_by_successor(stack, base, target, n_stones, table)
    return _UNKNOWN


@routine
def _score_by_successor(stack, base, target, n_stones, table):
    """Return a lower bound that reaches ``target`` from the table entry of a successor, or ``_UNKNOWN``."""
    own, filled = stack[base + _OWN], stack[base + _FILLED]
    for k in range(stack[base + _N_MOVES]):
        after = filled | (stack[base + _MOVES + k] & _SQUARES)
        entry = find_entry(table, board_key(own ^ filled, after, n_stones + 1))
        if entry != 0 and -upper_bound(entry) >= target:
            return -upper_bound(entry)
    return _UNKNOWN


@routine
def _score_at_sight(own, filled, moves, n_stones, target):
    """Return a bound that decides without search if the score reaches ``target``, or ``_UNKNOWN``.

    ``moves`` are the safe moves, from `_safe_moves`.
    """
    if moves == 0:
        return -((N_SQUARES - n_stones) >> 1)
    if n_stones >= N_SQUARES - 2:
        return 0
    # Neither player can win with the next stone.
    low, high = -((N_SQUARES - 2 - n_stones) >> 1), (N_SQUARES - 1 - n_stones) >> 1
    if low >= target:
        return low
    if high < target:
        return high
    return _score_by_follow_up(own, filled, moves, target)


@routine
def _score_in_table(table, key, target):
    """Return a bound from the table that decides if the score reaches ``target``, or ``_UNKNOWN``."""
    entry = find_entry(table, key)
    if entry != 0:
        if lower_bound(entry) >= target:
            return lower_bound(entry)
        if upper_bound(entry) < target:
            return upper_bound(entry)
    return _UNKNOWN


@routine
def _safe_moves(filled, threats):
    """Return the moves that do not let the opponent win immediately on one of the squares ``threats``."""
    moves = playable_squares(filled)
    blocks = moves & threats
    if blocks & (blocks - 1):
        return 0
    if blocks:
        moves = blocks
    return moves & ~(threats >> 1)


@routine
def _score_by_follow_up(own, filled, moves, target):
    """Return a bound from the follow-up strategy that decides if the score reaches ``target``, or ``_UNKNOWN``."""
    if target < 0 or target > 1:
        return _UNKNOWN
    odd_columns = (filled + BOTTOM) & _EVEN_ROWS
    is_first = odd_columns == 0
    # The second player is to move and can make all column heights even.
    is_second = odd_columns != 0 and odd_columns & (odd_columns - 1) == 0 and odd_columns & moves != 0
    if not (is_first or is_second):
        return _UNKNOWN
    first, second, empty = own, own ^ filled, BOARD ^ filled
    if is_second:
        first, second = second, first
    if contains_line(first | (empty & _ODD_ROWS)):
        return _UNKNOWN
    # The second player has at least a draw. This decides target 1 for the first player and target 0 for the second.
    if is_first == (target == 1):
        return 0
    if not contains_line(second | (empty & _EVEN_ROWS)):
        return _UNKNOWN
    return -1 if is_first else 1


@routine
def _order_moves(stack, base, moves, n_stones, table):
    """Write the moves of a level in search order. Return True if a move wins by creating two threats."""
    own, filled = stack[base + _OWN], stack[base + _FILLED]
    good_rows = _EVEN_ROWS if n_stones & 1 else _ODD_ROWS
    n_moves = 0
    for column in _COLUMNS:
        move = moves & column
        if move == 0:
            continue
        after = filled | move
        threats = winning_squares(own | move, after)
        at_once = threats & playable_squares(after)
        # Two immediate threats, or an immediate threat below another threat.
        if at_once & (at_once - 1) or (at_once << 1) & threats:
            return True
        prefetch(table, np.uint64(place_of(table, board_key(own ^ filled, after, n_stones + 1))))
        weight = 2 * count_bits(threats) + count_bits(threats & good_rows)
        k = base + _MOVES + n_moves
        while k > base + _MOVES and stack[k - 1] >> _WEIGHT_SHIFT < weight:
            stack[k], stack[k + WIDTH] = stack[k - 1], stack[k - 1 + WIDTH]
            k -= 1
        stack[k], stack[k + WIDTH] = (weight << _WEIGHT_SHIFT) | move, threats
        n_moves += 1
    stack[base + _N_MOVES] = n_moves
    return False
