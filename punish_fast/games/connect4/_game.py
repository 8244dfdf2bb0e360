"""Boards of Connect Four in kernels; ``game.py`` draws their bits.

Boards are int64. A shift to the left may push squares beyond the board; ``BOARD`` takes them away again.
"""

from __future__ import annotations

from punish_fast.runtime._jit import kernel, routine

WIDTH, HEIGHT = 7, 6
STEP = HEIGHT + 1
N_SQUARES = WIDTH * HEIGHT
# The bottom square of each column, and all squares.
BOTTOM = sum(1 << (STEP * column) for column in range(WIDTH))
BOARD = BOTTOM * ((1 << HEIGHT) - 1)
COLUMN = (1 << HEIGHT) - 1


@routine
def count_bits(squares):
    """The number of squares of a board; compilers know this loop as one instruction."""
    count = 0
    while squares != 0:
        squares &= squares - 1
        count += 1
    return count


@routine
def contains_line(stones):
    """Whether a board has four stones in a line."""
    up = stones & (stones >> 1)
    along = stones & (stones >> STEP)
    rising = stones & (stones >> (STEP + 1))
    falling = stones & (stones >> (STEP - 1))
    found = up & (up >> 2)
    found |= along & (along >> (2 * STEP))
    found |= rising & (rising >> (2 * STEP + 2))
    found |= falling & (falling >> (2 * STEP - 2))
    return found != 0


@routine
def _completions(stones, step):
    """The squares beside or between three stones in one direction, on the board or not."""
    pairs = stones & (stones >> step)
    threes = pairs & (stones >> (2 * step))
    upper_gap = pairs & (stones >> (3 * step))
    lower_gap = stones & (pairs >> (2 * step))
    return (threes << (3 * step)) | (threes >> step) | (upper_gap << (2 * step)) | (lower_gap << step)


@routine
def winning_squares(stones, filled):
    """The empty squares that complete a line of ``stones``."""
    found = (stones << 1) & (stones << 2) & (stones << 3)
    found |= _completions(stones, STEP) | _completions(stones, STEP + 1) | _completions(stones, STEP - 1)
    return found & (BOARD ^ filled)


@routine
def playable_squares(filled):
    """The squares where the next stone of each column lands."""
    return (filled + BOTTOM) & BOARD


@routine
def mirrored(bits):
    """A board with left and right swapped, with whatever is in the bits above its columns."""
    found = 0
    for column in range(WIDTH):
        found = (found << STEP) | ((bits >> (STEP * column)) & (2 * COLUMN + 1))
    return found


@kernel
def drop_stones(boards, columns, after, returns, ended):
    """Drop a stone into a column of each board.

    Args:
        boards: int64 ``[n, 2]``, the stones of the player to move and all stones; no game is over.
        columns: int64 ``[n]``, from 0; none is full.
        after: int64 ``[n, 2]``, becomes the boards afterwards.
        returns: float32 ``[n, 2]``, becomes the returns of both players.
        ended: bool ``[n]``, becomes whether the game is over.
    """
    for k in range(len(boards)):
        own, filled = boards[k, 0], boards[k, 1]
        square = (filled + (1 << (STEP * columns[k]))) & (COLUMN << (STEP * columns[k]))
        other, now_filled = own ^ filled, filled | square
        after[k, 0], after[k, 1] = other, now_filled
        has_won = contains_line(own | square)
        # The player who moved is the one who would not move next.
        mover = 1 - count_bits(now_filled) % 2
        returns[k, mover] = 1.0 if has_won else 0.0
        returns[k, 1 - mover] = -1.0 if has_won else 0.0
        ended[k] = has_won or now_filled == BOARD


@kernel
def find_open_columns(boards, is_open):
    """Mark the columns that take a stone, in bool ``[n, 7]``: none if the game is over."""
    for k in range(len(boards)):
        own, filled = boards[k, 0], boards[k, 1]
        squares = 0 if contains_line(own ^ filled) else playable_squares(filled)
        for column in range(WIDTH):
            is_open[k, column] = (squares >> (STEP * column)) & COLUMN != 0


@kernel
def spread_stones(boards, features):
    """Write the stones of the player to move, then those of the other, into float32 ``[n, 2, 6, 7]``."""
    for k in range(len(boards)):
        own, filled = boards[k, 0], boards[k, 1]
        other = own ^ filled
        for row in range(HEIGHT):
            for column in range(WIDTH):
                shift = STEP * column + row
                features[k, 0, row, column] = (own >> shift) & 1
                features[k, 1, row, column] = (other >> shift) & 1
