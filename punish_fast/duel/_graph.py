"""The graph of the real game: both hands known, every play a step from node to node.

A *full state* is a pair of an information state and a hand of the enemy; the deck is what is left. Full states are
numbered by information state and, within one, by deck::

    number(row, deck) = full_ptr[row] + place of the deck in the list of (block, cards drawn from the deck)

since the decks that are possible depend on the block and on how many cards feints have taken, and on nothing else
(``_decks.py``). The enemy in a full state sees the mirrored information state, ``enemy_row``. Any model of information
will do (``information.py``): what it tells apart decides how many information states and full states there are.

A full state leads, for every own action, enemy action and draw of feints, to one successor. The successors of a full
state stand side by side in just this order, draws as in `Draws`, so nothing but the successors themselves is stored.

After the last breath of a measure only both hands and both HP matter, because everything else is shuffled: the true
redeal. These *nodes* come behind all full states, and win and loss are the last two numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import N_ACTIONS, enemy_mode, list_actions, own_mode, split_action
from punish_fast.punish._clash import LOSS, WIN, resolved
from punish_fast.punish._codes import cards_after, mirror_status, pair_digit, split_cards, split_status
from punish_fast.punish._multisets import BINOMIAL, N_KINDS
from punish_fast.punish._space import block_statuses, find_block, open_block, row_of
from punish_fast.runtime._jit import kernel, routine

# Targets of the plays of a block: not looked up yet.
_UNKNOWN = -2


class Full(NamedTuple):
    """The full states of all breaths.

    Attributes:
        ptr: int64 ``[n_states + 1]``, the first full state of each information state.
        entry_ptr: int64 ``[n_states + 1]``, the first successor of each information state's full states.
        entry: uint32 ``[n_full]``, the first successor of each full state.
        enemy_row: int32 ``[n_full]``, the information state of the enemy.
        deck: int32 ``[n_full]``, the deck.
        after: int32 ``[n_entries]``, successors.
    """

    ptr: np.ndarray
    entry_ptr: np.ndarray
    entry: np.ndarray
    enemy_row: np.ndarray
    deck: np.ndarray
    after: np.ndarray


@routine
def count_feints(actions, n):
    """How many of the first ``n`` actions are feints."""
    feints = 0
    for i in range(n):
        feints += split_action(actions[i])[1]
    return feints


@kernel
def count_full(begin, end, layout, layer, draws, decks, n_full, n_entries):
    """Write how many full states and successors the information states of the given blocks have."""
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    hand = np.zeros(N_KINDS, dtype=np.int64)
    actions = np.zeros(N_ACTIONS, dtype=np.int64)
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles)
        row = layer.first[block]
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            n_own = list_actions(piles[0], own_mode(layout, status, sizes[0]), actions)
            own_feints = count_feints(actions, n_own)
            mode = enemy_mode(layout, status, sizes)
            place = block * n_drawn + status.own_feinted + status.enemy_feinted
            n_full[row] = decks.ptr[place + 1] - decks.ptr[place]
            total = 0
            for i in range(decks.ptr[place], decks.ptr[place + 1]):
                deck = decks.deck[i]
                for kind in range(N_KINDS):
                    hand[kind] = piles[2, kind] - draws.copies[deck, kind]
                n_enemy = list_actions(hand, mode, actions)
                feints = count_feints(actions, n_enemy)
                total += (n_own - own_feints) * (n_enemy - feints)
                total += own_feints * (n_enemy - feints) * draws.n[deck, 1]
                total += (n_own - own_feints) * feints * draws.n[deck, 2]
                total += own_feints * feints * draws.n[deck, 3]
            n_entries[row] = total
            row += 1


@routine
def hands_code(layout, own, pick, enemy, enemy_pick):
    """The cards code of two hands, after both picks (5: none)."""
    code = 0
    for kind in range(N_KINDS):
        held = own[kind] - (1 if kind == pick else 0)
        other = enemy[kind] - (1 if kind == enemy_pick else 0)
        code += layout.place[kind] * pair_digit(held, other)
    return code


class Room(NamedTuple):
    """Room for the cards of one full state.

    Attributes:
        digits: int64 ``[5]``, the digits of the block.
        piles: int64 ``[3, 5]``, hand, discard pile and unseen cards.
        enemy: int64 ``[5]``, the enemy's hand.
        actions: int64 ``[11]``, the enemy's actions.
        targets: int64 ``[1296]``, the blocks that plays lead to.
    """

    digits: np.ndarray
    piles: np.ndarray
    enemy: np.ndarray
    actions: np.ndarray
    targets: np.ndarray


@routine
def room_for_cards():
    """Room for the cards of one full state."""
    return Room(
        digits=np.zeros(N_KINDS, dtype=np.int64),
        piles=np.zeros((3, N_KINDS), dtype=np.int64),
        enemy=np.zeros(N_KINDS, dtype=np.int64),
        actions=np.zeros(N_ACTIONS, dtype=np.int64),
        targets=np.zeros((N_KINDS + 1) ** 4, dtype=np.int64),
    )


@kernel
def fill_full(begin, end, layout, places, statuses, layers, draws, all_decks, full, action, state_ptr):
    """List the successors of the full states of the given blocks in any breath but the last.

    ``layers`` and ``all_decks`` are those of this breath and of the next, ``statuses`` is from `tabulate_statuses`.
    """
    layer, after_layer = layers
    decks, (next_ptr, next_deck) = all_decks[0], (all_decks[1].ptr, all_decks[1].deck)
    next_first, next_rank = after_layer.first, after_layer.rank
    decks_ptr, decks_deck, decks_block = decks.ptr, decks.deck, decks.block
    full_ptr, full_entry, after, enemy_rows, full_deck = full.ptr, full.entry, full.after, full.enemy_row, full.deck
    copies, n_draws, own_draws, enemy_draws, lefts = draws.copies, draws.n, draws.own, draws.enemy, draws.left
    weight, move = places.weight, places.move
    room = room_for_cards()
    digits, piles, enemy, actions, targets = room.digits, room.piles, room.enemy, room.actions, room.targets
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles)
        split_cards(places, layer.cards[block], digits)
        targets[:] = _UNKNOWN
        row = layer.first[block]
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            mode = enemy_mode(layout, status, sizes)
            mirrored = mirror_status(layout, status)
            drawn = status.own_feinted + status.enemy_feinted
            entry = full.entry_ptr[row]
            first = decks_ptr[block * n_drawn + drawn]
            for i in range(full_ptr[row + 1] - full_ptr[row]):
                deck = decks_deck[first + i]
                full_deck[full_ptr[row] + i] = deck
                full_entry[full_ptr[row] + i] = entry
                enemy_rows[full_ptr[row] + i] = row_of(layer, decks_block[first + i], mirrored)
                for kind in range(N_KINDS):
                    enemy[kind] = piles[2, kind] - copies[deck, kind]
                n_enemy = list_actions(enemy, mode, actions)
                for own_row in range(state_ptr[row], state_ptr[row + 1]):
                    pick, feints = split_action(action[own_row])
                    for b in range(n_enemy):
                        enemy_pick, enemy_feints = split_action(actions[b])
                        gone = drawn + feints + enemy_feints
                        feinters = feints + 2 * enemy_feints
                        for k in range(n_draws[deck, feinters]):
                            own_draw, enemy_draw = own_draws[deck, feinters, k], enemy_draws[deck, feinters, k]
                            then = np.int64(statuses[code, resolved(pick, own_draw), resolved(enemy_pick, enemy_draw)])
                            if then >= 0:
                                play = ((pick * 6 + own_draw) * 6 + enemy_pick) * 6 + enemy_draw
                                if targets[play] == _UNKNOWN:
                                    cards = cards_after(weight, move, digits, pick, own_draw, enemy_pick, enemy_draw)
                                    targets[play] = find_block(after_layer, cards)
                                target = targets[play]
                                place = next_ptr[target * n_drawn + gone]
                                then = full_ptr[next_first[target] + next_rank[target, then]]
                                while next_deck[place] != lefts[deck, feinters, k]:
                                    place += 1
                                    then += 1
                            after[entry] = then
                            entry += 1
            row += 1


@kernel
def fill_last(begin, end, layout, statuses, layer, draws, decks, full, action, state_ptr, used):
    """List the successors of the full states of the given blocks in the last breath of a measure, as keys of nodes.

    Every key is marked in ``used``; threads may mark the same one, but all write 1.
    """
    decks_ptr, decks_deck, decks_block = decks.ptr, decks.deck, decks.block
    full_ptr, full_entry, after, enemy_rows, full_deck = full.ptr, full.entry, full.after, full.enemy_row, full.deck
    copies, n_draws, own_draws, enemy_draws = draws.copies, draws.n, draws.own, draws.enemy
    room = room_for_cards()
    piles, enemy, actions = room.piles, room.enemy, room.actions
    n_hps = layout.hp * layout.hp
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles)
        row = layer.first[block]
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            mode = enemy_mode(layout, status, sizes)
            mirrored = mirror_status(layout, status)
            entry = full.entry_ptr[row]
            first = decks_ptr[block * n_drawn + status.own_feinted + status.enemy_feinted]
            for i in range(full_ptr[row + 1] - full_ptr[row]):
                deck = decks_deck[first + i]
                full_deck[full_ptr[row] + i] = deck
                full_entry[full_ptr[row] + i] = entry
                enemy_rows[full_ptr[row] + i] = row_of(layer, decks_block[first + i], mirrored)
                for kind in range(N_KINDS):
                    enemy[kind] = piles[2, kind] - copies[deck, kind]
                n_enemy = list_actions(enemy, mode, actions)
                for own_row in range(state_ptr[row], state_ptr[row + 1]):
                    pick, feints = split_action(action[own_row])
                    for b in range(n_enemy):
                        enemy_pick, enemy_feints = split_action(actions[b])
                        hands = n_hps * hands_code(layout, piles[0], pick, enemy, enemy_pick)
                        feinters = feints + 2 * enemy_feints
                        for k in range(n_draws[deck, feinters]):
                            own_draw, enemy_draw = own_draws[deck, feinters, k], enemy_draws[deck, feinters, k]
                            then = np.int64(statuses[code, resolved(pick, own_draw), resolved(enemy_pick, enemy_draw)])
                            if then >= 0:
                                # What is left of the status between two measures are both HP.
                                then = hands + then % n_hps
                                used[then] = 1
                            after[entry] = then
                            entry += 1
            row += 1


@kernel
def settle(begin, end, chunks, after, slot, win):
    """Replace keys of nodes by their numbers ``slot[key]``, and `WIN` and `LOSS` by ``win`` and the number behind it.

    With an empty ``slot`` there are no keys.
    """
    for entry in range(chunks[begin], chunks[end]):
        if after[entry] == WIN:
            after[entry] = win
        elif after[entry] == LOSS:
            after[entry] = win + 1
        elif len(slot) > 0:
            after[entry] = slot[after[entry]]


class Redeal(NamedTuple):
    """The deals that follow a measure.

    Attributes:
        pair: int64 ``[n_pairs]``, codes of the kept hands, ascending; the first is that of two empty hands, which
            begins a game.
        ptr: int64 ``[n_pairs + 1]``, where the deals of each pair begin.
        deal: int32 ``[n]``, deals, ascending in each pair.
        p: float64 ``[n]``, their probabilities.
        first: int64 ``[n_deals]``, the full state of each deal for the first status of its block.
        stride: int64 ``[n_deals]``, how far behind it the next status is.
        node_pair: int32 ``[n_nodes]``, the pair of each node.
        node_status: int32 ``[n_nodes]``, the place of its status in the blocks of the first breath.
    """

    pair: np.ndarray
    ptr: np.ndarray
    deal: np.ndarray
    p: np.ndarray
    first: np.ndarray
    stride: np.ndarray
    node_pair: np.ndarray
    node_status: np.ndarray


@routine
def contains(pile, other):
    """Whether a pile has all cards of another one."""
    for kind in range(N_KINDS):
        if pile[kind] < other[kind]:
            return False
    return True


@routine
def deal_ways(layout, kept, piles, deck):
    """In how many ways a deal comes about, 0 for none.

    ``kept`` holds own and enemy's hand before, ``piles`` own hand, revealed cards and all others after it, of which
    ``deck`` is the deck.
    """
    ways = 1.0
    for kind in range(N_KINDS):
        own = piles[0, kind] - kept[0, kind]
        shown = piles[1, kind]
        enemy = piles[2, kind] - deck[kind] - kept[1, kind]
        left = layout.copies[kind] - kept[0, kind] - kept[1, kind]
        if own < 0 or enemy < 0:
            return 0.0
        ways *= BINOMIAL[left, own] * BINOMIAL[left - own, enemy] * BINOMIAL[left - own - enemy, shown]
    return ways


@kernel
def list_deals(begin, end, layout, layer, draws, decks, deal_ptr, pairs, counts, ptr, deal, p):
    """Count the deals that may follow the given pairs, or list them with their probabilities if ``counts`` is empty.

    ``pairs`` (int64 ``[n, 2, 5]``) are the kept hands.
    """
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    n_drawn = 2 * layout.feints + 1
    for k in range(begin, end):
        kept = pairs[k]
        own_size, enemy_size = kept[0].sum(), kept[1].sum()
        pool = layout.n_cards - own_size - enemy_size
        own_draws = layout.hand_size - own_size
        enemy_draws = layout.hand_size - enemy_size
        total = BINOMIAL[pool, own_draws] * BINOMIAL[pool - own_draws, enemy_draws]
        total *= BINOMIAL[pool - own_draws - enemy_draws, layout.reveal_size]
        n = 0
        for block in range(len(layer.cards)):
            open_block(layout, layer, block, piles)
            if not (contains(piles[0], kept[0]) and contains(piles[2], kept[1])):
                continue
            place = block * n_drawn
            for i in range(decks.ptr[place + 1] - decks.ptr[place]):
                ways = deal_ways(layout, kept, piles, draws.copies[decks.deck[decks.ptr[place] + i]])
                if ways == 0.0:
                    continue
                if len(counts) == 0:
                    deal[ptr[k] + n] = deal_ptr[block] + i
                    p[ptr[k] + n] = ways / total
                n += 1
        if len(counts) > 0:
            counts[k] = n
