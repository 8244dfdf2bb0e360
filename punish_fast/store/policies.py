"""Strategy files: policies under any information model, small enough to share.

A policy of the view is stored as a table, exact to the last bit. Finer models have millions of states, so their rows
are rounded to multiples of 1 / 65535 and compressed. A state plays its rounded probabilities divided by their sum, so
the probabilities of ``n`` actions are off by at most ``n / 65535`` in total, and over games of ``L`` breaths on average
the win rate changes by at most ``11 L / 65535``. States that are not covered need no entry: they are played uniformly.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.policy import check_policy, first_best
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import table_of_policy, uniform_policy
from punish_fast.store.writer import new_file

_UNITS = 65535


def save_policy(
    path: str | Path,
    space: StateSpace,
    policy: np.ndarray,
    covered: np.ndarray | None = None,
    name: str | None = None,
    origin: dict[str, Any] | None = None,
    response: np.ndarray | None = None,
) -> None:
    """Write a policy as a strategy file.

    Args:
        path: The file.
        space: The information states.
        policy: float64 ``[n_rows]`` along ``space.action``.
        covered: bool ``[n_states]``, the states to store; all if None. Others are read back as uniform play.
        name: The strategy's name; that of the file if None.
        origin: How it was made, JSON-like; nothing if None.
        response: float64 ``[n_rows]``, a response to it that takes one action in each state; none if None.

    Raises:
        PolicyError: it is no policy of these states.
        WriteError: writing failed.
    """
    path = Path(path)
    check_policy(space.state_ptr, policy)
    attributes = {"name": name or path.stem}
    if origin is not None:
        attributes["origin"] = json.dumps(origin)
    if not space.is_view:
        attributes["information"] = space.information.name
    with new_file(path, "strategy", space.rules, **attributes) as out:
        if space.is_view:
            state = np.arange(space.n_states) if covered is None else np.flatnonzero(covered)
            out.array("/strategy/state", state)
            # Most actions are illegal in a state, and have probability 0.
            out.array("/strategy/p", table_of_policy(space, policy, state))
        else:
            out.array("/strategy/rows", units_of_policy(space, policy, covered))
        if response is not None:
            out.array("/response/choice", first_best(space.state_ptr, response) - space.state_ptr[:-1])


def units_of_policy(space: StateSpace, policy: np.ndarray, covered: np.ndarray | None = None) -> np.ndarray:
    """Probabilities in units of 1 / 65535, uint16 ``[n_rows]``; 0 in states that are not covered."""
    units: np.ndarray = np.rint(policy * _UNITS).astype(np.uint16)
    if covered is not None:
        units[~np.repeat(covered, np.diff(space.state_ptr))] = 0
    return units


def policy_of_units(space: StateSpace, units: np.ndarray) -> np.ndarray:
    """The policy of rounded probabilities, float64 ``[n_rows]``: normalised, and uniform where all are 0."""
    begins, lengths = space.state_ptr[:-1], np.diff(space.state_ptr)
    total = np.repeat(np.add.reduceat(units, begins, dtype=np.float64), lengths)
    policy = uniform_policy(space)
    np.divide(units, total, out=policy, where=total > 0)
    return policy
