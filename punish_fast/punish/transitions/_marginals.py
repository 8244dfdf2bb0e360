"""Marginals: probabilities of plays for a player who does not see the enemy's hand.

Let ``n`` of the unseen cards ``U`` form the enemy's hand ``E``, and let the other ``d`` cards form the deck ``K = U -
E``. The hand has probability ``prod_k C(U_k, E_k) / C(n + d, n)``, the enemy chooses action ``a`` with probability
``strategy(E, a)``, and feints draw from the deck without replacement. A *play* consists of the player's draw, the
enemy's pick and the enemy's draw (``outcomes.py``). The *marginal* of a state contains the probability of each play,
summed over the hands::

    P(player draws none, pick j)            = sum_E P(E) strategy(E, j)
    P(player draws none, feint j draws r)   = sum_E P(E) strategy(E, j feint) K_r / d
    P(player draws o, pick j)               = sum_E P(E) strategy(E, j) K_o / d
    P(player draws o, feint j draws r)      = sum_E P(E) strategy(E, j feint) K_o (K_r - [o = r]) / (d (d - 1))

Marginals are stored as numerators over the common denominator ``C(n + d, n) d (d - 1) 2520``, where ``d`` and ``d - 1``
count as 1 if they are less. Since 2520 is divisible by every integer from 1 to 10, every numerator against the uniform
enemy is an integer, and probabilities are rounded only once.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import N_ACTIONS, PICKS_OR_FEINTS, RESTS, deck_left
from punish_fast.punish._codes import cards_code, mirror_status
from punish_fast.punish._multisets import BINOMIAL, N_KINDS, count_subsets, count_ways, first_subset, next_subset
from punish_fast.punish.states._space import find_block, row_of
from punish_fast.punish.states.outcomes import N_ENEMY_PLAYS, N_PLAYS
from punish_fast.runtime._jit import inlined_routine, routine

UNIT = 2520.0


class EnemyHands(NamedTuple):
    """Possible hands of the enemy, given the cards that a player sees."""

    n_hands: np.ndarray  # int64 [n_decks], number of distinct hands, by the number of cards drawn from the deck
    deck: np.ndarray  # int64 [n_decks, n, 5], cards left in the deck for each hand
    block: np.ndarray  # int64 [n_decks, n], block of the enemy's information states with each hand
    ways: np.ndarray  # float64 [n_decks, n], number of ways to draw each hand from the unseen cards


@routine
def denominator(enemy_hand, deck):
    """Return the common denominator of a marginal, given the sizes of the enemy's hand and the deck."""
    return BINOMIAL[enemy_hand + deck, enemy_hand] * max(deck, 1) * max(deck - 1, 1) * UNIT


@routine
def list_kinds(pile, kinds):
    """Write the kinds of cards in a pile to ``kinds``, and return their number."""
    n = 0
    for kind in range(N_KINDS):
        if pile[kind] > 0:
            kinds[n] = kind
            n += 1
    return n


@inlined_routine
def add_plain(deck, drawn, play, no_draw, one_draw, marginal):
    """Add the plays in which the enemy does not feint to ``marginal``."""
    kinds, _, n_own = drawn
    marginal[play] += no_draw
    for k in range(n_own):
        marginal[N_ENEMY_PLAYS * (kinds[k] + 1) + play] += one_draw * deck[kinds[k]]


@inlined_routine
def add_feint(deck, drawn, play, one_draw, two_draws, marginal):
    """Add the plays in which the enemy's feint draws a card to ``marginal``."""
    kinds, n_kinds, n_own = drawn
    for i in range(n_kinds):
        draw = kinds[i]
        marginal[play + draw] += one_draw * deck[draw]
        for k in range(n_own):
            left = deck[kinds[k]] - (1 if k == i else 0)
            if left > 0:
                marginal[N_ENEMY_PLAYS * (kinds[k] + 1) + play + draw] += two_draws * deck[draw] * left


@inlined_routine
def add_hand(deck, n_deck, unseen, mode, own_feints, ways, weights, row, kinds, marginal):
    """Add the plays of an enemy to ``marginal``, given the cards left in the deck.

    ``weights[row:]`` contains the probabilities of the legal actions in units of 1/2520. For each kind of card in hand,
    there is a pick without a feint and, if a feint is left, a pick with a feint. ``kinds`` is working memory for five
    integers. If ``own_feints`` is False, skip plays in which the player draws a card.
    """
    n_kinds = list_kinds(deck, kinds)
    drawn = (kinds, n_kinds, n_kinds if own_feints else 0)
    one_draw = ways * max(n_deck - 1, 1)
    no_draw = one_draw * max(n_deck, 1)
    if mode == RESTS:
        add_plain(deck, drawn, 0, weights[row] * no_draw, weights[row] * one_draw, marginal)
    for pick in range(N_KINDS if mode != RESTS else 0):
        if unseen[pick] == deck[pick]:
            continue
        weight = weights[row]
        row += 1
        if weight > 0.0:
            add_plain(deck, drawn, 1 + pick, weight * no_draw, weight * one_draw, marginal)
        if mode == PICKS_OR_FEINTS:
            weight = weights[row]
            row += 1
            if weight > 0.0:
                add_feint(deck, drawn, 6 + N_KINDS * pick, weight * one_draw, weight * ways, marginal)


@routine
def uniform_marginal(unseen, enemy_hand, mode, marginal):
    """Set ``marginal`` to the marginal against the uniform enemy."""
    hand = np.zeros(N_KINDS, dtype=np.int64)
    deck = np.zeros(N_KINDS, dtype=np.int64)
    kinds = np.zeros(N_KINDS, dtype=np.int64)
    weights = np.zeros(N_ACTIONS)
    marginal[:] = 0.0
    more = first_subset(unseen, enemy_hand, hand)
    while more:
        n_deck = 0
        for kind in range(N_KINDS):
            deck[kind] = unseen[kind] - hand[kind]
            n_deck += deck[kind]
        weights[:] = UNIT / max(list_kinds(hand, kinds) * mode, 1)
        add_hand(deck, n_deck, unseen, mode, True, count_ways(unseen, hand), weights, 0, kinds, marginal)
        more = next_subset(unseen, hand)


@routine
def room_for_hands(layout):
    n_decks = 2 * layout.feints + 1
    most = 1
    for deck in range(layout.deck_size - n_decks + 1, layout.deck_size + 1):
        most = max(most, count_subsets(layout.copies, deck))
    return EnemyHands(
        n_hands=np.zeros(n_decks, dtype=np.int64),
        deck=np.zeros((n_decks, most, N_KINDS), dtype=np.int64),
        block=np.zeros((n_decks, most), dtype=np.int64),
        ways=np.zeros((n_decks, most)),
    )


@routine
def list_hands(layout, layer, discard, unseen, hands):
    """List the enemy's possible hands and the blocks of its information states, by the number of drawn cards."""
    deck, hand = np.zeros(N_KINDS, dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
    for drawn in range(len(hands.n_hands)):
        n = 0
        more = first_subset(unseen, layout.deck_size - drawn, deck)
        while more:
            for kind in range(N_KINDS):
                hands.deck[drawn, n, kind] = deck[kind]
                hand[kind] = unseen[kind] - deck[kind]
            hands.ways[drawn, n] = count_ways(unseen, hand)
            hands.block[drawn, n] = find_block(layer, cards_code(layout, hand, discard))
            n += 1
            more = next_subset(unseen, deck)
        hands.n_hands[drawn] = n


@inlined_routine
def policy_marginal(layout, layer, state_ptr, policy, status, mode, unseen, hands, kinds, marginal):
    """Compute the marginal against an enemy's policy, using the rows of the mirrored state for each hand."""
    mirrored = mirror_status(layout, status)
    own_feints = status.own_exhausted == 0 and status.own_feinted < layout.feints
    n_deck = deck_left(layout, status)
    place = layout.deck_size - n_deck
    marginal[: N_PLAYS if own_feints else N_ENEMY_PLAYS] = 0.0
    for i in range(hands.n_hands[place]):
        row = state_ptr[row_of(layer, hands.block[place, i], mirrored)]
        deck, ways = hands.deck[place, i], hands.ways[place, i]
        add_hand(deck, n_deck, unseen, mode, own_feints, ways, policy, row, kinds, marginal)


@routine
def unseen_code(layout, unseen):
    """Encode the counts of unseen cards as an integer."""
    code = 0
    for kind in range(N_KINDS):
        code = code * (layout.copies[kind] + 1) + unseen[kind]
    return code
