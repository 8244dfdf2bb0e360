"""A sparse Markov decision process.

A state offers *rows*, one for each action; a row is a reward and a probability distribution over successors. States
are grouped into *layers*, runs of consecutive states that are updated together. After the states come absorbing
*terminals*: each leads to itself and pays its reward at every step, so it is worth ``reward / (1 - discount)``; without
a discount it ends play and is worth nothing.

The arrays are those of QuantEcon's state-action pairs and of SciPy's CSR matrices: row ``r`` of state ``s``, for
``state_ptr[s] <= r < state_ptr[s + 1]``, leads to column ``indices[k]`` with probability ``data[k]``, for ``indptr[r]
<= k < indptr[r + 1]``; columns from ``n_states`` on are the terminals. A *compact* process stores probabilities that
several rows have in common once, to save memory: those of row ``r`` begin at ``data[data_ptr[r]]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.mdp import _bellman, _probabilities
from punish_fast.mdp.conversion.row_sums import SUM_TOLERANCE, describe_flaw, largest_deviation
from punish_fast.mdp.process import NonzeroCount, Process, StoredBackups
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Kernels number rows by uint32.
_MOST_ROWS = 2**32 - 1


class ModelError(PunishFastError, ValueError):
    """Input that is not a Markov decision process; the message names array, row and value."""


@dataclass(frozen=True, eq=False)
class MDP(Process):
    """A sparse Markov decision process.

    The constructors ``from_*`` check and normalize their input. Arrays passed directly are used as they are; `check`
    validates them.

    Attributes:
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin; every state has at least one.
        indptr: int64 ``[n_rows + 1]``, where the columns of each row begin.
        indices: int32 ``[n_entries]``, columns.
        data: float64 ``[n_entries]``, probabilities; of any length if the process is compact, and then some may be 0.
        reward: float64 ``[n_rows]``, expected immediate rewards.
        terminal_reward: float64 ``[n_terminals]``, the reward of each terminal at every step.
        layer_ptr: int64 ``[n_layers + 1]``, where the states of each layer begin; a layer may be empty.
        action: uint8 ``[n_rows]``, a label for the action of each row; uint16 or uint32 if labels are above 255.
        data_ptr: int64 ``[n_rows]``, where the probabilities of each row begin, at most ``indptr``; None if the process
            is not compact.
    """

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray
    data_ptr: np.ndarray | None = None

    def __repr__(self) -> str:
        sizes = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.n_entries:,} entries, {self.n_layers} layers"
        return f"MDP({sizes}{'' if self.data_ptr is None else ', compact'})"

    @property
    def n_entries(self) -> int:
        """Stored columns."""
        return len(self.indices)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.state_ptr, self.indptr, self.indices, self.data, self.reward, self.action, self.data_ptr)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def backups(self) -> StoredBackups:
        """How its states are backed up; made anew, since a cycle of references would keep arrays in memory."""
        return StoredBackups(self)

    @cached_property
    def longest_rows(self) -> np.ndarray:
        """int64 ``[n_layers]``, entries of the longest row of each layer."""
        longest = [self.longest_of_states[begin:end].max(initial=0) for begin, end in pairwise(self.layer_ptr.tolist())]
        return np.array(longest, dtype=np.int64)

    @cached_property
    def longest_of_states(self) -> np.ndarray:
        """int64 ``[n_states]``, entries of the longest row of each state."""
        longest = np.empty(self.n_states, dtype=np.int64)
        for_chunks(_bellman.measure_states, self.state_ptr, self.state_ptr, self.indptr, longest)
        return longest

    @cached_property
    def deviation(self) -> float:
        """The largest absolute difference between 1 and the exact sum of a row; infinite if one is not finite."""
        return largest_deviation(self)

    @cached_property
    def _successors(self) -> np.ndarray:
        """int64 ``[n_layers, 2]``, the lowest and highest successor of each layer."""
        ends = np.empty((self.n_layers, 2), dtype=np.int64)
        for layer in range(self.n_layers):
            chunks = self.chunks(layer)
            low, high = np.empty((2, len(chunks) - 1), dtype=np.int64)
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

    def nonzeros(self) -> NonzeroCount:
        """How many successors rows have; only a compact process may store zeros, which do not count."""
        lengths = np.diff(self.indptr)
        if self.data_ptr is not None and not self.data.all():
            for_chunks(_bellman.count_shared, self.indptr, self.indptr, self.data_ptr, self.data, lengths)
        return NonzeroCount(int(lengths.sum()), int(lengths.max(initial=0)))

    def expanded(self) -> MDP:
        """The same process with each row's probabilities stored apart, without zeros; itself if not compact."""
        if self.data_ptr is None:
            return self
        shift = np.repeat(self.indptr[:-1] - self.data_ptr, np.diff(self.indptr))
        data = self.data[np.arange(self.n_entries) - shift]
        return replace(self, data=data, data_ptr=None).without_zeros()

    def in_one_layer(self) -> MDP:
        """The same process with all states in one layer."""
        return replace(self, layer_ptr=np.array([0, self.n_states], dtype=np.int64))

    def without_zeros(self) -> MDP:
        """The same process, if not compact, without columns of probability 0; itself if there are none."""
        if self.data.all():
            return self
        kept = self.data != 0
        return replace(self, indptr=cumulated(kept)[self.indptr], indices=self.indices[kept], data=self.data[kept])

    def to_scipy(self) -> csr_array:
        """Return the transitions as a SciPy matrix ``[n_rows, n_columns]``, which shares arrays if possible."""
        from scipy.sparse import csr_array

        mdp = self.expanded()
        # SciPy wants both index arrays to have one dtype, and the pointers are far fewer.
        indptr = mdp.indptr.astype(np.int32) if mdp.n_entries <= np.iinfo(np.int32).max else mdp.indptr
        return csr_array((mdp.data, mdp.indices, indptr), shape=(mdp.n_rows, mdp.n_columns), copy=False)

    def to_quantecon(self, discount: float) -> Any:
        """Return the process as a ``quantecon.markov.DiscreteDP`` in state-action pairs, with a discount from 0 to 1.

        Terminals become the last states, each with one row that leads to itself, pays the terminal's reward and has
        action 0; the actions of all other rows are those in ``action``.

        Raises:
            ModuleNotFoundError: QuantEcon is not installed; the message says how to install it.
            ValueError: the discount is out of range.
        """
        from punish_fast.mdp.conversion.discrete_dp import to_quantecon

        return to_quantecon(self, discount)

    @classmethod
    def from_scipy(
        cls, transitions: Any, reward: Any, state_ptr: Any, terminal_reward: Any = (), *, normalize: bool = False
    ) -> MDP:
        """Build a process from a sparse matrix whose rows are state-action pairs.

        Rows whose exact sum differs from 1 by more than rounding are divided by it. Other rows are not changed. Arrays
        that already have the right order and dtype are shared.

        Args:
            transitions: ``[n_rows, n_states + n_terminals]``, probabilities: a sparse matrix or array of SciPy in any
                format, with columns in any order. Entries of equal row and column are added.
            reward: ``[n_rows]``, expected immediate rewards.
            state_ptr: ``[n_states + 1]``, where the rows of each state begin.
            terminal_reward: ``[n_terminals]``, the reward of each terminal at every step.
            normalize: Accept rows of any positive sum, such as probabilities in single precision or counts. By default
                the sum must be 1 within 1e-12.

        Raises:
            ModelError: If the arrays are not a Markov decision process. The message names row, column and value.
        """
        from punish_fast.mdp.conversion.construction import from_scipy

        return from_scipy(transitions, reward, state_ptr, terminal_reward, normalize=normalize)

    @classmethod
    def from_dense(cls, P: Any, R: Any, *, normalize: bool = False) -> MDP:  # noqa: N803 - as in pymdptoolbox
        """Build a process whose states have the same actions, in the convention of pymdptoolbox.

        Args:
            P: ``[n_actions, n_states, n_states]``, or a list of sparse matrices ``[n_states, n_states]``.
            R: Rewards of states ``[n_states]``, of state-action pairs ``[n_states, n_actions]``, where minus infinity
                forbids an action, or of transitions ``[n_actions, n_states, n_states]``, also as a list. Lists of
                vectors ``[n_states]`` by action are accepted if the numbers of actions and states differ.
            normalize: Accept rows of any positive sum, as in `from_scipy`.

        Raises:
            ModelError: If the arrays are not a Markov decision process, or ``R`` is ambiguous. The message names
                action, state and value.
        """
        from punish_fast.mdp.conversion.construction import from_dense

        return from_dense(P, R, normalize)

    @classmethod
    def from_quantecon(cls, ddp: Any, *, normalize: bool = False) -> MDP:
        """Build a process from a ``quantecon.markov.DiscreteDP`` in either form, without its discount ``ddp.beta``.

        Actions whose reward is minus infinity are left out; ``action`` has the numbers of the others. Pass
        ``normalize`` to accept rows of any positive sum, as in `from_scipy`.

        Raises:
            ModelError: If ``ddp`` is not a Markov decision process. The message names action, state and value.
        """
        from punish_fast.mdp.conversion.discrete_dp import from_quantecon

        return from_quantecon(ddp, normalize)

    @classmethod
    def from_gymnasium(cls, env: Any, *, normalize: bool = False) -> MDP:
        """Build a process from an environment of Gymnasium with a table ``P``, such as FrozenLake or Taxi.

        ``env.unwrapped.P[state][action]`` lists outcomes ``(probability, successor, reward, terminated)``. Outcomes
        that end an episode lead to the one terminal, which pays nothing. The successor of any other outcome must be a
        state of the table. Pass ``normalize`` to accept rows of any positive sum, as in `from_scipy`.

        Raises:
            ModelError: If there is no such table, or it is not a Markov decision process. The message names the value.
        """
        from punish_fast.mdp.conversion.row_lists import from_gymnasium

        return from_gymnasium(env, normalize)


def from_rows(
    states: Sequence[Sequence[tuple[float, dict[int, float]]]],
    layers: Sequence[int] | None = None,
    terminals: Sequence[float] = (),
    normalize: bool = False,
) -> MDP:
    """Build a small process from lists.

    Args:
        states: For each state its rows: the reward, and the probability of each successor. Successors from
            ``len(states)`` on are the terminals.
        layers: The number of states of each layer; by default all states form one.
        terminals: The reward of each terminal at every step.
        normalize: Accept rows of any positive sum, as in `MDP.from_scipy`.

    Raises:
        ModelError: If the lists are not a Markov decision process. The message names state, row and value.
    """
    from punish_fast.mdp.conversion.row_lists import from_rows

    return from_rows(states, layers, terminals, normalize)


def check_arrays(mdp: object) -> None:
    """Check dtypes, lengths, pointers and rewards, which takes little time."""
    if not isinstance(mdp, MDP):
        raise ModelError(f"mdp: {type(mdp).__name__} is not allowed, it must be an MDP, such as build(space) makes")
    _check_array("state_ptr", mdp.state_ptr, np.int64)
    _check_array("indptr", mdp.indptr, np.int64)
    n_rows = len(mdp.indptr) - 1
    if n_rows > _MOST_ROWS:
        raise ModelError(f"indptr: {n_rows:,} rows, allowed are {_MOST_ROWS:,}")
    _check_array("layer_ptr", mdp.layer_ptr, np.int64)
    _check_array("terminal_reward", mdp.terminal_reward, np.float64)
    _check_pointer("layer_ptr", mdp.layer_ptr, mdp.n_states, least=0)
    _check_pointer("state_ptr", mdp.state_ptr, n_rows, least=1)
    _check_pointer("indptr", mdp.indptr, len(mdp.indices), least=1)
    _check_array("indices", mdp.indices, np.int32, len(mdp.data) if mdp.data_ptr is None else None)
    _check_array("data", mdp.data, np.float64)
    _check_array("reward", mdp.reward, np.float64, n_rows)
    is_wider = mdp.action.dtype in (np.uint16, np.uint32)
    _check_array("action", mdp.action, mdp.action.dtype if is_wider else np.uint8, n_rows)
    if mdp.n_layers < 1:
        raise ModelError("layer_ptr: there is no layer")
    for name, reward in (("reward", mdp.reward), ("terminal_reward", mdp.terminal_reward)):
        if not np.isfinite(reward).all():
            raise ModelError(f"{name}: a value is not finite")
    if mdp.data_ptr is not None:
        _check_array("data_ptr", mdp.data_ptr, np.int64, n_rows)
        within = (mdp.data_ptr >= 0) & (mdp.data_ptr <= mdp.indptr[:-1])
        if not (within & (mdp.data_ptr + np.diff(mdp.indptr) <= len(mdp.data))).all():
            told = f"must be from 0 to indptr, and each row end within {len(mdp.data)} probabilities"
            raise ModelError(f"data_ptr: {told}")


def check(mdp: MDP) -> MDP:
    """Validate a Markov decision process completely, and return it unchanged.

    The probabilities of a row may miss 1 by 1e-12; `MDP.deviation` is how much they do.

    Raises:
        ModelError: If an array has a wrong shape or dtype, pointers do not ascend, a column is out of range, or the
            probabilities of a row are negative, above 1, or do not add up to 1. The message names row and value.
    """
    check_arrays(mdp)
    flaw = np.zeros(mdp.n_rows, dtype=np.uint8)
    args = (mdp.indptr, mdp.data_ptr, mdp.indices, mdp.data, mdp.n_columns, SUM_TOLERANCE, flaw)
    for_chunks(_probabilities.find_flaws, mdp.indptr, *args)
    if flaw.any():
        raise ModelError(describe_flaw(mdp, int(flaw.argmax()), int(flaw.max())))
    return mdp


def _check_array(name: str, array: np.ndarray, dtype: Any, length: int | None = None) -> None:
    if array.ndim != 1 or array.dtype != dtype:
        raise ModelError(f"{name}: {array.dtype} {array.shape}, allowed is {np.dtype(dtype)} in one dimension")
    if length is not None and len(array) != length:
        raise ModelError(f"{name}: {len(array)} long, but must be {length}")


def _check_pointer(name: str, ptr: np.ndarray, end: int, least: int) -> None:
    if len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != end:
        raise ModelError(f"{name}: must begin with 0 and end with {end}")
    if ((ptr[1:] <= ptr[:-1]) if least else (ptr[1:] < ptr[:-1])).any():
        raise ModelError(f"{name}: must {'ascend' if least else 'not descend'}")
