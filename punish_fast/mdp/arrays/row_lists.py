"""Construction of MDPs from lists of rows and from the tables of Gymnasium.

Error messages contain the state, the action and the row. A row whose exact sum differs from 1 by more than rounding is
divided by that sum.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import ModelArrays, finite_numbers
from punish_fast.mdp.arrays.model_function import DescribedRows
from punish_fast.mdp.arrays.names import Names, state_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.runtime.errors import shown
from punish_fast.runtime.parallel import cumulated

# Successor of transitions that terminate.
_END = "end"


def from_rows(
    states: Sequence[Sequence[tuple[float, dict[int, float]]]],
    layers: Sequence[int] | None = None,
    terminals: tuple[Sequence[float], Sequence[float]] = ((), ()),
    normalize: bool = False,
    names: Names | None = None,
) -> ModelArrays:
    """Implement `from_rows` of `punish_fast.mdp`. ``terminals`` are the rewards and the values of terminals."""
    given = _listed("states", states)
    paid, values = map(finite_numbers, ("terminals", "terminal_value"), terminals)
    paid = paid if len(paid) else np.zeros(len(values))
    rows = DescribedRows("states", range(len(given) + len(paid)), names)
    for state, choices in enumerate(given):
        rows.add_state(state, dict(enumerate(_listed(f"state {state_name(names, state)}", choices))))
    arrays = rows.arrays(normalize, (paid, values))
    if layers is None:
        return arrays
    sizes = [_whole_number(f"layers: entry {k}", size) for k, size in enumerate(_listed("layers", layers))]
    if min(sizes, default=-1) < 0 or sum(sizes) != len(given):
        raise ModelError(f"layers: {shown(sizes)} is not allowed; sizes must add up to {len(given)} states")
    return arrays | {"layer_ptr": cumulated(np.array(sizes, dtype=np.int64))}


def from_gymnasium(env: Any, normalize: bool = False, names: Names | None = None) -> ModelArrays:
    """Implement `MDP.from_gymnasium`."""
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    try:
        n_states = len(table)  # type: ignore[arg-type]
    except TypeError:
        told = f"{type(env).__name__} has no transition table P, unlike toy text environments"
        raise ModelError(f"env: {told}") from None
    rows = DescribedRows("env", [*range(n_states), _END], names)
    for state in range(n_states):
        rows.add_state(state, _actions_of(table, state))
    return rows.arrays(normalize, ([0.0], []))


def _actions_of(table: Any, state: int) -> dict[int, tuple[float, list[tuple[Any, Any, Any]]]]:
    """Return the actions of a state in a transition table. Actions of a dictionary are sorted."""
    try:
        actions = table[state]
        pairs = sorted(actions.items()) if hasattr(actions, "items") else enumerate(actions)
        return {int(a): (0.0, [(_END if over else t, p, r) for p, t, r, over in outcomes]) for a, outcomes in pairs}
    except (LookupError, TypeError, ValueError) as error:
        told = "a table of actions and their outcomes (probability, successor, reward, terminated)"
        raise ModelError(f"env: P[{state}] is not {told}") from error


def _listed(name: str, given: Any) -> list[Any]:
    if not isinstance(given, Iterable):
        raise ModelError(f"{name}: {shown(given)} is not a list")
    refuse_mask(name, given, ModelError)
    return list(given)


def _whole_number(name: str, value: Any) -> int:
    """Convert a whole number to int. Accept 1.0, but not True."""
    try:
        whole = None if isinstance(value, bool | str) else int(value)
    except (OverflowError, TypeError, ValueError):
        whole = None
    if whole is None or whole != value:
        raise ModelError(f"{name} is {shown(value)}; it must be a whole number")
    return whole
