"""All information states of a game under an information model, breath by breath, in the order of their codes.

The first layer combines every deal of a hand and revealed cards with every pair of HP that is possible at the start of
a measure. Each later layer contains the successors of the previous layer. Under ``memoryless``, the last layer contains
the states between two measures. Finer models do not need this layer, because only the graph of the two-player game uses
them, and the graph has nodes between measures instead.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from punish_fast.punish import codes
from punish_fast.punish._actions import N_ACTIONS, PICKS, PICKS_OR_FEINTS, RESTS
from punish_fast.punish._codes import Status
from punish_fast.punish.clash import status_tables
from punish_fast.punish.codes import CodedStates, State, StateError
from punish_fast.punish.rules import PRESETS, Rules, name_of, validate_rules
from punish_fast.punish.states import _space
from punish_fast.punish.states._space import ABSENT, FoundBlocks, Layer
from punish_fast.punish.states.information import InformationError, information_of, list_counts, places_of
from punish_fast.punish.states.outcomes import BreathOutcomes, tabulate_outcomes
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks

# Tensors and graphs use int32 indices for the states and the two terminals.
MOST_STATES = 2**31 - 3
_DIRECT_SLOTS = 1 << 22
_FIRST_CAPACITY = 1 << 16
# Memory in bytes to number a block, in addition to three copies of the block's bit set of statuses.
_BLOCK_BYTES = 300
# Number of blocks per call. Larger numbers would delay interrupts, and smaller numbers would increase call overhead.
_BLOCKS_AT_ONCE = 1 << 14

Progress = Callable[[str, int, int], None]


class StateSpace:
    """Information states of a game, and the legal actions in each state.

    A *row* is a pair of a state and a legal action. Policies are arrays with one probability for each row.

    Attributes:
        rules: Rules of the game.
        layer_ptr: int64 ``[n_layers + 1]``, index of the first state of each layer, followed by the number of states.
            There is a layer for each breath and, under ``memoryless``, one for the time between measures.
    """

    def __init__(
        self,
        rules: Rules,
        information: str = "memoryless",
        progress: Progress | None = None,
        most_states: int = MOST_STATES,
    ) -> None:
        """Enumerate the states.

        Args:
            rules: Rules of the game.
            information: Information model. Under ``"memoryless"``, players remember only which cards are in the discard
                pile. Under ``"memory"``, they also remember which cards were revealed and who played the others.
            progress: Called as ``progress(text, done, layers)`` after each layer. The text includes the number of
                states so far.
            most_states: Maximum number of states.

        Raises:
            RulesError: If the rules are invalid.
            InformationError: If the information model is unknown.
            MemoryError: If there are more than ``most_states`` states, or the tables do not fit into memory.

        Examples:
            >>> from punish_fast import StateSpace, load_rules
            >>> space = StateSpace(load_rules("tiny"))
            >>> space
            StateSpace(tiny, memoryless: 558 states)
            >>> space.states_by_breath, len(space.action)
            ([46, 462, 50], 911)
            >>> StateSpace(load_rules("tiny"), "memory").n_states
            1526
        """
        self._most_states = min(most_states, MOST_STATES)
        self.rules = validate_rules(rules)
        self.information = information_of(information)
        self.layout = codes.layout_of(rules)
        self.places = places_of(self.information, rules)
        # One layer for each breath and, under `memoryless`, one for the time between measures.
        self.layers: list[Layer] = []
        n_layers = rules.breaths + (information == "memoryless")
        for number in range(n_layers):
            self.layers.append(self._next_layer(number))
            if progress is not None:
                progress(f"states ({int(self.layers[-1].first[-1]):,} so far), breaths", number + 1, n_layers)
        # int64 [n_layers + 1], index of the first state of each layer
        self.layer_ptr = np.array([0, *(layer.first[-1] for layer in self.layers)], dtype=np.int64)

    def __repr__(self) -> str:
        return f"StateSpace({name_of(self.rules)}, {self.information.name}: {self.n_states:,} states)"

    @cached_property
    def _outcomes(self) -> list[BreathOutcomes]:
        """Outcomes of the last breath of a measure (index 1) and of all others (index 0)."""
        tells_draws = self.information.own != self.information.enemy
        return [tabulate_outcomes(self.layout, table, tells_draws) for table in status_tables(self.rules)]

    def _next_layer(self, number: int) -> Layer:
        if number == 0:
            cards = self._opening_cards()
            is_reached = np.zeros(64 * self._n_words, dtype=np.bool_)
            is_reached[self._opening_statuses()] = True
            words = np.packbits(is_reached, bitorder="little").view("<u8")
            return self._number(cards, np.tile(words, (len(cards), 1)), 0)
        before = self.layers[-1]
        rooms: list[FoundBlocks] = []
        # Sort the blocks to make blocks of the same kind adjacent.
        order = np.argsort(before.kind, kind="stable")
        weights = cumulated(np.diff(before.first)[order])
        for_chunks(self._discover, weights, outcomes_of(self, number - 1), before, order, rooms)
        found = [(room.cards[: room.n], room.statuses[: room.n]) for room in rooms]
        cards = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(cards for cards, _ in found)]))
        what = f"the {len(cards):,} hands and discard piles of breath {number + 1}"
        require_memory(self.nbytes + (_BLOCK_BYTES + 24 * self._n_words) * len(cards), what)
        reached = np.zeros((len(cards), self._n_words), dtype=np.uint64)
        for own_cards, statuses in found:
            reached[np.searchsorted(cards, own_cards)] |= statuses
        return self._number(cards, reached, int(before.first[-1]))

    @property
    def _n_words(self) -> int:
        """Number of 64-bit words in a bit set of statuses."""
        return -(-self.layout.n_statuses // 64)

    def _opening_cards(self) -> np.ndarray:
        """Return the sorted cards codes (int64) for all deals of a hand and revealed cards."""
        counts = list_counts(self.layout.copies)
        hands, revealed = (counts[counts.sum(axis=1) == n] for n in (self.rules.hand_size, self.rules.reveal_size))
        hand, shown = np.nonzero((hands[:, np.newaxis] + revealed <= self.layout.copies).all(axis=2))
        return np.sort(self.places.dealt[hands[hand], revealed[shown]] @ self.places.weight)

    def _opening_statuses(self) -> np.ndarray:
        """Return the codes of all possible statuses at the start of a measure."""
        rules = self.rules
        hps = sorted({min(rules.hp, hp + rules.healing) for hp in range(1, rules.hp + 1)})
        return codes.join_statuses(self.layout, Status(np.repeat(hps, len(hps)), np.tile(hps, len(hps)), 0, 0, 0, 0))

    def _discover(
        self, begin: int, end: int, outcomes: BreathOutcomes, before: Layer, order: np.ndarray, rooms: list[FoundBlocks]
    ) -> None:
        """Add the successors of the blocks ``order[begin:end]`` to an entry of ``rooms`` that no other thread uses."""
        try:
            room = rooms.pop()
        except IndexError:
            size = _FIRST_CAPACITY
            statuses = np.zeros((size, self._n_words), dtype=np.uint64)
            room = FoundBlocks(self._empty_slots(size), np.zeros(size, dtype=np.int64), statuses, 0)
        args = (self.layout, self.places, outcomes, before, order)
        while begin < end:
            stop = min(begin + _BLOCKS_AT_ONCE, end)
            begin, n = _space.discover(begin, stop, *args, room)
            room = room._replace(n=n)
            if begin < stop:
                cards, statuses = _enlarged(room.cards, n), _enlarged(room.statuses, n)
                room = FoundBlocks(self._empty_slots(len(cards)), cards, statuses, n)
                _space.index_blocks(cards[:n], room.slots)
        rooms.append(room)

    def _empty_slots(self, n_blocks: int) -> np.ndarray:
        """Return an empty hash table for ``n_blocks`` blocks."""
        n_first = np.count_nonzero(self.places.hand + self.places.discard <= self.rules.copies[0])
        n_codes = int(self.places.weight[0]) * n_first
        return np.full(n_codes if n_codes <= _DIRECT_SLOTS else 2 * n_blocks + 1, -1, dtype=np.int32)

    def _number(self, cards: np.ndarray, reached: np.ndarray, origin: int) -> Layer:
        """Return the layer of the reached states. ``origin`` is the index of the first state in the layer."""
        digits = codes.cards_digits(self.places.weight, cards)
        piles = np.stack([self.places.hand[digits], self.places.discard[digits]], axis=1)
        chosen, kind = _kinds(np.hstack([reached, piles.sum(axis=2).astype(np.uint64)]))
        words = np.ascontiguousarray(reached[chosen]).astype("<u8")
        is_reached = np.unpackbits(words.view(np.uint8), axis=1, count=self.layout.n_statuses, bitorder="little")
        first = origin + cumulated(is_reached.sum(axis=1)[kind])
        if first[-1] > self._most_states:
            raise MemoryError(
                f"the game has at least {first[-1]:,} states, but there is room for {self._most_states:,}"
            )
        rank = np.where(is_reached, np.cumsum(is_reached, axis=1) - 1, ABSENT)
        slots = self._empty_slots(len(cards))
        _space.index_blocks(cards, slots)
        return Layer(
            cards=cards,
            first=first.astype(np.int32),
            kind=kind.astype(np.int32),
            rank=np.vstack([rank, np.arange(self.layout.n_statuses)]).astype(np.uint16),
            statuses=np.argsort(1 - is_reached, axis=1, kind="stable").astype(np.uint16),
            slots=slots,
            piles=piles.astype(np.uint8),
        )

    @cached_property
    def code(self) -> np.ndarray:
        """Ascending mixed-radix codes of the states under ``memoryless``, uint64 ``[n_states]``.

        Raises:
            InformationError: If the information model is not ``memoryless``.
        """
        require_memoryless(self)
        layout = self.layout
        code = np.empty(self.n_states, dtype=np.uint64)
        for number, layer in enumerate(self.layers):
            cards = np.repeat(number * layout.n_cards_codes + layer.cards, np.diff(layer.first))
            code[layer.first[0] : layer.first[-1]] = cards * layout.n_statuses + layer.status
        return code

    @property
    def is_memoryless(self) -> bool:
        """True if the information model is ``memoryless``."""
        return self.information.name == "memoryless"

    @property
    def n_states(self) -> int:
        """Number of states, without the two terminals."""
        return int(self.layer_ptr[-1])

    @property
    def states_by_breath(self) -> list[int]:
        """Number of states in each layer."""
        return [int(n) for n in np.diff(self.layer_ptr)]

    def state(self, index: int) -> State:
        """Return the state with an index.

        Args:
            index: Index of the state, from 0 to ``n_states - 1``.

        Returns:
            The state.

        Raises:
            IndexError: If the index is out of range.
            InformationError: If the information model is not ``memoryless``.

        Examples:
            >>> from punish_fast import StateSpace, load_rules
            >>> StateSpace(load_rules("tiny")).state(0).hand
            (0, 0, 0, 1, 1)
        """
        if not 0 <= index < self.n_states:
            raise IndexError(f"index {index}: is not from 0 to {self.n_states - 1}")
        return codes.decode(self.layout, int(self.code[index]))

    def index(self, state: State) -> int:
        """Return the index of a state.

        Args:
            state: State, for example from `position`.

        Returns:
            Index of the state, from 0 to ``n_states - 1``.

        Raises:
            StateError: If the state contradicts the rules or is not reachable.
            InformationError: If the information model is not ``memoryless``.

        Examples:
            >>> from punish_fast import StateSpace, load_rules, position
            >>> rules = load_rules("tiny")
            >>> space = StateSpace(rules)
            >>> index = space.index(position("rs", discard="p", rules=rules))
            >>> space.action[space.state_ptr[index] : space.state_ptr[index + 1]].tolist()
            [20, 21, 40, 41]
        """
        return index_of(self, state)

    @cached_property
    def _legal(self) -> tuple[np.ndarray, np.ndarray]:
        status = codes.split_statuses(self.layout, np.arange(self.layout.n_statuses))
        modes = np.where(status.own_feinted < self.layout.feints, PICKS_OR_FEINTS, PICKS)
        modes[status.own_exhausted > 0] = RESTS
        ptr = np.zeros(self.n_states + 1, dtype=np.int64)
        action = np.empty(N_ACTIONS * self.n_states, dtype=np.uint8)
        for number, layer in enumerate(self.layers):
            # Between two measures, status codes have other digits, and players only rest.
            modes[:] = modes if number < self.rules.breaths else RESTS
            _space.list_legal(self.layout, layer, modes, ptr, action)
        return ptr, action[: ptr[-1]].copy()

    @property
    def state_ptr(self) -> np.ndarray:
        """Index of each state's first legal action in `action`, int64 ``[n_states + 1]``."""
        return self._legal[0]

    @property
    def action(self) -> np.ndarray:
        """Two-digit codes of the legal actions of all states, uint8 ``[n_rows]``, ascending in each state.

        The first digit is the card: 1 guard, 2 rush, 3 dodge, 4 strike, 5 punish. The second digit is 1 for a feint,
        otherwise 0. The code of rest is 90.
        """
        return self._legal[1]

    @property
    def first_status(self) -> int:
        """Rank of a game's initial status, which is the same in all blocks of the first breath."""
        status = Status(self.rules.hp, self.rules.hp, 0, 0, 0, 0)
        return int(self.layers[0].rank[0, codes.join_statuses(self.layout, status)])

    @property
    def n_openings(self) -> int:
        """Number of openings."""
        return len(self.layers[0].cards)

    @property
    def nbytes(self) -> int:
        """Size of the layers in bytes."""
        return sum(array.nbytes for layer in self.layers for array in layer)


def empty_space(rules: Rules) -> StateSpace:
    """Return a space without states, used to compile kernels."""
    space = StateSpace.__new__(StateSpace)
    space.rules, space.information, space.layout = rules, information_of("memoryless"), codes.layout_of(rules)
    space.places = places_of(space.information, rules)
    nothing = np.zeros((0, space._n_words), dtype=np.uint64)
    space._most_states = MOST_STATES
    space.layers = [space._number(np.zeros(0, dtype=np.int64), nothing, 0)] * (rules.breaths + 1)
    space.layer_ptr = np.zeros(rules.breaths + 2, dtype=np.int64)
    return space


def _enlarged(array: np.ndarray, n_used: int) -> np.ndarray:
    """Return an array of four times the length: the first ``n_used`` elements of ``array``, followed by zeros."""
    larger = np.zeros((4 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[:n_used] = array[:n_used]
    return larger


def _kinds(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a row of each kind, and the kind of each row, as indices. ``keys`` is uint64 ``[n, k]``.

    Hashes identify equal rows. If different rows have the same hash, each row has its own kind.
    """
    factors = np.random.default_rng(0).integers(2**64, size=keys.shape[1], dtype=np.uint64)
    # The highest bits of a product depend on all bits of its factors, but the highest bits of a key affect only those.
    _, first, kind = np.unique((keys ^ keys >> 31) @ factors, return_index=True, return_inverse=True)
    if (keys[first][kind] != keys).any():
        first = kind = np.arange(len(keys))
    return first, kind


def must_be_space(space: object) -> None:
    """Raise `TypeError` if ``space`` is not a `StateSpace`."""
    if not isinstance(space, StateSpace):
        kind = type(space).__name__
        raise TypeError(f"space: {kind} is not allowed; it must be a StateSpace, such as StateSpace(rules)")


def outcomes_of(space: StateSpace, number: int) -> BreathOutcomes:
    """Return the outcomes of the breath in layer ``number``."""
    return space._outcomes[number == space.rules.breaths - 1]


def require_memoryless(space: StateSpace) -> None:
    """Raise `InformationError` if the information model is not ``memoryless``."""
    if not space.is_memoryless:
        raise InformationError(f"information: {space.information.name!r} is not allowed here, only 'memoryless' is")


def index_of(states: CodedStates, state: State) -> int:
    """Return the index of a state. Raise `StateError` if the state contradicts the rules or is not reachable."""
    code = np.uint64(codes.encode(states.layout, state))
    index = int(np.searchsorted(states.code, code))
    if index == len(states.code) or states.code[index] != code:
        raise StateError(f"state {codes.to_decimal(state)}: no game reaches it")
    return index


def compile_states() -> None:
    """Compile the kernels that list the states and their actions."""
    assert len(StateSpace(PRESETS["tiny"]).action) > 0


STATES = KernelGroup(compile_states, (_space.discover, _space.index_blocks, _space.list_legal))
