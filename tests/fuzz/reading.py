"""Reading everything there is in a file through the public readers."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.samples import TRUE_RULES
from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.games.learn.agent_file import LAYOUTS, load_agent
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.errors import ReadError
from punish_fast.store.bundles import load_bundle
from punish_fast.store.policies import load_checkpoint
from punish_fast.store.reader import SolutionFile, load, require_information, require_rules
from punish_fast.store.tensors import initial_values_of


def read_everything(path: Path) -> dict[str, Any]:
    """All that a file says, in a form that compares bit by bit."""
    try:
        file = load(path)
    except ReadError as error:
        if "not a file of Punish" in str(error):
            return _read_bundle(path)
        raise
    read: dict[str, Any] = {"kind": file.kind, "rules": file.rules, "attributes": repr(sorted(file.attributes.items()))}
    read["shapes"] = file.shapes
    for name, array in arrays_of(file).items():
        read[name] = (array.dtype.str, array.shape, array.tobytes())
    if file.kind in ("tensor", "agent"):
        read["enemy"] = file.enemy
    if file.kind == "agent":
        solution = file.solution()
        read["log"] = repr(solution.log)
        read["solution"] = (solution.digest, solution.error_bound, solution.discount, solution.sweeps)
        read["terminals"] = file.terminal_values
    if file.kind == "strategy":
        read["origin"] = file.origin
    return read


def _read_bundle(path: Path) -> dict[str, Any]:
    header, arrays = load_bundle(path, LAYOUTS)
    try:
        load_agent(path)
    except ReadError as error:
        # The sample is not an agent of the game, but a bundle all the same.
        if not str(error).isprintable() or len(str(error)) > 500 or "unexpected" in str(error):
            raise
    return {"header": repr(header), **{name: repr(array) for name, array in arrays.items()}}


def arrays_of(file: SolutionFile) -> dict[str, np.ndarray]:
    # No file of a larger game is made; one that only claims to be of one is refused for that.
    is_small = file.rules.n_cards <= 8 and file.rules.hp <= 2 and file.rules.breaths <= 2
    if file.kind == "strategy":
        if not is_small:
            raise ReadError(f"{file.path}: of a larger game")
        arrays = {"policy": file.policy(_space(file.rules, file.information))}
        if file.information == "memoryless":
            arrays |= dict(zip(("state", "p"), file.strategy(), strict=True))
        return arrays
    if file.kind == "equilibrium":
        return _tables_of(file)
    if file.kind == "checkpoint":
        return {"v": initial_values_of(file.path, file.rules, "discounted")}
    arrays = {"code": file.code, "layer_ptr": file.layer_ptr}
    if file.kind == "tensor" or file.has_transitions:
        arrays |= vars(file.mdp())
        file.row(0)
    arrays |= dict(zip(("state_ptr", "action", "reward"), file.rows, strict=True))
    if file.kind == "agent":
        solution = file.solution()
        arrays |= {"v": solution.v, "q": solution.q, "choice": solution.choice}
        if is_small:
            arrays["policy"] = file.policy(_space(file.rules._replace(redeal="discard"), "memoryless"))
    return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}


def _tables_of(file: SolutionFile) -> dict[str, np.ndarray]:
    require_rules(file, TRUE_RULES)
    require_information(file, "memoryless")
    has_response = float(file.attributes["best_response_share"]) > 0
    learner = Equilibrium(_graph(), share=0.5 if has_response else 0.0)
    saved = load_checkpoint(file, learner.state_dict())
    try:
        learner.resume(saved.iterations, {name: table.copy() for name, table in saved.tables.items()})
    except ValueError as error:
        raise ReadError(f"{file.path}: {error}") from None
    assert np.isfinite(learner.average).all()
    return saved.tables


_graph = cache(lambda: GameGraph(_space(TRUE_RULES, "memoryless")))


@cache
def _space(rules: Any, information: str) -> StateSpace:
    return StateSpace(rules, information)
