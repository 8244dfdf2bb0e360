"""Redeal after a measure: possible deals of a hand and revealed cards, and their probabilities.

The pool is the discard pile ``M``. If the rules reshuffle, the deck ``K`` joins the pool. ``K`` consists of ``d``
unseen cards from ``U``, and all subsets are equally likely. The player draws ``D`` from the pool, then ``R`` is
revealed::

    ways(D, R) = sum_K  C(U, K) C(M + K, D) C(M + K - D, R)            (products of binomials over the kinds)

This sum is a coefficient in a product of polynomials, one for each kind of card::

    ways(D, R) = [z^d]  prod_k  sum_j  C(U_k, j) C(M_k + j, D_k) C(M_k + j - D_k, R_k) z^j

Therefore, a depth-first search over the kinds lists every deal once, with its weight, in the order of the codes. The
search stores partial products. Under the notebook's rules, the deck does not join the pool, so ``d = 0``.

Counting deals requires no weights. The polynomial of a kind has a term for every ``j`` from the number of cards missing
from the discard pile, ``max(0, D_k + R_k - M_k)``, to ``U_k``. A deal is possible if at most ``U_k`` cards of each kind
and at most ``d`` cards in total are missing. Dynamic programming over the kinds counts these deals.
"""

import numpy as np

from punish_fast.punish._codes import pair_digit, play_status, split_between_status, split_cards
from punish_fast.punish._multisets import BINOMIAL, N_KINDS
from punish_fast.punish.states._space import block_statuses, find_block, open_block
from punish_fast.runtime._jit import kernel, routine


@routine
def multiply_kind(product, kind, in_discard, unseen, drawn, shown):
    """Set ``product[kind + 1]`` to ``product[kind]`` times the kind's polynomial. Return False if this factor is 0."""
    degree = product.shape[1] - 1
    product[kind + 1, :] = 0.0
    positive = False
    for joining in range(min(unseen, degree) + 1):
        pool = in_discard + joining
        if pool < drawn + shown:
            continue
        ways = BINOMIAL[unseen, joining] * BINOMIAL[pool, drawn] * BINOMIAL[pool - drawn, shown]
        for power in range(joining, degree + 1):
            product[kind + 1, power] += ways * product[kind, power - joining]
        positive = True
    return positive


@routine
def redeal(layout, piles, sizes, joining, codes, weights):
    """Write the cards codes and weights of all deals, and return the number of deals and the sum of their weights.

    ``piles`` contains the counts of the player's hand, the discard pile and the unseen cards. ``sizes`` contains the
    sizes of hand and discard pile. ``joining`` unseen cards join the pool. In the search, ``both`` cards of a kind
    leave the pool, and ``drawn`` of these go to the hand. ``left`` contains the numbers of cards that the search must
    still draw and reveal.
    """
    product = np.zeros((N_KINDS + 1, joining + 1))
    product[0, 0] = 1.0
    left = np.zeros((N_KINDS + 1, 2), dtype=np.int64)
    left[0, 0] = layout.hand_size - sizes[0]
    left[0, 1] = layout.reveal_size
    code = np.zeros(N_KINDS + 1, dtype=np.int64)
    both = np.zeros(N_KINDS, dtype=np.int64)
    drawn = np.full(N_KINDS, -1, dtype=np.int64)
    n = 0
    kind = 0
    while kind >= 0:
        draws, reveals = left[kind, 0], left[kind, 1]
        drawn[kind] += 1
        if drawn[kind] > min(both[kind], draws):
            both[kind] += 1
            drawn[kind] = max(0, both[kind] - reveals)
        if both[kind] > min(draws + reveals, piles[1, kind] + min(piles[2, kind], joining)):
            kind -= 1
            continue
        shown = both[kind] - drawn[kind]
        if not multiply_kind(product, kind, piles[1, kind], piles[2, kind], drawn[kind], shown):
            continue
        digit = layout.place[kind] * pair_digit(piles[0, kind] + drawn[kind], shown)
        code[kind + 1] = code[kind] + digit
        if kind < N_KINDS - 1:
            kind += 1
            left[kind, 0] = draws - drawn[kind - 1]
            left[kind, 1] = reveals - shown
            # The last kind must provide all remaining cards.
            both[kind] = left[kind, 0] + left[kind, 1] if kind == N_KINDS - 1 else 0
            drawn[kind] = max(0, both[kind] - left[kind, 1]) - 1
        elif product[N_KINDS, joining] > 0:
            codes[n] = code[N_KINDS]
            weights[n] = product[N_KINDS, joining]
            n += 1
    n_unseen = layout.n_cards - sizes[0] - sizes[1]
    pool = sizes[1] + joining
    ways = BINOMIAL[pool, left[0, 0]] * BINOMIAL[pool - left[0, 0], layout.reveal_size]
    return n, BINOMIAL[n_unseen, joining] * ways


@routine
def count_deals(layout, piles, sizes, joining, ways):
    """Return the number of deals that `redeal` lists.

    Set ``ways[kind, lack, drawn, shown]`` to the number of deals of ``drawn`` cards to the hand and ``shown`` revealed
    cards of the kinds before ``kind`` in which ``lack`` cards are missing from the discard pile.
    """
    draws, reveals = layout.hand_size - sizes[0], layout.reveal_size
    ways[:] = 0
    ways[0, 0, 0, 0] = 1
    for kind in range(N_KINDS):
        in_discard = piles[1, kind]
        most = in_discard + min(piles[2, kind], joining)
        for lack in range(joining + 1):
            for drawn in range(draws + 1):
                for shown in range(reveals + 1):
                    before = ways[kind, lack, drawn, shown]
                    if before == 0:
                        continue
                    for draw in range(min(most, draws - drawn) + 1):
                        for show in range(min(most - draw, reveals - shown) + 1):
                            lacks = lack + max(0, draw + show - in_discard)
                            if lacks <= joining:
                                ways[kind + 1, lacks, drawn + draw, shown + show] += before
    n = 0
    for lack in range(joining + 1):
        n += ways[N_KINDS, lack, draws, reveals]
    return n


@routine
def joining_cards(layout, reshuffles, drawn):
    """Return the number of cards from the deck that join the pool."""
    return layout.deck_size - drawn if reshuffles else 0


@kernel
def count_redeals(blocks, layout, reshuffles, layer, rows):
    """Count the possible deals after each state in the given blocks, and find the owner of each row.

    The owner of a row is its block's first row with the same deals. `count_entries` describes ``rows``.
    """
    state_ptr, first_row, lengths, owner = rows
    shape = (N_KINDS + 1, layout.deck_size + 1, layout.hand_size + 1, layout.reveal_size + 1)
    ways = np.zeros(shape, dtype=np.int64)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    for block in blocks:
        sizes = open_block(layout, layer, block, piles)
        row = state_ptr[layer.first[block]] - first_row
        listed = -1
        n = 0
        first = row
        for code in block_statuses(layer, block):
            _, _, drawn = split_between_status(layout, code)
            joining = joining_cards(layout, reshuffles, drawn)
            if joining != listed:
                n = count_deals(layout, piles, sizes, joining, ways)
                listed = joining
                first = row
            lengths[row] = n
            owner[row] = first
            row += 1


@routine
def pool_key(piles, hand_size, joining):
    """Encode everything that determines the deals and their weights, except for the kept cards, as an integer."""
    key = hand_size * len(BINOMIAL) + joining
    for kind in range(N_KINDS):
        key = 10 * key + piles[1, kind]
        if joining > 0:
            key = 10 * key + piles[2, kind]
    return key


@kernel
def fill_redeals(blocks, layout, places, reshuffles, layers, rows):
    """Fill the rows of the given blocks in the layer between two measures.

    ``layers`` contains the layer between two measures and the first layer. All blocks of the first layer have the
    same statuses, so they have the block kind 0 (see ``_space.py``). States that differ only in HP have the same deals.
    Deals are listed without the kept cards, so that blocks can share deals. The kernel is fastest if blocks with the
    same discard pile and the same size of the hand are adjacent.
    """
    layer, opening = layers
    state_ptr, indptr, indices, data_ptr, data, _, first_row = rows
    first, rank, opening_first, most = layer.first, opening.rank, opening.first, len(opening.cards)
    codes, weights, columns = np.zeros(most, dtype=np.int64), np.zeros(most), np.zeros(most, dtype=np.int64)
    digits = np.zeros((most, N_KINDS), dtype=np.int64)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    # Contribution of each kind and digit of a deal to a cards code.
    part = np.zeros((N_KINDS, len(places.hand)), dtype=np.int64)
    listed = -1
    n = 0
    for block in blocks:
        sizes = open_block(layout, layer, block, piles)
        for kind in range(N_KINDS):
            for digit in range(part.shape[1]):
                held = piles[0, kind] + places.hand[digit]
                part[kind, digit] = layout.place[kind] * pair_digit(held, places.discard[digit])
            piles[0, kind] = 0
        row = state_ptr[first[block]] - first_row
        joined = -1
        for code in block_statuses(layer, block):
            own_hp, enemy_hp, drawn = split_between_status(layout, code)
            joining = joining_cards(layout, reshuffles, drawn)
            if joining != joined:
                joined = joining
                key = pool_key(piles, sizes[0], joining)
                if key != listed:
                    listed = key
                    n, total = redeal(layout, piles, sizes, joining, codes, weights)
                    for k in range(n):
                        split_cards(places, codes[k], digits[k])
                        weights[k] /= total
                for k in range(n):
                    cards = 0
                    for kind in range(N_KINDS):
                        cards += part[kind, digits[k, kind]]
                    columns[k] = opening_first[find_block(opening, cards)]
            fresh = rank[0, play_status(layout, own_hp, enemy_hp, 0, 0, 0, 0)]
            entry, entry_p = indptr[row], data_ptr[row]
            for k in range(n):
                indices[entry + k] = columns[k] + fresh
                data[entry_p + k] = weights[k]
            row += 1
