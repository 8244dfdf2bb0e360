"""Storm's sparse engine through stormpy, on a model built from arrays: discounted rewards or reachability.

Without ``method`` the property is ``Rmax=? [Cdiscount=...]``, the maximum discounted total reward. With ``method`` the
property is ``Pmax=? [F "goal"]``, where goals are the terminals with a positive reward. ``method`` must be a sound
method, that is, one that computes lower and upper bounds of every value. The absolute ``precision`` is the tolerance.
Storm uses one thread. The time includes Storm's analysis of the graph.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from bench.peer import Result, Settings, Solve
from bench.tensor import WithTerminals, load, with_terminals


def _matrix(whole: WithTerminals) -> Any:
    structures: Any = importlib.import_module("stormpy.datastructures")
    n_rows, n_columns = len(whole.reward), len(whole.state_ptr) - 1
    builder = structures.SparseMatrixBuilder[float](
        n_rows, n_columns, len(whole.data), force_dimensions=True, has_custom_row_grouping=True, row_groups=n_columns
    )
    rows = np.repeat(np.arange(n_rows), np.diff(whole.indptr))
    groups = whole.state_ptr[:-1].tolist()
    builder.add_next_values(rows.tolist(), whole.indices.tolist(), whole.data.tolist(), groups)
    return builder.build()


def _model(whole: WithTerminals, goals: np.ndarray) -> Any:
    models: Any = importlib.import_module("stormpy.models")
    structures: Any = importlib.import_module("stormpy.datastructures")
    n_columns = len(whole.state_ptr) - 1
    labels = models.StateLabeling(n_columns)
    for name, states in (("init", [0]), ("goal", goals.tolist())):
        labels.add_label(name)
        labels.set_states(name, structures.BitVector(n_columns, states))
    rewards = models.SparseRewardModel[float](optional_state_action_reward_vector=whole.reward.tolist())
    parts = models.SparseModelComponents[float](_matrix(whole), labels, {"reward": rewards})
    return models.SparseMdp[float](parts)


def _environment(stormpy: Any, settings: Settings) -> Any:
    environments = importlib.import_module("stormpy.environments")
    environment = environments.sound()
    solver = environment.solver().min_max()
    solver.precision = stormpy.Rational(repr(settings["tolerance"]))
    solver.relative_termination_criterion = False
    if "method" in settings:
        solver.method = getattr(environments.MinMaxMethod, settings["method"])
    return environment


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the arrays and build Storm's model from them."""
    stormpy: Any = importlib.import_module("stormpy")
    tensor = load(folder)
    goals = tensor.n_states + np.flatnonzero(tensor.terminal_reward > 0)
    model = _model(with_terminals(tensor), goals)
    text = 'Pmax=? [F "goal"]' if "method" in settings else f'R{{"reward"}}max=? [Cdiscount={settings["discount"]!r}]'
    wanted = stormpy.parse_properties(text)[0]
    environment = _environment(stormpy, settings)

    def solved() -> Result:
        result = stormpy.model_checking(model, wanted, environment=environment)
        values = result.get_value_vector
        return Result(lambda: np.array(values())[: tensor.n_states], settings["tolerance"])

    return solved
