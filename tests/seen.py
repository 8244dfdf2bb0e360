"""Information states of the package in the form of the exact model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sequence_form import Key

from bench import reference
from punish_fast.duel.graph import Graph
from punish_fast.punish._codes import play_status, split_status
from punish_fast.punish.codes import cards_digits
from punish_fast.punish.states.information import tuples_of
from punish_fast.punish.states.space import StateSpace


def keys_of(space: StateSpace) -> list[Key]:
    """The key of every information state, as `sequence_form.key_of` makes them."""
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
            yield (view,) if model.name == "view" else (view, *seen)


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


def deals_to(graph: Graph, own_hp: int, enemy_hp: int) -> np.ndarray:
    """Probabilities of the full states of the first breath after a deal at the given HP, float64 ``[n]``."""
    redeal, space = graph.redeal, graph.space
    dealt = np.zeros(int(graph.full.ptr[space.layer_ptr[1]]))
    deals = redeal.deal[: redeal.ptr[1]]
    status = play_status(space.layout, own_hp, enemy_hp, 0, 0, 0, 0)
    rank = int(space.layers[0].rank[0, status])
    dealt[redeal.first[deals] + rank * redeal.stride[deals]] = redeal.p[: redeal.ptr[1]]
    return dealt
