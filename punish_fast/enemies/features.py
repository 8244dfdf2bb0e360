"""Features of information states for the choice model.

All follow from the information state and the rules and lie between 0 and 1:

    1; the breath, own HP and enemy HP, an indicator for each value; feints made by either player, and whether the enemy
    is exhausted; sizes of both hands; and of each card: copies in hand, whether there is one, copies in the discard
    pile, copies unseen, and the probability that the enemy can play one.

The last is 0 for an exhausted enemy. Otherwise, of ``U`` unseen cards with ``u`` of the kind, an enemy with ``H`` cards
holds none with probability ``C(U - u, H) / C(U, H)``, since all deals of the unseen cards are equally likely.
"""

from __future__ import annotations

from math import comb

import numpy as np

from punish_fast.punish.rules import Rules


def features_of(rules: Rules, digits: np.ndarray) -> np.ndarray:
    """Features of states, float64 ``[k, n]`` with ``n`` the same for all states of a game.

    Args:
        rules: The rules of the game.
        digits: uint8 ``[k, 18]``, digits of the states.
    """
    d = digits.astype(np.int64)
    breath, hand, discard = d[:, 0], d[:, 1:6], d[:, 13:18]
    own_hp, own_feinted = d[:, 6], d[:, 8]
    enemy_hp, enemy_hand, enemy_exhausted, enemy_feinted = d[:, 9:13].T
    copies = np.array(rules.copies)
    unseen = copies - hand - discard
    shares = [hand / rules.hand_size, hand > 0, discard / np.maximum(copies, 1), unseen / np.maximum(copies, 1)]
    return np.column_stack(
        [
            np.ones(len(d)),
            breath[:, np.newaxis] == np.arange(1, rules.breaths + 1),
            own_hp[:, np.newaxis] == np.arange(1, rules.hp + 1),
            enemy_hp[:, np.newaxis] == np.arange(1, rules.hp + 1),
            own_feinted / max(rules.feints, 1),
            enemy_feinted / max(rules.feints, 1),
            enemy_exhausted,
            hand.sum(axis=1) / rules.hand_size,
            enemy_hand / rules.hand_size,
            *shares,
            _probabilities(rules)[unseen, unseen.sum(axis=1)[:, np.newaxis], enemy_hand[:, np.newaxis]]
            * (1 - enemy_exhausted[:, np.newaxis]),
        ]
    )


def _probabilities(rules: Rules) -> np.ndarray:
    """The probability that a hand holds a kind, by unseen copies of it, all unseen cards and hand size."""
    shape = (max(rules.copies) + 1, rules.n_cards + 1, rules.hand_size + 1)
    table = np.zeros(shape)
    for kind, cards, size in np.ndindex(shape):
        if kind <= cards and size <= cards:
            table[kind, cards, size] = 1 - comb(cards - kind, size) / comb(cards, size)
    return table
