"""Counter-based random numbers for kernels.

Philox4x32-10 (J. Salmon, M. Moraes, R. Dror and D. Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011) maps a
counter and a key to four 32-bit words. The generator is stateless, so a draw depends neither on earlier draws nor on
the thread.
"""

import numpy as np

from punish_fast.runtime._jit import routine

# Constants of Philox: multipliers, key increments, and number of rounds.
_FACTOR_0 = np.uint64(0xD2511F53)
_FACTOR_1 = np.uint64(0xCD9E8D57)
_STEP_0 = np.uint64(0x9E3779B9)
_STEP_1 = np.uint64(0xBB67AE85)
_WORD = np.uint64(0xFFFFFFFF)
_WORD_BITS = np.uint64(32)
_ROUNDS = 10


@routine
def draw_words(game, breath, stream, seed):
    """Return four random 32-bit words as uint64, given the counter (game, breath and stream) and the key (seed)."""
    game, seed = np.uint64(game), np.uint64(seed)
    c0, c1 = game & _WORD, game >> _WORD_BITS
    c2, c3 = np.uint64(breath), np.uint64(stream)
    k0, k1 = seed & _WORD, seed >> _WORD_BITS
    for _ in range(_ROUNDS):
        one, other = _FACTOR_0 * c0, _FACTOR_1 * c2
        c0, c1 = (other >> _WORD_BITS) ^ c1 ^ k0, other & _WORD
        c2, c3 = (one >> _WORD_BITS) ^ c3 ^ k1, one & _WORD
        k0, k1 = (k0 + _STEP_0) & _WORD, (k1 + _STEP_1) & _WORD
    return c0, c1, c2, c3
