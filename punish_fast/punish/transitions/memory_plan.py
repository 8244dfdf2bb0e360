"""Memory and time needed to solve a game, depending on how its transitions are stored.

There are three *modes*, with bitwise identical results.

=============== ======================================================== ==========================================
mode            stored transitions                                       bytes of transitions
=============== ======================================================== ==========================================
``tensor``      every entry: a column and a probability                  12 per entry, 8 per row
``compact``     every column, shared probabilities once                  4 per entry, 8 per probability, 16 per row
``matrix-free`` none: rows are recomputed in every sweep                 one batch of rows per thread
=============== ======================================================== ==========================================

Each mode also stores the state index, the reward, value and action of each row, and values of states. Times are
estimated from a sample of batches made by one thread. A stored tensor is computed once, and each sweep takes a fixed
fraction of that time.
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
# Additional bytes per row with a policy, which is stored as passed by the caller and in the form used by kernels.
_POLICY_BYTES = 16
# Typical number of sweeps with default tolerance and discount.
SWEEPS = 10
# Time to process a stored entry in a sweep, as a fraction of the time to make the entry: 0.08 to 0.16 for the presets.
_STORED_SHARE = 0.12


class MemoryPlan(NamedTuple):
    """Estimated memory and time to solve a game in one mode."""

    mode: str  # "tensor", "compact" or "matrix-free"
    n_bytes: int  # memory in addition to the program itself
    # estimated time to build transitions and run the sweeps, excluding enumeration of states and writing of files
    seconds: float


def plan_memory(batches: RowBatches, sweeps: int = SWEEPS) -> list[MemoryPlan]:
    """Return estimates for each mode, in the order of `MODES`, given the expected number of sweeps."""
    space, nnz, has_policy = batches.space, batches.nnz, batches.policy is not None
    n_rows, n_states = len(space.action), space.n_states
    own = space.nbytes + (_ROW_BYTES + _POLICY_BYTES * has_policy) * n_rows + _STATE_BYTES * n_states
    stored = {
        # With a policy, the tensor is copied without its entries of probability 0.
        TENSOR: (1 + has_policy) * (12 * nnz + 8 * n_rows),
        COMPACT: 4 * nnz + 8 * batches.n_probabilities + 16 * n_rows,
        MATRIX_FREE: _jit.threads() * batches.nbytes,
    }
    a_sweep = batches.seconds_to_make() * nnz / _jit.threads()
    seconds = dict.fromkeys((TENSOR, COMPACT), a_sweep * (1 + _STORED_SHARE * sweeps))
    # All rows are computed once before the first sweep, to compute rewards.
    seconds[MATRIX_FREE] = a_sweep * (1 + sweeps)
    return [MemoryPlan(mode, own + stored[mode], seconds[mode]) for mode in MODES]


def mode_of(process: Process) -> str:
    """Return the mode of a process."""
    if not isinstance(process, MDP):
        return MATRIX_FREE
    return TENSOR if process.data_ptr is None else COMPACT


def memory_limit(n_bytes: int | None) -> float:
    """Return the memory limit in bytes: ``n_bytes`` or, if None, the machine's memory, infinity if unknown."""
    limit = total_memory() if n_bytes is None else n_bytes
    return float("inf") if limit is None else limit


def most_states(limit: float) -> int:
    """Return an upper bound on the number of states that fit into ``limit`` bytes."""
    return int(min(limit / _STATE_BYTES, MOST_STATES))


def choose_mode(plans: Sequence[MemoryPlan], modes: Sequence[str], limit: float) -> str:
    """Return the first of ``modes`` that fits into ``limit`` bytes, or raise `MemoryError` if none does."""
    n_bytes = {plan.mode: plan.n_bytes for plan in plans}
    fitting = [mode for mode in modes if n_bytes[mode] <= limit]
    if fitting:
        return fitting[0]
    least = min(modes, key=lambda mode: n_bytes[mode])
    told = f"{least} would take {_size(n_bytes[least])}; the limit is {_size(limit)}"
    others = [mode for mode in MODES if mode not in modes and n_bytes[mode] <= limit]
    if others:
        told += f"; without a tensor in the file, {others[0]} would take {_size(n_bytes[others[0]])}"
    raise MemoryError(told)


def _size(n_bytes: float) -> str:
    prefixes = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))
    unit, name = next((unit, name) for unit, name in prefixes if n_bytes >= unit)
    return f"{n_bytes / unit:,.3g} {name}"
