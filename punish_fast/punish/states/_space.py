"""Enumeration and numbering of the states in each layer, given the previous layer.

A layer is a sorted list of blocks. A block contains the states with the same cards. Blocks have the same *kind* if
their statuses and the sizes of their hands and discard piles are equal. A layer with thousands of blocks has only about
a hundred kinds. States are numbered in the order of their codes. Therefore, the index of a state is the first index of
the block plus the rank of the status in blocks of this kind::

    index(cards, status) = first[b] + rank[kind[b], status]  b = block of the cards, found in a hash table

If a table with one slot for each cards code takes at most 16 MiB, the hash table of a layer has this size, and lookups
never collide. Otherwise, the hash table has two slots per block and uses linear probing.

A *move* from a block consists of a pick (5 for rest) and the joining cards (``outcomes.py``). A move determines the
cards code of the next block: the code after the cards have joined, plus the change caused by the pick. The statuses
after a move are the same for all blocks of a kind, so a bit set of statuses is computed once for consecutive blocks of
the same kind.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import RESTS, count_enemy_hand, list_actions, rests
from punish_fast.punish._codes import OWN_DRAW, OWN_PICK, split_cards, split_status
from punish_fast.punish._multisets import ADDED, N_ADDED, N_KINDS, possible_added
from punish_fast.punish.states.outcomes import FEINT, N_WAYS, REST_WAY
from punish_fast.runtime._jit import kernel, optimized_routine, routine

# Entry of the rank table if a status does not occur in the block.
ABSENT = np.uint16(65535)


class Layer(NamedTuple):
    """Blocks and states of a layer."""

    cards: np.ndarray  # int64 [n_blocks], cards codes, ascending
    first: np.ndarray  # int32 [n_blocks + 1], index of the first state of each block, then of the next layer
    kind: np.ndarray  # int32 [n_blocks], kind of each block
    # uint16 [n_kinds + 1, n_statuses], rank of each status in the blocks of a kind, or `ABSENT`.
    # In the last row, for wins and losses, the rank of a status is the status.
    rank: np.ndarray
    statuses: np.ndarray  # uint16 [n_kinds, n_statuses], statuses of each kind, followed by all other statuses
    slots: np.ndarray  # int32 [size], hash table from cards codes to blocks, or -1 for an empty slot
    piles: np.ndarray  # uint8 [n_blocks, 2, 5], hand and discard pile of each block

    @property
    def status(self) -> np.ndarray:
        """Status of each state in the layer, uint16 ``[n_states]``."""
        lengths = np.diff(self.first)
        rank = np.arange(lengths.sum()) - np.repeat(self.first[:-1] - self.first[0], lengths)
        return self.statuses[np.repeat(self.kind, lengths), rank]


class FoundBlocks(NamedTuple):
    """Blocks found so far, in any order. Arrays can be larger than needed."""

    slots: np.ndarray  # int32, hash table from cards codes to blocks (see `Layer`)
    cards: np.ndarray  # int64 [size], cards codes
    statuses: np.ndarray  # uint64 [size, n_words], bit sets of statuses
    n: int  # number of blocks


class Moves(NamedTuple):
    """Moves from a block, and working memory to list moves. Arrays are int64 unless noted otherwise."""

    piles: np.ndarray  # [3, 5], hand, discard pile and unseen cards
    digits: np.ndarray  # [5], digits of the cards code
    reach: np.ndarray  # [6, n_draws], bit masks of the multisets that do not end the game, by pick and player's draw
    possible: np.ndarray  # [n_draws], bit masks of the multisets within the unseen cards, by player's draw
    part: np.ndarray  # [5, 4], contribution of each kind to the cards code after 0 to 3 cards have joined
    multiset: np.ndarray  # [56], multisets of cards that can join
    joined: np.ndarray  # [56], cards code after each multiset in `multiset` has joined
    change: np.ndarray  # [4], change of the cards code by a pick if 0 to 3 cards of the picked kind join
    number: np.ndarray  # [6 * 56 * n_draws], move numbers: ``(pick * n_draws + draw) * 56 + multiset``
    cards: np.ndarray  # [6 * 56 * n_draws], cards code after each move in `number`
    column: np.ndarray  # [6 * 57], see `find_targets`
    origin: np.ndarray  # uint32 [6 * 57], see `find_targets`


@routine
def find_block(layer, cards):
    """Return the block of a cards code, or -1 if the layer does not contain the code."""
    slots, codes = layer.slots, layer.cards
    size = len(slots)
    slot = cards if cards < size else cards % size
    block = slots[slot]
    while block >= 0 and codes[block] != cards:
        slot = slot + 1 if slot + 1 < size else 0
        block = slots[slot]
    return block


@routine
def row_of(layer, block, status):
    """Return the index of the state with a given block of a layer and a given status."""
    return layer.first[block] + layer.rank[layer.kind[block], status]


@routine
def insert_cards(cards, slots, found, n_found):
    """Return the index of a cards code in ``found``. Add a missing code to ``found`` and its hash table."""
    size = len(slots)
    slot = cards if cards < size else cards % size
    while slots[slot] >= 0:
        if found[slots[slot]] == cards:
            return np.int64(slots[slot])
        slot = slot + 1 if slot + 1 < size else 0
    slots[slot] = n_found
    found[n_found] = cards
    return n_found


@kernel
def index_blocks(cards, slots):
    """Insert blocks into the empty hash table ``slots``."""
    for block in range(len(cards)):
        insert_cards(cards[block], slots, cards, block)


@routine
def first_way(layout, code, status, sizes):
    """Return the index of a status's first way in `BreathOutcomes`. An enemy without cards counts as exhausted."""
    resting = status.enemy_exhausted == 0 and count_enemy_hand(layout, status, sizes) == 0
    return (np.int64(code) + (layout.feints + 1 if resting else 0)) * N_WAYS


@routine
def block_statuses(layer, block):
    """Return the ascending status codes of the states in a block."""
    return layer.statuses[layer.kind[block]][: layer.first[block + 1] - layer.first[block]]


@routine
def open_block(layout, layer, block, piles):
    """Write hand, discard pile and unseen cards of a block to ``piles``. Return the sizes of hand and discard pile."""
    own, copies = layer.piles, layout.copies
    hand_size = 0
    discard_size = 0
    for kind in range(N_KINDS):
        piles[0, kind] = own[block, 0, kind]
        piles[1, kind] = own[block, 1, kind]
        piles[2, kind] = copies[kind] - piles[0, kind] - piles[1, kind]
        hand_size += piles[0, kind]
        discard_size += piles[1, kind]
    return hand_size, discard_size


@routine
def room_for_moves(outcomes):
    n_draws = outcomes.n_draws
    n_moves = (N_KINDS + 1) * n_draws * N_ADDED
    return Moves(
        piles=np.zeros((3, N_KINDS), dtype=np.int64),
        digits=np.zeros(N_KINDS, dtype=np.int64),
        reach=np.zeros((N_KINDS + 1, n_draws), dtype=np.int64),
        possible=np.zeros(n_draws, dtype=np.int64),
        part=np.zeros((N_KINDS, 4), dtype=np.int64),
        multiset=np.zeros(N_ADDED, dtype=np.int64),
        joined=np.zeros(N_ADDED, dtype=np.int64),
        change=np.zeros(4, dtype=np.int64),
        number=np.zeros(n_moves, dtype=np.int64),
        cards=np.zeros(n_moves, dtype=np.int64),
        column=np.zeros((N_KINDS + 1) * (N_ADDED + 1), dtype=np.int64),
        origin=np.zeros((N_KINDS + 1) * (N_ADDED + 1), dtype=np.uint32),
    )


@routine
def list_next_statuses(layout, outcomes, layer, block, sizes, reach, after):
    """Set ``after[move]`` to the bit set of next statuses of a block, and ``reach`` to the moves with next statuses."""
    ptr, joined, status_after, _, _, _, _ = outcomes
    n_joins = N_ADDED * reach.shape[1]
    reach[:] = 0
    after[:] = 0
    for code in block_statuses(layer, block):
        status = split_status(layout, code)
        base = first_way(layout, code, status, sizes)
        for pick in range(N_KINDS + 1):
            if rests(status, sizes[0]) != (pick == REST_WAY):
                continue
            for index in (base + pick, base + (REST_WAY if pick == REST_WAY else FEINT)):
                for outcome in range(ptr[index], ptr[index + 1]):
                    then, join = status_after[outcome], np.int64(joined[outcome])
                    if then >= 0:
                        reach[pick, join // N_ADDED] |= 1 << (join % N_ADDED)
                        after[pick * n_joins + join, then // 64] |= np.uint64(1) << np.uint64(then % 64)


@routine
def list_possible(unseen, possible):
    """Set ``possible[d]`` to a bit mask of the multisets in ``unseen`` after the player's draw ``d`` (0 for none)."""
    possible[0] = possible_added(unseen)
    for draw in range(1, len(possible)):
        kind = draw - 1
        possible[draw] = 0
        if unseen[kind] > 0:
            unseen[kind] -= 1
            possible[draw] = possible_added(unseen)
            unseen[kind] += 1


@optimized_routine
def join_multisets(places, joining, moves):
    """List the multisets in ``joining`` and the cards codes after each has joined. Return the number of multisets."""
    part, multiset, joined, digits = moves.part, moves.multiset, moves.joined, moves.digits
    weight, digit_after = places.weight, places.joined
    for kind in range(N_KINDS):
        for n in range(part.shape[1]):
            part[kind, n] = weight[kind] * digit_after[digits[kind], n]
    n = 0
    for a in range(N_ADDED):
        if (joining >> a) & 1:
            code = 0
            for kind in range(N_KINDS):
                code += part[kind, ADDED[a, kind]]
            multiset[n], joined[n] = a, code
            n += 1
    return n


@routine
def pick_card(places, digits, pick, change):
    """Set ``change[n]`` to the change of the cards code caused by a pick if ``n`` cards (0 to 3) of its kind join."""
    weight, digit_after = places.weight[pick], places.joined
    before, picked = digits[pick], places.move[OWN_PICK, digits[pick]]
    for n in range(len(change)):
        change[n] = weight * (digit_after[picked, n] - digit_after[before, n])


@routine
def list_moves(places, layer, block, moves):
    """Write the moves from an opened block to ``moves``, and return their number."""
    list_possible(moves.piles[2], moves.possible)
    hand, reach, possible, digits, change = moves.piles[0], moves.reach, moves.possible, moves.digits, moves.change
    multiset, joined, number, cards = moves.multiset, moves.joined, moves.number, moves.cards
    split_cards(places, layer.cards[block], digits)
    n_draws = len(possible)
    n = 0
    for draw in range(n_draws):
        joining = 0
        for pick in range(N_KINDS + 1):
            joining |= reach[pick, draw]
        if joining & possible[draw] == 0:
            continue
        if draw > 0:
            before = digits[draw - 1]
            digits[draw - 1] = places.move[OWN_DRAW, before]
        n_joined = join_multisets(places, joining & possible[draw], moves)
        for pick in range(N_KINDS + 1):
            if pick < N_KINDS:
                if hand[pick] == 0:
                    continue
                pick_card(places, digits, pick, change)
            reached, first = reach[pick, draw], (pick * n_draws + draw) * N_ADDED
            for i in range(n_joined):
                a = multiset[i]
                number[n] = first + a
                cards[n] = joined[i] + (change[ADDED[a, pick]] if pick < N_KINDS else 0)
                n += (reached >> a) & 1
        if draw > 0:
            digits[draw - 1] = before
    return n


@kernel
def discover(begin, end, layout, places, outcomes, layer, order, found):
    """Add the successors of the blocks ``order[begin:end]`` to ``found``. Stop before the arrays might overflow.

    Return the end of the processed blocks, and the new number of blocks in ``found``. The kernel is fastest if blocks
    of the same kind are adjacent.
    """
    slots, codes, statuses, n_found = found
    moves = room_for_moves(outcomes)
    n_words = statuses.shape[1]
    number, cards = moves.number, moves.cards
    after = np.zeros((len(cards), n_words), dtype=np.uint64)
    kind = -1
    for k in range(begin, end):
        if n_found + len(cards) > len(codes):
            return k, n_found
        block = order[k]
        sizes = open_block(layout, layer, block, moves.piles)
        if layer.kind[block] != kind:
            kind = layer.kind[block]
            list_next_statuses(layout, outcomes, layer, block, sizes, moves.reach, after)
        for i in range(list_moves(places, layer, block, moves)):
            place = insert_cards(cards[i], slots, codes, n_found)
            n_found = max(n_found, place + 1)
            for word in range(n_words):
                statuses[place, word] |= after[number[i], word]
    return end, n_found


@kernel
def list_legal(layout, layer, modes, state_ptr, action):
    """List the legal actions in the states of a layer, given the player's mode for each status.

    Set ``state_ptr[state + 1]`` for each state of the layer. A player without cards rests.
    """
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    for block in range(len(layer.cards)):
        sizes = open_block(layout, layer, block, piles)
        state = layer.first[block]
        for code in block_statuses(layer, block):
            row = state_ptr[state]
            mode = modes[code] if sizes[0] > 0 else RESTS
            state_ptr[state + 1] = row + list_actions(piles[0], mode, action[row:])
            state += 1
