"""The notebook's decimal codes of many states at once.

A decimal code has 18 digits, drawn in ``codes.py``. Here they are worked out for whole arrays: from rows to digits
block by block, since the states of a block share their cards; and from digits back to rows by way of the mixed-radix
codes, which `StateSpace.code` holds in ascending order.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from punish_fast.punish import _codes
from punish_fast.punish.codes import Layout, StateError
from punish_fast.punish.rules import Rules
from punish_fast.punish.space import StateSpace

N_DIGITS = 18

# Columns of the digits.
_BREATH = 0
_HAND = slice(1, 6)
_OWN_HP, _OWN_EXHAUSTED, _OWN_FEINTED, _ENEMY_HP, _ENEMY_HAND, _ENEMY_EXHAUSTED, _ENEMY_FEINTED = range(6, 13)
_DISCARD = slice(13, 18)

_PLACES = 10 ** np.arange(N_DIGITS - 1, -1, -1, dtype=np.int64)


class States(Protocol):
    """The states of a game: a `StateSpace`, or a file that holds their codes."""

    @property
    def rules(self) -> Rules:
        """The rules."""

    @property
    def layout(self) -> Layout:
        """The radices of the codes."""

    @property
    def code(self) -> np.ndarray:
        """The mixed-radix codes, uint64 ``[n_states]``."""


def digits_of(space: States, rows: np.ndarray | None = None) -> np.ndarray:
    """The digits of states, uint8 ``[k, 18]``.

    Args:
        space: The states of the game.
        rows: ``[k]``, rows of states; all of them if None.

    Raises:
        StateError: the rules have counts above 9.
    """
    check_digits(space.rules)
    rows = np.arange(len(space.code)) if rows is None else np.asarray(rows, dtype=np.int64)
    layout = space.layout
    rest, status = np.divmod(space.code[rows].astype(np.int64), layout.n_statuses)
    layer, cards = np.divmod(rest, layout.n_cards_codes)
    digits = np.zeros((len(rows), N_DIGITS), dtype=np.uint8)
    digits[:, _BREATH] = layer + 1
    digits[:, _HAND], digits[:, _DISCARD] = split_cards(space.layout, cards)
    is_play = layer < layout.breaths
    digits[:, _OWN_HP : _ENEMY_FEINTED + 1] = np.where(
        is_play[:, np.newaxis], _play_digits(space)[status], _between_digits(space)[status]
    )
    # The column of the enemy's hand holds the cards drawn from the deck so far.
    deck = layout.deck_size - digits[:, _ENEMY_HAND].astype(np.int64)
    seen = digits[:, _HAND].sum(axis=1, dtype=np.int64) + digits[:, _DISCARD].sum(axis=1, dtype=np.int64)
    digits[:, _ENEMY_HAND] = layout.n_cards - seen - deck
    return digits


def decimals_of(space: States, rows: np.ndarray | None = None) -> np.ndarray:
    """The decimal codes of states, int64 ``[k]``; arguments and errors as in `digits_of`."""
    return digits_of(space, rows) @ _PLACES


def split_digits(decimals: np.ndarray) -> np.ndarray:
    """The digits of decimal codes with 18 digits, uint8 ``[k, 18]``."""
    return (np.asarray(decimals, dtype=np.int64)[:, np.newaxis] // _PLACES % 10).astype(np.uint8)


def rows_of(space: StateSpace, decimals: np.ndarray) -> np.ndarray:
    """The rows of decimal codes, int64 ``[k]``; -1 for a number that is no state which a game reaches.

    Args:
        space: The states of the game.
        decimals: ``[k]``, whole numbers of any size.

    Raises:
        StateError: the rules have counts above 9.
    """
    check_digits(space.rules)
    decimals = np.asarray(decimals, dtype=np.int64)
    layout = space.layout
    digits = split_digits(decimals).astype(np.int64)
    cards = join_cards(layout, digits[:, _HAND], digits[:, _DISCARD])
    status = np.where(digits[:, _BREATH] <= layout.breaths, _play_status(space, digits), _between_status(space, digits))
    codes = ((digits[:, _BREATH] - 1) * layout.n_cards_codes + cards) * layout.n_statuses + status
    rows = np.searchsorted(space.code, np.maximum(codes, 0).astype(np.uint64))
    rows = np.minimum(rows, space.n_states - 1)
    # Digits that contradict each other or the rules lead to another state, or to none.
    return np.where(decimals_of(space, rows) == decimals, rows, -1)


def check_digits(rules: Rules) -> None:
    """Insist, before any work is done, that states have decimal codes.

    Raises:
        StateError: the rules have counts above 9.
    """
    largest = max(*rules.copies, rules.hp, rules.hand_size, rules.breaths + 1, rules.feints)
    if largest > 9:
        raise StateError(f"decimal codes: the rules count up to {largest}, allowed is up to 9")


def split_cards(layout: Layout, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hands and discard piles of cards codes, or the first and the second of two hands: int64 ``[k, 5]`` each."""
    place = layout.place
    digits = cards[:, np.newaxis] // place
    digits[:, 1:] -= digits[:, :-1] * (place[:-1] // place[1:])
    t = np.arange(int(layout.copies.max()) + 2)
    starts = t * (t + 1) // 2
    both = np.searchsorted(starts, digits, side="right") - 1
    hand = digits - starts[both]
    return hand, both - hand


def join_cards(layout: Layout, hand: np.ndarray, discard: np.ndarray) -> np.ndarray:
    """The inverse of `split_cards`, int64 ``[k]``."""
    both = hand + discard
    return np.asarray((both * (both + 1) // 2 + hand) @ layout.place)


def _play_digits(space: States) -> np.ndarray:
    """The seven middle digits of every status during a measure; cards drawn stand for the enemy's hand."""
    table = np.zeros((space.layout.n_statuses, 7), dtype=np.uint8)
    for status in range(len(table)):
        parts = _codes.split_status(space.layout, status)
        own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted = parts
        drawn = own_feinted + enemy_feinted
        table[status] = own_hp, own_exhausted, own_feinted, enemy_hp, drawn, enemy_exhausted, enemy_feinted
    return table


def _between_digits(space: States) -> np.ndarray:
    """The same between two measures."""
    layout = space.layout
    table = np.zeros((layout.n_statuses, 7), dtype=np.uint8)
    for status in range((2 * layout.feints + 1) * layout.hp**2):
        own_hp, enemy_hp, drawn = _codes.split_between_status(layout, status)
        table[status] = own_hp, 0, 0, enemy_hp, drawn, 0, 0
    return table


def _play_status(space: StateSpace, digits: np.ndarray) -> np.ndarray:
    radix = space.layout.feints + 1
    status = (digits[:, _OWN_HP] - 1) * space.layout.hp + digits[:, _ENEMY_HP] - 1
    status = (status * 2 + digits[:, _OWN_EXHAUSTED]) * radix + digits[:, _OWN_FEINTED]
    status = (status * 2 + digits[:, _ENEMY_EXHAUSTED]) * radix + digits[:, _ENEMY_FEINTED]
    return np.asarray(status)


def _between_status(space: StateSpace, digits: np.ndarray) -> np.ndarray:
    layout = space.layout
    seen = digits[:, _HAND].sum(axis=1) + digits[:, _DISCARD].sum(axis=1) + digits[:, _ENEMY_HAND]
    drawn = layout.deck_size - (layout.n_cards - seen)
    return np.asarray((drawn * layout.hp + digits[:, _OWN_HP] - 1) * layout.hp + digits[:, _ENEMY_HP] - 1)
