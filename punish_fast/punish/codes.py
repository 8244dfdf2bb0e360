"""Information states and their codes: mixed-radix codes for internal use, decimal codes for interchange.

`State` is the readable form of a state, and `Layout` contains the radices, which follow from the rules. ``_codes.py``
defines the mixed-radix code. Functions of this module convert single states or whole arrays. The notebook's decimal
code of a state has 18 digits::

    1   02012  3 0 0   3 5 0 0   00300
    |   |      | | |   | | | |   discard pile: guard, rush, dodge, strike, punish
    |   |      | | |   enemy's HP, hand size, exhaustion (0 or 1), number of feints
    |   |      player's HP, exhaustion, number of feints
    |   player's hand: guard, rush, dodge, strike, punish
    breath

The codes -1 and -2 represent a win and a loss. An action code has two digits: the card (1 to 5), then 1 for a feint or
0 otherwise. The code of rest is 90.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from punish_fast.punish import _codes
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish._codes import Status
from punish_fast.punish.card_looks import cards_of, cards_svg
from punish_fast.punish.rules import CARDS, Five, Rules
from punish_fast.runtime.errors import PunishFastError

N_DIGITS = 18

# Names of the digits in the decimal code.
FIELDS = (
    "breath",
    *(f"hand_{card}" for card in CARDS),
    *("own_hp", "own_exhausted", "own_feinted", "enemy_hp", "enemy_hand", "enemy_exhausted", "enemy_feinted"),
    *(f"discard_{card}" for card in CARDS),
)
ACTIONS = (10, 11, 20, 21, 30, 31, 40, 41, 50, 51, REST_ACTION)

# Columns of the decimal digits. `STATUS` lists the columns of a status in the order of `Status`.
BREATH = 0
HAND = slice(1, 6)
_OWN_HP, _OWN_EXHAUSTED, _OWN_FEINTED, _ENEMY_HP, ENEMY_HAND, _ENEMY_EXHAUSTED, _ENEMY_FEINTED = range(6, 13)
DISCARD = slice(13, 18)
STATUS = [_OWN_HP, _ENEMY_HP, _OWN_EXHAUSTED, _OWN_FEINTED, _ENEMY_EXHAUSTED, _ENEMY_FEINTED]

_PLACES = 10 ** np.arange(N_DIGITS - 1, -1, -1, dtype=np.int64)


class StateError(PunishFastError, ValueError):
    """Raised when a code or tuple does not represent an information state."""


class State(NamedTuple):
    """Information state of one player under ``memoryless``: everything that the player knows and remembers.

    Attributes:
        breath: Breath of the measure, counted from 1. Between measures it is ``rules.breaths + 1``.
        hand: Copies of guard, rush, dodge, strike and punish in the player's hand.
        own_hp: HP of the player.
        own_exhausted: 1 if the previous card forces the player to rest in this breath, otherwise 0.
        own_feinted: Number of feints by the player in this measure.
        enemy_hp: HP of the enemy.
        enemy_hand: Number of cards in the enemy's hand.
        enemy_exhausted: 1 if the previous card forces the enemy to rest in this breath, otherwise 0.
        enemy_feinted: Number of feints by the enemy in this measure.
        discard: Copies of each card in the discard pile, in the same order as ``hand``.

    Examples:
        >>> from punish_fast import StateSpace, load_rules
        >>> state = StateSpace(load_rules("tiny")).state(0)
        >>> state.breath, state.hand, state.discard
        (1, (0, 0, 0, 1, 1), (0, 0, 0, 1, 0))
        >>> state.own_hp, state.enemy_hp, state.enemy_hand
        (2, 2, 2)
    """

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

    def to_svg(self) -> str:
        """Return a drawing of the position: the enemy's hand face down, the discard pile and the player's hand.

        Returns:
            SVG document. Jupyter shows it for a state.

        Examples:
            >>> from punish_fast import position
            >>> drawing = position("rrspp", discard="ddd").to_svg()
            >>> drawing.count(">punish</text>"), drawing.count(">?</text>")
            (2, 5)
        """
        return cards_svg(drawn_rows(self))

    def _repr_html_(self) -> str:
        return self.to_svg()


def drawn_rows(state: State) -> list[tuple[str, list[str]]]:
    """Return the rows of a drawing of a position: the text and the names of cards (see `cards_svg`)."""
    sides = (state.enemy_hp, state.enemy_exhausted, state.enemy_feinted), state[2:5]
    texts = [f"{hp} HP{', exhausted' * rests}{f', feints: {n}' * (n > 0)}" for hp, rests, n in sides]
    titles = f"Enemy: {texts[0]}", f"Discard pile in breath {state.breath}", f"You: {texts[1]}"
    piles = [""] * state.enemy_hand, cards_of(state.discard), cards_of(state.hand)
    return [*zip(titles, piles, strict=True)]


class Layout(NamedTuple):
    """Radices of the codes, and limits and sizes from the rules, for use in kernels."""

    place: np.ndarray  # int64 [5], place values of the cards' digits under ``memoryless``
    n_cards_codes: int
    n_statuses: int
    hp: int
    feints: int
    breaths: int
    copies: np.ndarray  # int64 [5]
    n_cards: int
    hand_size: int
    reveal_size: int
    deck_size: int


class CodedStates(Protocol):
    """States of one player's decision process: a memoryless `StateSpace`, or a file with state codes."""

    @property
    def rules(self) -> Rules:
        """Rules of the game."""

    @property
    def layout(self) -> Layout:
        """Radices of the codes."""

    @property
    def code(self) -> np.ndarray:
        """Ascending mixed-radix codes of the states, uint64 ``[n_states]``."""


_SIZES = ("hp", "feints", "breaths", "n_cards", "hand_size", "reveal_size", "deck_size")


def layout_of(rules: Rules) -> Layout:
    """Return the radices of the codes under ``rules``."""
    place = []
    n_cards_codes = 1
    for copies in reversed(rules.copies):
        place.append(n_cards_codes)
        n_cards_codes *= (copies + 1) * (copies + 2) // 2
    return Layout(
        place=np.array(place[::-1], dtype=np.int64),
        n_cards_codes=n_cards_codes,
        n_statuses=(2 * rules.hp * (rules.feints + 1)) ** 2,
        copies=np.array(rules.copies, dtype=np.int64),
        **{name: getattr(rules, name) for name in _SIZES},
    )


def _problem(layout: Layout, state: State) -> str | None:
    """Describe the first contradiction between ``state`` and the rules. Return None if the state is valid."""
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
            return f"{field} is {value}; it must be from {low} to {high}"
    if (problem := _cards_problem(layout, state)) is not None:
        return problem
    deck = layout.n_cards - sum(state.hand) - state.enemy_hand - sum(state.discard)
    drawn = layout.deck_size - deck
    if between and not 0 <= drawn <= 2 * layout.feints:
        return f"{drawn} cards were drawn from the deck; the maximum is {2 * layout.feints}"
    if not between and drawn != state.own_feinted + state.enemy_feinted:
        return f"{drawn} cards were drawn from the deck in {state.own_feinted + state.enemy_feinted} feints"
    return None


def _cards_problem(layout: Layout, state: State) -> str | None:
    """Describe the first problem with the hand and the discard pile. Return None if they are valid."""
    if not len(state.hand) == len(state.discard) == len(CARDS):
        return f"{len(state.hand)} counts in hand and {len(state.discard)} in the discard pile; each must have 5"
    for card, copies, held, gone in zip(CARDS, layout.copies, state.hand, state.discard, strict=True):
        if held < 0 or gone < 0 or held + gone > copies:
            return f"{held} {card} in hand and {gone} in the discard pile, of {copies} in play"
    if sum(state.hand) > layout.hand_size:
        return f"hand has {sum(state.hand)} cards; the maximum is {layout.hand_size}"
    return None


def _check(layout: Layout, state: State, where: str) -> None:
    """Raise `StateError` if a state contradicts the rules."""
    if (problem := _problem(layout, state)) is not None:
        raise StateError(f"{where}: {problem}")


def encode(layout: Layout, state: State) -> int:
    """Return the mixed-radix code of ``state``. Raise `StateError` if the state contradicts the rules."""
    _check(layout, state, "position")
    digits = [state.breath, *state.hand, *state[2:9], *state.discard]
    return int(_codes_of_digits(layout, np.array([digits], dtype=np.int64))[0])


def decode(layout: Layout, code: int) -> State:
    """Return the state of a mixed-radix code. Raise `StateError` if the code is invalid."""
    n_codes = (layout.breaths + 1) * layout.n_cards_codes * layout.n_statuses
    if not 0 <= code < n_codes:
        raise StateError(f"code {code}: must be from 0 to {n_codes - 1}")
    state = state_of_digits(_digits_of_codes(layout, np.array([code], dtype=np.int64))[0].tolist())
    _check(layout, state, f"code {code}")
    return state


def state_of_digits(digits: list[int]) -> State:
    """Return the state with the given 18 decimal digits."""
    return State(digits[0], tuple(digits[1:6]), *digits[6:13], tuple(digits[13:18]))  # type: ignore[call-arg, arg-type]


def to_decimal(state: State) -> int:
    """Return the notebook's 18-digit decimal code of ``state``."""
    return int("".join(map(str, (state.breath, *state.hand, *state[2:9], *state.discard))))


def from_decimal(layout: Layout, code: int) -> State:
    """Return the state of an 18-digit decimal code. Raise `StateError` if the code is invalid."""
    text = str(code)
    if len(text) != N_DIGITS or not text.isdecimal():
        raise StateError(f"state code {text}: must be 18 digits, the first not 0")
    state = state_of_digits([int(digit) for digit in text])
    _check(layout, state, f"state code {text}")
    return state


def action_name(action: int) -> str:
    """Return the name of an action, such as ``strike``, ``feint with strike`` or ``rest``."""
    if action == REST_ACTION:
        return "rest"
    card = CARDS[action // 10 - 1]
    return f"feint with {card}" if action % 10 else card


def digits_of(states: CodedStates, indices: np.ndarray | None = None) -> np.ndarray:
    """Return the decimal digits of states, uint8 ``[k, 18]``. ``indices`` (int ``[k]``) defaults to all states."""
    code = states.code if indices is None else states.code[np.asarray(indices, dtype=np.int64)]
    return _digits_of_codes(states.layout, code.astype(np.int64)).astype(np.uint8)


def decimals_of(states: CodedStates, indices: np.ndarray | None = None) -> np.ndarray:
    """Return the decimal codes of states, int64 ``[k]``. ``indices`` (int ``[k]``) defaults to all states."""
    return digits_of(states, indices) @ _PLACES


def split_digits(decimals: np.ndarray) -> np.ndarray:
    """Return the digits (uint8 ``[k, 18]``) of 18-digit decimal codes."""
    return (np.asarray(decimals, dtype=np.int64)[:, np.newaxis] // _PLACES % 10).astype(np.uint8)


def indices_of(states: CodedStates, decimals: np.ndarray) -> np.ndarray:
    """Return the indices (int64 ``[k]``) of states from decimal codes, with -1 for invalid or unreachable codes."""
    decimals = np.asarray(decimals, dtype=np.int64)
    codes = _codes_of_digits(states.layout, split_digits(decimals).astype(np.int64))
    indices = np.searchsorted(states.code, np.maximum(codes, 0).astype(np.uint64))
    indices = np.minimum(indices, len(states.code) - 1)
    # Contradictory digits can result in the code of another state, so compare the decimal codes.
    return np.where(decimals_of(states, indices) == decimals, indices, -1)


def cards_digits(weight: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Return the digits (int64 ``[k, 5]``) of cards codes, given the place values ``weight``."""
    digits = cards[:, np.newaxis] // weight
    digits[:, 1:] -= digits[:, :-1] * (weight[:-1] // weight[1:])
    return np.asarray(digits)


def split_pairs(layout: Layout, cards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split memoryless cards codes into hands and discard piles, or into pairs of hands (int64 ``[k, 5]`` each)."""
    digits = cards_digits(layout.place, cards)
    t = np.arange(int(layout.copies.max()) + 2)
    starts = t * (t + 1) // 2
    both = np.searchsorted(starts, digits, side="right") - 1
    hand = digits - starts[both]
    return hand, both - hand


def join_pairs(layout: Layout, hand: np.ndarray, discard: np.ndarray) -> np.ndarray:
    """Invert `split_pairs`: return the cards codes (int64 ``[k]``) of hands and discard piles."""
    both = hand + discard
    return np.asarray((both * (both + 1) // 2 + hand) @ layout.place)


def _on_arrays(kernel: Any) -> Any:
    """Return the Python function of a kernel. Its arithmetic also applies to arrays."""
    return getattr(kernel, "py_func", kernel)


def split_statuses(layout: Layout, codes: np.ndarray) -> Status:
    """Split status codes during a measure into fields (int64 ``[k]`` each)."""
    return Status(*_on_arrays(_codes.split_status)(layout, codes))


def join_statuses(layout: Layout, status: Status) -> np.ndarray:
    """Invert `split_statuses`: return the codes of statuses during a measure, int64 in the shape of the fields."""
    return np.asarray(_on_arrays(_codes.play_status)(layout, *status))


def join_between_statuses(layout: Layout, own_hp: np.ndarray, enemy_hp: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Invert `split_between_statuses`: return int64 codes of statuses between two measures."""
    return np.asarray(_on_arrays(_codes.between_status)(layout, own_hp, enemy_hp, drawn))


def split_between_statuses(layout: Layout, codes: np.ndarray) -> list[np.ndarray]:
    """Split status codes between two measures into the player's HP, the enemy's HP and the number of drawn cards.

    Each of the three arrays is int64 ``[k]``.
    """
    return [*_on_arrays(_codes.split_between_status)(layout, codes)]


def _digits_of_codes(layout: Layout, codes: np.ndarray) -> np.ndarray:
    """Return the decimal digits (int16 ``[k, 18]``) of mixed-radix codes. Digits of invalid codes are meaningless."""
    rest, status = np.divmod(codes, layout.n_statuses)
    layer, cards = np.divmod(rest, layout.n_cards_codes)
    digits = np.zeros((len(codes), N_DIGITS), dtype=np.int16)
    digits[:, BREATH] = layer + 1
    digits[:, HAND], digits[:, DISCARD] = split_pairs(layout, cards)
    play, between = _status_tables(layout)
    digits[:, _OWN_HP : _ENEMY_FEINTED + 1] = np.where((layer < layout.breaths)[:, None], play[status], between[status])
    # At this point, the column of the enemy's hand size contains the number of cards drawn from the deck.
    seen = digits[:, HAND].sum(axis=1) + digits[:, DISCARD].sum(axis=1)
    digits[:, ENEMY_HAND] += (layout.n_cards - layout.deck_size - seen).astype(np.int16)
    return digits


def _status_tables(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle digits (``own_hp`` to ``enemy_feinted``) of all statuses during and between measures.

    The column of the enemy's hand size contains the number of cards drawn from the deck.
    """
    codes = np.arange(layout.n_statuses)
    play, between = np.zeros((2, layout.n_statuses, N_DIGITS), dtype=np.int16)
    status = split_statuses(layout, codes)
    play[:, STATUS] = np.stack(status, axis=1)
    play[:, ENEMY_HAND] = status.own_feinted + status.enemy_feinted
    own_hp, enemy_hp, drawn = split_between_statuses(layout, codes)
    between[:, [_OWN_HP, _ENEMY_HP, ENEMY_HAND]] = np.stack([own_hp, enemy_hp, drawn], axis=1)
    middle = slice(_OWN_HP, _ENEMY_FEINTED + 1)
    return play[:, middle], between[:, middle]


def _codes_of_digits(layout: Layout, digits: np.ndarray) -> np.ndarray:
    """Return the mixed-radix codes (int64 ``[k]``) of decimal digits. Codes of invalid digits are meaningless."""
    hand, discard = digits[:, HAND], digits[:, DISCARD]
    play = join_statuses(layout, Status(*digits[:, STATUS].T))
    seen = hand.sum(axis=1) + discard.sum(axis=1) + digits[:, ENEMY_HAND]
    drawn = layout.deck_size - (layout.n_cards - seen)
    between = join_between_statuses(layout, digits[:, _OWN_HP], digits[:, _ENEMY_HP], drawn)
    status = np.where(digits[:, BREATH] <= layout.breaths, play, between)
    cards = join_pairs(layout, hand, discard)
    return np.asarray(((digits[:, BREATH] - 1) * layout.n_cards_codes + cards) * layout.n_statuses + status)
