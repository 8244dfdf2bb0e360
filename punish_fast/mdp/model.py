"""A sparse Markov decision process.

A state offers *rows*, one for each action; a row is a probability distribution over states and a reward. States are
grouped into *layers*, runs of consecutive states that are updated together. Behind the states stand absorbing
*terminals*: each leads to itself for ever and pays its reward every time, so it is worth ``reward / (1 - discount)``;
without a discount it ends play and is worth nothing.

The arrays are those of QuantEcon's state-action pairs and of SciPy's CSR matrices: row ``r`` of state ``s``, for
``state_ptr[s] <= r < state_ptr[s + 1]``, leads to column ``indices[k]`` with probability ``data[k]``, for ``indptr[r]
<= k < indptr[r + 1]``; columns from ``n_states`` on are the terminals.

Rows with the same probabilities for different columns may share them: a `CompactMDP` holds what differs alone, and all
that the solver wants of a process is in `Process`, which both are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_SUM_TOLERANCE = 1e-12
# So many rows are looked at at once.
_BLOCK = 1 << 14


class ModelError(ValueError):
    """Arrays that are no Markov decision process; the message names the array."""


class Process:
    """What the solver wants of a Markov decision process.

    Attributes:
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin; every state has at least one.
        indptr: int64 ``[n_rows + 1]``, where the columns of each row begin.
        indices: int32 ``[n_entries]``, columns.
        probabilities: float64 ``[n]``, those of each row in the order of its columns.
        data_ptr: int64 ``[n_rows]``, where the probabilities of each row begin, never behind where its columns do; None
            if every row has its own, in the places of its columns.
        reward: float64 ``[n_rows]``, expected immediate rewards.
        terminal_reward: float64 ``[n_terminals]``, what each terminal pays every time.
        layer_ptr: int64 ``[n_layers + 1]``, where the states of each layer begin; a layer may be empty.
        action: uint8 ``[n_rows]``, a label for the action of each row.
    """

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    probabilities: np.ndarray
    data_ptr: np.ndarray | None
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray

    @property
    def n_states(self) -> int:
        """States, terminals left out."""
        return len(self.state_ptr) - 1

    @property
    def n_rows(self) -> int:
        """State-action pairs."""
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        """Stored columns."""
        return len(self.indices)

    @property
    def n_layers(self) -> int:
        """Groups of states that are updated together."""
        return len(self.layer_ptr) - 1

    @property
    def n_columns(self) -> int:
        """States and terminals."""
        return self.n_states + len(self.terminal_reward)

    @property
    def longest_row(self) -> int:
        """Entries of the longest row."""
        return int(self.longest_rows.max(initial=0))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.state_ptr, self.indptr, self.indices, self.probabilities, self.reward, self.action)
        return sum(array.nbytes for array in arrays) + (0 if self.data_ptr is None else self.data_ptr.nbytes)

    @cached_property
    def longest_rows(self) -> np.ndarray:
        """int64 ``[n_layers]``, entries of the longest row of each layer."""
        ends = pairwise(self.state_ptr[self.layer_ptr])
        parts = (_lengths(self.indptr[begin : end + 1]) for begin, end in ends)
        longest = [max((int(lengths.max()) for lengths in part), default=0) for part in parts]
        return np.array(longest, dtype=np.int64)

    @cached_property
    def _successors(self) -> np.ndarray:
        """int64 ``[n_layers, 2]``, the lowest and highest state that each layer leads to."""
        ends = np.empty((self.n_layers, 2), dtype=np.int64)
        for layer in range(self.n_layers):
            chunks = self.chunks(layer)
            low = np.empty(len(chunks) - 1, dtype=np.int64)
            high = np.empty(len(chunks) - 1, dtype=np.int64)
            args = (chunks, self.state_ptr, self.indptr, self.indices, self.n_states, low, high)
            for_each(_bellman.find_successors, len(chunks) - 1, *args)
            ends[layer] = low.min(initial=self.n_states), high.max(initial=-1)
        return ends

    def is_independent(self, layer: int) -> bool:
        """Whether the states of a layer can be updated in place: none leads to another of them."""
        low, high = self._successors[layer]
        return bool(high < self.layer_ptr[layer] or low >= self.layer_ptr[layer + 1])

    @cached_property
    def is_cycle(self) -> bool:
        """Whether every layer leads only to the next one, and the last only to the first."""
        lowest, highest = self._successors.T
        to_next = (lowest[:-1] >= self.layer_ptr[1:-1]).all() and (highest[:-1] < self.layer_ptr[2:]).all()
        return bool(self.n_layers > 1 and to_next and highest[-1] < self.layer_ptr[1])

    def chunks(self, layer: int) -> np.ndarray:
        """State boundaries that cut a layer into pieces with about as many entries each."""
        return self._chunks[layer]

    @cached_property
    def _chunks(self) -> list[np.ndarray]:
        ends = zip(self.layer_ptr[:-1], self.layer_ptr[1:], strict=True)
        return [begin + balanced_chunks(self.indptr[self.state_ptr[begin : end + 1]]) for begin, end in ends]


@dataclass(frozen=True, eq=False)
class MDP(Process):
    """A sparse Markov decision process, every row with probabilities of its own.

    Attributes:
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin; every state has at least one.
        indptr: int64 ``[n_rows + 1]``, where the entries of each row begin.
        indices: int32 ``[n_entries]``, columns.
        data: float64 ``[n_entries]``, probabilities.
        reward: float64 ``[n_rows]``, expected immediate rewards.
        terminal_reward: float64 ``[n_terminals]``, what each terminal pays every time.
        layer_ptr: int64 ``[n_layers + 1]``, where the states of each layer begin; a layer may be empty.
        action: uint8 ``[n_rows]``, a label for the action of each row.
    """

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:  # type: ignore[override]
        """The same as `data`."""
        return self.data

    @property
    def data_ptr(self) -> None:  # type: ignore[override]
        """None: every row has probabilities of its own."""
        return

    def count_nonzeros(self) -> np.ndarray:
        """How many entries each row has, none of which is meant to be zero, int64 ``[n_rows]``."""
        return np.diff(self.indptr)

    def to_scipy(self) -> csr_array:
        """The transitions as a SciPy matrix ``[n_rows, n_columns]`` that shares the memory of ``data`` and ``indices``.

        With more than 2^31 - 1 entries SciPy needs wider ``indices`` and copies them.
        """
        from scipy.sparse import csr_array

        # SciPy wants both index arrays to have one dtype, and the pointers are far fewer.
        indptr = self.indptr.astype(np.int32) if self.n_entries <= np.iinfo(np.int32).max else self.indptr
        return csr_array((self.data, self.indices, indptr), shape=(self.n_rows, self.n_columns), copy=False)

    def to_quantecon(self, discount: float) -> Any:
        """The process as a ``quantecon.markov.DiscreteDP`` in state-action pairs, with arrays of its own.

        Terminals become states behind all others, each with one row that leads to itself, pays the terminal's reward
        and has action 0; the actions of all other rows are those in ``action``.

        Args:
            discount: From 0 to 1.

        Raises:
            ModuleNotFoundError: QuantEcon is not installed; the message says how to install it.
            ValueError: the discount is out of range.
        """
        from scipy.sparse import csr_matrix

        if not 0 <= discount <= 1:
            raise ValueError(f"discount: {discount} is not possible, allowed are 0 to 1")
        discrete_dp = _import_discrete_dp()
        n_terminals = len(self.terminal_reward)
        terminals = np.arange(self.n_states, self.n_columns, dtype=np.int32)
        transitions = csr_matrix(
            (
                np.append(self.data, np.ones(n_terminals)),
                np.append(self.indices, terminals),
                np.append(self.indptr, self.n_entries + 1 + np.arange(n_terminals)),
            ),
            shape=(self.n_rows + n_terminals, self.n_columns),
        )
        return discrete_dp(
            np.append(self.reward, self.terminal_reward),
            transitions,
            discount,
            s_indices=np.append(np.arange(self.n_states).repeat(np.diff(self.state_ptr)), terminals),
            a_indices=np.append(self.action, np.zeros(n_terminals)).astype(np.int64),
        )


@dataclass(frozen=True, eq=False)
class CompactMDP(Process):
    """A sparse Markov decision process whose rows may share probabilities.

    Some of them may be zero, and others be put in their place later. The attributes are those of `Process`.
    """

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data_ptr: np.ndarray
    probabilities: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray

    def count_nonzeros(self) -> np.ndarray:
        """How many columns of each row have a probability that is not zero now, int64 ``[n_rows]``."""
        if self.probabilities.all():
            return np.diff(self.indptr)
        lengths = np.empty(self.n_rows, dtype=np.int64)
        for_chunks(_bellman.count_shared, self.indptr, self.indptr, self.data_ptr, self.probabilities, lengths)
        return lengths

    def to_mdp(self) -> MDP:
        """The same process with probabilities of its own for every row, those that are zero left out."""
        shift = np.repeat(self.indptr[:-1] - self.data_ptr, np.diff(self.indptr))
        data = self.probabilities[np.arange(self.n_entries) - shift]
        kept = data != 0
        return MDP(
            state_ptr=self.state_ptr,
            indptr=cumulated(kept)[self.indptr],
            indices=self.indices[kept],
            data=data[kept],
            reward=self.reward.copy(),
            terminal_reward=self.terminal_reward,
            layer_ptr=self.layer_ptr,
            action=self.action,
        )


def _import_discrete_dp() -> Any:
    try:
        import quantecon
    except ModuleNotFoundError as error:
        if error.name != "quantecon":
            raise
        text = 'QuantEcon is missing, install with: pip install "punish-fast[bench]"'
        raise ModuleNotFoundError(text, name="quantecon") from None
    return quantecon.markov.DiscreteDP


def check_arrays(mdp: Process) -> None:
    """Insist on the right dtypes and lengths, pointers that ascend and finite rewards, which takes little time.

    Raises:
        ModelError: one has not.
    """
    _check_array("state_ptr", mdp.state_ptr, np.int64)
    _check_array("indptr", mdp.indptr, np.int64)
    _check_array("layer_ptr", mdp.layer_ptr, np.int64)
    _check_array("terminal_reward", mdp.terminal_reward, np.float64)
    _check_pointer("layer_ptr", mdp.layer_ptr, mdp.n_states, least=0)
    _check_pointer("state_ptr", mdp.state_ptr, mdp.n_rows, least=1)
    _check_pointer("indptr", mdp.indptr, len(mdp.indices), least=1)
    _check_array("indices", mdp.indices, np.int32, len(mdp.probabilities) if mdp.data_ptr is None else None)
    _check_array("data" if mdp.data_ptr is None else "probabilities", mdp.probabilities, np.float64)
    _check_array("reward", mdp.reward, np.float64, mdp.n_rows)
    _check_array("action", mdp.action, np.uint8, mdp.n_rows)
    if mdp.n_layers < 1:
        raise ModelError("layer_ptr: there is no layer")
    for name, reward in (("reward", mdp.reward), ("terminal_reward", mdp.terminal_reward)):
        if not np.isfinite(reward).all():
            raise ModelError(f"{name}: a value is not finite")
    if mdp.data_ptr is not None:
        _check_shared(mdp.indptr, mdp.data_ptr, len(mdp.probabilities))


def _check_shared(indptr: np.ndarray, data_ptr: np.ndarray, n_probabilities: int) -> None:
    _check_array("data_ptr", data_ptr, np.int64, len(indptr) - 1)
    begin = 0
    for lengths in _lengths(indptr):
        end = begin + len(lengths)
        first, most = data_ptr[begin:end], indptr[begin:end]
        if (first < 0).any() or (first > most).any() or (first + lengths > n_probabilities).any():
            raise ModelError(
                f"data_ptr: must be from 0 to indptr, and each row end within {n_probabilities} probabilities"
            )
        begin = end


def check(mdp: MDP) -> MDP:
    """Return ``mdp`` if it is a Markov decision process.

    Raises:
        ModelError: an array has a wrong shape or dtype, pointers that do not ascend, columns out of range, or rows
            whose probabilities are negative, above one, or do not add up to one.
    """
    check_arrays(mdp)
    flaw = np.zeros(mdp.n_rows, dtype=np.uint8)
    args = (mdp.indptr, mdp.indices, mdp.data, mdp.n_columns, _SUM_TOLERANCE, flaw)
    for_chunks(_bellman.find_flaws, mdp.indptr, *args)
    worst = int(flaw.max(initial=0))
    if worst == _bellman.BAD_COLUMN:
        raise ModelError(f"indices: a column is not from 0 to {mdp.n_columns - 1}")
    if worst == _bellman.BAD_PROBABILITY:
        raise ModelError("data: a probability is not from 0 to 1")
    if worst == _bellman.BAD_SUM:
        raise ModelError("data: the probabilities of a row do not add up to 1")
    return mdp


def _lengths(ptr: np.ndarray) -> Iterator[np.ndarray]:
    """The differences of a pointer, block by block: a whole array of them would take fresh pages of memory."""
    return (np.diff(ptr[begin : begin + _BLOCK + 1]) for begin in range(0, len(ptr) - 1, _BLOCK))


def _check_array(name: str, array: np.ndarray, dtype: type, length: int | None = None) -> None:
    if array.ndim != 1 or array.dtype != dtype:
        raise ModelError(f"{name}: {array.dtype} {array.shape}, allowed is {np.dtype(dtype)} in one dimension")
    if length is not None and len(array) != length:
        raise ModelError(f"{name}: {len(array)} long, but must be {length}")


def _check_pointer(name: str, ptr: np.ndarray, end: int, least: int) -> None:
    if len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != end:
        raise ModelError(f"{name}: must begin with 0 and end with {end}")
    if any((lengths < least).any() for lengths in _lengths(ptr)):
        raise ModelError(f"{name}: must {'ascend' if least else 'not descend'}")
