"""Transition tensor of a game against an enemy, as a Markov decision process.

Entries are first counted, which requires only the rules, and then filled (``row_batches.py``). Entries with probability
0 under the enemy's policy are dropped at the end.

In a compact tensor, rows share probabilities, which reduces the memory of transitions by about a quarter. Entries with
probability 0 are retained, so the sparsity pattern is the same for all enemies.
"""

from collections.abc import Callable

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Solution
from punish_fast.mdp.objectives.solver import SWEEPS
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states import _redeal
from punish_fast.punish.states.space import STATES, Progress, StateSpace, empty_space
from punish_fast.punish.transitions import _tensor
from punish_fast.punish.transitions._tensor import TensorRows
from punish_fast.punish.transitions.row_batches import RowBuilder
from punish_fast.runtime._jit import threads
from punish_fast.runtime.compilation.kernel_files import KernelGroup, compile_kernels
from punish_fast.runtime.limits import require_memory

OnLayer = Callable[[MDP, int], None]

TERMINAL_REWARD = np.array([1.0, -1.0])


def build(space: StateSpace, policy: np.ndarray | None = None, on_layer: OnLayer | None = None) -> MDP:
    """Build the Markov decision process of one player against an enemy.

    Rows have the same order as ``space.action``. Columns ``n_states`` and ``n_states + 1`` are win and loss, with
    rewards +1 and -1. Within a row, columns ascend.

    Args:
        space: States under the information model ``memoryless``.
        policy: Enemy's policy, float64 ``[n_rows]``, probability of each action in ``space.action``. None stands for
            the uniform policy.
        on_layer: Called as ``on_layer(mdp, number)`` when the rows of a layer are complete, for example to save these
            rows. If ``policy`` is not None, ``on_layer`` is called for all layers at the end.

    Returns:
        The process. Its optimal values at discount 1 are ``2 p - 1`` for a maximum win probability ``p``.

    Raises:
        PolicyError: If the policy is invalid for these states.
        InformationError: If the information model is not ``memoryless``.
        MemoryError: If the tensor does not fit into memory.

    Examples:
        >>> from punish_fast import StateSpace, build, load_rules, solve
        >>> mdp = build(StateSpace(load_rules("tiny")))
        >>> mdp
        MDP(558 states, 911 rows, 4,111 entries, 3 layers)
        >>> solution = solve(mdp, discount=1.0)
        >>> round(float(solution.v[0]), 4)
        0.9657
    """
    builder = RowBuilder(space, policy)
    rows = _allocate(builder, is_compact=False)
    if policy is not None:
        n_bytes = 24 * len(rows.indices) + 40 * len(space.action)
        require_memory(n_bytes, f"a tensor of {len(rows.indices):,} entries and its copy without zeros")
    mdp = _process(space, rows)
    for number in range(mdp.n_layers):
        builder.fill_layer(number, rows)
        if on_layer is not None and policy is None:
            on_layer(mdp, number)
    if policy is not None:
        mdp = mdp.without_zeros()
        for number in range(mdp.n_layers if on_layer is not None else 0):
            on_layer(mdp, number)  # type: ignore[misc]
    return mdp


def build_compact(space: StateSpace, policy: np.ndarray | None = None, progress: Progress | None = None) -> MDP:
    """Build the same process as `build` with about a quarter less memory for transitions.

    Rows share probabilities, and zeros are kept. All solvers accept compact processes.

    Args:
        space: States under the information model ``memoryless``.
        policy: Enemy's policy, float64 ``[n_rows]``, probability of each action in ``space.action``. None stands for
            the uniform policy.
        progress: Called as ``progress("tensor", done, layers)`` when the rows of a layer are complete.

    Returns:
        The process. ``mdp.expanded()`` is the result of `build`.

    Raises:
        PolicyError: If the policy is invalid for these states.
        InformationError: If the information model is not ``memoryless``.
        MemoryError: If the tensor does not fit into memory.

    Examples:
        >>> from punish_fast import StateSpace, build, build_compact, load_rules
        >>> space = StateSpace(load_rules("tiny"))
        >>> len(build(space).data), len(build_compact(space).data)
        (4111, 3464)
    """
    builder = RowBuilder(space, policy)
    rows = _allocate(builder, is_compact=True)
    for number in range(len(space.layers)):
        builder.fill_layer(number, rows)
        if progress is not None:
            progress("tensor", number + 1, len(space.layers))
    return _process(space, rows)


def _allocate(builder: RowBuilder, is_compact: bool) -> TensorRows:
    """Count the entries of all rows, and allocate the arrays of a tensor."""
    space, n_rows = builder.space, len(builder.space.action)
    indptr, data_ptr = np.empty(n_rows + 1, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    for number in range(len(space.layers)):
        builder.count_layer(number, indptr[1:], data_ptr)
    n_data, nnz = int(_tensor.place_rows(indptr, data_ptr)), int(indptr[-1])
    if not is_compact:
        data_ptr, n_data = indptr, nnz
    # Columns, probabilities and, for each row, two pointers, a reward, an owner and an action.
    require_memory(4 * nnz + 8 * n_data + 29 * n_rows + space.nbytes, f"a tensor of {nnz:,} nonzeros")
    indices, data = np.empty(nnz, dtype=np.int32), np.empty(n_data, dtype=np.float64)
    return TensorRows(space.state_ptr, indptr, indices, data_ptr, data, np.zeros(n_rows), first_row=0)


def _process(space: StateSpace, rows: TensorRows) -> MDP:
    return MDP(
        **{name: getattr(rows, name) for name in ("state_ptr", "indptr", "indices", "data", "reward")},
        data_ptr=None if rows.data_ptr is rows.indptr else rows.data_ptr,
        terminal_reward=TERMINAL_REWARD.copy(),
        layer_ptr=space.layer_ptr,
        action=space.action,
        rows_pay_ends=True,
    )


class TransitionPattern:
    """A process whose enemy can be replaced. Only probabilities and rewards are then recomputed.

    Attributes:
        space: States of the game.
        mdp: Compact process against the current enemy. The initial enemy is uniform.
    """

    def __init__(self, space: StateSpace) -> None:
        """Build the process against the uniform enemy.

        Args:
            space: States under the information model ``memoryless``.

        Raises:
            InformationError: If the information model is not ``memoryless``.
            MemoryError: If the tensor does not fit into memory.

        Examples:
            >>> from punish_fast import StateSpace, TransitionPattern, load_rules
            >>> TransitionPattern(StateSpace(load_rules("tiny"))).mdp.n_states
            558
        """
        self.space = space
        self.mdp: MDP = build_compact(space)

    def __repr__(self) -> str:
        return f"TransitionPattern({self.space!r})"

    def with_enemy(self, policy: np.ndarray) -> MDP:
        """Replace the enemy in ``mdp``, and return ``mdp``.

        Args:
            policy: Enemy's policy, float64 ``[n_rows]``, probability of each action in ``space.action``.

        Returns:
            The attribute ``mdp``, the same object in every call.

        Raises:
            PolicyError: If the policy is invalid for these states.

        Examples:
            The solution against the previous enemy provides good initial values.

            >>> from punish_fast import StateSpace, TransitionPattern, load_rules, solve
            >>> game = TransitionPattern(StateSpace(load_rules("tiny")))
            >>> solution = solve(game.mdp, discount=1.0)
            >>> for _ in range(3):
            ...     enemy = solution.softmax(0.5)
            ...     solution = solve(game.with_enemy(enemy), discount=1.0, initial_values=solution.v)
            >>> solution.sweeps
            7
        """
        mdp, builder = self.mdp, RowBuilder(self.space, policy)
        assert mdp.data_ptr is not None
        rows = TensorRows(mdp.state_ptr, mdp.indptr, mdp.indices, mdp.data_ptr, mdp.data, mdp.reward, 0)
        # Deals between measures do not depend on the enemy.
        for number in range(len(self.space.layers) - 1):
            builder.fill_layer(number, rows)
        return mdp


def _compile(layer: int) -> None:
    """Compile the kernels for the rows of a layer against a policy."""
    builder, ends = RowBuilder(empty_space(PRESETS["tiny"]), np.zeros(0)), np.zeros(1, dtype=np.int64)
    builder.count_layer(layer, ends, ends)
    indices, data = np.zeros(0, dtype=np.int32), np.zeros(0)
    builder.fill_layer(layer, TensorRows(builder.space.state_ptr, ends, indices, ends, data, data, first_row=0))


def compile_redeals() -> None:
    """Compile the kernels for the rows between two measures."""
    _compile(layer=PRESETS["tiny"].breaths)


def compile_breaths() -> None:
    """Compile the kernels for all other rows, against the uniform enemy."""
    build(empty_space(PRESETS["tiny"]))


def compile_policy_rows() -> None:
    """Compile the kernel for the same rows against a policy."""
    _compile(layer=0)


def final_values(discount: float, objective: str = "discounted") -> np.ndarray:
    """Return the values of a win and a loss, float64 ``[2]``."""
    if objective == "reach-probability":
        return np.asarray(TERMINAL_REWARD > 0, dtype=np.float64)
    return np.asarray(TERMINAL_REWARD / (1 - discount) if discount < 1 else TERMINAL_REWARD)


def terminal_values(solution: Solution) -> np.ndarray:
    """Return the values of a win and a loss in a solution, float64 ``[2]``."""
    if solution.method != "jacobi" or solution.discount == 1:
        return final_values(solution.discount, solution.objective)
    # In each sweep, the published method updates the values of all states, including the terminals.
    values = TERMINAL_REWARD
    for _ in range(solution.sweeps):
        values = TERMINAL_REWARD + solution.discount * values
    return values


# Kernel groups for the states and the tensor, in order of compilation.
TENSOR = (
    STATES,
    KernelGroup(compile_redeals, (_redeal.count_redeals, _redeal.fill_redeals)),
    KernelGroup(compile_breaths, (_tensor.count_entries, _tensor.place_rows, _tensor.fill_blocks)),
)
# Kernel group for rows against a policy, compiled after `TENSOR`.
POLICY_ROWS = KernelGroup(compile_policy_rows, (_tensor.fill_blocks,), n_signatures=2)


def compile_model_kernels() -> None:
    """Compile the kernels that build and solve a model against *random*, on all threads."""
    compile_kernels([*TENSOR, SWEEPS], threads())
