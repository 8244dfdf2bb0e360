"""What a player observes in every information state, under any information model.

A model decides which states are distinguished, not what there is to observe in each: the own hand, the cards revealed
or played, and both statuses. States of a block share their cards, so cards are decoded once per block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._codes import split_status
from punish_fast.punish.information import places_of
from punish_fast.punish.information_space import States
from punish_fast.punish.strategy import COLUMN


class Observations(NamedTuple):
    """What is observed in each information state of the breaths of a measure.

    Attributes:
        breath: uint8 ``[n_states]``, from 1.
        hand: uint8 ``[n_states, 5]``, copies in the own hand.
        gone: uint8 ``[n_states, 5]``, copies that were revealed or played.
        own_hp: uint8 ``[n_states]``.
        enemy_hp: uint8 ``[n_states]``.
        own_exhausted: uint8 ``[n_states]``, 1 or 0.
        own_feinted: uint8 ``[n_states]``, feints made in this measure.
        enemy_exhausted: uint8 ``[n_states]``, 1 or 0.
        enemy_feinted: uint8 ``[n_states]``, feints made in this measure.
        chooses: bool ``[n_states]``, whether more than one action is legal.
    """

    breath: np.ndarray
    hand: np.ndarray
    gone: np.ndarray
    own_hp: np.ndarray
    enemy_hp: np.ndarray
    own_exhausted: np.ndarray
    own_feinted: np.ndarray
    enemy_exhausted: np.ndarray
    enemy_feinted: np.ndarray
    chooses: np.ndarray


def observe(space: States) -> Observations:
    """What is observed in the states of ``space``, in their order, without the states between two measures."""
    places, layout = places_of(space.information, space.rules), space.layout
    layers = space.layers[: space.rules.breaths]
    hands, gone, breaths = [], [], []
    for number, layer in enumerate(layers, 1):
        digits = _digits_of(places.weight, layer.cards)
        n_states = np.diff(layer.first)
        hands.append(np.repeat(places.hand[digits].astype(np.uint8), n_states, axis=0))
        gone.append(np.repeat(places.discard[digits].astype(np.uint8), n_states, axis=0))
        breaths.append(np.full(int(n_states.sum()), number, dtype=np.uint8))
    n_statuses = max(layer.rank.shape[1] for layer in layers)
    statuses = np.array([split_status(layout, status) for status in range(n_statuses)], dtype=np.uint8)
    own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted = statuses[
        np.concatenate([layer.status for layer in layers])
    ].T.copy()
    breath = np.concatenate(breaths)
    return Observations(
        breath=breath,
        hand=np.concatenate(hands),
        gone=np.concatenate(gone),
        own_hp=own_hp,
        enemy_hp=enemy_hp,
        own_exhausted=own_exhausted,
        own_feinted=own_feinted,
        enemy_exhausted=enemy_exhausted,
        enemy_feinted=enemy_feinted,
        chooses=np.diff(space.state_ptr[: len(breath) + 1]) > 1,
    )


def columns_of_rows(space: States) -> tuple[np.ndarray, np.ndarray]:
    """State and column of every legal action of the breaths of a measure.

    Returns:
        int32 ``[n_rows]``, the information state; and uint8 ``[n_rows]``, the place in the actions 10, 11, 20, 21, ...,
        51, 90.
    """
    n_states = int(space.layer_ptr[space.rules.breaths])
    lengths = np.diff(space.state_ptr[: n_states + 1])
    state = np.repeat(np.arange(n_states, dtype=np.int32), lengths)
    return state, COLUMN[space.action[: len(state)]].astype(np.uint8)


def _digits_of(weight: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """The digits of cards codes, int64 ``[n, 5]``."""
    digits = np.empty((len(cards), len(weight)), dtype=np.int64)
    rest = cards
    for kind, place in enumerate(weight):
        digits[:, kind], rest = np.divmod(rest, place)
    return digits
