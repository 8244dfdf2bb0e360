"""Random house rules for games small enough for an exact model to check every state."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from punish_fast.punish.rules import (
    CHOICE,
    FIELDS,
    NUMBER,
    ORDER,
    PRESETS,
    REDEALS,
    Field,
    Rules,
    true_rules,
    validate_rules,
)

# Hand size, revealed cards, feints and spare cards, which decide the number of states.
_SIZES = [
    (hand, reveal, feints, spare)
    for hand in (1, 2, 3)
    for reveal in (0, 1, 2)
    for feints in (0, 1, 2)
    for spare in (0, 1, 2)
    if 2 * hand + reveal + 2 * feints + spare <= (7 if feints == 2 else 8)
]


# The tiny game with the redeal of games between two players.
TINY = true_rules(PRESETS["tiny"])
# Every game ends in its first measure, and a player with a choice has nothing to remember.
BRIEF = TINY._replace(
    copies=(1, 1, 1, 1, 1),
    feints=0,
    damage=(1, 1, 1, 1, 1),
    guard_reduction=0,
    dodge_stops=(0, 0, 0, 0, 0),
    exhausting=(0, 0, 0, 0, 0),
)
# All cards are played in a measure, unless a player who rests keeps one. Few states leave a choice.
LASTING = TINY._replace(copies=(0, 2, 0, 2, 1), reveal_size=0, feints=0, hp=2, healing=1)
# A player keeps one of two cards after every breath, so an opponent is rarely certain of the kept card.
HIDING = TINY._replace(copies=(0, 2, 1, 2, 1), reveal_size=0, feints=0, breaths=1)
# Hands of three cards and measures of three breaths, in which only a player who rests keeps a card.
LARGER = TINY._replace(copies=(2, 2, 1, 2, 2), hand_size=3, feints=0, hp=1, breaths=3)

# For tests that check every state of a game: a third of the examples of the profile.
few = settings(max_examples=settings().max_examples // 3)


def _values(field: Field) -> st.SearchStrategy[Any]:
    """Return the values of a field, numbers among the three or four lowest."""
    if field.form == CHOICE:
        return st.sampled_from(REDEALS)
    if field.form == ORDER:
        return st.permutations(range(field.low, field.high + 1)).map(tuple)
    if field.form == NUMBER:
        return st.integers(field.low, min(field.high, field.low + 2))
    return st.tuples(*[st.integers(field.low, min(field.high, field.low + 3))] * 5)


@st.composite
def house_rules(draw: st.DrawFn, largest_hp: int = 3, most_breaths: int = 3) -> Rules:
    """Rules whose fields may all differ from the presets, for a game of at most a few thousand states."""
    hand_size, reveal_size, feints, spare = draw(st.sampled_from(_SIZES))
    n_cards = 2 * hand_size + reveal_size + 2 * feints + spare
    kinds = draw(st.lists(st.integers(0, 4), min_size=n_cards, max_size=n_cards))
    chosen = {
        "copies": tuple(kinds.count(kind) for kind in range(5)),
        "hand_size": hand_size,
        "reveal_size": reveal_size,
        "feints": feints,
        "hp": draw(st.integers(1, largest_hp)),
        "breaths": draw(st.integers(1, most_breaths)),
    }
    others = {name: draw(_values(field)) for name, field in FIELDS.items() if name not in chosen}
    return validate_rules(Rules(**chosen, **others))
