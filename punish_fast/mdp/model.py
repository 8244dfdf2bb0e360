"""A sparse Markov decision process.

A state offers *rows*, one for each action; a row is a probability distribution over states and a reward. States are
grouped into *layers*, runs of consecutive states that are updated together. Behind the states stand absorbing
*terminals*: each leads to itself for ever and pays its reward every time, so it is worth ``reward / (1 - discount)``;
without a discount it ends play and is worth nothing.

The arrays are those of QuantEcon's state-action pairs and of SciPy's CSR matrices: row ``r`` of state ``s``, for
``state_ptr[s] <= r < state_ptr[s + 1]``, leads to column ``indices[k]`` with probability ``data[k]``, for ``indptr[r]
<= k < indptr[r + 1]``; columns from ``n_states`` on are the terminals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.chunks import balanced_chunks, for_chunks, for_each
from punish_fast.mdp import _bellman

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_SUM_TOLERANCE = 1e-12


class ModelError(ValueError):
    """Arrays that are no Markov decision process; the message names the array."""


@dataclass(frozen=True, eq=False)
class MDP:
    """A sparse Markov decision process.

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
    def n_states(self) -> int:
        """States, terminals left out."""
        return len(self.state_ptr) - 1

    @property
    def n_rows(self) -> int:
        """State-action pairs."""
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        """Stored probabilities."""
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
        arrays = (self.state_ptr, self.indptr, self.indices, self.data, self.reward, self.action)
        return sum(array.nbytes for array in arrays)

    @cached_property
    def longest_rows(self) -> np.ndarray:
        """int64 ``[n_layers]``, entries of the longest row of each layer."""
        ends = self.state_ptr[self.layer_ptr]
        longest = [np.diff(self.indptr[begin : end + 1]).max(initial=0) for begin, end in pairwise(ends)]
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


def _import_discrete_dp() -> Any:
    try:
        import quantecon
    except ModuleNotFoundError as error:
        if error.name != "quantecon":
            raise
        text = 'QuantEcon is missing, install with: pip install "punish-fast[bench]"'
        raise ModuleNotFoundError(text, name="quantecon") from None
    return quantecon.markov.DiscreteDP


def check_arrays(mdp: MDP) -> None:
    """Insist that the arrays have the right dtypes and lengths and the pointers ascend, which takes little time.

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
    _check_array("indices", mdp.indices, np.int32, len(mdp.data))
    _check_array("data", mdp.data, np.float64)
    _check_array("reward", mdp.reward, np.float64, mdp.n_rows)
    _check_array("action", mdp.action, np.uint8, mdp.n_rows)


def check(mdp: MDP) -> MDP:
    """Return ``mdp`` if it is a Markov decision process.

    Raises:
        ModelError: an array has a wrong shape or dtype, pointers that do not ascend, columns out of range, or rows
            whose probabilities are negative, above one, or do not add up to one.
    """
    check_arrays(mdp)
    if not np.isfinite(mdp.reward).all():
        raise ModelError("reward: a value is not finite")
    if not np.isfinite(mdp.terminal_reward).all():
        raise ModelError("terminal_reward: a value is not finite")
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


def _check_array(name: str, array: np.ndarray, dtype: type, length: int | None = None) -> None:
    if array.ndim != 1 or array.dtype != dtype:
        raise ModelError(f"{name}: {array.dtype} {array.shape}, allowed is {np.dtype(dtype)} in one dimension")
    if length is not None and len(array) != length:
        raise ModelError(f"{name}: {len(array)} long, but must be {length}")


def _check_pointer(name: str, ptr: np.ndarray, end: int, least: int) -> None:
    if len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != end:
        raise ModelError(f"{name}: must begin with 0 and end with {end}")
    if len(ptr) > 1 and np.diff(ptr).min() < least:
        raise ModelError(f"{name}: must {'ascend' if least else 'not descend'}")
