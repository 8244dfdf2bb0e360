"""Information states built from readable arguments, such as the initials of cards, and descriptions of states.

During a measure, the number of feints determines the size of the deck, and the enemy holds all cards outside the
player's hand, the discard pile and the deck. Therefore, the size of the enemy's hand can be omitted.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from punish_fast.punish.codes import State, StateError, encode, layout_of
from punish_fast.punish.rules import CARDS, Five, Rules, cards_text, load_rules

INITIALS = "".join(card[0] for card in CARDS)
# Flags of the player and of the enemy.
SIDES = {"own": (1, 0), "enemy": (0, 1), "both": (1, 1)}


def position(
    hand: str,
    discard: str = "",
    *,
    rules: Rules | str = "notebook",
    hp: tuple[int, int] | None = None,
    breath: int = 1,
    enemy_hand: int | None = None,
    exhausted: str | None = None,
    feinted: str | tuple[int, int] | None = None,
) -> State:
    """Return the information state of a position.

    Args:
        hand: Player's hand, as initials of guard, rush, dodge, strike and punish in any order, such as ``rrspp``.
        discard: Initials of the cards in the discard pile, including revealed cards.
        rules: `Rules`, name of a preset or path to a TOML file.
        hp: HP of the player and of the enemy. By default, both have full HP.
        breath: Breath, counted from 1. The value ``rules.breaths + 1`` stands for the time between two measures.
        enemy_hand: Number of cards in the enemy's hand. By default, the enemy holds all remaining cards. This argument
            is required between two measures.
        exhausted: Players who must rest: ``"own"``, ``"enemy"`` or ``"both"``. By default, no player must rest.
        feinted: Players who feinted once in this measure (``"own"``, ``"enemy"`` or ``"both"``), or the numbers of
            feints by the player and by the enemy. By default, there are no feints.

    Returns:
        The state. `StateSpace.index` returns its index in a game.

    Raises:
        RulesError: If the rules are invalid.
        StateError: If an argument is invalid or the cards contradict the rules.

    Examples:
        >>> from punish_fast import position
        >>> state = position("rrspp", discard="ddd", hp=(3, 2))
        >>> state.hand
        (0, 2, 0, 1, 2)
        >>> state.enemy_hand
        5
    """
    rules = rules if isinstance(rules, Rules) else load_rules(rules)
    if not 1 <= breath <= rules.breaths + 1:
        raise StateError(f"position: breath is {breath}; it must be from 1 to {rules.breaths + 1}")
    own_hp, enemy_hp = (rules.hp, rules.hp) if hp is None else hp
    own_exhausted, enemy_exhausted = _flags("exhausted", exhausted)
    own_feinted, enemy_feinted = _flags("feinted", feinted)
    own, gone = cards_of("hand", hand), cards_of("discard", discard)
    if sum(own) > rules.hand_size:
        raise StateError(f"hand: {sum(own)} cards; a hand has at most {rules.hand_size} cards in breath {breath}")
    if breath == 1 and sum(gone) != rules.reveal_size:
        raise StateError(f"discard: {sum(gone)} cards, but breath 1 begins with {rules.reveal_size} revealed cards")
    if enemy_hand is None:
        if breath > rules.breaths:
            raise StateError(f"enemy_hand: missing; it is required after breath {rules.breaths}")
        enemy_hand = _enemy_hand(rules, sum(own), sum(gone), own_feinted + enemy_feinted)
    enemy = (enemy_hp, enemy_hand, enemy_exhausted, enemy_feinted)
    state = State(breath, own, own_hp, own_exhausted, own_feinted, *enemy, gone)
    encode(layout_of(rules), state)
    return state


def details_of(texts: Mapping[str, Any]) -> dict[str, Any]:
    """Convert pairs of numbers, such as the text ``"3-2"``, in arguments of `position` to tuples. Omit None.

    Raises:
        StateError: If ``hp`` or ``feinted`` is a text of another form.
    """
    details = {name: value for name, value in texts.items() if value is not None}
    for name in ("hp", "feinted"):
        text = details.get(name)
        if text is not None and (name == "hp" or text not in SIDES):
            if re.fullmatch("[0-9]-[0-9]", text) is None:
                sides = "own, enemy, both, or " if name == "feinted" else ""
                told = f"it must be {sides}two numbers, yours and the enemy's, such as 2-1"
                raise StateError(f"{name}: {text!r} is invalid; {told}")
            details[name] = int(text[0]), int(text[2])
    return details


def position_text(rules: Rules, state: State) -> str:
    """Describe a state to the player in three sentences."""
    between = state.breath > rules.breaths
    when = "Between two measures" if between else f"Breath {state.breath} of {rules.breaths}"
    enemy_hand = f"{state.enemy_hand} card{'' if state.enemy_hand == 1 else 's'}"
    own = "".join(_notes("you", state.own_exhausted, state.own_feinted))
    enemy = "".join(_notes("it", state.enemy_exhausted, state.enemy_feinted))
    return (
        f"{when}: you have {state.own_hp} HP and hold {cards_text(state.hand)}{own}. The enemy has {state.enemy_hp} HP "
        f"and {enemy_hand}{enemy}. Discard pile: {cards_text(state.discard)}."
    )


def _notes(who: str, exhausted: int, feinted: int) -> Iterator[str]:
    if exhausted:
        yield f"; {who} must rest"
    if feinted:
        yield f"; {who} {'have' if who == 'you' else 'has'} feinted"


def cards_of(field: str, text: str) -> Five:
    """Return the numbers of the five cards in a text of initials. Raise `StateError` if a letter is not an initial."""
    letters = text.lower().replace(" ", "")
    for letter in letters:
        if letter not in INITIALS:
            raise StateError(f"{field}: {letter!r} is not a card; use initials {', '.join(INITIALS)}, such as rrspp")
    guard, rush, dodge, strike, punish = (letters.count(letter) for letter in INITIALS)
    return guard, rush, dodge, strike, punish


def _flags(field: str, players: str | tuple[int, int] | None) -> tuple[int, int]:
    if players is None:
        return 0, 0
    if isinstance(players, tuple):
        return players
    if players not in SIDES:
        raise StateError(f"{field}: {players!r} is invalid; use {', '.join(SIDES)}")
    return SIDES[players]


def _enemy_hand(rules: Rules, own: int, gone: int, feints: int) -> int:
    """Return the size of the enemy's hand during a measure, given the numbers of cards elsewhere."""
    deck = rules.deck_size - feints
    left = rules.n_cards - own - gone - deck
    if not 0 <= left <= rules.hand_size:
        seen = f"{own} in hand, {gone} in the discard pile and {deck} in the deck of {rules.n_cards} cards"
        raise StateError(f"{seen} leave {left} for the enemy's hand; it must be 0 to {rules.hand_size}")
    return left
