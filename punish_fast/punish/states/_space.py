"""Enumeration and numbering of the states of each layer, starting from the previous layer.

A layer is a sorted list of blocks, each of which contains the states with the same cards. States are numbered in the
order of their codes, so the row of a state is the first row of its block plus the rank of its status in the block::

    row(cards, status) = first[b] + rank[b, status]        b = block of the cards, found in a hash table

If a table with one slot for each cards code takes at most 16 MiB, the hash table of a layer has this size, and lookups
never collide. Otherwise the hash table has two slots per block and uses linear probing. The rank table takes two bytes
for each status of each block, reachable or not, which is about as much memory as the codes of the states would take.

A *move* from a block consists of a pick (5 for rest) and the joining cards (see ``outcomes.py``). A move determines
the cards code of the next block: the code after the cards have joined, plus the change caused by the pick.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import count_enemy_hand, rests
from punish_fast.punish._codes import OWN_DRAW, OWN_PICK, split_cards, split_status
from punish_fast.punish._multisets import ADDED, N_ADDED, N_KINDS, possible_added
from punish_fast.punish.states.outcomes import FEINT, N_WAYS, REST_WAY
from punish_fast.runtime._jit import inlined_routine, kernel, routine

# Entry of the rank table for a status that does not occur in the block.
ABSENT = np.uint16(65535)


class Layer(NamedTuple):
    """The blocks and states of one layer."""

    cards: np.ndarray  # int64 [n_blocks], cards codes, ascending
    first: np.ndarray  # int32 [n_blocks + 1], row of the first state of each block
    rank: np.ndarray  # uint16 [n_blocks, n_statuses], rank of each status in its block, or `ABSENT`
    status: np.ndarray  # uint16 [n_states], status of each state of the layer
    slots: np.ndarray  # int32 [size], hash table from cards codes to blocks; -1 marks an empty slot
    piles: np.ndarray  # uint8 [n_blocks, 2, 5], hand and discard pile of each block


class Moves(NamedTuple):
    """The moves from a block, and working memory to list them; all arrays are int64."""

    piles: np.ndarray  # [3, 5], hand, discard pile and unseen cards
    digits: np.ndarray  # [5], digits of the cards code
    reach: np.ndarray  # [6, n_draws], bit masks of the multisets that do not end the game, by pick and player's draw
    possible: np.ndarray  # [n_draws], bit masks of the multisets that the unseen cards contain, by player's draw
    joined: np.ndarray  # [56], cards codes after each multiset has joined
    # [56], of which 4 are used: change of the cards code by a pick if 0 to 3 cards of the picked kind join
    change: np.ndarray
    number: np.ndarray  # [6 * 56 * n_draws], move numbers: ``(pick * n_draws + draw) * 56 + multiset``
    cards: np.ndarray  # [6 * 56 * n_draws], cards code after each move in `number`
    target: np.ndarray  # [6 * 56 * n_draws], block of the next layer after each move, indexed by move number


@routine
def find_block(layer, cards):
    """Return the block of a cards code, or -1 if the layer does not contain the code."""
    slots, codes = layer.slots, layer.cards
    size = len(slots)
    slot = cards % size
    block = slots[slot]
    while block >= 0 and codes[block] != cards:
        slot = slot + 1 if slot + 1 < size else 0
        block = slots[slot]
    return block


@routine
def row_of(layer, block, status):
    """Return the row of a state, which must be in the layer."""
    return layer.first[block] + layer.rank[block, status]


@kernel
def index_blocks(cards, slots):
    """Insert blocks into the empty hash table ``slots``."""
    size = len(slots)
    for block in range(len(cards)):
        slot = cards[block] % size
        while slots[slot] >= 0:
            slot = slot + 1 if slot + 1 < size else 0
        slots[slot] = block


@routine
def insert_cards(cards, slots, found, n_found):
    """Add a cards code to ``found`` and its hash table unless it is there; return the number of codes found."""
    size = len(slots)
    slot = cards % size
    while slots[slot] >= 0:
        if found[slots[slot]] == cards:
            return n_found
        slot = slot + 1 if slot + 1 < size else 0
    slots[slot] = n_found
    found[n_found] = cards
    return n_found + 1


@routine
def first_way(layout, code, status, sizes):
    """Return the index of the first way of a status in `BreathOutcomes`; an enemy without cards counts as exhausted."""
    resting = status.enemy_exhausted == 0 and count_enemy_hand(layout, status, sizes) == 0
    return (np.int64(code) + (layout.feints + 1 if resting else 0)) * N_WAYS


@routine
def block_statuses(layer, block):
    """Return the status codes of the states of a block, ascending."""
    origin = layer.first[0]
    return layer.status[layer.first[block] - origin : layer.first[block + 1] - origin]


@routine
def open_block(layout, layer, block, piles):
    """Write hand, discard pile and unseen cards of a block to ``piles``; return the sizes of hand and discard pile."""
    hand_size = 0
    discard_size = 0
    for kind in range(N_KINDS):
        piles[0, kind] = layer.piles[block, 0, kind]
        piles[1, kind] = layer.piles[block, 1, kind]
        piles[2, kind] = layout.copies[kind] - piles[0, kind] - piles[1, kind]
        hand_size += piles[0, kind]
        discard_size += piles[1, kind]
    return hand_size, discard_size


@routine
def room_for_moves(outcomes):
    n_draws = outcomes.reach.shape[1]
    n_moves = (N_KINDS + 1) * n_draws * N_ADDED
    return Moves(
        piles=np.zeros((3, N_KINDS), dtype=np.int64),
        digits=np.zeros(N_KINDS, dtype=np.int64),
        reach=np.zeros((N_KINDS + 1, n_draws), dtype=np.int64),
        possible=np.zeros(n_draws, dtype=np.int64),
        joined=np.zeros(N_ADDED, dtype=np.int64),
        change=np.zeros(N_ADDED, dtype=np.int64),
        number=np.zeros(n_moves, dtype=np.int64),
        cards=np.zeros(n_moves, dtype=np.int64),
        target=np.zeros(n_moves, dtype=np.int64),
    )


@routine
def block_reach(layout, outcomes, statuses, sizes, moves):
    reach, hand, reach_of = moves.reach, moves.piles[0], outcomes.reach
    reach[:] = 0
    for code in statuses:
        status = split_status(layout, code)
        base = first_way(layout, code, status, sizes)
        for draw in range(reach.shape[1]):
            if rests(status, sizes[0]):
                reach[N_KINDS, draw] |= reach_of[base + REST_WAY, draw]
                continue
            for pick in range(N_KINDS):
                if hand[pick] > 0:
                    reach[pick, draw] |= reach_of[base + pick, draw] | reach_of[base + FEINT, draw]


@routine
def list_possible(unseen, possible):
    """Set ``possible[d]`` to a bit mask of the multisets left in ``unseen`` after the player's draw ``d`` (0: none)."""
    possible[0] = possible_added(unseen)
    for draw in range(1, len(possible)):
        kind = draw - 1
        possible[draw] = 0
        if unseen[kind] > 0:
            unseen[kind] -= 1
            possible[draw] = possible_added(unseen)
            unseen[kind] += 1


@routine
def join_multisets(places, digits, joining, joined):
    """Set ``joined[a]`` to the cards code after multiset ``a`` has joined, for each bit ``a`` of ``joining``."""
    weight, digit_after = places.weight, places.joined
    for a in range(N_ADDED):
        if (joining >> a) & 1:
            code = 0
            for kind in range(N_KINDS):
                code += weight[kind] * digit_after[digits[kind], ADDED[a, kind]]
            joined[a] = code


@routine
def pick_card(places, digits, pick, change):
    """Set ``change[n]`` to the change of the cards code due to a pick if ``n`` cards (0 to 3) of its kind join."""
    before, picked = digits[pick], places.move[OWN_PICK, digits[pick]]
    for n in range(places.joined.shape[1]):
        change[n] = places.weight[pick] * (places.joined[picked, n] - places.joined[before, n])


@routine
def list_moves(layout, places, outcomes, layer, block, moves):
    """Write the moves from a block to ``moves``; return the sizes of hand and discard pile, and the number of moves."""
    sizes = open_block(layout, layer, block, moves.piles)
    block_reach(layout, outcomes, block_statuses(layer, block), sizes, moves)
    list_possible(moves.piles[2], moves.possible)
    reach, possible, digits, joined, change = moves.reach, moves.possible, moves.digits, moves.joined, moves.change
    number, cards = moves.number, moves.cards
    split_cards(places, layer.cards[block], digits)
    n_draws = len(possible)
    n = 0
    for draw in range(n_draws):
        joining = 0
        for pick in range(N_KINDS + 1):
            joining |= reach[pick, draw] & possible[draw]
        if joining == 0:
            continue
        if draw > 0:
            before = digits[draw - 1]
            digits[draw - 1] = places.move[OWN_DRAW, before]
        join_multisets(places, digits, joining, joined)
        for pick in range(N_KINDS + 1):
            joining = reach[pick, draw] & possible[draw]
            if joining == 0:
                continue
            if pick < N_KINDS:
                pick_card(places, digits, pick, change)
            for a in range(N_ADDED):
                if (joining >> a) & 1:
                    number[n] = (pick * n_draws + draw) * N_ADDED + a
                    cards[n] = joined[a] + (change[ADDED[a, pick]] if pick < N_KINDS else 0)
                    n += 1
        if draw > 0:
            digits[draw - 1] = before
    return sizes, n


@routine
def find_targets(layout, places, outcomes, layer, after, block, moves):
    """Set ``moves.target`` to the next block after each move; return the sizes of hand and discard pile."""
    sizes, n = list_moves(layout, places, outcomes, layer, block, moves)
    for i in range(n):
        moves.target[moves.number[i]] = find_block(after, moves.cards[i])
    return sizes


@kernel
def discover_cards(begin, end, layout, places, outcomes, layer, slots, found, n_found):
    """Add the cards codes of the successors of blocks ``begin`` to ``end`` to ``found``; stop if it might overflow.

    Return the first block that was not processed and the number of codes found.
    """
    moves = room_for_moves(outcomes)
    cards = moves.cards
    for block in range(begin, end):
        if n_found + len(cards) > len(found):
            return block, n_found
        _, n = list_moves(layout, places, outcomes, layer, block, moves)
        for i in range(n):
            n_found = insert_cards(cards[i], slots, found, n_found)
    return end, n_found


@inlined_routine
def mark_outcomes(ptr, joined, status_after, mask, index, possible, target, origin, reached):
    """Mark the successors of a status and way in ``reached``; ``target[origin:]`` holds the blocks after the pick."""
    for outcome in range(ptr[index], ptr[index + 1]):
        if mask[outcome] & possible and status_after[outcome] >= 0:
            reached[target[origin + joined[outcome]], status_after[outcome]] = 1


@kernel
def mark_states(begin, end, layout, places, outcomes, layer, after, reached):
    """Set ``reached[block, status]`` to 1 for all successors of the given blocks of ``layer``.

    Threads may write the same element concurrently, but they all write 1.
    """
    moves = room_for_moves(outcomes)
    hand, target = moves.piles[0], moves.target
    n_joins = N_ADDED * len(moves.possible)
    # Unpack the arrays here, because Numba counts references to arrays that are taken out of a tuple in a loop.
    ptr, joined, status_after, mask, _, _, _ = outcomes
    for block in range(begin, end):
        sizes = find_targets(layout, places, outcomes, layer, after, block, moves)
        possible = moves.possible[0]
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            base = first_way(layout, code, status, sizes)
            if rests(status, sizes[0]):
                index, origin = base + REST_WAY, N_KINDS * n_joins
                mark_outcomes(ptr, joined, status_after, mask, index, possible, target, origin, reached)
                continue
            for pick in range(N_KINDS):
                if hand[pick] > 0:
                    origin = pick * n_joins
                    for index in (base + pick, base + FEINT):
                        mark_outcomes(ptr, joined, status_after, mask, index, possible, target, origin, reached)


@kernel
def number_states(begin, end, first, reached, rank, status):
    """Write the ranks and statuses of the reached states of the given blocks.

    The statuses of a block begin at ``status[first[block]]``.
    """
    for block in range(begin, end):
        n = 0
        for candidate in range(reached.shape[1]):
            rank[block, candidate] = ABSENT
            if reached[block, candidate]:
                rank[block, candidate] = n
                status[first[block] + n] = candidate
                n += 1
