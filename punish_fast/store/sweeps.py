"""Checkpoints of sweeps: all that is needed to resume the solution of a game as if it had not stopped.

A checkpoint belongs to rules, an enemy, initial values and the settings of the solver. What differs is refused.
"""

from __future__ import annotations

import hashlib
import json
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.checkpoints import SweepState
from punish_fast.mdp.value_iteration import Log
from punish_fast.punish.rules import Rules
from punish_fast.runtime.files import ReadError
from punish_fast.store import checksum, schema
from punish_fast.store.attributes import brief
from punish_fast.store.reader import Artefact
from punish_fast.store.writer import new_file

_MOST = 1 << 53
_WHOLE = {"is_at_floor", "changes", "failures", "patience", "n_rounds", "is_proved"}


class SweepOrigin(NamedTuple):
    """What is solved, besides the settings of the solver.

    Attributes:
        rules: The rules.
        enemy: The enemy, JSON-like with a ``kind``.
        policy: A digest of its policy, or of the file of the tensor; empty for uniform play.
        values: A digest of the initial values; empty for the usual ones.
    """

    rules: Rules
    enemy: dict[str, Any]
    policy: str = ""
    values: str = ""


def digest_of_array(array: np.ndarray | None) -> str:
    """A digest of numbers; empty for None."""
    return "" if array is None else hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def digest_of_file(path: Path) -> str:
    """A digest of a file of ours, from its seal."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(checksum.SIZE)).hexdigest()[:16]


def save_sweeps(path: Path, origin: SweepOrigin, state: SweepState) -> None:
    """Write the state of a solution.

    Raises:
        OutputError: nothing can be written there.
        WriteError: writing failed.
    """
    numbers = {name: float(value) if isfinite(value) else None for name, value in state.numbers.items()}
    attributes = {
        "enemy": json.dumps(origin.enemy),
        "schedule": state.settings["schedule"],
        "sweeps": state.sweeps,
        "settings": json.dumps(state.settings | {"policy": origin.policy, "values": origin.values}),
        "numbers": json.dumps(numbers),
    }
    log: dict[str, list[Any]] = {"residual": state.log.residual, "seconds": state.log.seconds}
    if state.settings["schedule"] == "jacobi":
        log |= {"rmse": state.log.rmse, "choice_changes": state.log.choice_changes}
    with new_file(path, schema.CHECKPOINT, origin.rules, **attributes) as out:
        for name, array in state.arrays.items():
            out.array(f"/{name}", array)
        for name, entries in log.items():
            out.array(f"/log/{name}", np.array(entries))


def check_origin(file: Artefact, origin: SweepOrigin, settings: dict[str, Any]) -> None:
    """Check that a file is a checkpoint of a solution, before any work.

    Args:
        file: The file.
        origin: The game and the enemy to solve; their digests are not compared.
        settings: Those of `SweepState`.

    Raises:
        ReadError: it is not, or it belongs to other rules, another enemy, initial values, or settings.
    """
    if file.kind != schema.CHECKPOINT:
        raise file.error("kind", f"is {file.kind}, --resume takes a checkpoint of solve")
    file.must_have_rules(origin.rules)
    if file.enemy != origin.enemy:
        raise ReadError(f"{file.path}: made against {brief(file.enemy)}, not against {brief(origin.enemy)}")
    found = file.json_object("settings")
    for name, value in settings.items():
        if found.get(name) != value:
            raise ReadError(f"{file.path}: made with {name} {brief(found.get(name))}, not {brief(value)}")


def load_sweeps(file: Artefact, origin: SweepOrigin, settings: dict[str, Any]) -> SweepState:
    """The state of a solution; errors as in `check_origin`, or where the file is damaged.

    Raises:
        ReadError: it is not the state of this solution.
    """
    check_origin(file, origin, settings)
    found = file.json_object("settings")
    for name, value in (("policy", origin.policy), ("values", origin.values)):
        if found.get(name) != value:
            what = {"policy": "against an enemy that plays otherwise", "values": "from other initial values"}[name]
            raise ReadError(f"{file.path}: made {what}")
    arrays = {name[1:]: file.array(name) for name in file.shapes if not name.startswith("/log/")}
    if "iteration/choice" in arrays and not arrays["iteration/choice"].max(initial=0) < len(arrays["iteration/q"]):
        raise file.error("/iteration/choice", "must be rows")
    log = Log(*(file.array(f"/log/{name}").tolist() for name in ("residual", "seconds")))
    if "/log/rmse" in file.shapes:
        log.rmse, log.choice_changes = (file.array(f"/log/{name}").tolist() for name in ("rmse", "choice_changes"))
    return SweepState(dict(settings), arrays, _numbers(file, settings, set(arrays)), log)


def _numbers(file: Artefact, settings: dict[str, Any], arrays: set[str]) -> dict[str, float]:
    """The numbers of a state, checked."""
    numbers = {name: inf if value is None else value for name, value in file.json_object("numbers").items()}
    wanted = {"bound", "is_at_floor"}
    if settings["schedule"] == "layered":
        wanted |= {"changes", "failures", "least"}
    if settings["objective"] == "win-probability":
        wanted.add("change")
    if "bracket/lower" in arrays:
        wanted |= {"patience", "n_rounds", "is_proved", "distance"}
    if numbers.keys() != wanted:
        raise file.error("numbers", f"are {brief(sorted(numbers))}, must be {', '.join(sorted(wanted))}")
    for name, value in numbers.items():
        is_sound = isinstance(value, float) and value >= 0
        if not is_sound or (name in _WHOLE and not (value < _MOST and value.is_integer())):
            raise file.error("numbers", f"{name} is {brief(value)}, must be a number from 0")
    if numbers.get("changes") and "memory/steps" not in arrays:
        raise file.error("/memory/steps", "missing")
    if numbers.get("patience") == 0:
        raise file.error("numbers", "patience is 0, must be a number from 1")
    return numbers
