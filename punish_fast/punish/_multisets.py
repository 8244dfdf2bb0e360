"""Hands as multisets: enumeration, counts, and numbers of ways to draw a hand.

Five counts, one for each kind of card, represent a multiset of cards. When ``sum x`` cards are drawn from a pile with
counts ``m``, the multiset ``x`` results from ``prod_k C(m_k, x_k)`` of the ``C(sum m, sum x)`` equally likely draws
(multivariate hypergeometric distribution). Numerators and denominators are stored separately as float64 integers. If
both are below 2**53, they are exact, and the probability is rounded only once.

In one breath, at most three unseen cards join the discard pile: the card drawn by the player's feint, the enemy's pick
and the card drawn by the enemy's feint. The 56 multisets of up to three cards are numbered in lexicographic order of
their counts. The cards codes after these cards have joined the pile are in the same order. A bit mask represents a set
of multisets.
"""

from itertools import product
from math import comb

import numpy as np

from punish_fast.runtime._jit import routine

N_KINDS = 5
# Binomial coefficients. The rules allow at most 45 cards: nine copies for each of five kinds.
BINOMIAL = np.array([[float(comb(n, k)) for k in range(46)] for n in range(46)])

_small = [counts for counts in product(range(4), repeat=N_KINDS) if sum(counts) <= 3]
N_ADDED = len(_small)
ADDED = np.array(_small, dtype=np.int64)


def _added_after() -> np.ndarray:
    """Tabulate the multisets after the addition of a card, int64 ``[56, 6]``.

    Element ``[a, kind]`` is the index of multiset ``a`` plus a card of ``kind`` (5 for no card), or -1 if the result
    has more than three cards.
    """
    number = {counts: a for a, counts in enumerate(_small)}
    table = np.full((N_ADDED, N_KINDS + 1), -1, dtype=np.int64)
    for a, counts in enumerate(_small):
        table[a, N_KINDS] = a
        for kind in range(N_KINDS):
            more = tuple(n + (k == kind) for k, n in enumerate(counts))
            table[a, kind] = number.get(more, -1)
    return table


ADDED_AFTER = _added_after()
# int64 [5, 4], bit masks of the multisets with at most 0 to 3 cards of each kind.
FITTING = np.array(
    [[sum(1 << a for a, counts in enumerate(_small) if counts[k] <= n) for n in range(4)] for k in range(5)]
)


@routine
def count_ways(pile, drawn):
    """Return the number of ways to draw the multiset ``drawn`` from ``pile``."""
    ways = 1.0
    for kind in range(N_KINDS):
        ways *= BINOMIAL[pile[kind], drawn[kind]]
    return ways


@routine
def count_subsets(pile, size):
    """Return how many multisets of ``size`` cards a pile contains."""
    counts = np.zeros(size + 1, dtype=np.int64)
    counts[0] = 1
    for kind in range(N_KINDS):
        for total in range(size, 0, -1):
            for taken in range(1, min(pile[kind], total) + 1):
                counts[total] += counts[total - taken]
    return counts[size]


@routine
def fill_from(first, size, pile, drawn):
    """Set ``drawn[first:]`` to the lexicographically first multiset of ``size`` cards. Return True if it exists."""
    for kind in range(N_KINDS - 1, first - 1, -1):
        drawn[kind] = min(size, pile[kind])
        size -= drawn[kind]
    return size == 0


@routine
def first_subset(pile, size, drawn):
    """Set ``drawn`` to a pile's lexicographically first multiset of ``size`` cards. Return True if it exists."""
    return fill_from(0, size, pile, drawn)


@routine
def next_subset(pile, drawn):
    """Replace ``drawn`` with the next multiset of the same size. Return False if ``drawn`` is the last multiset."""
    behind = 0
    for kind in range(N_KINDS - 1, -1, -1):
        if behind > 0 and drawn[kind] < pile[kind]:
            drawn[kind] += 1
            return fill_from(kind + 1, behind - 1, pile, drawn)
        behind += drawn[kind]
    return False


@routine
def possible_added(unseen):
    """Return a bit mask of all multisets in ``unseen`` with up to three cards."""
    mask = -1
    for kind in range(N_KINDS):
        mask &= FITTING[kind, min(unseen[kind], 3)]
    return mask
