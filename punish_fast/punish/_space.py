"""The states of a layer, found from the layer before, and numbered.

A layer is a sorted list of blocks (states that share their cards). Its states are numbered in the order of their
codes, so the row of a state is the first row of its block plus the rank of its status in the block::

    row(cards, status) = first[b] + rank[b, status]        b = block of cards, by a hash table

The hash table of a layer is direct (as long as the space of cards codes) while that costs at most 16 MiB, so that a
lookup never collides; beyond, it is as long as twice the number of blocks and probed linearly. The rank table costs
two bytes for each status, reachable or not, about as much as the codes of the states themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._codes import cards_code, decode_cards, pack, pair_digit, split_status
from punish_fast.punish._multisets import ADDED, N_ADDED, N_KINDS, first_subset, next_subset, possible_added
from punish_fast.punish._outcomes import FEINT, N_WAYS, REST_WAY
from punish_fast.runtime._jit import inlined_routine, kernel, routine

# In the rank table: the status cannot occur with these cards.
ABSENT = np.uint16(65535)


class Layer(NamedTuple):
    """The blocks of one layer.

    Attributes:
        cards: int64 ``[n_blocks]``, cards codes, ascending.
        first: int32 ``[n_blocks + 1]``, row of the first state of each block.
        rank: uint16 ``[n_blocks, n_statuses]``, place of each status in its block, or `ABSENT`. There are more statuses
            than those of the layout where it is known what was spent.
        status: uint16 ``[n_states]``, the status of each state of the layer.
        slots: int32 ``[size]``, hash table from cards codes to blocks, -1 for empty.
    """

    cards: np.ndarray
    first: np.ndarray
    rank: np.ndarray
    status: np.ndarray
    slots: np.ndarray


@kernel
def find_block(layer, cards):
    """The block of a cards code, or -1."""
    slots, codes = layer.slots, layer.cards
    size = len(slots)
    slot = cards % size
    block = slots[slot]
    while block >= 0 and codes[block] != cards:
        slot = slot + 1 if slot + 1 < size else 0
        block = slots[slot]
    return block


@kernel
def row_of(layer, block, status):
    """The row of a state that is in the layer."""
    return layer.first[block] + layer.rank[block, status]


@kernel
def index_blocks(cards, slots):
    """Enter the blocks into an empty hash table."""
    size = len(slots)
    for block in range(len(cards)):
        slot = cards[block] % size
        while slots[slot] >= 0:
            slot = slot + 1 if slot + 1 < size else 0
        slots[slot] = block


@routine
def insert_cards(cards, slots, found, n_found):
    """Enter a cards code into the hash table of the codes found so far; return how many there are."""
    size = len(slots)
    slot = cards % size
    while slots[slot] >= 0:
        if found[slots[slot]] == cards:
            return n_found
        slot = slot + 1 if slot + 1 < size else 0
    slots[slot] = n_found
    found[n_found] = cards
    return n_found + 1


@kernel
def deal_openings(layout, found):
    """List the cards codes of all deals of hand and revealed cards; with ``found`` empty, only count them."""
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    left = np.zeros(N_KINDS, dtype=np.int64)
    n = 0
    more_hands = first_subset(layout.copies, layout.hand_size, hand)
    while more_hands:
        for kind in range(N_KINDS):
            left[kind] = layout.copies[kind] - hand[kind]
        more = first_subset(left, layout.reveal_size, discard)
        while more:
            if n < len(found):
                found[n] = cards_code(layout, hand, discard)
            n += 1
            more = next_subset(left, discard)
        more_hands = next_subset(layout.copies, hand)
    return n


@routine
def next_cards(layout, hand, discard, joining, codes):
    """Cards codes when each multiset of the bit mask ``joining`` joins the discard pile and nothing is picked.

    After a pick, which leaves the hand for the discard pile, they are less by its kind's place.
    """
    place = layout.place
    for a in range(N_ADDED):
        if (joining >> a) & 1:
            code = 0
            for kind in range(N_KINDS):
                code += place[kind] * pair_digit(hand[kind], discard[kind] + ADDED[a, kind])
            codes[a] = code


@routine
def status_for_ways(layout, status, enemy_hand):
    """The status under which to look up outcomes: an enemy without cards rests like an exhausted one."""
    _, _, _, _, enemy_exhausted, _ = split_status(layout, status)
    resting = enemy_hand == 0 and not enemy_exhausted
    return np.int64(status) + (layout.feints + 1 if resting else 0)


@routine
def rests(layout, status, hand_size):
    """Whether rest is the only action."""
    _, _, exhausted, _, _, _ = split_status(layout, status)
    return exhausted or hand_size == 0


@routine
def count_enemy_hand(layout, status, hand_size, discard_size):
    """Cards in the enemy's hand during a measure."""
    _, _, _, own_feinted, _, enemy_feinted = split_status(layout, status)
    return layout.n_cards - hand_size - discard_size - layout.deck_size + own_feinted + enemy_feinted


@routine
def block_statuses(layer, block):
    """The statuses of the states of a block, ascending."""
    origin = layer.first[0]
    return layer.status[layer.first[block] - origin : layer.first[block + 1] - origin]


@routine
def open_block(layout, layer, block, hand, discard, unseen):
    """Write the cards of a block; return the sizes of hand and discard pile."""
    hand_size, discard_size = decode_cards(layout, layer.cards[block], hand, discard)
    for kind in range(N_KINDS):
        unseen[kind] = layout.copies[kind] - hand[kind] - discard[kind]
    return hand_size, discard_size


@routine
def block_reach(layout, outcomes, statuses, hand, sizes, reach):
    """Bit masks of the multisets that keep the game going: ``reach[pick]``, and ``reach[5]`` for rest."""
    hand_size, discard_size = sizes
    reach[:] = 0
    reach_of = outcomes.reach
    for status in statuses:
        enemy_hand = count_enemy_hand(layout, status, hand_size, discard_size)
        base = status_for_ways(layout, status, enemy_hand) * N_WAYS
        if rests(layout, status, hand_size):
            reach[N_KINDS] |= reach_of[base + REST_WAY]
            continue
        for pick in range(N_KINDS):
            if hand[pick] > 0:
                reach[pick] |= reach_of[base + pick] | reach_of[base + FEINT]


@kernel
def discover_cards(begin, end, layout, outcomes, layer, slots, found, n_found):
    """Find the cards codes that the blocks from ``begin`` to ``end`` lead to.

    Stops early when the hash table could overflow. Returns the block to go on from and the number found.
    """
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    unseen = np.zeros(N_KINDS, dtype=np.int64)
    reach = np.zeros(N_KINDS + 1, dtype=np.int64)
    codes = np.zeros(N_ADDED, dtype=np.int64)
    for block in range(begin, end):
        if n_found + (N_KINDS + 1) * N_ADDED > len(found):
            return block, n_found
        sizes = open_block(layout, layer, block, hand, discard, unseen)
        block_reach(layout, outcomes, block_statuses(layer, block), hand, sizes, reach)
        possible = possible_added(unseen)
        next_cards(layout, hand, discard, possible, codes)
        for pick in range(N_KINDS + 1):
            joining = reach[pick] & possible
            less = layout.place[pick] if pick < N_KINDS else 0
            for a in range(N_ADDED):
                if (joining >> a) & 1:
                    n_found = insert_cards(codes[a] - less, slots, found, n_found)
    return end, n_found


@routine
def find_targets(layout, after, hand, discard, reach, possible, targets):
    """Blocks of the next layer: ``targets[pick, a]`` for every pick (5: rest) and multiset that can join."""
    codes = targets[N_KINDS]
    next_cards(layout, hand, discard, possible, codes)
    for pick in range(N_KINDS + 1):
        joining = reach[pick] & possible
        less = layout.place[pick] if pick < N_KINDS else 0
        for a in range(N_ADDED):
            if (joining >> a) & 1:
                targets[pick, a] = find_block(after, codes[a] - less)


@inlined_routine
def mark_outcomes(ptr, added, status_after, mask, index, possible, targets, pick, reached):
    """Mark the states that one status and way lead to after a pick (5: rest)."""
    for outcome in range(ptr[index], ptr[index + 1]):
        if mask[outcome] & possible and status_after[outcome] >= 0:
            reached[targets[pick, added[outcome]], status_after[outcome]] = 1


@kernel
def mark_states(begin, end, layout, outcomes, layer, after, reached):
    """Set ``reached[block, status]`` for every state that the given blocks of ``layer`` lead to.

    Threads may write the same cell at once, but they all write 1.
    """
    hand = np.zeros(N_KINDS, dtype=np.int64)
    discard = np.zeros(N_KINDS, dtype=np.int64)
    unseen = np.zeros(N_KINDS, dtype=np.int64)
    reach = np.zeros(N_KINDS + 1, dtype=np.int64)
    targets = np.zeros((N_KINDS + 1, N_ADDED), dtype=np.int64)
    # By themselves, for the reason that ``_transitions.py`` gives.
    ptr, added, status_after, mask, _, _, _ = outcomes
    for block in range(begin, end):
        statuses = block_statuses(layer, block)
        sizes = open_block(layout, layer, block, hand, discard, unseen)
        block_reach(layout, outcomes, statuses, hand, sizes, reach)
        possible = possible_added(unseen)
        find_targets(layout, after, hand, discard, reach, possible, targets)
        for status in statuses:
            enemy_hand = count_enemy_hand(layout, status, sizes[0], sizes[1])
            base = status_for_ways(layout, status, enemy_hand) * N_WAYS
            if rests(layout, status, sizes[0]):
                index = base + REST_WAY
                mark_outcomes(ptr, added, status_after, mask, index, possible, targets, N_KINDS, reached)
                continue
            for pick in range(N_KINDS):
                if hand[pick] > 0:
                    for index in (base + pick, base + FEINT):
                        mark_outcomes(ptr, added, status_after, mask, index, possible, targets, pick, reached)


@kernel
def number_states(begin, end, layout, number, cards, first, reached, rank, status, code):
    """Write rank, status and code of every reached state of layer ``number``, for the given blocks.

    The states of ``block`` begin at ``first[block]`` in ``status`` and ``code``.
    """
    for block in range(begin, end):
        n = 0
        for candidate in range(reached.shape[1]):
            rank[block, candidate] = ABSENT
            if reached[block, candidate]:
                rank[block, candidate] = n
                status[first[block] + n] = candidate
                code[first[block] + n] = pack(layout, number, cards[block], candidate)
                n += 1
