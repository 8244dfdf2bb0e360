"""Policies of a coarser information model as policies of a finer one."""

from __future__ import annotations

import numpy as np

from punish_fast.punish.codes import cards_digits
from punish_fast.punish.states.information import digits_within
from punish_fast.punish.states.space import StateSpace, must_be_space


def belongs_to(fine: StateSpace, coarse: StateSpace) -> np.ndarray:
    """The state of a coarser model that each state of a measure of a finer one belongs to, int32 ``[n_states]``.

    Args:
        fine: The states of the finer model.
        coarse: The states of the coarser one, under the same rules.
    """
    must_be_space(fine)
    must_be_space(coarse)
    digit_of = digits_within(fine.information, coarse.information, fine.rules)
    match = np.empty(int(fine.layer_ptr[fine.rules.breaths]), dtype=np.int32)
    for layer, coarse_layer in zip(fine.layers[: fine.rules.breaths], coarse.layers, strict=False):
        codes = digit_of[cards_digits(fine.places.weight, layer.cards)] @ coarse.places.weight
        block = np.repeat(np.searchsorted(coarse_layer.cards, codes), np.diff(layer.first))
        rank = coarse_layer.rank[block, layer.status]
        match[layer.first[0] : layer.first[-1]] = coarse_layer.first[block] + rank
    return match


def lift(fine: StateSpace, coarse: StateSpace, weight: np.ndarray) -> np.ndarray:
    """A policy of a coarser model as one of a finer model.

    Args:
        fine: The states of the finer model.
        coarse: The states of the coarser one, under the same rules.
        weight: float64 ``[n_rows]``, the policy, by rows of ``coarse``.

    Returns:
        float64 ``[n_rows]``, by rows of ``fine``: in every state the policy of the state it belongs to.

    Raises:
        InformationError: ``coarse`` tells apart what ``fine`` does not.
    """
    match = belongs_to(fine, coarse)
    lifted = np.ones(len(fine.action))
    # Layer by layer, to keep the temporary arrays small.
    for first, last in zip(fine.layer_ptr[:-1], fine.layer_ptr[1:], strict=True):
        if last > len(match):
            break
        ptr = fine.state_ptr[first : last + 1]
        shift = coarse.state_ptr[match[first:last]] - ptr[:-1]
        lifted[ptr[0] : ptr[-1]] = weight[np.arange(ptr[0], ptr[-1]) + np.repeat(shift, np.diff(ptr))]
    return lifted
