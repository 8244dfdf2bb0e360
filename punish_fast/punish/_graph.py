"""The graph of the real game: both hands known, every play a step from node to node.

A *full state* is a pair of an information state and a hand of the enemy; the deck is what is left. Full states are
numbered by information state and, within one, by deck in lexicographic order::

    number(row, deck) = full_ptr[row] + place of the deck in the list of (block, cards drawn from the deck)

since the decks that are possible depend on the block and on how many cards feints have taken, and on nothing else. The
enemy in a full state sees the mirrored information state, ``enemy_row``.

A full state leads, for every own action, enemy action and draw of feints, to one successor. The successors of a full
state stand side by side in just this order, the draws of one feint by kind, those of two by own kind and then the
enemy's, so nothing but the successors themselves is stored: what is drawn with which probability follows from the deck.

After the last breath of a measure only both hands and both HP matter, because everything else is shuffled: the true
redeal. These *nodes* come behind all full states, and win and loss are the last two numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast._jit import kernel, routine
from punish_fast.punish._actions import N_ACTIONS, list_actions, split_action
from punish_fast.punish._clash import LOSS, WIN, next_status
from punish_fast.punish._codes import decode_cards, mirror_status, pair_digit, split_status
from punish_fast.punish._enemy import list_hands, room_for_hands
from punish_fast.punish._multisets import ADDED_AFTER, BINOMIAL, N_ADDED, N_KINDS, possible_added
from punish_fast.punish._outcomes import EMPTY
from punish_fast.punish._space import (
    block_reach,
    block_statuses,
    count_enemy_hand,
    find_targets,
    open_block,
    row_of,
)

# Resolved cards 0 to 4 and 5 for rest, each with a feint or without.
N_RESOLVED = 2 * (N_KINDS + 1)


class Decks(NamedTuple):
    """The decks of the blocks of a layer, in lists by block and number of cards drawn.

    Attributes:
        ptr: int64 ``[n_blocks * n_drawn + 1]``, where each list begins.
        code: int32 ``[n]``, decks as numbers, ascending in each list.
        copies: uint8 ``[n, 5]``, copies of each kind.
        block: int32 ``[n]``, the block of the states in which the enemy sees itself.
    """

    ptr: np.ndarray
    code: np.ndarray
    copies: np.ndarray
    block: np.ndarray


class Full(NamedTuple):
    """The full states of all breaths.

    Attributes:
        ptr: int64 ``[n_states + 1]``, the first full state of each information state.
        entry_ptr: int64 ``[n_states + 1]``, the first successor of each information state's full states.
        enemy_row: int32 ``[n_full]``, the information state of the enemy.
        after: int32 ``[n_entries]``, successors.
    """

    ptr: np.ndarray
    entry_ptr: np.ndarray
    enemy_row: np.ndarray
    after: np.ndarray


@routine
def deck_code(layout, deck):
    """A deck as a number; the order of the numbers is the lexicographic one."""
    code = 0
    for kind in range(N_KINDS):
        code = code * (layout.deck_size + 1) + deck[kind]
    return code


@routine
def drawn_cards(layout, status):
    """How many cards feints have taken from the deck in this measure."""
    _, _, _, own_feinted, _, enemy_feinted = split_status(layout, status)
    return own_feinted + enemy_feinted


@kernel
def count_decks(begin, end, layout, layer, counts):
    """``counts[block, drawn]`` becomes the number of decks for the given blocks; 0 where the enemy's hand is none."""
    hands = room_for_hands(layout)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    for block in range(begin, end):
        open_block(layout, layer, block, piles[0], piles[1], piles[2])
        list_hands(layout, layer, piles[1], piles[2], hands)
        for drawn in range(len(hands.n_hands)):
            n = hands.n_hands[drawn]
            counts[block, drawn] = n if n > 0 and hands.block[drawn, 0] >= 0 else 0


@kernel
def fill_decks(begin, end, layout, layer, decks):
    """List the decks of the given blocks."""
    hands = room_for_hands(layout)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    n_drawn = len(hands.n_hands)
    for block in range(begin, end):
        open_block(layout, layer, block, piles[0], piles[1], piles[2])
        list_hands(layout, layer, piles[1], piles[2], hands)
        for drawn in range(n_drawn):
            first = decks.ptr[block * n_drawn + drawn]
            for i in range(decks.ptr[block * n_drawn + drawn + 1] - first):
                decks.code[first + i] = deck_code(layout, hands.deck[drawn, i])
                decks.block[first + i] = hands.block[drawn, i]
                for kind in range(N_KINDS):
                    decks.copies[first + i, kind] = hands.deck[drawn, i, kind]


@routine
def count_draws(deck, own_feints, enemy_feints):
    """How many different draws there are from a deck."""
    n = 0
    twice = 0
    for kind in range(N_KINDS):
        n += deck[kind] > 0
        twice += deck[kind] > 1
    if own_feints and enemy_feints:
        return n * (n - 1) + twice
    return n if own_feints or enemy_feints else 1


@routine
def count_feints(actions, n):
    """How many of the first ``n`` actions are feints."""
    feints = 0
    for i in range(n):
        feints += split_action(actions[i])[1]
    return feints


@kernel
def count_full(begin, end, layout, layer, decks, n_full, n_entries):
    """Write how many full states and successors the information states of the given blocks have."""
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    hand = np.zeros(N_KINDS, dtype=np.int64)
    actions = np.zeros(N_ACTIONS, dtype=np.int64)
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles[0], piles[1], piles[2])
        row = layer.first[block]
        for status in block_statuses(layer, block):
            n_own = list_actions(layout, piles[0], sizes[0], status, actions)
            own_feints = count_feints(actions, n_own)
            enemy_hand = count_enemy_hand(layout, status, sizes[0], sizes[1])
            mirrored = mirror_status(layout, status)
            place = block * n_drawn + drawn_cards(layout, status)
            n_full[row] = decks.ptr[place + 1] - decks.ptr[place]
            total = 0
            for i in range(decks.ptr[place], decks.ptr[place + 1]):
                for kind in range(N_KINDS):
                    hand[kind] = piles[2, kind] - decks.copies[i, kind]
                n_enemy = list_actions(layout, hand, enemy_hand, mirrored, actions)
                feints = count_feints(actions, n_enemy)
                total += (n_own - own_feints) * (n_enemy - feints)
                total += own_feints * (n_enemy - feints) * count_draws(decks.copies[i], True, False)
                total += (n_own - own_feints) * feints * count_draws(decks.copies[i], False, True)
                total += own_feints * feints * count_draws(decks.copies[i], True, True)
            n_entries[row] = total
            row += 1


@kernel
def tabulate_statuses(rules, layout, is_last, table):
    """``table[status, own, enemy]`` becomes the status after a clash of resolved cards, or `WIN`, or `LOSS`.

    A resolved card is twice its kind, plus 1 if it was drawn by a feint. What breaks the rules is `LOSS`.
    """
    for status in range(layout.n_statuses):
        _, _, _, own_feinted, _, enemy_feinted = split_status(layout, status)
        for own in range(N_RESOLVED):
            for enemy in range(N_RESOLVED):
                table[status, own, enemy] = LOSS
                if own_feinted + own % 2 <= layout.feints and enemy_feinted + enemy % 2 <= layout.feints:
                    table[status, own, enemy] = next_status(
                        rules, layout, status, is_last, own // 2, enemy // 2, own % 2, enemy % 2
                    )


@routine
def list_draws(layout, deck, draws, n_draws, chances):
    """List the draws from a deck in the order of the successors.

    For ``k``, 0 for no feint, 1 for an own one, 2 for one of the enemy and 3 for both, ``n_draws[k]`` becomes the
    number of draws, ``draws[k, i]`` the own kind drawn, the enemy's (5: none) and what they take from the deck's code,
    and ``chances[k, i]`` the probability.
    """
    weight = 1
    n_deck = 0
    for kind in range(N_KINDS - 1, -1, -1):
        draws[4, kind, 0] = weight
        weight *= layout.deck_size + 1
        n_deck += deck[kind]
    draws[0, 0, 0] = draws[0, 0, 1] = draws[1, :, 1] = draws[2, :, 0] = N_KINDS
    draws[0, 0, 2] = 0
    chances[0, 0] = 1.0
    one = 0
    both = 0
    for own in range(N_KINDS):
        if deck[own] == 0:
            continue
        chance = deck[own] / n_deck
        draws[1, one, 0] = draws[2, one, 1] = own
        draws[1, one, 2] = draws[2, one, 2] = draws[4, own, 0]
        chances[1, one] = chances[2, one] = chance
        one += 1
        for enemy in range(N_KINDS):
            left = deck[enemy] - (1 if enemy == own else 0)
            if left > 0:
                draws[3, both, 0] = own
                draws[3, both, 1] = enemy
                draws[3, both, 2] = draws[4, own, 0] + draws[4, enemy, 0]
                chances[3, both] = chance * left / (n_deck - 1)
                both += 1
    n_draws[0] = 1
    n_draws[1] = n_draws[2] = one
    n_draws[3] = both


@routine
def room_for_draws():
    """Room for what `list_draws` lists."""
    most = N_KINDS * N_KINDS
    return np.zeros((5, most, 3), dtype=np.int64), np.zeros(4, dtype=np.int64), np.zeros((4, most))


@routine
def hands_code(layout, own, pick, enemy, enemy_pick):
    """The cards code of two hands, after both picks (5: none)."""
    code = 0
    for kind in range(N_KINDS):
        held = own[kind] - (1 if kind == pick else 0)
        other = enemy[kind] - (1 if kind == enemy_pick else 0)
        code += layout.place[kind] * pair_digit(held, other)
    return code


@routine
def resolved(pick, draw):
    """The number of a resolved card: that of the pick, or of what was drawn instead (5: nothing)."""
    return 2 * pick if draw == N_KINDS else 2 * draw + 1


@routine
def open_deck(copies, unseen, deck, enemy):
    """Lay out a deck and what it leaves to the enemy of the unseen cards."""
    for kind in range(N_KINDS):
        deck[kind] = copies[kind]
        enemy[kind] = unseen[kind] - copies[kind]


@kernel
def fill_full(begin, end, layout, statuses, outcomes, layers, all_decks, full, action, state_ptr):
    """List the successors of the full states of the given blocks in any breath but the last.

    ``layers`` and ``all_decks`` are those of this breath and of the next, ``statuses`` is from `tabulate_statuses`.
    """
    layer, (next_first, next_rank) = layers[0], (layers[1].first, layers[1].rank)
    decks, (next_ptr, next_code) = all_decks[0], (all_decks[1].ptr, all_decks[1].code)
    full_ptr, after = full.ptr, full.after
    piles = np.zeros((5, N_KINDS), dtype=np.int64)
    actions = np.zeros(N_ACTIONS, dtype=np.int64)
    reach = np.zeros(N_KINDS + 1, dtype=np.int64)
    targets = np.zeros((N_KINDS + 1, N_ADDED), dtype=np.int64)
    draws, n_draws, chances = room_for_draws()
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles[0], piles[1], piles[2])
        block_reach(layout, outcomes, block_statuses(layer, block), piles[0], sizes, reach)
        find_targets(layout, layers[1], piles[0], piles[1], reach, possible_added(piles[2]), targets)
        row = layer.first[block]
        for status in block_statuses(layer, block):
            enemy_hand = count_enemy_hand(layout, status, sizes[0], sizes[1])
            mirrored = mirror_status(layout, status)
            drawn = drawn_cards(layout, status)
            entry = full.entry_ptr[row]
            for i in range(full_ptr[row + 1] - full_ptr[row]):
                number = decks.ptr[block * n_drawn + drawn] + i
                full.enemy_row[full_ptr[row] + i] = row_of(layer, decks.block[number], mirrored)
                open_deck(decks.copies[number], piles[2], piles[3], piles[4])
                list_draws(layout, piles[3], draws, n_draws, chances)
                n_enemy = list_actions(layout, piles[4], enemy_hand, mirrored, actions)
                for own_row in range(state_ptr[row], state_ptr[row + 1]):
                    pick, feints = split_action(action[own_row])
                    for b in range(n_enemy):
                        enemy_pick, enemy_feints = split_action(actions[b])
                        gone = drawn + feints + enemy_feints
                        for k in range(n_draws[feints + 2 * enemy_feints]):
                            own_draw, enemy_draw, taken = draws[feints + 2 * enemy_feints, k]
                            then = np.int64(
                                statuses[status, resolved(pick, own_draw), resolved(enemy_pick, enemy_draw)]
                            )
                            if then >= 0:
                                joined = ADDED_AFTER[ADDED_AFTER[ADDED_AFTER[EMPTY, own_draw], enemy_pick], enemy_draw]
                                target = targets[pick, joined]
                                first = next_ptr[target * n_drawn + gone]
                                then = full_ptr[next_first[target] + next_rank[target, then]]
                                while next_code[first] != decks.code[number] - taken:
                                    first += 1
                                    then += 1
                            after[entry] = then
                            entry += 1
            row += 1


@kernel
def fill_last(begin, end, layout, statuses, layer, decks, full, action, state_ptr, used):
    """List the successors of the full states of the given blocks in the last breath of a measure, as keys of nodes.

    Every key is marked in ``used``; threads may mark the same one, but all write 1.
    """
    full_ptr, after = full.ptr, full.after
    piles = np.zeros((5, N_KINDS), dtype=np.int64)
    actions = np.zeros(N_ACTIONS, dtype=np.int64)
    draws, n_draws, chances = room_for_draws()
    n_hps = layout.hp * layout.hp
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, piles[0], piles[1], piles[2])
        row = layer.first[block]
        for status in block_statuses(layer, block):
            enemy_hand = count_enemy_hand(layout, status, sizes[0], sizes[1])
            mirrored = mirror_status(layout, status)
            entry = full.entry_ptr[row]
            for i in range(full_ptr[row + 1] - full_ptr[row]):
                number = decks.ptr[block * (2 * layout.feints + 1) + drawn_cards(layout, status)] + i
                full.enemy_row[full_ptr[row] + i] = row_of(layer, decks.block[number], mirrored)
                open_deck(decks.copies[number], piles[2], piles[3], piles[4])
                list_draws(layout, piles[3], draws, n_draws, chances)
                n_enemy = list_actions(layout, piles[4], enemy_hand, mirrored, actions)
                for own_row in range(state_ptr[row], state_ptr[row + 1]):
                    pick, feints = split_action(action[own_row])
                    for b in range(n_enemy):
                        enemy_pick, enemy_feints = split_action(actions[b])
                        hands = n_hps * hands_code(layout, piles[0], pick, piles[4], enemy_pick)
                        for k in range(n_draws[feints + 2 * enemy_feints]):
                            own_draw, enemy_draw, _ = draws[feints + 2 * enemy_feints, k]
                            then = np.int64(
                                statuses[status, resolved(pick, own_draw), resolved(enemy_pick, enemy_draw)]
                            )
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
def list_deals(begin, end, layout, layer, decks, deal_ptr, pair, counts, ptr, deal, p):
    """Count the deals that may follow the given pairs, or list them with their probabilities if ``counts`` is empty."""
    kept = np.zeros((2, N_KINDS), dtype=np.int64)
    piles = np.zeros((3, N_KINDS), dtype=np.int64)
    n_drawn = 2 * layout.feints + 1
    for k in range(begin, end):
        own_size, enemy_size = decode_cards(layout, pair[k], kept[0], kept[1])
        pool = layout.n_cards - own_size - enemy_size
        own_draws = layout.hand_size - own_size
        enemy_draws = layout.hand_size - enemy_size
        total = BINOMIAL[pool, own_draws] * BINOMIAL[pool - own_draws, enemy_draws]
        total *= BINOMIAL[pool - own_draws - enemy_draws, layout.reveal_size]
        n = 0
        for block in range(len(layer.cards)):
            open_block(layout, layer, block, piles[0], piles[1], piles[2])
            if not (contains(piles[0], kept[0]) and contains(piles[2], kept[1])):
                continue
            place = block * n_drawn
            for i in range(decks.ptr[place + 1] - decks.ptr[place]):
                ways = deal_ways(layout, kept, piles, decks.copies[decks.ptr[place] + i])
                if ways == 0.0:
                    continue
                if len(counts) == 0:
                    deal[ptr[k] + n] = deal_ptr[block] + i
                    p[ptr[k] + n] = ways / total
                n += 1
        if len(counts) > 0:
            counts[k] = n


@kernel
def back_up_full(begin, end, layout, layer, decks, full, state_ptr, action, own_weight, enemy_weight, v):
    """Value and length of the full states of the given blocks, ``v[number]``, from those of their successors."""
    draws, n_draws, chances = room_for_draws()
    deck = np.zeros(N_KINDS, dtype=np.int64)
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        row = layer.first[block]
        for status in block_statuses(layer, block):
            place = block * n_drawn + drawn_cards(layout, status)
            entry = full.entry_ptr[row]
            for i in range(decks.ptr[place + 1] - decks.ptr[place]):
                for kind in range(N_KINDS):
                    deck[kind] = decks.copies[decks.ptr[place] + i, kind]
                list_draws(layout, deck, draws, n_draws, chances)
                number = full.ptr[row] + i
                enemy_row = full.enemy_row[number]
                value = 0.0
                length = 1.0
                for own_row in range(state_ptr[row], state_ptr[row + 1]):
                    own_feints = np.int64(action[own_row]) % 2
                    for other in range(state_ptr[enemy_row], state_ptr[enemy_row + 1]):
                        feints = own_feints + 2 * (np.int64(action[other]) % 2)
                        weight = own_weight[own_row] * enemy_weight[other]
                        if weight > 0.0:
                            for draw in range(n_draws[feints]):
                                p = weight * chances[feints, draw]
                                value += p * v[full.after[entry + draw], 0]
                                length += p * v[full.after[entry + draw], 1]
                        entry += n_draws[feints]
                v[number, 0] = value
                v[number, 1] = length
            row += 1


@kernel
def back_up_nodes(begin, end, redeal, v, out):
    """Value and length of the given nodes, ``out[node]``, from those of the deals that follow."""
    for node in range(begin, end):
        pair = redeal.node_pair[node]
        value = 0.0
        length = 0.0
        for k in range(redeal.ptr[pair], redeal.ptr[pair + 1]):
            deal = redeal.deal[k]
            number = redeal.first[deal] + redeal.node_status[node] * redeal.stride[deal]
            value += redeal.p[k] * v[number, 0]
            length += redeal.p[k] * v[number, 1]
        out[node, 0] = value
        out[node, 1] = length


@kernel
def spread_full(begin, end, chunks, layout, layer, decks, full, policies, rows, reach, targets, out):
    """Pass on the probabilities ``reach`` of the full states of chunks of blocks to their successors.

    Chunk ``c`` writes into ``out[c]`` alone: first the successors from number ``targets[0]`` on, and at the end win and
    loss, whose numbers begin with ``targets[1]``.
    """
    own_weight, enemy_weight = policies
    state_ptr, action = rows
    draws, n_draws, chances = room_for_draws()
    deck = np.zeros(N_KINDS, dtype=np.int64)
    n_drawn = 2 * layout.feints + 1
    origin, win = targets
    width = out.shape[1]
    for chunk in range(begin, end):
        out[chunk, :] = 0.0
        for block in range(chunks[chunk], chunks[chunk + 1]):
            row = layer.first[block]
            for status in block_statuses(layer, block):
                place = block * n_drawn + drawn_cards(layout, status)
                entry = full.entry_ptr[row]
                for i in range(decks.ptr[place + 1] - decks.ptr[place]):
                    for kind in range(N_KINDS):
                        deck[kind] = decks.copies[decks.ptr[place] + i, kind]
                    list_draws(layout, deck, draws, n_draws, chances)
                    number = full.ptr[row] + i
                    enemy_row = full.enemy_row[number]
                    for own_row in range(state_ptr[row], state_ptr[row + 1]):
                        own_feints = np.int64(action[own_row]) % 2
                        for other in range(state_ptr[enemy_row], state_ptr[enemy_row + 1]):
                            feints = own_feints + 2 * (np.int64(action[other]) % 2)
                            weight = reach[number] * own_weight[own_row] * enemy_weight[other]
                            if weight > 0.0:
                                for draw in range(n_draws[feints]):
                                    target = np.int64(full.after[entry + draw])
                                    place_of = target - origin if target < win else width - 2 + target - win
                                    out[chunk, place_of] += weight * chances[feints, draw]
                            entry += n_draws[feints]
                row += 1


@kernel
def spread_nodes(begin, end, chunks, redeal, reach, out):
    """Pass on the probabilities ``reach`` of chunks of nodes to deals; chunk ``c`` writes into ``out[c]`` alone."""
    for chunk in range(begin, end):
        out[chunk, :] = 0.0
        for node in range(chunks[chunk], chunks[chunk + 1]):
            if reach[node] == 0.0:
                continue
            pair = redeal.node_pair[node]
            for k in range(redeal.ptr[pair], redeal.ptr[pair + 1]):
                deal = redeal.deal[k]
                number = redeal.first[deal] + redeal.node_status[node] * redeal.stride[deal]
                out[chunk, number] += redeal.p[k] * reach[node]
