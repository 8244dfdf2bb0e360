"""Kernels for Connect Four boards. ``game.py`` documents the bit layout.

Boards are int64. A left shift may move bits off the board. The mask ``BOARD`` removes such bits.
"""

from punish_fast.runtime._jit import kernel, routine

WIDTH, HEIGHT = 7, 6
STEP = HEIGHT + 1
N_SQUARES = WIDTH * HEIGHT
# Masks of the bottom squares, of all squares, and of the first column.
BOTTOM = sum(1 << (STEP * column) for column in range(WIDTH))
BOARD = BOTTOM * ((1 << HEIGHT) - 1)
COLUMN = (1 << HEIGHT) - 1


@routine
def count_bits(squares):
    """Return the number of set bits. The compiler reduces the loop to one instruction."""
    count = 0
    while squares != 0:
        squares &= squares - 1
        count += 1
    return count


@routine
def contains_line(stones):
    """Return True if ``stones`` contains a line of four."""
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
    """Return the squares that complete a line of four in direction ``step``.

    Some of the squares may be occupied or off the board.
    """
    pairs = stones & (stones >> step)
    threes = pairs & (stones >> (2 * step))
    upper_gap = pairs & (stones >> (3 * step))
    lower_gap = stones & (pairs >> (2 * step))
    return (threes << (3 * step)) | (threes >> step) | (upper_gap << (2 * step)) | (lower_gap << step)


@routine
def winning_squares(stones, filled):
    """Return the empty squares on which another stone would complete a line of four in ``stones``."""
    found = (stones << 1) & (stones << 2) & (stones << 3)
    found |= _completions(stones, STEP) | _completions(stones, STEP + 1) | _completions(stones, STEP - 1)
    return found & (BOARD ^ filled)


@routine
def playable_squares(filled):
    """Return the squares on which the next stone in each column would land."""
    return (filled + BOTTOM) & BOARD


@routine
def mirrored(bits):
    """Return ``bits`` with the columns, including the bit above each column, in reverse order."""
    found = 0
    for column in range(WIDTH):
        found = (found << STEP) | ((bits >> (STEP * column)) & (2 * COLUMN + 1))
    return found


@kernel
def drop_stones(boards, columns, after, returns, ended):
    """Drop a stone into a column of each board.

    Args:
        boards: int64 ``[n, 2]``, stones of the player to move and stones of both players, in games that are not over.
        columns: int64 ``[n]``, columns that are not full, counted from 0.
        after: Output, int64 ``[n, 2]``: the boards after the moves.
        returns: Output, float32 ``[n, 2]``: the returns of both players.
        ended: Output, bool ``[n]``: True for games that end with the move.
    """
    for k in range(len(boards)):
        own, filled = boards[k, 0], boards[k, 1]
        square = (filled + (1 << (STEP * columns[k]))) & (COLUMN << (STEP * columns[k]))
        other, now_filled = own ^ filled, filled | square
        after[k, 0], after[k, 1] = other, now_filled
        has_won = contains_line(own | square)
        # The player that has just moved.
        mover = 1 - count_bits(now_filled) % 2
        returns[k, mover] = 1.0 if has_won else 0.0
        returns[k, 1 - mover] = -1.0 if has_won else 0.0
        ended[k] = has_won or now_filled == BOARD


@kernel
def find_open_columns(boards, is_open):
    """Set ``is_open``, bool ``[n, 7]``, to True for columns that are not full, or to False if the game is over."""
    for k in range(len(boards)):
        own, filled = boards[k, 0], boards[k, 1]
        squares = 0 if contains_line(own ^ filled) else playable_squares(filled)
        for column in range(WIDTH):
            is_open[k, column] = (squares >> (STEP * column)) & COLUMN != 0


@kernel
def spread_stones(boards, features):
    """Write the mover's, then the opponent's stones, bottom row first, to ``features``, float32 ``[n, 84]``."""
    for k in range(len(boards)):
        own, filled = boards[k, 0], boards[k, 1]
        other = own ^ filled
        for row in range(HEIGHT):
            for column in range(WIDTH):
                shift = STEP * column + row
                features[k, WIDTH * row + column] = (own >> shift) & 1
                features[k, N_SQUARES + WIDTH * row + column] = (other >> shift) & 1
