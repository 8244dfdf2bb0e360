"""Policies of any model of information as strategy files, small enough to share.

A policy of the view is an ordinary strategy, exact to the last bit. Finer models have millions of states, so theirs are
rounded to whole multiples of 1 / 65535, row by row, and compressed. A state plays by its rounded probabilities divided
by their sum, so the probabilities of ``n`` actions are off by at most ``n / 65535`` altogether, and games of ``L``
breaths on average are won more or less often by no more than ``11 L / 65535``. States that a player never comes to by
its own choice need not be kept: all their rows may be 0, and every action is then played alike.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.policy import flaw_of
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyError, from_policy, policy_of, strategy_table
from punish_fast.runtime.files import ReadError
from punish_fast.store.reader import Artefact
from punish_fast.store.writer import new_file

_UNITS = 65535


def save_policy(
    path: Path,
    space: StateSpace,
    policy: np.ndarray,
    origin: dict[str, Any] | None = None,
    reached: np.ndarray | None = None,
) -> None:
    """Write a policy.

    Args:
        path: The file.
        space: The information states.
        policy: float64 ``[n_rows]``, the probability of each row in its state.
        origin: What to note of how it was made, JSON-like; nothing if None.
        reached: bool ``[n_states]``, which states to keep; all if None. Those of the view are all kept.

    Raises:
        StrategyError: it is no policy.
        WriteError: writing failed.
    """
    attributes = {"name": path.stem} | ({} if origin is None else {"origin": json.dumps(origin)})
    if space.information.name == "view":
        table = from_policy(space, policy, path.stem)
        with new_file(path, "strategy", space.rules, **attributes) as out:
            out.strategy(table)
        return
    flaw = flaw_of(space.state_ptr, policy)
    if flaw is not None:
        raise StrategyError(f"policy: {flaw}")
    rows = np.rint(policy * _UNITS).astype(np.uint16)
    if reached is not None:
        rows[~np.repeat(reached, np.diff(space.state_ptr))] = 0
    information = space.information.name
    with new_file(path, "strategy", space.rules, information=information, **attributes) as out:
        out.array("/strategy/rows", rows, compressed=True)


def load_policy(file: Artefact, space: StateSpace) -> np.ndarray:
    """The policy of a strategy file, float64 ``[n_rows]``.

    Args:
        file: The file.
        space: The information states, of the model that the file is of.

    Raises:
        ReadError: the file is no strategy of such states, or damaged.
    """
    if space.information.name == "view":
        try:
            return policy_of(space, strategy_table(space, *file.strategy()))
        except StrategyError as error:
            raise ReadError(f"{file.path}: {error}") from None
    if file.kind != "strategy" or file.information != space.information.name:
        wanted = f"a strategy of the model {space.information.name!r} is needed"
        raise ReadError(f"{file.path}: is of kind {file.kind!r} and model {file.information!r}, {wanted}")
    rows = file.array("/strategy/rows", (len(space.action),)).astype(np.float64)
    begins, lengths = space.state_ptr[:-1], np.diff(space.state_ptr)
    total = np.repeat(np.add.reduceat(rows, begins), lengths)
    alike = np.repeat(1 / lengths, lengths)
    np.divide(rows, total, out=alike, where=total > 0)
    return np.asarray(alike)
