"""All information states of a game under an information model, breath by breath, in the order of their codes.

The first layer combines every deal of a hand and revealed cards with every pair of HP that is possible at the start of
a measure. Each further layer contains the successors of the previous one. Under ``view``, the last layer contains the
states between two measures. Finer models lack this layer, because they are used only in the graph of the two-player
game, which has nodes between measures instead.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from punish_fast.punish._actions import PICKS, PICKS_OR_FEINTS, REST_ACTION, RESTS
from punish_fast.punish._codes import Status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.clash import status_tables
from punish_fast.punish.codes import (
    ACTIONS,
    CodedStates,
    State,
    StateError,
    cards_digits,
    decode,
    encode,
    join_statuses,
    layout_of,
    split_statuses,
    to_decimal,
)
from punish_fast.punish.rules import PRESETS, Rules, name_of, validate
from punish_fast.punish.states import _space
from punish_fast.punish.states._space import Layer
from punish_fast.punish.states.information import InformationError, information_of, list_counts, places_of
from punish_fast.punish.states.outcomes import BreathOutcomes, tabulate_outcomes
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks

# Tensors and graphs use int32 indices for the states and the two terminals that follow them.
MOST_STATES = 2**31 - 3
_DIRECT_SLOTS = 1 << 22
_FIRST_CAPACITY = 1 << 16
# Number of blocks per call: large enough to make call overhead negligible, small enough to handle interrupts promptly.
_BLOCKS_AT_ONCE = 1 << 14

Progress = Callable[[str, int, int], None]


class StateSpace:
    """The information states of a game."""

    def __init__(
        self, rules: Rules, information: str = "view", progress: Progress | None = None, most_states: int = MOST_STATES
    ) -> None:
        """Enumerate the states.

        Args:
            rules: Rules of the game.
            information: Name of an information model: ``view`` or ``memory``.
            progress: Called as ``progress(text, done, layers)`` after each layer; ``text`` includes the number of
                states so far.
            most_states: Maximum number of states.

        Raises:
            RulesError: If the rules are invalid.
            InformationError: If the information model is unknown.
            MemoryError: If there are more than ``most_states`` states, or the tables do not fit into memory.
        """
        self._most_states = min(most_states, MOST_STATES)
        self.rules = validate(rules)
        self.information = information_of(information)
        self.layout = layout_of(rules)
        self.places = places_of(self.information, rules)
        # One layer for each breath and, under `view`, one for the time between measures.
        self.layers: list[Layer] = []
        n_layers = rules.breaths + (information == "view")
        for number in range(n_layers):
            self.layers.append(self._next_layer(number))
            if progress is not None:
                progress(f"states ({int(self.layers[-1].first[-1]):,} so far), breaths", number + 1, n_layers)
        # int64 [n_layers + 1], row of the first state of each layer
        self.layer_ptr = np.array([0, *(layer.first[-1] for layer in self.layers)], dtype=np.int64)

    @classmethod
    def empty(cls, rules: Rules) -> "StateSpace":
        """Return a space without states, to compile kernels that take its arrays."""
        space = cls.__new__(cls)
        space.rules, space.information, space.layout = rules, information_of("view"), layout_of(rules)
        space.places = places_of(space.information, rules)
        nothing = np.zeros((0, space.layout.n_statuses), dtype=np.uint8)
        space._most_states = MOST_STATES
        space.layers = [space._number(np.zeros(0, dtype=np.int64), nothing, 0)] * (rules.breaths + 1)
        space.layer_ptr = np.zeros(rules.breaths + 2, dtype=np.int64)
        return space

    def __repr__(self) -> str:
        return f"StateSpace({name_of(self.rules)}, {self.information.name}: {self.n_states:,} states)"

    def outcomes_of(self, number: int) -> BreathOutcomes:
        """Return the outcomes of the breath in layer ``number``."""
        return self._outcomes[number == self.rules.breaths - 1]

    @cached_property
    def _outcomes(self) -> list[BreathOutcomes]:
        """Outcomes of the last breath of a measure (index 1) and of all others (index 0)."""
        tells_draws = self.information.own != self.information.enemy
        return [tabulate_outcomes(self.layout, table, tells_draws) for table in status_tables(self.rules)]

    def _next_layer(self, number: int) -> Layer:
        if number == 0:
            cards = self._opening_cards()
            reached = self._nothing_reached(cards, number)
            reached[:, self._opening_statuses()] = 1
            return self._number(cards, reached, 0)
        before = self.layers[-1]
        outcomes = self.outcomes_of(number - 1)
        cards = self._discover(outcomes, before)
        reached = self._nothing_reached(cards, number)
        args = (self.layout, self.places, outcomes, before, self._bare_layer(cards), reached)
        for_chunks(_space.mark_states, before.first, *args)
        return self._number(cards, reached, int(before.first[-1]))

    def _opening_cards(self) -> np.ndarray:
        """Return the sorted cards codes (int64) of all deals of a hand and revealed cards."""
        counts = list_counts(self.layout.copies)
        hands, revealed = (counts[counts.sum(axis=1) == n] for n in (self.rules.hand_size, self.rules.reveal_size))
        hand, shown = np.nonzero((hands[:, np.newaxis] + revealed <= self.layout.copies).all(axis=2))
        return np.sort(self.places.dealt[hands[hand], revealed[shown]] @ self.places.weight)

    def _opening_statuses(self) -> np.ndarray:
        """Return the codes of all statuses at the start of a measure."""
        rules = self.rules
        hps = sorted({min(rules.hp, hp + rules.healing) for hp in range(1, rules.hp + 1)})
        return join_statuses(self.layout, Status(np.repeat(hps, len(hps)), np.tile(hps, len(hps)), 0, 0, 0, 0))

    def _nothing_reached(self, cards: np.ndarray, number: int) -> np.ndarray:
        """Return zeros, uint8 ``[n_blocks, n_statuses]``; raise `MemoryError` if the layer does not fit into memory."""
        cells = len(cards) * self.layout.n_statuses
        what = f"the {len(cards):,} hands and discard piles of breath {number + 1}"
        require_memory(self.nbytes + 3 * cells, what)
        return np.zeros((len(cards), self.layout.n_statuses), dtype=np.uint8)

    def _discover(self, outcomes: BreathOutcomes, before: Layer) -> np.ndarray:
        """Return the sorted cards codes of the next layer's blocks."""
        found = [np.zeros(0, dtype=np.int64)]

        def discover(begin: int, end: int) -> None:
            found.append(self._discover_from(begin, end, outcomes, before))

        for_chunks(discover, before.first)
        return np.unique(np.concatenate(found))

    def _discover_from(self, begin: int, end: int, outcomes: BreathOutcomes, before: Layer) -> np.ndarray:
        """Return the cards codes of the successors of the blocks from ``begin`` to ``end``."""
        found = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        slots = self._empty_slots(len(found))
        args = (self.layout, self.places, outcomes, before)
        block, n_found = begin, 0
        while True:
            stop = min(block + _BLOCKS_AT_ONCE, end)
            block, n_found = _space.discover_cards(block, stop, *args, slots, found, n_found)
            if block == end:
                return found[:n_found]
            if block == stop:
                continue
            found = np.concatenate([found, np.zeros(3 * len(found), dtype=np.int64)])
            slots = self._empty_slots(len(found))
            _space.index_blocks(found[:n_found], slots)

    def _empty_slots(self, n_blocks: int) -> np.ndarray:
        """Return an empty hash table for ``n_blocks`` blocks."""
        n_first = np.count_nonzero(self.places.hand + self.places.discard <= self.rules.copies[0])
        n_codes = int(self.places.weight[0]) * n_first
        return np.full(n_codes if n_codes <= _DIRECT_SLOTS else 2 * n_blocks + 1, -1, dtype=np.int32)

    def _bare_layer(self, cards: np.ndarray) -> Layer:
        """Return a layer with the given blocks but without states."""
        slots = self._empty_slots(len(cards))
        _space.index_blocks(cards, slots)
        digits = cards_digits(self.places.weight, cards)
        return Layer(
            cards=cards,
            first=np.zeros(0, dtype=np.int32),
            rank=np.zeros((0, 0), dtype=np.uint16),
            status=np.zeros(0, dtype=np.uint16),
            slots=slots,
            piles=np.stack([self.places.hand[digits], self.places.discard[digits]], axis=1).astype(np.uint8),
        )

    def _number(self, cards: np.ndarray, reached: np.ndarray, origin: int) -> Layer:
        """Return the layer of the reached states, whose rows begin at ``origin``."""
        begin = cumulated(reached.sum(axis=1, dtype=np.int64))
        n_states, most = origin + int(begin[-1]), self._most_states
        if n_states > most:
            raise MemoryError(f"the game has at least {n_states:,} states, but there is room for {most:,}")
        rank = np.empty(reached.shape, dtype=np.uint16)
        status = np.empty(begin[-1], dtype=np.uint16)
        for_chunks(_space.number_states, begin, begin, reached, rank, status)
        return self._bare_layer(cards)._replace(first=(origin + begin).astype(np.int32), rank=rank, status=status)

    @cached_property
    def code(self) -> np.ndarray:
        """Ascending mixed-radix codes of the states under ``view``, uint64 ``[n_states]``.

        Raises:
            InformationError: If the information model is not ``view``.
        """
        self.must_be_view()
        layout = self.layout
        codes = np.empty(self.n_states, dtype=np.uint64)
        for number, layer in enumerate(self.layers):
            cards = np.repeat(number * layout.n_cards_codes + layer.cards, np.diff(layer.first))
            codes[layer.first[0] : layer.first[-1]] = cards * layout.n_statuses + layer.status
        return codes

    @property
    def is_view(self) -> bool:
        """True if the information model is ``view``."""
        return self.information.name == "view"

    def must_be_view(self) -> None:
        """Raise `InformationError` if the information model is not ``view``."""
        if not self.is_view:
            raise InformationError(f"information: {self.information.name!r} is not allowed here, only 'view' is")

    @property
    def n_states(self) -> int:
        """Number of states, excluding the two terminals."""
        return int(self.layer_ptr[-1])

    @property
    def states_by_breath(self) -> list[int]:
        """Number of states of each layer."""
        return [int(n) for n in np.diff(self.layer_ptr)]

    def state(self, row: int) -> State:
        """Return the state of a row; raise IndexError if the row is out of range."""
        if not 0 <= row < self.n_states:
            raise IndexError(f"row {row}: is not from 0 to {self.n_states - 1}")
        return decode(self.layout, int(self.code[row]))

    def row(self, state: State) -> int:
        """Return the row of a state; raise `StateError` if the state contradicts the rules or is not reachable."""
        return row_of(self, state)

    @cached_property
    def _legal(self) -> tuple[np.ndarray, np.ndarray]:
        lists = _legal_actions()
        lengths = np.count_nonzero(lists, axis=1)
        status = split_statuses(self.layout, np.arange(self.layout.n_statuses))
        mode = np.where(status.own_feinted < self.layout.feints, PICKS_OR_FEINTS, PICKS)
        mode[status.own_exhausted > 0] = RESTS
        ptr = np.zeros(self.n_states + 1, dtype=np.int64)
        actions: list[np.ndarray] = []
        for number, layer in enumerate(self.layers):
            kinds = (layer.piles[:, 0] > 0) @ (1 << np.arange(N_KINDS))
            which = np.repeat(3 * kinds, np.diff(layer.first)) + mode[layer.status]
            if number == self.rules.breaths:
                which[:] = RESTS
            np.cumsum(lengths[which], out=ptr[layer.first[0] + 1 : layer.first[-1] + 1])
            ptr[layer.first[0] + 1 : layer.first[-1] + 1] += ptr[layer.first[0]]
            listed = lists[which]
            actions.append(listed[listed > 0])
        return ptr, np.concatenate(actions)

    @property
    def state_ptr(self) -> np.ndarray:
        """Index of each state's first legal action in `action`, int64 ``[n_states + 1]``."""
        return self._legal[0]

    @property
    def action(self) -> np.ndarray:
        """Two-digit codes of the legal actions of all states, uint8 ``[n_rows]``, ascending in each state."""
        return self._legal[1]

    @property
    def first_status(self) -> int:
        """Rank of the status with which a game begins, the same in all blocks of the first breath."""
        status = Status(self.rules.hp, self.rules.hp, 0, 0, 0, 0)
        return int(self.layers[0].rank[0, join_statuses(self.layout, status)])

    @property
    def n_openings(self) -> int:
        """Number of deals of a hand and revealed cards."""
        return len(self.layers[0].cards)

    @property
    def nbytes(self) -> int:
        """Size of the layers in bytes."""
        return sum(array.nbytes for layer in self.layers for array in layer)


def _legal_actions() -> np.ndarray:
    """Tabulate the legal actions, uint8 ``[96, 11]``, padded with 0.

    Rows are indexed by ``3 * (bit mask of the kinds in hand) + mode``.
    """
    table = np.zeros((3 << N_KINDS, len(ACTIONS)), dtype=np.uint8)
    for which, actions in enumerate(table):
        kinds, mode = divmod(which, 3)
        # The mode is the number of ways to play a card: none, plain, or plain and as a feint.
        legal = [10 * (k + 1) + feint for k in range(N_KINDS) if kinds >> k & 1 for feint in range(mode)]
        actions[: max(1, len(legal))] = legal or [REST_ACTION]
    return table


def must_be_space(space: object) -> None:
    """Raise `TypeError` if ``space`` is not a `StateSpace`."""
    if not isinstance(space, StateSpace):
        kind = type(space).__name__
        raise TypeError(f"space: {kind} is not allowed; it must be a StateSpace, such as StateSpace(rules)")


def row_of(states: CodedStates, state: State) -> int:
    """Return the row of a state; raise `StateError` if the state contradicts the rules or is not reachable."""
    code = np.uint64(encode(states.layout, state))
    row = int(np.searchsorted(states.code, code))
    if row == len(states.code) or states.code[row] != code:
        raise StateError(f"state {to_decimal(state)}: no game reaches it")
    return row


def compile_states() -> None:
    """Compile the kernels that list the states."""
    StateSpace(PRESETS["tiny"])


STATES = KernelGroup(
    compile_states, (_space.discover_cards, _space.index_blocks, _space.mark_states, _space.number_states)
)
