"""Information states of the package in the form of the exact model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from bench import reference
from punish_fast.punish._codes import split_status
from punish_fast.punish.codes import cards_digits
from punish_fast.punish.states.information import tuples_of
from punish_fast.punish.states.space import StateSpace

# A view, or a view and three counts of cards.
Key = tuple[Any, ...]


def keys_of(space: StateSpace) -> list[Key]:
    """The key of every information state: its view and, with a memory, the cards revealed and played by each player."""
    return [key for number in range(space.rules.breaths) for key in _keys_of_layer(space, number)]


def _keys_of_layer(space: StateSpace, number: int) -> Iterator[Key]:
    layer, rules, model = space.layers[number], space.rules, space.information
    tuples = tuples_of(model, rules)
    for block, digits in enumerate(cards_digits(space.places.weight, layer.cards).tolist()):
        hand, *places = zip(*(tuples[digit] for digit in digits), strict=True)
        seen = (places[model.revealed], places[model.own], places[model.enemy])
        first, last = layer.first[block : block + 2] - layer.first[0]
        for status in layer.status[first:last].tolist():
            view = _view(space, number + 1, hand, tuple(map(sum, zip(*places, strict=True))), status)
            yield (view,) if model.name == "memoryless" else (view, *seen)


def _view(
    space: StateSpace, breath: int, hand: reference.Counts, discard: reference.Counts, status: int
) -> reference.State:
    own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted = map(
        int, split_status(space.layout, status)
    )
    deck = space.rules.deck_size - own_feinted - enemy_feinted
    enemy_hand = space.rules.n_cards - sum(hand) - sum(discard) - deck
    own, enemy = (own_hp, own_exhausted, own_feinted), (enemy_hp, enemy_hand, enemy_exhausted, enemy_feinted)
    return reference.State(breath, hand, *own, *enemy, discard)


class Seen(NamedTuple):
    """What was visible in a measure: revealed cards, and the cards of both players, breath by breath."""

    revealed: reference.Counts
    own: tuple[reference.Counts, ...] = ()
    enemy: tuple[reference.Counts, ...] = ()

    @property
    def mirrored(self) -> Seen:
        return Seen(self.revealed, self.enemy, self.own)

    def after(self, own: reference.Play, enemy: reference.Play) -> Seen:
        return Seen(self.revealed, (*self.own, reference.counts_of(own)), (*self.enemy, reference.counts_of(enemy)))


def key_of(model: str, view: reference.State, seen: Seen) -> Key:
    """The information state of a player under an information model."""
    if model == "memoryless":
        return (view,)
    return view, seen.revealed, _together(seen.own), _together(seen.enemy)


def _together(piles: tuple[reference.Counts, ...]) -> reference.Counts:
    return tuple(sum(pile[kind] for pile in piles) for kind in range(5))
