"""Legal actions of a state.

A player who is exhausted or has no cards must rest. Otherwise, the player picks a card from the hand, and can feint
with this card if any feints are left in the measure.
"""

from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import routine

# Code of rest. The codes of other actions have two digits: the card (1 to 5), then 1 for a feint or 0 otherwise.
REST_ACTION = 90
N_ACTIONS = 2 * N_KINDS + 1

# Modes: which actions are available to a player.
RESTS = 0
PICKS = 1
PICKS_OR_FEINTS = 2
N_MODES = 3


@routine
def deck_left(layout, status):
    """Return the number of cards in the deck during a measure."""
    return layout.deck_size - status.own_feinted - status.enemy_feinted


@routine
def count_enemy_hand(layout, status, sizes):
    """Return the size of the enemy's hand during a measure, given the sizes of the player's hand and discard pile."""
    return layout.n_cards - sizes[0] - sizes[1] - deck_left(layout, status)


@routine
def rests(status, hand_size):
    """Return True if the player must rest."""
    return status.own_exhausted != 0 or hand_size == 0


@routine
def mode_of(layout, exhausted, feinted, hand_size):
    """Return a player's mode: `RESTS`, `PICKS` or `PICKS_OR_FEINTS`."""
    if exhausted or hand_size == 0:
        return RESTS
    return PICKS if feinted == layout.feints else PICKS_OR_FEINTS


@routine
def own_mode(layout, status, hand_size):
    return mode_of(layout, status.own_exhausted, status.own_feinted, hand_size)


@routine
def enemy_mode(layout, status, sizes):
    """Return the mode of the enemy, given the sizes of the player's hand and discard pile."""
    return mode_of(layout, status.enemy_exhausted, status.enemy_feinted, count_enemy_hand(layout, status, sizes))


@routine
def list_actions(hand, mode, actions):
    """Write the ascending two-digit codes of the legal actions to ``actions``, and return their number."""
    if mode == RESTS:
        actions[0] = REST_ACTION
        return 1
    n = 0
    for pick in range(N_KINDS):
        if hand[pick] > 0:
            actions[n] = 10 * (pick + 1)
            n += 1
            if mode == PICKS_OR_FEINTS:
                actions[n] = 10 * (pick + 1) + 1
                n += 1
    return n


@routine
def split_action(action):
    """Return the kind of card picked (5 for rest), and 1 for a feint or 0 otherwise."""
    if action == REST_ACTION:
        return N_KINDS, 0
    return action // 10 - 1, action % 10
