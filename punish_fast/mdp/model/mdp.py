"""Sparse Markov decision processes (MDPs), in the layout of QuantEcon's state-action pairs and SciPy's CSR matrices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.mdp.arrays import construction, described_rows
from punish_fast.mdp.arrays.construction import ModelArrays, divisors, entries_of
from punish_fast.mdp.arrays.names import UNNAMED, Names, check_names, check_type, state_name
from punish_fast.mdp.arrays.row_sums import ROUNDING, ModelError, row_sums
from punish_fast.mdp.model import _bellman
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.process import NonzeroCount
from punish_fast.mdp.model.results import row_probabilities
from punish_fast.mdp.model.stored_process import StoredProcess
from punish_fast.mdp.model.validation import check_process, check_rows
from punish_fast.runtime.errors import check_allowed, shown
from punish_fast.runtime.lazy_modules import sparse
from punish_fast.runtime.parallel import for_chunks
from punish_fast.runtime.results import html_table


@dataclass(frozen=True, eq=False)
class MDP(StoredProcess):
    """A sparse Markov decision process.

    A state has one or more *rows*, one for each action. A row has a reward and a probability distribution over
    *columns*: the states, followed by absorbing *terminals*. A terminal either leads to itself and pays a reward at
    every step, or ends the episode with a value. The value of a terminal that pays a reward is ``reward / (1 -
    discount)``. Without a discount, the reward counts once, on entry. States are grouped into *layers*, runs of
    consecutive states that are updated together.

    State ``s`` has the rows ``r`` with ``state_ptr[s] <= r < state_ptr[s + 1]``. Row ``r`` leads to column
    ``indices[k]`` with probability ``data[k]`` for ``indptr[r] <= k < indptr[r + 1]``. A *compact* MDP stores
    probabilities shared by several rows only once: the probabilities of row ``r`` start at ``data[data_ptr[r]]``.

    The constructors ``from_*`` and `from_rows` check and normalize their input. Use `validate` to check arrays that are
    passed directly.

    Attributes:
        state_ptr: int64 ``[n_states + 1]``, row offsets of the states. Every state has at least one row.
        indptr: int64 ``[n_rows + 1]``, entry offsets of the rows.
        indices: int32 ``[nnz]``, columns.
        data: float64 ``[nnz]``, probabilities. In a compact MDP, the array can have any length and contain zeros.
        reward: float64 ``[n_rows]``, expected immediate rewards.
        terminal_reward: float64 ``[n_terminals]``, reward of each terminal, paid at every step or, without a discount,
            once on entry.
        layer_ptr: int64 ``[n_layers + 1]``, state offsets of the layers. A layer may be empty.
        action: uint8 ``[n_rows]``, action label of each row. The dtype is uint16 or uint32 if a label is above 255.
        data_ptr: int64 ``[n_rows]``, offset of each row's probabilities in ``data``, at most ``indptr[row]``, or None
            if the MDP is not compact.
        rows_pay_ends: True if the rewards of rows already contain the terminal's reward on entry (as in Punish). Total
            rewards without a discount then do not count this reward again.
        terminal_value: float64 ``[n_terminals]``, value of each terminal that ends the episode, at any discount, and 0
            for terminals with a reward. None if no terminal has a value.
        names: Names of states and actions for messages and results. By default, there are none.

    Examples:
        >>> state_ptr, indptr, layer_ptr = np.array([0, 1, 3]), np.array([0, 2, 3, 4]), np.array([0, 2])
        >>> indices, data = np.array([0, 1, 1, 0], dtype=np.int32), np.array([0.5, 0.5, 1.0, 1.0])
        >>> reward, action = np.array([1.0, 0.0, -0.5]), np.array([0, 0, 1], dtype=np.uint8)
        >>> MDP(state_ptr, indptr, indices, data, reward, np.zeros(0), layer_ptr, action)
        MDP(2 states, 3 rows, 4 entries)
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
    rows_pay_ends: bool = False
    terminal_value: np.ndarray | None = None
    names: Names = UNNAMED

    def __repr__(self) -> str:
        sizes = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.nnz:,} entries"
        sizes += f", {self.n_layers} layers" if self.n_layers > 1 else ""
        return f"MDP({sizes}{'' if self.data_ptr is None else ', compact'})"

    def _repr_html_(self) -> str:
        numbers = self.n_states, self.n_columns - self.n_states, self.n_rows, self.nnz
        return html_table(repr(self), {"part": ("states", "terminals", "rows", "transitions"), "number": numbers})

    @property
    def nbytes(self) -> int:
        """Size in bytes of all arrays except ``layer_ptr`` and the arrays of terminals."""
        arrays = (self.state_ptr, self.indptr, self.indices, self.data, self.reward, self.action, self.data_ptr)
        return sum(array.nbytes for array in arrays if array is not None)

    @cached_property
    def max_row_sum_error(self) -> float:
        """Largest absolute difference between 1 and the exact sum of a row, or infinity if a sum is not finite.

        The computation takes about as long as a sweep.
        """
        _, deviation = row_sums(self.indptr, self.data, self.data_ptr)
        largest = float(np.abs(deviation).max(initial=0))
        return largest if largest < np.inf else np.inf  # NaN counts as infinite

    def count_nonzero(self) -> NonzeroCount:
        """Return the numbers of nonzero probabilities in all rows and in the longest row.

        If the MDP is not compact, all stored entries are counted.

        Examples:
            >>> MDP.from_dense([[[0.5, 0.5], [0.0, 1.0]]], R=np.array([1.0, 0.0])).count_nonzero()
            NonzeroCount(total=3, longest=2)
        """
        lengths = np.diff(self.indptr)
        # Only compact MDPs are expected to store zeros.
        if self.data_ptr is not None and not self.data.all():
            for_chunks(_bellman.count_shared, self.indptr, self.indptr, self.data_ptr, self.data, lengths)
        return NonzeroCount(int(lengths.sum()), int(lengths.max(initial=0)))

    def expanded(self) -> MDP:
        """Return an equivalent MDP that is not compact and stores no zeros, or self if the MDP is not compact.

        Examples:
            >>> from dataclasses import replace
            >>> from punish_fast.mdp import from_rows
            >>> mdp = from_rows([[(0, {0: 0.5, 1: 0.5}), (1, {0: 0.5, 2: 0.5})]], terminals=[0, 1])
            >>> replace(mdp, data=mdp.data[:2], data_ptr=np.array([0, 0])).expanded().data
            array([0.5, 0.5, 0.5, 0.5])
        """
        if self.data_ptr is None:
            return self
        shift = np.repeat(self.indptr[:-1] - self.data_ptr, np.diff(self.indptr))
        return replace(self, data=self.data[np.arange(self.nnz) - shift], data_ptr=None).without_zeros()

    def in_one_layer(self) -> MDP:
        """Return the MDP with all states in one layer, sharing all other arrays, or self if it has one layer.

        Examples:
            >>> from punish_fast.mdp import from_rows
            >>> from_rows([[(1, {1: 1.0})], [(2, {2: 1.0})]], layers=[1, 1], terminals=[0]).in_one_layer().n_layers
            1
        """
        return self if self.n_layers == 1 else replace(self, layer_ptr=np.array([0, self.n_states], dtype=np.int64))

    def without_zeros(self) -> MDP:
        """Return the MDP without entries of probability 0, or self if it has none. The MDP must not be compact.

        Examples:
            >>> from dataclasses import replace
            >>> from punish_fast.mdp import from_rows
            >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})]], terminals=[0])
            >>> replace(mdp, data=np.array([0.0, 1.0])).without_zeros().indices
            array([1], dtype=int32)
        """
        if self.data.all():
            return self
        rows = self.to_scipy().copy()
        rows.eliminate_zeros()
        return replace(self, **entries_of(rows))

    def to_scipy(self) -> sparse.csr_array:
        """Return the probabilities as a SciPy CSR array ``[n_rows, n_columns]``, if possible without copying them.

        Examples:
            >>> MDP.from_dense([[[0.5, 0.5], [0.0, 1.0]]], R=np.array([1.0, 0.0])).to_scipy().toarray()
            array([[0.5, 0.5],
                   [0. , 1. ]])
        """
        mdp = self.expanded()
        # SciPy requires one dtype for both index arrays. Converting pointers copies less memory than converting
        # columns.
        indptr = mdp.indptr.astype(np.int32) if mdp.nnz <= np.iinfo(np.int32).max else mdp.indptr
        return sparse.csr_array((mdp.data, mdp.indices, indptr), shape=(mdp.n_rows, mdp.n_columns), copy=False)

    def under(self, policy: Any) -> MDP:
        """Return the Markov chain of a policy, an MDP with one row in each state.

        Args:
            policy: Probability of each row in its state, float64 ``[n_rows]``, or row of each state, int64
                ``[n_states]``, such as `Solution.choice`. A dictionary ``{state: action}`` or ``{state: {action:
                probability}}`` with the names of all states is also allowed.

        Returns:
            The chain. Its action labels are those of the first row that the policy takes in each state.

        Raises:
            SolveError: If ``policy`` is invalid, or mixes actions into a transition probability below 2.23e-308.
            ModelError: If the sum of a row's probabilities is not finite.

        Examples:
            >>> from punish_fast.mdp import from_rows
            >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
            >>> chain = mdp.under(np.array([1.0, 0.75, 0.25]))
            >>> chain.to_scipy().toarray(), chain.reward
            (array([[0.5 , 0.5 ],
                   [0.25, 0.75]]), array([ 1.   , -0.125]))
        """
        policy = row_probabilities(self, policy)
        begins, lengths = self.state_ptr[:-1], np.diff(self.state_ptr)
        policy = policy / np.repeat(np.add.reduceat(policy, begins), lengths)
        taken = np.flatnonzero(policy)
        state_of = np.repeat(np.arange(self.n_states), lengths)[taken]
        mixture = sparse.csr_array((policy[taken], (state_of, taken)), shape=(self.n_states, self.n_rows))
        # Only states in which the policy mixes rows have rounded probabilities and rewards.
        rows = sparse.csr_array(mixture @ self.to_scipy())
        rows.sum_duplicates()
        is_mixed = np.diff(mixture.indptr) > 1
        vanished = (rows.data < np.finfo(np.float64).tiny) & np.repeat(is_mixed, np.diff(rows.indptr))
        if vanished.any():
            name = state_name(self.names, np.searchsorted(rows.indptr, vanished.argmax(), side="right") - 1)
            told = "products of the probabilities of rows and of transitions must be at least 2.23e-308"
            raise SolveError(f"policy: a probability in state {name} is too small for floating point; {told}")
        found = entries_of(rows) | {"state_ptr": np.arange(self.n_states + 1), "data_ptr": None}
        found |= {"reward": np.asarray(mixture @ self.reward), "action": self.action[taken[mixture.indptr[:-1]]]}
        return normalized(replace(self, **found))

    @classmethod
    def from_function(
        cls,
        model: Callable[[Any], Any],
        initial: Iterable[Hashable],
        *,
        normalize: bool = False,
        max_states: int = 10_000_000,
        progress: Callable[[int, int], None] | None = None,
    ) -> MDP:
        """Build an MDP from a function that describes one state.

        States and actions may be any hashable objects. They become the names of the MDP.

        Args:
            model: ``model(state)`` returns either a number, the value at which the episode ends in this state, or a
                mapping from each action to a pair ``(reward, successors)``. Successors are a mapping ``{successor:
                probability}``, a list of pairs ``(successor, probability)``, or a list of triples ``(successor,
                probability, reward)``. The rewards of triples are added to the reward of the action.
            initial: Initial states. The MDP consists of all states that the model reaches from them.
            normalize: Accept rows with any positive sum, such as counts. By default, the sum must be within 1e-12 of 1.
            max_states: Maximum number of states and terminals.
            progress: Called as ``progress(n_described, n_found)`` every 16,384 states and at the end, with numbers of
                states and terminals.

        Returns:
            The MDP, with all states in one layer, in the order in which they were found. Rows are in the order of the
            mapping.

        Raises:
            ModelError: If the model returns invalid values or reaches more than ``max_states`` states, ``initial`` or
                ``max_states`` is invalid, or no initial state has actions. For an invalid value, the message contains
                the state and the action.

        Examples:
            A gambler bets some or all of his coins, and wins with probability 0.4, until he has 0 or 4 coins:

            >>> from punish_fast.mdp import solve
            >>> def model(coins):
            ...     if coins in (0, 4):
            ...         return float(coins == 4)
            ...     bets = range(1, min(coins, 4 - coins) + 1)
            ...     return {bet: (0.0, {coins + bet: 0.4, coins - bet: 0.6}) for bet in bets}
            >>> mdp = MDP.from_function(model, initial=[2])
            >>> mdp.names.states, solve(mdp, discount=1).v.round(3)
            ([2, 3, 1, 4, 0], array([0.4 , 0.64, 0.16]))
        """
        return process_of(described_rows.from_function(model, initial, normalize, max_states, progress))

    @classmethod
    def from_scipy(
        cls,
        transitions: Any,
        reward: Any,
        state_ptr: Any,
        terminal_reward: Any = (),
        *,
        terminal_value: Any = (),
        normalize: bool = False,
        names: Names = UNNAMED,
    ) -> MDP:
        """Build an MDP from a sparse matrix whose rows are state-action pairs.

        A row whose exact sum differs from 1 by more than rounding is divided by that sum. Other rows are not changed.
        Rewards and arrays of the matrix that already have the right order and dtype are not copied.

        Args:
            transitions: Probabilities, a SciPy sparse matrix or array ``[n_rows, n_states + n_terminals]`` in any
                format, with columns in any order. Duplicate entries are added up.
            reward: ``[n_rows]``, expected immediate rewards.
            state_ptr: ``[n_states + 1]``, row offsets of the states.
            terminal_reward: ``[n_terminals]``, reward of each terminal at every step. By default, all are 0.
            terminal_value: ``[n_terminals]``, value of each terminal at which the episode ends. By default, all are 0.
            normalize: Accept rows with any positive sum, such as counts. By default, the sum must be within 1e-12 of 1.
            names: Names of states and actions. The action label of a row is its index in the state.

        Returns:
            The MDP, with all states in one layer. The action labels are 0, 1, ... in each state.

        Raises:
            ModelError: If the arrays do not form a valid MDP. For invalid probabilities, the message contains the row.

        Examples:
            >>> from scipy.sparse import csr_array
            >>> transitions = csr_array([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
            >>> MDP.from_scipy(transitions, reward=[1, 0, -0.5], state_ptr=[0, 1, 3])
            MDP(2 states, 3 rows, 4 entries)
        """
        ends, names = (terminal_reward, terminal_value), check_type(names)
        return process_of(construction.from_scipy(transitions, reward, state_ptr, ends, None, normalize, names))

    @classmethod
    def from_dense(cls, P: Any, R: Any, *, normalize: bool = False, names: Names = UNNAMED) -> MDP:  # noqa: N803
        """Build an MDP in which all states have the same actions, from arrays in the convention of pymdptoolbox.

        Args:
            P: Transition probabilities, an array ``[n_actions, n_states, n_states]`` or a list of sparse matrices
                ``[n_states, n_states]``, one for each action.
            R: Rewards of states ``[n_states]``, of state-action pairs ``[n_states, n_actions]`` (minus infinity
                excludes an action), or of transitions ``[n_actions, n_states, n_states]``, as an array or a list. A
                list of vectors ``[n_states]``, one for each action, is also allowed. If there are as many states as
                actions, a list of vectors is ambiguous and not allowed.
            normalize: Accept rows with any positive sum, such as counts. By default, the sum must be within 1e-12 of 1.
            names: Names of states and actions.

        Returns:
            The MDP, with all states in one layer and without terminals. The action labels are indices into ``P``.

        Raises:
            ModelError: If the arrays do not form a valid MDP, or ``R`` is ambiguous. For an invalid reward or
                probability, the message contains the state.

        Examples:
            >>> P = [[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]]
            >>> R = np.array([[1.0, 0.5], [0.0, -0.5]])
            >>> MDP.from_dense(P, R)
            MDP(2 states, 4 rows, 5 entries)
        """
        return process_of(construction.from_dense(P, R, normalize, check_type(names)))

    @classmethod
    def from_quantecon(cls, ddp: Any, *, normalize: bool = False) -> MDP:
        """Build an MDP from a ``quantecon.markov.DiscreteDP`` in either form, ignoring its discount ``ddp.beta``.

        Args:
            ddp: The ``DiscreteDP``. Actions with a reward of minus infinity are left out.
            normalize: Accept rows with any positive sum, such as counts. By default, the sum must be within 1e-12 of 1.

        Returns:
            The MDP, with all states in one layer and without terminals. The action labels are QuantEcon's indices.

        Raises:
            ModelError: If ``ddp`` is not a valid MDP. For an invalid reward or probability, the message contains the
                state.

        Examples:
            >>> from quantecon.markov import DiscreteDP
            >>> R, Q = np.array([[1.0, -np.inf]]), np.array([[[1.0], [1.0]]])
            >>> MDP.from_quantecon(DiscreteDP(R, Q, beta=0.9))
            MDP(1 states, 1 rows, 1 entries)
        """
        return process_of(construction.from_quantecon(ddp, normalize))

    @classmethod
    def from_gymnasium(cls, env: Any, *, normalize: bool = False, names: Names = UNNAMED) -> MDP:
        """Build an MDP from a Gymnasium environment with a transition table ``P``, such as FrozenLake or Taxi.

        Args:
            env: The environment, or any object with a table ``P`` of this form. ``P[state][action]`` lists outcomes
                ``(probability, successor, reward, terminated)``. Outcomes that end an episode lead to a single terminal
                with reward 0. The successor of any other outcome must be a state of the table.
            normalize: Accept rows with any positive sum, such as counts. By default, the sum must be within 1e-12 of 1.
            names: Names of states and actions.

        Returns:
            The MDP, with all states in one layer. The environment defines the action labels.

        Raises:
            ModelError: If the table is missing or does not define a valid MDP. The message contains the invalid value.

        Examples:
            >>> import gymnasium
            >>> MDP.from_gymnasium(gymnasium.make("FrozenLake-v1"))
            MDP(16 states, 64 rows, 146 entries)
        """
        return process_of(described_rows.from_gymnasium(env, normalize, check_type(names)))


def process_of(arrays: ModelArrays) -> MDP:
    """Build an MDP from arrays, without entries of probability 0."""
    mdp = MDP(**arrays).without_zeros()
    check_process(mdp)
    check_names(mdp.names, mdp.n_states, mdp.n_columns, int(mdp.action.max(initial=0)) + 1)
    # Sum the rows now, so that solvers need not do so.
    return normalized(mdp)


def check_arrays(mdp: Any, maximize: object = True) -> None:
    """Check the type of an MDP, its arrays except for columns and probabilities, and the option ``maximize``."""
    ways = "build(space), MDP.from_dense(P, R), MDP.from_scipy, MDP.from_function, MDP.from_gymnasium or from_rows"
    check_allowed(isinstance(mdp, MDP), ModelError, "mdp", type(mdp).__name__, f"an MDP, such as {ways}")
    check_allowed(isinstance(maximize, bool | np.bool_), SolveError, "maximize", shown(maximize), "True or False")
    check_process(mdp)


def validate(mdp: MDP) -> MDP:
    """Return a Markov decision process after checking all its arrays.

    Args:
        mdp: The MDP. The sum of a row may differ from 1 by up to 1e-12 (see `MDP.max_row_sum_error`).

    Raises:
        ModelError: If an array has the wrong shape or dtype, pointers do not ascend, a reward is not finite, a column
            is out of range, probabilities of a row are negative, above 1, or do not add up to 1, a terminal has both a
            reward and a value, or names are invalid. The message begins with the name of the array.

    Examples:
        >>> mdp = MDP.from_dense([[[0.5, 0.5], [0.0, 1.0]]], R=np.array([1.0, 0.0]))
        >>> from dataclasses import replace
        >>> validate(replace(mdp, data=np.array([0.5, 1.5, 1.0])))
        Traceback (most recent call last):
        punish_fast.mdp.arrays.row_sums.ModelError: data: row 0 (of state 0) has 1.5 in column 1; it must be a ...
    """
    check_arrays(mdp)
    check_names(mdp.names, mdp.n_states, mdp.n_columns, int(mdp.action.max(initial=0)) + 1)
    check_rows(mdp)
    return mdp


def from_rows(
    states: Sequence[Sequence[tuple[float, dict[int, float]]]],
    layers: Sequence[int] | None = None,
    terminals: Sequence[float] = (),
    normalize: bool = False,
    terminal_value: Sequence[float] = (),
    names: Names = UNNAMED,
) -> MDP:
    """Build a small MDP from lists.

    Args:
        states: A list of rows for each state. A row is a pair of a reward and a dictionary that maps successors to
            probabilities. Successors from ``len(states)`` on are the terminals.
        layers: Number of states in each layer. By default, all states form one layer.
        terminals: Reward of each terminal at every step. By default, all are 0.
        normalize: Accept rows with any positive sum, such as counts. By default, the sum must be within 1e-12 of 1.
        terminal_value: Value of each terminal at which the episode ends. By default, all are 0.
        names: Names of states and actions. The action label of a row is its index in the state.

    Returns:
        The MDP. The action labels are 0, 1, ... in each state.

    Raises:
        ModelError: If the lists do not form a valid MDP. For an invalid row, the message contains the state.

    Examples:
        State 0 has one row, state 1 has two rows, and column 2 is a terminal:

        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {2: 1.0}), (-0.5, {0: 1.0})]], terminals=[0])
        >>> mdp
        MDP(2 states, 3 rows, 4 entries)
        >>> mdp.state_ptr, mdp.reward
        (array([0, 1, 3]), array([ 1. ,  0. , -0.5]))
    """
    ends, names = (terminals, terminal_value), check_type(names)
    return process_of(described_rows.from_rows(states, layers, ends, normalize, names=names))


def normalized(mdp: MDP) -> MDP:
    """Return an MDP whose rows add up to 1 except for rounding: ``mdp`` itself, or a copy that is not compact."""
    if mdp.max_row_sum_error <= ROUNDING:
        return mdp
    if mdp.max_row_sum_error == np.inf:
        raise ModelError("data: a probability is not from 0 to 1")
    mdp = mdp.expanded()
    return replace(mdp, data=mdp.data / np.repeat(divisors(mdp.indptr, mdp.data), np.diff(mdp.indptr)))


def negated(mdp: MDP) -> MDP:
    """Return an MDP with negated rewards and terminal values. Its maximum is minus the minimum of ``mdp``."""
    value = None if mdp.terminal_value is None else -mdp.terminal_value
    return replace(mdp, reward=-mdp.reward, terminal_reward=-mdp.terminal_reward, terminal_value=value)
