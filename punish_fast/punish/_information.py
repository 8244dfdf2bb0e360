"""Information states by where a player has seen each card, for any way to tell places apart.

To a player every copy of a card is in the own hand, in one of the *places* that are told apart (where it was revealed,
who played it, or when), or out of sight. So the cards of an information state are, for each kind, a tuple
``(hand, place 0, place 1, ...)`` of counts of no more than all copies. All such tuples are listed once, by their sum
and then in lexicographic order, and the number of a tuple in the list is the *digit* of that kind; five digits make a
mixed-radix *cards* code. A kind with fewer copies takes the first digits of the list.

Whatever happens to a card moves one kind from digit to digit: a pick from the hand to a place, a draw or a card of the
enemy from out of sight to a place. These moves, and the digit that the enemy sees, are tables (`Places`), so the
kernels know no model: they serve every one. With the discard pile as the only place, digits and codes are those of
``_codes.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import N_ACTIONS, list_actions
from punish_fast.punish._clash import LOSS, REST, next_status
from punish_fast.punish._codes import split_status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish._space import (
    ABSENT,
    block_statuses,
    count_enemy_hand,
    find_block,
    insert_cards,
    rests,
    row_of,
)
from punish_fast.runtime._jit import kernel, routine

# What happens to a card: `Places.move`.
OWN_PICK, OWN_DRAW, ENEMY_CARD = range(3)
NOTHING = N_KINDS
# Resolved cards 0 to 4 and 5 for rest, each with a feint or without.
N_RESOLVED = 2 * (N_KINDS + 1)
# Picks and feints of five kinds, and rest, of both players.
N_PLAYS = (1 + N_KINDS + N_KINDS * N_KINDS) ** 2


class Places(NamedTuple):
    """The digits of an information model.

    Attributes:
        weight: int64 ``[5]``, the place value of the digit of each kind in a cards code.
        hand: int64 ``[n_digits]``, copies in the own hand.
        discard: int64 ``[n_digits]``, copies in all places together.
        move: int64 ``[breaths, 3, n_digits]``, the digit after `OWN_PICK`, `OWN_DRAW` or `ENEMY_CARD` in a breath; -1
            where there is none.
        mirror: int64 ``[n_digits, copies + 1]``, the digit that the enemy sees who holds so many copies; -1 for none.
    """

    weight: np.ndarray
    hand: np.ndarray
    discard: np.ndarray
    move: np.ndarray
    mirror: np.ndarray


@routine
def open_view(layout, places, layer, block, digits, piles):
    """Write the digits of a block and its ``piles``: hand, discard pile and unseen cards.

    Returns the sizes of hand and discard pile.
    """
    cards = layer.cards[block]
    hand_size = 0
    discard_size = 0
    for kind in range(N_KINDS):
        digit = cards // places.weight[kind]
        cards -= digit * places.weight[kind]
        digits[kind] = digit
        piles[0, kind] = places.hand[digit]
        piles[1, kind] = places.discard[digit]
        piles[2, kind] = layout.copies[kind] - piles[0, kind] - piles[1, kind]
        hand_size += piles[0, kind]
        discard_size += piles[1, kind]
    return hand_size, discard_size


@routine
def mirror_cards(places, digits, enemy):
    """The cards code that the enemy sees with ``enemy`` in hand."""
    code = 0
    for kind in range(N_KINDS):
        code += places.weight[kind] * places.mirror[digits[kind], enemy[kind]]
    return code


@routine
def resolved(pick, draw):
    """The number of a resolved card: that of the pick, or of what was drawn instead (5: nothing)."""
    return 2 * pick if draw == NOTHING else 2 * draw + 1


@routine
def cards_after(weight, move, digits, own_pick, own_draw, enemy_pick, enemy_draw):
    """The cards code after a breath, with the moves of this breath; 5 stands for no card."""
    code = 0
    for kind in range(N_KINDS):
        digit = digits[kind]
        if kind == own_pick:
            digit = move[OWN_PICK, digit]
        if kind == own_draw:
            digit = move[OWN_DRAW, digit]
        if kind == enemy_pick:
            digit = move[ENEMY_CARD, digit]
        if kind == enemy_draw:
            digit = move[ENEMY_CARD, digit]
        code += weight[kind] * digit
    return code


@routine
def takes(unseen, one, two, three):
    """Whether the unseen cards have these three (5: none) at once."""
    for kind in range(N_KINDS):
        taken = (1 if kind == one else 0) + (1 if kind == two else 0) + (1 if kind == three else 0)
        if taken > unseen[kind]:
            return False
    return True


@kernel
def tabulate_statuses(rules, layout, is_last, table):
    """``table[status, own, enemy]`` becomes the status after a clash of resolved cards, or `WIN`, or `LOSS`.

    A resolved card is twice its kind, plus 1 if it was drawn by a feint. What breaks the rules is `LOSS`.
    """
    for status in range(len(table)):
        _, _, _, own_feinted, _, enemy_feinted = split_status(layout, status)
        for own in range(N_RESOLVED):
            for enemy in range(N_RESOLVED):
                table[status, own, enemy] = LOSS
                if own_feinted + own % 2 <= layout.feints and enemy_feinted + enemy % 2 <= layout.feints:
                    table[status, own, enemy] = next_status(
                        rules, layout, status, is_last, own // 2, enemy // 2, own % 2, enemy % 2
                    )


@routine
def list_cards(own_hand, plays):
    """Write all pairs of a pick from a hand and what is drawn instead (5: none), and rest; return how many."""
    n = 0
    for pick in range(N_KINDS):
        if own_hand[pick] > 0:
            for draw in range(N_KINDS + 1):
                plays[n, 0] = pick
                plays[n, 1] = draw
                n += 1
    plays[n, 0] = REST
    plays[n, 1] = NOTHING
    return n + 1


class Plays(NamedTuple):
    """How the game may go on from a block, and room to work it out.

    Attributes:
        n_next: int64 ``[12, 12]``, how many statuses may follow two resolved cards.
        next: int64 ``[12, 12, n_statuses]``, these statuses.
        pairs: int64 ``[2, 31, 2]``, picks and draws of both players.
        digits: int64 ``[5]``, the digits of the block.
        piles: int64 ``[3, 5]``, hand, discard pile and unseen cards.
        play: int64 ``[961, 3]``, both resolved cards and the cards code that follows.
    """

    n_next: np.ndarray
    next: np.ndarray
    pairs: np.ndarray
    digits: np.ndarray
    piles: np.ndarray
    play: np.ndarray


@routine
def room_for_plays(layout):
    """Room for what `list_plays` lists."""
    return Plays(
        n_next=np.zeros((N_RESOLVED, N_RESOLVED), dtype=np.int64),
        next=np.zeros((N_RESOLVED, N_RESOLVED, layout.n_statuses), dtype=np.int64),
        pairs=np.zeros((2, N_KINDS * (N_KINDS + 1) + 1, 2), dtype=np.int64),
        digits=np.zeros(N_KINDS, dtype=np.int64),
        piles=np.zeros((3, N_KINDS), dtype=np.int64),
        play=np.zeros((N_PLAYS, 3), dtype=np.int64),
    )


@routine
def list_next(layout, layer, block, sizes, statuses, n_next, after):
    """List the statuses that may follow each two resolved cards, in any state of a block."""
    n_next[:] = 0
    for status in block_statuses(layer, block):
        _, _, _, _, enemy_exhausted, _ = split_status(layout, status)
        enemy_rests = enemy_exhausted != 0 or count_enemy_hand(layout, status, sizes[0], sizes[1]) == 0
        own_rests = rests(layout, status, sizes[0])
        first_own, last_own = (2 * REST, 2 * REST + 1) if own_rests else (0, 2 * REST)
        first_enemy, last_enemy = (2 * REST, 2 * REST + 1) if enemy_rests else (0, 2 * REST)
        for own in range(first_own, last_own):
            for enemy in range(first_enemy, last_enemy):
                then = statuses[status, own, enemy]
                if then >= 0:
                    n = n_next[own, enemy]
                    known = False
                    for i in range(n):
                        known = known or after[own, enemy, i] == then
                    if not known:
                        after[own, enemy, n] = then
                        n_next[own, enemy] = n + 1


@routine
def list_plays(layout, places, layer, block, statuses, breath, room):
    """List how the game may go on from a block; return how many plays there are.

    ``statuses`` is from `tabulate_statuses`.
    """
    sizes = open_view(layout, places, layer, block, room.digits, room.piles)
    list_next(layout, layer, block, sizes, statuses, room.n_next, room.next)
    n_next, pairs, digits, play = room.n_next, room.pairs, room.digits, room.play
    unseen = room.piles[2]
    weight, move = places.weight, places.move[breath]
    n_own = list_cards(room.piles[0], pairs[0])
    n_enemy = list_cards(unseen, pairs[1])
    n = 0
    for i in range(n_own):
        own_pick, own_draw = pairs[0, i, 0], pairs[0, i, 1]
        own = resolved(own_pick, own_draw)
        for j in range(n_enemy):
            enemy_pick, enemy_draw = pairs[1, j, 0], pairs[1, j, 1]
            enemy = resolved(enemy_pick, enemy_draw)
            if n_next[own, enemy] > 0 and takes(unseen, own_draw, enemy_pick, enemy_draw):
                play[n, 0] = own
                play[n, 1] = enemy
                play[n, 2] = cards_after(weight, move, digits, own_pick, own_draw, enemy_pick, enemy_draw)
                n += 1
    return n


@kernel
def discover_blocks(begin, end, layout, places, layer, statuses, breath, slots, found, n_found):
    """Find the cards codes that the blocks from ``begin`` to ``end`` lead to.

    Stops early when the hash table could overflow. Returns the block to go on from and the number found.
    """
    room = room_for_plays(layout)
    play = room.play
    for block in range(begin, end):
        if n_found + N_PLAYS > len(found):
            return block, n_found
        for i in range(list_plays(layout, places, layer, block, statuses, breath, room)):
            n_found = insert_cards(play[i, 2], slots, found, n_found)
    return end, n_found


@kernel
def mark_reached(begin, end, layout, places, layer, after, statuses, breath, reached):
    """Set ``reached[block, status]`` for every state that the given blocks of ``layer`` lead to.

    Threads may write the same cell at once, but they all write 1.
    """
    room = room_for_plays(layout)
    n_next, then, play = room.n_next, room.next, room.play
    for block in range(begin, end):
        for i in range(list_plays(layout, places, layer, block, statuses, breath, room)):
            own, enemy = play[i, 0], play[i, 1]
            target = find_block(after, play[i, 2])
            for k in range(n_next[own, enemy]):
                reached[target, then[own, enemy, k]] = 1


@kernel
def rank_statuses(begin, end, first, reached, rank, status):
    """Write the places of the reached statuses in the given blocks; those of ``block`` begin at ``first[block]``."""
    for block in range(begin, end):
        n = 0
        for candidate in range(reached.shape[1]):
            rank[block, candidate] = ABSENT
            if reached[block, candidate]:
                rank[block, candidate] = n
                status[first[block] + n] = candidate
                n += 1


@kernel
def fill_rows(begin, end, layout, places, layer, counts, ptr, action):
    """Count the legal actions of the states of the given blocks, or list them if ``counts`` is empty."""
    digits = np.zeros(N_KINDS, dtype=np.int64)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    actions = np.zeros(N_ACTIONS, dtype=np.int64)
    for block in range(begin, end):
        hand_size, _ = open_view(layout, places, layer, block, digits, piles)
        row = layer.first[block]
        for status in block_statuses(layer, block):
            n = list_actions(layout, piles[0], hand_size, status, actions)
            if len(counts) > 0:
                counts[row] = n
            else:
                for i in range(n):
                    action[ptr[row] + i] = actions[i]
            row += 1


@kernel
def match_states(begin, end, places, layer, coarse_places, coarse_layer, digit_of, match):
    """``match[row]`` becomes the state of a coarser model that each state of the given blocks belongs to.

    ``digit_of`` maps digits to digits of the coarser model, which may forget what is spent.
    """
    n_statuses = coarse_layer.rank.shape[1]
    for block in range(begin, end):
        cards = layer.cards[block]
        code = 0
        for kind in range(N_KINDS):
            digit = cards // places.weight[kind]
            cards -= digit * places.weight[kind]
            code += coarse_places.weight[kind] * digit_of[digit]
        coarse = find_block(coarse_layer, code)
        row = layer.first[block]
        for status in block_statuses(layer, block):
            match[row] = row_of(coarse_layer, coarse, status % n_statuses)
            row += 1


@kernel
def lift_rows(begin, end, state_ptr, coarse_ptr, match, coarse_weight, weight):
    """Copy what a policy of a coarser model does to the given states."""
    for state in range(begin, end):
        first = coarse_ptr[match[state]]
        for i in range(state_ptr[state + 1] - state_ptr[state]):
            weight[state_ptr[state] + i] = coarse_weight[first + i]
