"""Information states in words: cards by their initials, and everything left out as at the start of a game.

The deck follows from the feints, and the enemy's hand from all other cards, so it needs naming only between two
measures.
"""

from __future__ import annotations

import re

from punish_fast.punish.codes import State, StateError, encode, layout_of
from punish_fast.punish.rules import CARDS, Five, Rules

INITIALS = "".join(card[0] for card in CARDS)
SIDES = {"own": (1, 0), "enemy": (0, 1), "both": (1, 1)}


def position(
    rules: Rules,
    hand: str,
    discard: str,
    *,
    hp: str | None = None,
    breath: int = 1,
    enemy_hand: int | None = None,
    exhausted: str | None = None,
    feinted: str | None = None,
) -> State:
    """An information state from words.

    Args:
        rules: The rules.
        hand: Initials of the cards in hand: ``"rrspp"`` for two rushes, a strike and two punishes.
        discard: Initials of the discard pile.
        hp: Own and enemy HP: ``"3-2"``; full if None.
        breath: From 1; one more than there are for the state between two measures.
        enemy_hand: Cards in the enemy's hand; all that are neither seen nor in the deck if None.
        exhausted: ``"own"``, ``"enemy"`` or ``"both"``; nobody if None.
        feinted: Likewise.

    Raises:
        StateError: no such position; the message names the cards.
    """
    held, gone = _counts("hand", hand), _counts("discard", discard)
    own_hp, enemy_hp = (rules.hp, rules.hp) if hp is None else _hp(hp)
    own_exhausted, enemy_exhausted = _sides("exhausted", exhausted)
    own_feinted, enemy_feinted = _sides("feinted", feinted)
    if enemy_hand is None:
        deck = rules.deck_size - own_feinted - enemy_feinted
        enemy_hand = rules.n_cards - sum(held) - sum(gone) - deck
        if not 0 <= enemy_hand <= rules.hand_size:
            raise StateError(
                f"hand {hand or 'empty'}, discard {discard or 'empty'} and {deck} cards of the deck leave "
                f"{enemy_hand} cards to the enemy, allowed are 0 to {rules.hand_size}"
            )
    state = State(
        *(breath, held, own_hp, own_exhausted, own_feinted),
        *(enemy_hp, enemy_hand, enemy_exhausted, enemy_feinted, gone),
    )
    encode(layout_of(rules), state)
    return state


def _counts(name: str, initials: str) -> Five:
    unknown = sorted(set(initials.lower()) - set(INITIALS))
    if unknown:
        names = ", ".join(f"{card[0]} {card}" for card in CARDS)
        raise StateError(f"{name}: {unknown[0]!r} is no card, allowed are {names}")
    guard, rush, dodge, strike, punish = (initials.lower().count(initial) for initial in INITIALS)
    return guard, rush, dodge, strike, punish


def _hp(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9])-([1-9])", text)
    if found is None:
        raise StateError(f"hp: {text!r} is not allowed, it must be own and enemy HP, such as 3-2")
    return int(found[1]), int(found[2])


def _sides(name: str, side: str | None) -> tuple[int, int]:
    if side is None:
        return 0, 0
    if side not in SIDES:
        raise StateError(f"{name}: {side!r} is not allowed, it must be one of {', '.join(SIDES)}")
    return SIDES[side]
