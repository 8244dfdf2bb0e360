"""All information states of a game, breath by breath, in the order of their codes.

The first layer holds every deal of a hand and revealed cards with every pair of HP that two survivors can start a
measure with. Each further layer holds what the one before leads to. The last layer lies between two measures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from punish_fast.punish import _actions, _space
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish._codes import play_status
from punish_fast.punish._outcomes import N_ENEMY_PLAYS, N_PLAYS, N_WAYS, Outcomes, tabulate_outcomes
from punish_fast.punish._space import Layer
from punish_fast.punish.codes import (
    ACTIONS,
    Layout,
    State,
    StateError,
    decode,
    encode,
    layout_of,
    to_decimal,
)
from punish_fast.punish.information import Information, information_of
from punish_fast.punish.rules import Rules, validate
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# Tensors and graphs number states, and two terminals behind them, by int32.
_MOST_STATES = 2**31 - 3
_DIRECT_SLOTS = 1 << 22
_FIRST_CAPACITY = 1 << 16
# Enough for a call to pay, few enough for an interrupt not to wait.
_BLOCKS_AT_ONCE = 1 << 14

Progress = Callable[[str, int, int], None]


class StateSpace:
    """The information states of a game.

    Attributes:
        rules: The rules.
        layout: The radices of the codes.
        outcomes: Outcomes of a breath: of any but the last, and of the last.
        layers: Block tables, one for each breath and one for the time between measures.
        code: uint64 ``[n_states]``, mixed-radix codes, ascending.
        layer_ptr: int64 ``[n_layers + 1]``, row of the first state of each layer.
    """

    def __init__(self, rules: Rules, progress: Progress | None = None) -> None:
        """Enumerate the states of ``rules``; ``progress(stage, done, total)`` is called after each layer.

        Raises:
            RulesError: the rules name no game.
            MemoryError: the states would not fit into memory.
        """
        self.rules = validate(rules)
        self.layout = layout_of(rules)
        self.outcomes = (_tabulate(rules, self.layout, False), _tabulate(rules, self.layout, True))
        n_layers = rules.breaths + 1
        self.layers: list[Layer] = []
        codes: list[np.ndarray] = []
        for number in range(n_layers):
            layer, code = self._next_layer(number)
            self.layers.append(layer)
            codes.append(code)
            if progress is not None:
                progress("states", number + 1, n_layers)
        self.code = np.concatenate(codes)
        self.layer_ptr = cumulated(np.array([len(code) for code in codes]))

    @property
    def information(self) -> Information:
        """The model of information: the discard pile, and nothing else of what was played."""
        return information_of("view", self.rules.breaths)

    def outcomes_of(self, number: int) -> Outcomes:
        """The outcomes of the breath of layer ``number``."""
        return self.outcomes[number == self.rules.breaths - 1]

    def _next_layer(self, number: int) -> tuple[Layer, np.ndarray]:
        if number == 0:
            cards = opening_cards(self.layout)
            reached = self._nothing_reached(cards, number)
            reached[:, opening_statuses(self.rules, self.layout)] = 1
            return _number(self.layout, number, cards, reached, 0)
        before = self.layers[-1]
        outcomes = self.outcomes_of(number - 1)
        cards = _discover(self.layout, outcomes, before)
        reached = self._nothing_reached(cards, number)
        after = bare_layer(cards, empty_slots(self.layout.n_cards_codes, len(cards)))
        for_chunks(_space.mark_states, before.first, self.layout, outcomes, before, after, reached)
        return _number(self.layout, number, cards, reached, int(before.first[-1]))

    def _nothing_reached(self, cards: np.ndarray, number: int) -> np.ndarray:
        """Marks for every status of every block, and the certainty that all tables fit into memory."""
        cells = len(cards) * self.layout.n_statuses
        held = sum(array.nbytes for layer in self.layers for array in layer)
        # Codes twice, when those of all breaths are put together.
        known = 16 * int(self.layers[-1].first[-1]) if self.layers else 0
        require_memory(held + known + 3 * cells, f"the {len(cards):,} hands and discard piles of breath {number + 1}")
        return np.zeros((len(cards), self.layout.n_statuses), dtype=np.uint8)

    @property
    def n_states(self) -> int:
        """States without the two terminals."""
        return len(self.code)

    @property
    def states_by_breath(self) -> list[int]:
        """States of each layer."""
        return [int(n) for n in np.diff(self.layer_ptr)]

    def state(self, row: int) -> State:
        """The state of a row.

        Raises:
            IndexError: there is no such row.
        """
        if not 0 <= row < self.n_states:
            raise IndexError(f"row {row}: allowed are 0 to {self.n_states - 1}")
        return decode(self.layout, int(self.code[row]))

    def row(self, state: State) -> int:
        """The row of a state.

        Raises:
            StateError: the state contradicts the rules, or no game reaches it.
        """
        code = encode(self.layout, state)
        layer = self.layers[state.breath - 1]
        cards, status = divmod(code, self.layout.n_statuses)
        block = _space.find_block(layer, cards % self.layout.n_cards_codes)
        if block < 0 or layer.rank[block, status] == _space.ABSENT:
            raise StateError(f"state {to_decimal(state)}: no game reaches it")
        return int(_space.row_of(layer, block, status))

    @cached_property
    def _legal(self) -> tuple[np.ndarray, np.ndarray]:
        counts = np.ones(self.n_states, dtype=np.int64)
        actions = np.empty((self.n_states, len(ACTIONS)), dtype=np.uint8)
        actions[self.layer_ptr[-2] :, 0] = REST_ACTION
        for layer in self.layers[:-1]:
            rows = slice(layer.first[0], layer.first[-1])
            args = (self.layout, layer, counts[rows], actions[rows])
            for_chunks(_actions.fill_actions, layer.first, *args)
        ptr = cumulated(counts)
        packed = np.empty(ptr[-1], dtype=np.uint8)
        for_each(_actions.pack_actions, self.n_states, ptr, actions, packed)
        return ptr, packed

    @property
    def state_ptr(self) -> np.ndarray:
        """int64 ``[n_states + 1]``, where the legal actions of each state begin in `action`."""
        return self._legal[0]

    @property
    def action(self) -> np.ndarray:
        """uint8 ``[n_rows]``, the two-digit codes of the legal actions of all states, ascending in each."""
        return self._legal[1]

    @cached_property
    def n_openings(self) -> int:
        """Deals of a hand and revealed cards."""
        return len(self.layers[0].cards)

    @property
    def nbytes(self) -> int:
        """Bytes of all tables."""
        return sum(array.nbytes for layer in self.layers for array in layer) + self.code.nbytes


def _tabulate(rules: Rules, layout: Layout, is_last: bool) -> Outcomes:
    # Only a feint can have every play; the other ways have no own draw.
    n_most = layout.n_statuses * (N_PLAYS + (N_WAYS - 1) * N_ENEMY_PLAYS)
    outcomes = Outcomes(
        ptr=np.zeros(layout.n_statuses * N_WAYS + 1, dtype=np.int32),
        added=np.zeros(n_most, dtype=np.uint8),
        status=np.zeros(n_most, dtype=np.int32),
        mask=np.zeros(n_most, dtype=np.int64),
        play_ptr=np.zeros(n_most + 1, dtype=np.int32),
        play=np.zeros(n_most, dtype=np.uint8),
        reach=np.zeros(layout.n_statuses * N_WAYS, dtype=np.int64),
    )
    n_outcomes, n_plays = tabulate_outcomes(rules, layout, is_last, outcomes)
    return outcomes._replace(
        added=outcomes.added[:n_outcomes].copy(),
        status=outcomes.status[:n_outcomes].copy(),
        mask=outcomes.mask[:n_outcomes].copy(),
        play_ptr=outcomes.play_ptr[: n_outcomes + 1].copy(),
        play=outcomes.play[:n_plays].copy(),
    )


def opening_cards(layout: Layout) -> np.ndarray:
    """Sorted cards codes of all deals of a hand and revealed cards, int64."""
    cards = np.zeros(0, dtype=np.int64)
    cards = np.zeros(_space.deal_openings(layout, cards), dtype=np.int64)
    _space.deal_openings(layout, cards)
    return np.sort(cards)


def opening_statuses(rules: Rules, layout: Layout) -> list[int]:
    """The statuses with which a measure may begin."""
    hps = sorted({min(rules.hp, hp + rules.healing) for hp in range(1, rules.hp + 1)})
    return [play_status(layout, own, enemy, 0, 0, 0, 0) for own in hps for enemy in hps]


def empty_slots(n_codes: int, n_blocks: int) -> np.ndarray:
    """An empty hash table for so many blocks, of so many possible codes."""
    size = n_codes if n_codes <= _DIRECT_SLOTS else 2 * n_blocks + 1
    return np.full(size, -1, dtype=np.int32)


def _discover(layout: Layout, outcomes: Outcomes, before: Layer) -> np.ndarray:
    """Sorted cards codes of the blocks of the next layer."""
    found = [np.zeros(0, dtype=np.int64)]

    def discover(begin: int, end: int) -> None:
        found.append(_discover_from(begin, end, layout, outcomes, before))

    for_chunks(discover, before.first)
    return np.unique(np.concatenate(found))


def _discover_from(begin: int, end: int, layout: Layout, outcomes: Outcomes, before: Layer) -> np.ndarray:
    """Cards codes of the blocks that those from ``begin`` to ``end`` lead to."""
    found = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
    slots = empty_slots(layout.n_cards_codes, len(found))
    block, n_found = begin, 0
    while True:
        stop = min(block + _BLOCKS_AT_ONCE, end)
        block, n_found = _space.discover_cards(block, stop, layout, outcomes, before, slots, found, n_found)
        if block == end:
            return found[:n_found]
        if block == stop:
            continue
        found = np.concatenate([found, np.zeros(3 * len(found), dtype=np.int64)])
        slots = empty_slots(layout.n_cards_codes, len(found))
        _space.index_blocks(found[:n_found], slots)


def must_have_numbers(n_states: int) -> None:
    """Insist that so many states, and two terminals behind them, can be numbered by int32.

    Raises:
        MemoryError: they cannot.
    """
    if n_states > _MOST_STATES:
        raise MemoryError(f"the game has at least {n_states:,} states, allowed are {_MOST_STATES:,}")


def bare_layer(cards: np.ndarray, slots: np.ndarray) -> Layer:
    """A layer whose blocks are known but not their states, with an empty hash table for them."""
    _space.index_blocks(cards, slots)
    return Layer(
        cards=cards,
        first=np.zeros(0, dtype=np.int32),
        rank=np.zeros((0, 0), dtype=np.uint16),
        status=np.zeros(0, dtype=np.uint16),
        slots=slots,
    )


def _number(
    layout: Layout, number: int, cards: np.ndarray, reached: np.ndarray, origin: int
) -> tuple[Layer, np.ndarray]:
    """The layer of the reached states, whose rows begin at ``origin``, and their codes."""
    begin = cumulated(reached.sum(axis=1, dtype=np.int64))
    must_have_numbers(origin + int(begin[-1]))
    rank = np.empty(reached.shape, dtype=np.uint16)
    status = np.empty(begin[-1], dtype=np.uint16)
    code = np.empty(begin[-1], dtype=np.uint64)
    for_chunks(_space.number_states, begin, layout, number, cards, begin, reached, rank, status, code)
    first = (origin + begin).astype(np.int32)
    layer = bare_layer(cards, empty_slots(layout.n_cards_codes, len(cards)))
    return layer._replace(first=first, rank=rank, status=status), code
