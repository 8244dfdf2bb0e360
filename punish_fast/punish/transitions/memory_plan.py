"""Memory and time needed to solve a game, depending on the storage of transitions.

The results of the three *modes* are bitwise identical.

=============== ======================================================== ==========================================
mode            stored transitions                                       bytes of transitions
=============== ======================================================== ==========================================
``tensor``      every entry: a column and a probability                  12 per entry, 8 per row
``compact``     every column, shared probabilities once                  4 per entry, 8 per probability, 16 per row
``matrix-free`` none: rows are recomputed in every sweep                 one batch of rows per thread
=============== ======================================================== ==========================================

Each mode also stores the state index, the values of states, and the reward, value and action of each row. Times are
estimated from a sample of batches that one thread computes. A stored tensor is computed once. Each sweep takes a fixed
fraction of the time for this computation.
"""

from collections.abc import Sequence
from typing import NamedTuple

from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import Process
from punish_fast.punish.states.space import MOST_STATES
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.runtime import _jit
from punish_fast.runtime.limits import total_memory

TENSOR, COMPACT, MATRIX_FREE = "tensor", "compact", "matrix-free"
MODES = (TENSOR, COMPACT, MATRIX_FREE)
# Bytes per row: reward, value and action. Bytes per state: code, first row, choice and several copies of the value.
_ROW_BYTES, _STATE_BYTES = 17, 72
# Additional bytes per row for an enemy's policy, stored as the caller's array and, for kernels, in units of 1/2520.
_POLICY_BYTES = 16
# Typical number of sweeps with default tolerance and discount.
SWEEPS = 10
# Time to process a stored entry in a sweep, divided by the time to compute the entry: 0.08 to 0.16 for the presets.
_STORED_SHARE = 0.12


class MemoryPlan(NamedTuple):
    """Estimated memory and time to solve a game in one mode."""

    mode: str  # "tensor", "compact" or "matrix-free"
    n_bytes: int  # memory in bytes, in addition to the program
    # Estimated time to build transitions and run the sweeps, without enumeration of states and writing of files.
    seconds: float


def plan_memory(batches: RowBatches, sweeps: int = SWEEPS) -> list[MemoryPlan]:
    """Return estimates for each mode, in the order of `MODES`, given the expected number of sweeps."""
    space, nnz, has_policy = batches.space, batches.nnz, batches.policy is not None
    n_rows, n_states = len(space.action), space.n_states
    own = space.nbytes + (_ROW_BYTES + _POLICY_BYTES * has_policy) * n_rows + _STATE_BYTES * n_states
    stored = {
        # If the enemy has a policy, the tensor is copied to remove entries of probability 0.
        TENSOR: (1 + has_policy) * (12 * nnz + 8 * n_rows),
        COMPACT: 4 * nnz + 8 * batches.n_probabilities + 16 * n_rows,
        MATRIX_FREE: _jit.threads() * batches.nbytes,
    }
    a_sweep = batches.seconds_to_make() * nnz / _jit.threads()
    seconds = dict.fromkeys((TENSOR, COMPACT), a_sweep * (1 + _STORED_SHARE * sweeps))
    # Before the first sweep, all rows are computed once to obtain the rewards.
    seconds[MATRIX_FREE] = a_sweep * (1 + sweeps)
    return [MemoryPlan(mode, own + stored[mode], seconds[mode]) for mode in MODES]


def mode_of(process: Process) -> str:
    """Return the mode of a process."""
    if not isinstance(process, MDP):
        return MATRIX_FREE
    return TENSOR if process.data_ptr is None else COMPACT


def memory_limit(n_bytes: int | None) -> float:
    """Return ``n_bytes``, or if it is None, the memory of the machine or container in bytes."""
    return total_memory() if n_bytes is None else n_bytes


def most_states(limit: float) -> int:
    """Return an upper bound on the number of states that fit into ``limit`` bytes."""
    return int(min(limit / _STATE_BYTES, MOST_STATES))


def choose_mode(plans: Sequence[MemoryPlan], modes: Sequence[str], limit: float) -> str:
    """Return the first of ``modes`` that fits into ``limit`` bytes. Raise `MemoryError` if no mode fits."""
    n_bytes = {plan.mode: plan.n_bytes for plan in plans}
    fitting = [mode for mode in modes if n_bytes[mode] <= limit]
    if fitting:
        return fitting[0]
    least = min(modes, key=lambda mode: n_bytes[mode])
    told = f"{least} would take {_size(n_bytes[least])}; the limit is {_size(limit)}"
    others = [mode for mode in MODES if mode not in modes and n_bytes[mode] <= limit]
    if others:
        told += f"; solve --no-tensor ({others[0]}) would take {_size(n_bytes[others[0]])}"
    raise MemoryError(told)


def _size(n_bytes: float) -> str:
    prefixes = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))
    unit, name = next((unit, name) for unit, name in prefixes if n_bytes >= unit)
    return f"{n_bytes / unit:,.3g} {name}"
