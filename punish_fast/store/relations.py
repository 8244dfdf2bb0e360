"""What must hold between the numbers of a file, besides the types and ranges in ``schema.py``.

Each relation is a law in words, for the error message and the page on formats, and a function that says whether it
holds. It blames one dataset and is checked when that one is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from punish_fast.equilibrium._restricted_game import NEEDED
from punish_fast.mdp.policy import SUM_TOLERANCE
from punish_fast.punish.codes import Layout
from punish_fast.runtime.parallel import for_chunks
from punish_fast.store import schema
from punish_fast.store._relations import (
    BAD_ACTION,
    BAD_COLUMN,
    BAD_PROBABILITY,
    BAD_REWARD,
    BAD_STATE,
    BAD_SUM,
    SOUND,
    find_wrong_rows,
    find_wrong_states,
)

assert schema.MARKS == NEEDED

# Of sums, rewards and values, by rounding.
_SUM_TOLERANCE = 1e-12
_REWARD_TOLERANCE = 1e-12
_VALUE_TOLERANCE = 1e-9


class Relation(NamedTuple):
    """A law that the numbers of a file obey.

    Attributes:
        dataset: The dataset that is blamed.
        law: What it must be, in words.
        holds: Whether it is so, from the datasets in ``of``.
        of: What `holds` takes, by name: datasets, ``layout``, attributes, and flaws that several laws share.
    """

    dataset: str
    law: str
    holds: Callable[..., Any]
    of: tuple[str, ...]


def _begins_with_0_and_does_not_descend(ptr: np.ndarray) -> bool:
    return bool(ptr[0] == 0 and (ptr[1:] >= ptr[:-1]).all())


def _begins_with_0_and_ascends(ptr: np.ndarray) -> bool:
    return bool(ptr[0] == 0 and (ptr[1:] > ptr[:-1]).all())


def _ascends(numbers: np.ndarray) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


def _layers(layout: Layout, code: np.ndarray) -> np.ndarray:
    return np.asarray(code // np.uint64(layout.n_cards_codes * layout.n_statuses))


def _is_in_its_layer(layout: Layout, layer_ptr: np.ndarray, code: np.ndarray) -> bool:
    # Codes ascend, so the first and the last of each layer tell.
    begins, ends = layer_ptr[:-1], layer_ptr[1:]
    layers = np.flatnonzero(begins < ends)
    first, last = _layers(layout, code[begins[layers]]), _layers(layout, code[ends[layers] - 1])
    return np.array_equal(first, layers) and np.array_equal(last, layers)


def _flaw(kernel: Callable[..., None], ptr: np.ndarray, *args: Any) -> int:
    """The worst flaw of states or rows, whose weights are those of ``ptr``."""
    flaw = np.zeros(len(ptr) - 1, dtype=np.uint8)
    for_chunks(kernel, ptr, *args, flaw)
    return int(flaw.max(initial=SOUND))


def flaw_of_states(layout: Layout, code: np.ndarray, state_ptr: np.ndarray, action: np.ndarray) -> int:
    """The worst flaw of the states: `BAD_STATE`, `BAD_ACTION` or none; their codes must ascend and be in layers."""
    return _flaw(find_wrong_states, state_ptr, layout, code, state_ptr, action)


def flaw_of_rows(n_states: int, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, reward: np.ndarray) -> int:
    """The worst flaw of the transitions, such as `BAD_COLUMN`, or none; ``indptr`` must be sound."""
    tolerances = _SUM_TOLERANCE, _REWARD_TOLERANCE
    return _flaw(find_wrong_rows, indptr, (indptr, indices, data, reward), n_states, tolerances)


def _is_not(flaw: int) -> Callable[[int], bool]:
    return lambda found: found != flaw


def _is_largest(state_ptr: np.ndarray, q: np.ndarray, v: np.ndarray) -> bool:
    return np.array_equal(np.maximum.reduceat(q, state_ptr[:-1]), v)


def _is_within(terminals: tuple[float, float], error_bound: float, values: np.ndarray) -> bool:
    win, loss = max(terminals), min(terminals)
    slack = error_bound + _VALUE_TOLERANCE * max(abs(win), abs(loss))
    return len(values) == 0 or bool(loss - slack <= values.min() and values.max() <= win + slack)


def _ends_with(residual: float, log: np.ndarray) -> bool:
    return len(log) == 0 or bool(log[-1] == residual)


def _adds_up(p: np.ndarray) -> bool:
    return bool((np.abs(p.sum(axis=1) - 1) <= SUM_TOLERANCE).all())


def _is_row_of_its_state(state_ptr: np.ndarray, response: np.ndarray) -> bool:
    return bool(((state_ptr[:-1] <= response) & (response < state_ptr[1:])).all())


def _is_marked(state_ptr: np.ndarray, response: np.ndarray, marked: np.ndarray) -> bool:
    return bool((marked[response] >= np.maximum.reduceat(marked, state_ptr[:-1])).all())


RELATIONS = (
    Relation(
        "/states/layer_ptr",
        "must begin with 0 and not descend",
        _begins_with_0_and_does_not_descend,
        ("/states/layer_ptr",),
    ),
    Relation("/states/code", "must ascend", _ascends, ("/states/code",)),
    Relation(
        "/states/code",
        "must belong to their layers",
        _is_in_its_layer,
        ("layout", "/states/layer_ptr", "/states/code"),
    ),
    Relation("/states/code", "must be positions under the rules", _is_not(BAD_STATE), ("flaw_of_states",)),
    Relation("/rows/state_ptr", "must begin with 0 and ascend", _begins_with_0_and_ascends, ("/rows/state_ptr",)),
    Relation(
        "/rows/action",
        "must be the legal actions of each state, ascending",
        _is_not(BAD_ACTION),
        ("flaw_of_states",),
    ),
    Relation(
        "/transitions/indptr", "must begin with 0 and ascend", _begins_with_0_and_ascends, ("/transitions/indptr",)
    ),
    Relation(
        "/transitions/indices",
        "must ascend in each row, up to `n_states + 1`",
        _is_not(BAD_COLUMN),
        ("flaw_of_rows",),
    ),
    Relation("/transitions/data", "must be from 0 to 1", _is_not(BAD_PROBABILITY), ("flaw_of_rows",)),
    Relation("/transitions/data", "must add up to 1 in each row", _is_not(BAD_SUM), ("flaw_of_rows",)),
    Relation("/rows/reward", "must be P(win) - P(loss) of each row", _is_not(BAD_REWARD), ("flaw_of_rows",)),
    Relation(
        "/solution/v",
        "must be the largest `q` of each state",
        _is_largest,
        ("/rows/state_ptr", "/solution/q", "/solution/v"),
    ),
    Relation(
        "/solution/q",
        "must be between the values of loss and win, give or take the error bound",
        _is_within,
        ("terminal_values", "error_bound", "/solution/q"),
    ),
    Relation("/log/residual", "must end with `residual`", _ends_with, ("residual", "/log/residual")),
    Relation("/strategy/state", "must ascend", _ascends, ("/strategy/state",)),
    Relation("/strategy/p", "must add up to 1 in each state", _adds_up, ("/strategy/p",)),
    Relation(
        "/equilibrium/response",
        "must be rows of their states",
        _is_row_of_its_state,
        ("state_ptr", "/equilibrium/response"),
    ),
    Relation(
        "/equilibrium/marked_rows",
        "must mark what the response does",
        _is_marked,
        ("state_ptr", "/equilibrium/response", "/equilibrium/marked_rows"),
    ),
)


def broken(dataset: str, parts: dict[str, Any]) -> str | None:
    """The law that a dataset breaks, or None.

    Args:
        dataset: Its name.
        parts: What the functions take, by name; relations that need something else are left out.
    """
    for relation in RELATIONS:
        is_known = relation.dataset == dataset and all(name in parts for name in relation.of)
        if is_known and not relation.holds(*(parts[name] for name in relation.of)):
            return relation.law
    return None
