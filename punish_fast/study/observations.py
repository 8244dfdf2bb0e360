"""Observations of a player in every information state, under any information model.

An information model determines which states a player can distinguish. In each state, a player observes their own hand,
the cards that were revealed or played, and both statuses. The states of a block have the same cards, so cards are
decoded once per block.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.punish.codes import split_statuses
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import COLUMN


class Observations(NamedTuple):
    """Observations in each information state, except for states between two measures."""

    breath: np.ndarray  # uint8 ``[n_states]``, number of the breath, from 1
    hand: np.ndarray  # uint8 ``[n_states, 5]``, copies of each card in the player's hand
    gone: np.ndarray  # uint8 ``[n_states, 5]``, revealed or played copies of each card
    own_hp: np.ndarray  # uint8 ``[n_states]``, HP of the player
    enemy_hp: np.ndarray  # uint8 ``[n_states]``, HP of the enemy
    own_exhausted: np.ndarray  # uint8 ``[n_states]``, 1 if the player must rest, otherwise 0
    own_feinted: np.ndarray  # uint8 ``[n_states]``, number of own feints in this measure
    enemy_exhausted: np.ndarray  # uint8 ``[n_states]``, 1 if the enemy must rest, otherwise 0
    enemy_feinted: np.ndarray  # uint8 ``[n_states]``, number of the enemy's feints in this measure
    chooses: np.ndarray  # bool ``[n_states]``, True if more than one action is legal


def observe(space: StateSpace) -> Observations:
    """Return the observations in all states of ``space``, except for states between two measures."""
    layers = space.layers[: space.rules.breaths]
    hands, gone, breaths = [], [], []
    for number, layer in enumerate(layers, 1):
        n_states = np.diff(layer.first)
        hands.append(np.repeat(layer.piles[:, 0], n_states, axis=0))
        gone.append(np.repeat(layer.piles[:, 1], n_states, axis=0))
        breaths.append(np.full(int(n_states.sum()), number, dtype=np.uint8))
    statuses = split_statuses(space.layout, np.arange(space.layout.n_statuses))
    codes = np.concatenate([layer.status for layer in layers])
    breath = np.concatenate(breaths)
    return Observations(
        breath=breath,
        hand=np.concatenate(hands),
        gone=np.concatenate(gone),
        **{name: digit.astype(np.uint8)[codes] for name, digit in statuses._asdict().items()},
        chooses=np.diff(space.state_ptr[: len(breath) + 1]) > 1,
    )


def columns_of_rows(space: StateSpace) -> tuple[np.ndarray, np.ndarray]:
    """Return the state and action index of every row, except for states between two measures.

    Returns:
        Information state of each row, int32 ``[n_rows]``, and index of its action among 10, 11, 20, 21, ..., 51, 90,
        uint8 ``[n_rows]``.
    """
    n_states = int(space.layer_ptr[space.rules.breaths])
    lengths = np.diff(space.state_ptr[: n_states + 1])
    state = np.repeat(np.arange(n_states, dtype=np.int32), lengths)
    return state, COLUMN[space.action[: len(state)]].astype(np.uint8)
