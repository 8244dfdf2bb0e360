"""Graph of the two-player game with both hands known.

A *full state* consists of an information state and the enemy's hand. The remaining cards form the deck. Full states are
numbered by information state, then by deck::

    number(row, deck) = full_ptr[row] + index of the deck in the list of (block, number of cards drawn)

where ``row`` is the information state. The list of possible decks depends only on the block of the information state
and on the number of cards drawn for feints (``_decks.py``). In a full state, the enemy sees the mirrored information
state ``enemy_row``. The graph supports every information model (``information.py``). The model determines the numbers
of information states and full states.

The player's action, the enemy's action and the draw for feints determine the successor of a full state. The successors
of a full state are stored contiguously, sorted first by the player's action, then by the enemy's action, then by the
draw (``_walk.py``).

After the last breath of a measure, only the hands and HP of both players matter, because the true redeal shuffles all
other cards. Each combination of hands and HP is a *node*, unless nodes are also divided by public state
(``public_states.py``). Full states are numbered first, then nodes, and finally the results win and loss.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.duel._decks import deck_ways
from punish_fast.punish._actions import N_ACTIONS, enemy_mode, list_actions, own_mode, split_action
from punish_fast.punish._codes import cards_after, mirror_status, pair_digit, split_cards, split_status
from punish_fast.punish._multisets import BINOMIAL, N_KINDS
from punish_fast.punish.clash import LOSS, NOTHING, WIN
from punish_fast.punish.states._redeal import redeal
from punish_fast.punish.states._space import block_statuses, find_block, open_block, row_of
from punish_fast.runtime._jit import kernel, optimized_routine, routine

# Marker for targets that are not yet looked up.
_UNKNOWN = -2


class Full(NamedTuple):
    """Full states of all breaths, and their successors.

    In shapes, ``n_states`` is the number of information states during a measure.
    """

    ptr: np.ndarray  # int64 ``[n_states + 1]``, first full state of each information state
    entry_ptr: np.ndarray  # int64 ``[n_states + 1]``, index in `after` of each information state's first successor
    entry: np.ndarray  # uint32 ``[n_full]``, index in `after` of the first successor of each full state
    enemy_row: np.ndarray  # int32 ``[n_full]``, the enemy's information state
    deck: np.ndarray  # int32 ``[n_full]``, index of the deck in `Draws.copies`
    after: np.ndarray  # int32 ``[n_entries]``, successors of the full states


@routine
def count_feints(actions, n):
    feints = 0
    for i in range(n):
        feints += split_action(actions[i])[1]
    return feints


@kernel
def count_full(begin, end, layout, layer, draws, decks, n_full, n_entries):
    """Count the full states and the successors of each information state in the given blocks."""
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
    """Return the cards code of two hands after both picks (5 for no card)."""
    code = 0
    for kind in range(N_KINDS):
        held = own[kind] - (1 if kind == pick else 0)
        other = enemy[kind] - (1 if kind == enemy_pick else 0)
        code += layout.place[kind] * pair_digit(held, other)
    return code


class CardRoom(NamedTuple):
    """Work arrays for the cards of a full state."""

    digits: np.ndarray  # int64 ``[5]``, digits of the block's cards code
    piles: np.ndarray  # int64 ``[3, 5]``, hand, discard pile and unseen cards
    enemy: np.ndarray  # int64 ``[5]``, the enemy's hand
    actions: np.ndarray  # int64 ``[11]``, the enemy's actions
    targets: np.ndarray  # int64 ``[1296]``, the next block after each combination of picks and draws


@routine
def room_for_cards():
    return CardRoom(
        digits=np.zeros(N_KINDS, dtype=np.int64),
        piles=np.zeros((3, N_KINDS), dtype=np.int64),
        enemy=np.zeros(N_KINDS, dtype=np.int64),
        actions=np.zeros(N_ACTIONS, dtype=np.int64),
        targets=np.zeros((N_KINDS + 1) ** 4, dtype=np.int64),
    )


@optimized_routine
def open_deck(full, draws, decks, layer, place, number, mirrored, room):
    """Store the deck and the enemy's information state in ``full``, and the enemy's hand in ``room``."""
    deck = decks.deck[place]
    full.deck[number] = deck
    full.enemy_row[number] = row_of(layer, decks.block[place], mirrored)
    for kind in range(N_KINDS):
        room.enemy[kind] = room.piles[2, kind] - draws.copies[deck, kind]


@routine
def resolved(pick, draw):
    """Return the index of a resolved card: ``2 * pick`` if ``draw`` is 5 (no feint), otherwise ``2 * draw + 1``."""
    return 2 * pick if draw == NOTHING else 2 * draw + 1


@routine
def list_after(game, full, outcomes, own_actions, number, n_enemy, room, following, used, drawn):
    """Store the successors of a full state in ``full.after``, and return the index after the last successor.

    ``outcomes`` is the table of `status_tables` for the status of the full state. In the last breath of a measure,
    successors are keys of nodes and are marked in ``used``. In all other breaths, successors are full states,
    ``following`` contains the next layer and its decks, and ``used`` is empty. If the game ends, the successor is `WIN`
    or `LOSS`.
    """
    layout, places, draws, n_left = game
    after, n_draws, own_draws, enemy_draws = full.after, draws.n, draws.own, draws.enemy
    actions, own, enemy = room.actions, room.piles[0], room.enemy
    n_hps = layout.hp * layout.hp
    layer, decks = following
    is_last, n_drawn = len(used) > 0, 2 * layout.feints + 1
    ptr, first, kind, rank = full.ptr, layer.first, layer.kind, layer.rank
    next_ptr, next_deck, lefts = decks.ptr, decks.deck, draws.left
    weight, move, digits, targets = places.weight, places.move, room.digits, room.targets
    deck, entry = full.deck[number], np.int64(full.entry[number])
    for own_action in own_actions:
        pick, feint = split_action(own_action)
        for b in range(n_enemy):
            enemy_pick, enemy_feint = split_action(actions[b])
            feints = feint + 2 * enemy_feint
            hands = n_hps * hands_code(layout, own, pick, enemy, enemy_pick) if is_last else 0
            for k in range(n_draws[deck, feints]):
                own_draw, enemy_draw = own_draws[deck, feints, k], enemy_draws[deck, feints, k]
                then = np.int64(outcomes[resolved(pick, own_draw), resolved(enemy_pick, enemy_draw)])
                if is_last and then >= 0:
                    # A node retains only the HP of both players from the status, and the deck if it is public.
                    then = (hands + then % n_hps) * n_left
                    if n_left > 1:
                        then += lefts[deck, feints, k]
                    used[then] = 1
                elif then >= 0:
                    play = ((pick * 6 + own_draw) * 6 + enemy_pick) * 6 + enemy_draw
                    if targets[play] == _UNKNOWN:
                        cards = cards_after(weight, move, digits, pick, own_draw, enemy_pick, enemy_draw)
                        targets[play] = find_block(layer, cards)
                    target = targets[play]
                    place = next_ptr[target * n_drawn + drawn + feint + enemy_feint]
                    then = ptr[first[target] + rank[kind[target], then]]
                    while next_deck[place] != lefts[deck, feints, k]:
                        place += 1
                        then += 1
                after[entry] = then
                entry += 1
    return entry


@kernel
def fill_full(begin, end, game, statuses, layer, decks, full, rows, following, used):
    """Store the full states of the given blocks and their successors.

    ``game`` contains the layout, the places, the draws, and the number of decks that keys of nodes distinguish, or 1.
    ``statuses`` is a table of `status_tables`. `list_after` describes ``following`` and ``used``. Several threads can
    write to the same entry of ``used``, but all of them write 1.
    """
    (layout, places, draws, _), (state_ptr, action) = game, rows
    room = room_for_cards()
    n_drawn = 2 * layout.feints + 1
    for block in range(begin, end):
        sizes = open_block(layout, layer, block, room.piles)
        split_cards(places, layer.cards[block], room.digits)
        room.targets[:] = _UNKNOWN
        row = layer.first[block]
        for code in block_statuses(layer, block):
            status = split_status(layout, code)
            mode, mirrored = enemy_mode(layout, status, sizes), mirror_status(layout, status)
            drawn = status.own_feinted + status.enemy_feinted
            place, entry = decks.ptr[block * n_drawn + drawn], full.entry_ptr[row]
            own = action[state_ptr[row] : state_ptr[row + 1]]
            for number in range(full.ptr[row], full.ptr[row + 1]):
                full.entry[number] = entry
                open_deck(full, draws, decks, layer, place, number, mirrored, room)
                n = list_actions(room.enemy, mode, room.actions)
                entry = list_after(game, full, statuses[code], own, number, n, room, following, used, drawn)
                place += 1
            row += 1


@kernel
def number_nodes(begin, end, chunks, after, slot, win):
    """Replace keys of nodes in ``after`` by ``slot[key]``, `WIN` by ``win``, and `LOSS` by ``win + 1``.

    If ``slot`` is empty, all other successors in the given chunks are full states and remain unchanged.
    """
    for entry in range(chunks[begin], chunks[end]):
        if after[entry] == WIN:
            after[entry] = win
        elif after[entry] == LOSS:
            after[entry] = win + 1
        elif len(slot) > 0:
            after[entry] = slot[after[entry]]


class Redeal(NamedTuple):
    """Deals after a measure, and at the beginning of a game."""

    # int64 ``[n_pairs]``, ascending codes of kept hands (two each). The first pair is empty and stands for a new game.
    pair: np.ndarray
    ptr: np.ndarray  # int64 ``[n_pairs + 1]``, offset of each pair's deals
    deal: np.ndarray  # int32 ``[n]``, deal numbers, ascending in each pair
    p: np.ndarray  # float64 ``[n]``, probabilities of the deals
    first: np.ndarray  # int64 ``[n_deals]``, full state of each deal with the first status of its block
    stride: np.ndarray  # int64 ``[n_deals]``, distance between full states of consecutive statuses
    node_pair: np.ndarray  # int32 ``[n_nodes]``, index of each node's pair of kept hands
    node_status: np.ndarray  # int32 ``[n_nodes]``, index of each node's status in the blocks of the first breath


@routine
def find_ascending(numbers, number):
    """Return the index of a number in ascending numbers.

    This function replaces `np.searchsorted`. Kernels that call `np.searchsorted` or `np.sum` import `scipy.linalg` when
    they are loaded.
    """
    first, end = 0, len(numbers)
    while first < end:
        middle = (first + end) // 2
        if numbers[middle] < number:
            first = middle + 1
        else:
            end = middle
    return first


@routine
def list_views(layout, cards, kept, piles, codes, weights):
    """List the player's possible blocks after a deal, given both kept hands. Return their number and total weight.

    ``cards`` contains the ascending cards codes of the blocks under ``memoryless``. `redeal` deals the player's new
    cards and the revealed cards from all cards outside both hands. The enemy's new cards and the deck come from the
    remaining cards.
    """
    n_kept = n_free = 0
    for kind in range(N_KINDS):
        piles[0, kind] = kept[0, kind]
        piles[1, kind] = layout.copies[kind] - kept[0, kind] - kept[1, kind]
        piles[2, kind] = 0
        n_kept += piles[0, kind]
        n_free += piles[1, kind]
    n, total = redeal(layout, piles, (n_kept, n_free), 0, codes, weights)
    for i in range(n):
        codes[i] = find_ascending(cards, codes[i])
    return n, total


@kernel
def list_deals(begin, end, layout, layer, cards, copies, decks, deal_ptr, pairs, out):
    """Count the possible deals after the given pairs of kept hands, or list the deals and their probabilities.

    ``pairs``, int64 ``[n, 2, 5]``, contains the kept hands. `list_views` describes ``cards``. ``deal_ptr`` contains the
    first deal of each block. ``out`` consists of four arrays: the number of deals per pair, the offset of each pair's
    deals, the deals, and their probabilities. If the first array is empty, the kernel lists deals. Otherwise, the
    kernel counts deals.
    """
    counts, ptr, deal, p = out
    n_drawn = 2 * layout.feints + 1
    codes, weights = np.zeros(len(cards), dtype=np.int64), np.zeros(len(cards))
    piles, rest = np.zeros((3, N_KINDS), dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
    for k in range(begin, end):
        n_views, total = list_views(layout, cards, pairs[k], piles, codes, weights)
        n = 0
        for j in range(n_views):
            block = codes[j]
            open_block(layout, layer, block, piles)
            n_rest = 0
            for kind in range(N_KINDS):
                rest[kind] = piles[2, kind] - pairs[k, 1, kind]
                n_rest += rest[kind]
            all_ways = total * BINOMIAL[n_rest, layout.deck_size]
            place = block * n_drawn
            for i in range(decks.ptr[place + 1] - decks.ptr[place]):
                ways = deck_ways(rest, copies[decks.deck[decks.ptr[place] + i]])
                if ways == 0.0:
                    continue
                if len(counts) == 0:
                    deal[ptr[k] + n] = deal_ptr[block] + i
                    p[ptr[k] + n] = weights[j] * ways / all_ways
                n += 1
        if len(counts) > 0:
            counts[k] = n
