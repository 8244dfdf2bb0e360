"""Information states and their codes: mixed-radix codes inside, decimal codes for interchange.

`State` is what a person reads, `Layout` the radices that follow from the rules. The digits of the mixed-radix code
are drawn in the docstring of ``_codes.py``. The notebook's decimal code of a state has 18 digits::

    1   02012  3 0 0   3 5 0 0   00300
    |   |      | | |   | | | |   discard pile: guard, rush, dodge, strike, punish
    |   |      | | |   enemy HP, hand size, exhausted, feinted
    |   |      own HP, exhausted, feinted
    |   own hand: guard, rush, dodge, strike, punish
    breath

Win is -1 and loss is -2. A decimal action code is the card from 1 to 5 and then 1 for a feint or 0; rest is 90.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish import _codes
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.rules import CARDS, Five, Rules

# One for each digit of the decimal code.
FIELDS = (
    "breath",
    *(f"hand_{card}" for card in CARDS),
    *("own_hp", "own_exhausted", "own_feinted", "enemy_hp", "enemy_hand", "enemy_exhausted", "enemy_feinted"),
    *(f"discard_{card}" for card in CARDS),
)
ACTIONS = (10, 11, 20, 21, 30, 31, 40, 41, 50, 51, REST_ACTION)


class StateError(ValueError):
    """A code or a tuple that is no information state; the message says why."""


class State(NamedTuple):
    """What one player knows. Hands and piles count guard, rush, dodge, strike, punish."""

    breath: int
    hand: Five
    own_hp: int
    own_exhausted: int
    own_feinted: int
    enemy_hp: int
    enemy_hand: int
    enemy_exhausted: int
    enemy_feinted: int
    discard: Five


class Layout(NamedTuple):
    """The radices of the codes and the sizes of the game, in the shape that kernels take.

    ``place`` (the place values of the digits of the cards) and ``copies`` are int64 ``[5]``.
    """

    place: np.ndarray
    n_cards_codes: int
    n_statuses: int
    hp: int
    feints: int
    breaths: int
    copies: np.ndarray
    n_cards: int
    hand_size: int
    reveal_size: int
    deck_size: int


def layout_of(rules: Rules) -> Layout:
    """The radices that follow from ``rules``."""
    place = []
    n_cards_codes = 1
    for copies in reversed(rules.copies):
        place.append(n_cards_codes)
        n_cards_codes *= (copies + 1) * (copies + 2) // 2
    return Layout(
        place=np.array(place[::-1], dtype=np.int64),
        n_cards_codes=n_cards_codes,
        n_statuses=(2 * rules.hp * (rules.feints + 1)) ** 2,
        hp=rules.hp,
        feints=rules.feints,
        breaths=rules.breaths,
        copies=np.array(rules.copies, dtype=np.int64),
        n_cards=rules.n_cards,
        hand_size=rules.hand_size,
        reveal_size=rules.reveal_size,
        deck_size=rules.deck_size,
    )


def _five(counts: list[int]) -> Five:
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def _problem(layout: Layout, state: State) -> str | None:
    """What keeps ``state`` from being a position of the game, in words; None if nothing does."""
    between = state.breath == layout.breaths + 1
    feints = 0 if between else layout.feints
    limits = {
        "breath": (1, layout.breaths + 1),
        "own_hp": (1, layout.hp),
        "own_exhausted": (0, int(not between)),
        "own_feinted": (0, feints),
        "enemy_hp": (1, layout.hp),
        "enemy_hand": (0, layout.hand_size),
        "enemy_exhausted": (0, int(not between)),
        "enemy_feinted": (0, feints),
    }
    for field, (low, high) in limits.items():
        value = getattr(state, field)
        if not low <= value <= high:
            return f"{field} is {value}, allowed are {low} to {high}"
    problem = _cards_problem(layout, state)
    if problem is not None:
        return problem
    drawn = _drawn(layout, state)
    if between and not 0 <= drawn <= 2 * layout.feints:
        return f"{drawn} cards of the deck went to feints, allowed are 0 to {2 * layout.feints}"
    if not between and drawn != state.own_feinted + state.enemy_feinted:
        return f"{drawn} cards of the deck are gone but there were {state.own_feinted + state.enemy_feinted} feints"
    return None


def _cards_problem(layout: Layout, state: State) -> str | None:
    """What is wrong with hand and discard pile, in words."""
    if not len(state.hand) == len(state.discard) == len(CARDS):
        return f"{len(state.hand)} counts in hand and {len(state.discard)} in the discard pile, allowed are 5 each"
    for card, copies, held, gone in zip(CARDS, layout.copies, state.hand, state.discard, strict=True):
        if held < 0 or gone < 0 or held + gone > copies:
            return f"{held} {card} in hand and {gone} in the discard pile, of {copies} in play"
    if sum(state.hand) > layout.hand_size:
        return f"hand has {sum(state.hand)} cards, allowed are up to {layout.hand_size}"
    return None


def _drawn(layout: Layout, state: State) -> int:
    """Cards that left the deck in this measure, by counting all others."""
    deck = layout.n_cards - sum(state.hand) - state.enemy_hand - sum(state.discard)
    return layout.deck_size - deck


def encode(layout: Layout, state: State) -> int:
    """The mixed-radix code of ``state``.

    Raises:
        StateError: the fields contradict the rules or each other.
    """
    problem = _problem(layout, state)
    if problem is not None:
        raise StateError(f"state {'?' if state.breath < 0 else state.breath}: {problem}")
    if state.breath == layout.breaths + 1:
        status = _codes.between_status(layout, state.own_hp, state.enemy_hp, _drawn(layout, state))
    else:
        status = _codes.play_status(
            layout,
            state.own_hp,
            state.enemy_hp,
            state.own_exhausted,
            state.own_feinted,
            state.enemy_exhausted,
            state.enemy_feinted,
        )
    cards = _codes.cards_code(layout, state.hand, state.discard)
    return int(_codes.pack(layout, state.breath - 1, cards, status))


def decode(layout: Layout, code: int) -> State:
    """The state of a mixed-radix code.

    Raises:
        StateError: no position has this code.
    """
    n_codes = (layout.breaths + 1) * layout.n_cards_codes * layout.n_statuses
    if not 0 <= code < n_codes:
        raise StateError(f"code {code}: allowed are 0 to {n_codes - 1}")
    layer, cards, status = (int(digit) for digit in _codes.unpack(layout, np.uint64(code)))
    hand = np.zeros(5, dtype=np.int64)
    discard = np.zeros(5, dtype=np.int64)
    seen = sum(_codes.decode_cards(layout, cards, hand, discard))
    if layer == layout.breaths:
        own_hp, enemy_hp, drawn = _codes.split_between_status(layout, status)
        own_exhausted = own_feinted = enemy_exhausted = enemy_feinted = 0
    else:
        parts = _codes.split_status(layout, status)
        own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted = parts
        drawn = own_feinted + enemy_feinted
    enemy_hand = layout.n_cards - seen - (layout.deck_size - drawn)
    state = State(
        layer + 1,
        _five(hand.tolist()),
        int(own_hp),
        int(own_exhausted),
        int(own_feinted),
        int(enemy_hp),
        int(enemy_hand),
        int(enemy_exhausted),
        int(enemy_feinted),
        _five(discard.tolist()),
    )
    problem = _problem(layout, state)
    if problem is not None:
        raise StateError(f"code {code}: {problem}")
    return state


def to_decimal(state: State) -> int:
    """The notebook's 18-digit decimal code of ``state``."""
    middle = state[2:9]
    digits = (state.breath, *state.hand, *middle, *state.discard)
    return int("".join(map(str, digits)))


def from_decimal(layout: Layout, code: int) -> State:
    """The state of an 18-digit decimal code.

    Raises:
        StateError: the code has not 18 digits, or they contradict the rules or each other.
    """
    text = str(code)
    if len(text) != 18 or not text.isdecimal():
        raise StateError(f"state code {text}: allowed are 18 digits, the first not 0")
    digits = [int(digit) for digit in text]
    state = State(digits[0], _five(digits[1:6]), *digits[6:13], _five(digits[13:18]))  # type: ignore[call-arg, arg-type]
    problem = _problem(layout, state)
    if problem is not None:
        raise StateError(f"state code {text}: {problem}")
    return state


def action_name(action: int) -> str:
    """An action in words: ``strike``, ``feint with strike`` or ``rest``."""
    if action == REST_ACTION:
        return "rest"
    card = CARDS[action // 10 - 1]
    return f"feint with {card}" if action % 10 else card
