"""The information states of a game under any model of information, breath by breath.

As in `StateSpace`, the first breath holds every deal of a hand and revealed cards, and each further one what the one
before leads to; blocks of states that share their cards are sorted by code. Under the model ``view`` the states are
those of `StateSpace`, in its order. A policy of a coarser model is one of a finer model too: `lift`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from punish_fast.punish import _information, _space
from punish_fast.punish._information import N_RESOLVED
from punish_fast.punish._space import Layer
from punish_fast.punish.codes import Layout, layout_of
from punish_fast.punish.information import (
    Information,
    InformationError,
    digits_within,
    information_of,
    places_of,
    tuples_of,
    watched_kinds,
)
from punish_fast.punish.rules import Rules, validate
from punish_fast.punish.space import bare_layer, empty_slots, must_have_numbers, opening_cards, opening_statuses
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

_FIRST_CAPACITY = 1 << 14
_BLOCKS_AT_ONCE = 1 << 12
_MOST_STATUSES = (1 << 16) - 1


class States(Protocol):
    """Information states of any model, as the graph of the game takes them."""

    rules: Rules
    layout: Layout
    layers: list[Layer]
    layer_ptr: np.ndarray

    @property
    def information(self) -> Information:
        """The model."""

    @property
    def state_ptr(self) -> np.ndarray:
        """int64 ``[n_states + 1]``, where the legal actions of each state begin in `action`."""

    @property
    def action(self) -> np.ndarray:
        """uint8 ``[n_rows]``, the legal actions of all states, ascending in each."""


class InformationSpace:
    """The information states of a game under a model.

    Attributes:
        rules: The rules.
        information: The model.
        layout: Sizes of the game.
        places: The digits of the model.
        layers: Block tables, one for each breath.
        layer_ptr: int64 ``[breaths + 1]``, the first state of each breath.
    """

    def __init__(self, rules: Rules, name: str = "memory") -> None:
        """Enumerate the states of ``rules`` under the model ``name``.

        Raises:
            RulesError: the rules name no game.
            InformationError: there is no such model, or it has too many statuses for 16-bit numbers.
            MemoryError: the states would not fit into memory.
        """
        self.rules = validate(rules)
        self.information = information_of(name, rules.breaths)
        self.layout = layout_of(rules)
        self.places = places_of(self.information, rules)
        self._n_spent = 1 + int(watched_kinds(self.information, rules).sum())
        n_statuses = self._n_spent * self.layout.n_statuses
        if n_statuses > _MOST_STATUSES:
            raise InformationError(
                f"information: {name!r} has {n_statuses:,} statuses by these rules, allowed are {_MOST_STATUSES:,}"
            )
        self.layers: list[Layer] = []
        for number in range(rules.breaths):
            self.layers.append(self._next_layer(number))
        self.layer_ptr = np.array([0, *(layer.first[-1] for layer in self.layers)], dtype=np.int64)

    @property
    def n_states(self) -> int:
        """States of all breaths."""
        return int(self.layer_ptr[-1])

    @property
    def states_by_breath(self) -> list[int]:
        """States of each breath."""
        return [int(n) for n in np.diff(self.layer_ptr)]

    @property
    def state_ptr(self) -> np.ndarray:
        """int64 ``[n_states + 1]``, where the legal actions of each state begin in `action`."""
        return self._legal[0]

    @property
    def action(self) -> np.ndarray:
        """uint8 ``[n_rows]``, the two-digit codes of the legal actions of all states, ascending in each."""
        return self._legal[1]

    @property
    def nbytes(self) -> int:
        """Bytes of all tables."""
        return sum(array.nbytes for layer in self.layers for array in layer)

    @cached_property
    def _legal(self) -> tuple[np.ndarray, np.ndarray]:
        counts = np.zeros(self.n_states, dtype=np.int64)
        nothing = np.zeros(0, dtype=np.uint8)
        for layer in self.layers:
            args = (self.layout, self.places, layer)
            for_chunks(_information.fill_rows, layer.first, *args, counts, counts, nothing)
        ptr = cumulated(counts)
        action = np.empty(ptr[-1], dtype=np.uint8)
        for layer in self.layers:
            args = (self.layout, self.places, layer)
            for_chunks(_information.fill_rows, layer.first, *args, counts[:0], ptr, action)
        return ptr, action

    def _next_layer(self, number: int) -> Layer:
        if number == 0:
            cards = self._opening_cards()
            reached = self._nothing_reached(cards, number)
            spent = np.arange(self._n_spent)[:, None] * self.layout.n_statuses
            reached[:, spent + opening_statuses(self.rules, self.layout)] = 1
            return self._number(cards, reached, 0)
        before = self.layers[-1]
        statuses = np.empty((before.rank.shape[1], N_RESOLVED, N_RESOLVED), dtype=np.int32)
        _information.tabulate_statuses(self.rules, self.layout, False, statuses)
        cards = self._discover(before, statuses, number - 1)
        reached = self._nothing_reached(cards, number)
        args = (self.layout, self.places, before, self._bare_layer(cards), statuses, number - 1, reached)
        for_chunks(_information.mark_reached, before.first, *args)
        return self._number(cards, reached, int(before.first[-1]))

    def _opening_cards(self) -> np.ndarray:
        """Sorted cards codes of all deals of a hand and revealed cards."""
        dealt = tuples_of(information_of("view", self.rules.breaths), self.rules)
        number = {t: digit for digit, t in enumerate(tuples_of(self.information, self.rules))}
        places = [0] * self.information.n_places
        digit_of = np.empty(len(dealt), dtype=np.int64)
        for digit, (hand, revealed) in enumerate(dealt):
            places[self.information.revealed] = revealed
            digit_of[digit] = number[(hand, *places)]
        rest = opening_cards(self.layout)
        cards = np.zeros_like(rest)
        for weight, place in zip(self.places.weight, self.layout.place, strict=True):
            digits, rest = np.divmod(rest, place)
            cards += weight * digit_of[digits]
        return np.sort(cards)

    def _nothing_reached(self, cards: np.ndarray, number: int) -> np.ndarray:
        """Marks for every status of every block, and the certainty that all tables fit into memory."""
        n_statuses = self.layout.n_statuses * (self._n_spent if number == 0 else 1)
        cells = len(cards) * n_statuses
        what = f"the {len(cards):,} hands and cards of breath {number + 1}"
        require_memory(self.nbytes + 3 * cells, what)
        return np.zeros((len(cards), n_statuses), dtype=np.uint8)

    def _discover(self, before: Layer, statuses: np.ndarray, breath: int) -> np.ndarray:
        """Sorted cards codes that follow a layer."""
        parts = [np.zeros(0, dtype=np.int64)]

        def discover(begin: int, end: int) -> None:
            parts.extend(
                self._discover_from(before, statuses, breath, (block, min(block + _BLOCKS_AT_ONCE, end)))
                for block in range(begin, end, _BLOCKS_AT_ONCE)
            )

        for_each(discover, len(before.cards))
        return np.unique(np.concatenate(parts))

    def _discover_from(self, before: Layer, statuses: np.ndarray, breath: int, blocks: tuple[int, int]) -> np.ndarray:
        block, end = blocks
        found = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        slots = np.full(2 * len(found) + 1, -1, dtype=np.int32)
        n_found = 0
        while True:
            args = (self.layout, self.places, before, statuses, breath, slots, found, n_found)
            block, n_found = _information.discover_blocks(block, end, *args)
            if block == end:
                return found[:n_found]
            found = np.concatenate([found, np.zeros(3 * len(found), dtype=np.int64)])
            slots = np.full(2 * len(found) + 1, -1, dtype=np.int32)
            _space.index_blocks(found[:n_found], slots)

    def _bare_layer(self, cards: np.ndarray) -> Layer:
        """A layer whose blocks are known but not their states."""
        n_digits = int(self.places.hand.shape[0])
        return bare_layer(cards, empty_slots(int(self.places.weight[0]) * n_digits, len(cards)))

    def _number(self, cards: np.ndarray, reached: np.ndarray, origin: int) -> Layer:
        """The layer of the reached states, whose rows begin at ``origin``."""
        begin = cumulated(reached.sum(axis=1, dtype=np.int64))
        must_have_numbers(origin + int(begin[-1]))
        rank = np.empty(reached.shape, dtype=np.uint16)
        status = np.empty(begin[-1], dtype=np.uint16)
        for_chunks(_information.rank_statuses, begin, begin, reached, rank, status)
        first = (origin + begin).astype(np.int32)
        return self._bare_layer(cards)._replace(first=first, rank=rank, status=status)


def belongs_to(fine: States, coarse: States) -> np.ndarray:
    """The state of a coarser model that each state of a measure of a finer one belongs to, int32 ``[n_states]``.

    Args:
        fine: The states of the finer model.
        coarse: The states of the coarser one, of the same rules.

    Raises:
        InformationError: ``coarse`` tells apart what ``fine`` does not.
    """
    digit_of = digits_within(fine.information, coarse.information, fine.rules)
    fine_places, coarse_places = (places_of(space.information, space.rules) for space in (fine, coarse))
    match = np.empty(int(fine.layer_ptr[fine.rules.breaths]), dtype=np.int32)
    for layer, coarse_layer in zip(fine.layers[: fine.rules.breaths], coarse.layers, strict=False):
        args = (fine_places, layer, coarse_places, coarse_layer, digit_of, match)
        for_chunks(_information.match_states, layer.first, *args)
    return match


def lift(fine: States, coarse: States, weight: np.ndarray) -> np.ndarray:
    """A policy of a coarser model as one of a finer model.

    Args:
        fine: The states of the finer model.
        coarse: The states of the coarser one, of the same rules.
        weight: float64 ``[n_rows]``, the policy, by rows of ``coarse``.

    Returns:
        float64 ``[n_rows]``, by rows of ``fine``: in every state what the policy does in the state it belongs to.

    Raises:
        InformationError: ``coarse`` tells apart what ``fine`` does not.
    """
    match = belongs_to(fine, coarse)
    n_states = len(match)
    lifted = np.zeros(len(fine.action))
    for_each(_information.lift_rows, n_states, fine.state_ptr, coarse.state_ptr, match, weight, lifted)
    lifted[fine.state_ptr[n_states] :] = 1.0
    return lifted
