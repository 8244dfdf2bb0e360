"""Objectives as text, compared with Storm on random processes.

Run ``python -m bench.formulas [COUNT]`` in an environment with stormpy. Values must agree within 1e-5, and infinite
values must be the same.
"""

from __future__ import annotations

import importlib
import sys
from random import Random
from typing import Any

import numpy as np

from punish_fast.mdp.conversion.objective_text import NamedProcess
from punish_fast.mdp.model.mdp import from_rows

_PRECISION = 1e-5
# Storm does not read G<=k.
_PATHS = ('F "goal"', 'F<=3 "goal"', '!"bad" U "goal"', '!"bad" U<=4 "goal"', 'G !"bad"', 'X "goal"')
_REWARDS = ('{"row"} F "goal"', '{"row"} C<=4', '{"row"} C', '{"row"} LRA', '{"state"} I=3')
FORMULAS = [f"P{aim}=? [{path}]" for path in _PATHS for aim in ("max", "min")]
FORMULAS += [
    f"R{name}{aim}=? [{path}]" for name, _, path in (text.partition(" ") for text in _REWARDS) for aim in ("max", "min")
]


def random_process(rng: Random) -> NamedProcess:
    """Return a process of 2 to 7 states with two labels, rewards of rows, and rewards of states."""
    rows: list[list[tuple[float, dict[int, float]]]] = []
    n = rng.randint(2, 7)
    for _ in range(n):
        rows.append([])
        for _ in range(rng.randint(1, 3)):
            to = rng.sample(range(n), min(n, rng.randint(1, 3)))
            weights = [rng.randint(1, 4) for _ in to]
            rows[-1].append((0.0, {t: w / sum(weights) for t, w in zip(to, weights, strict=True)}))
    mdp = from_rows(rows)
    labels = {name: np.array([rng.random() < 0.3 for _ in range(n)]) for name in ("goal", "bad")}
    of_rows = np.array([float(rng.choice([0, 0, 1, 2, 3])) for _ in range(mdp.n_rows)])
    of_states = np.repeat([float(rng.randint(0, 3)) for _ in range(n)], np.diff(mdp.state_ptr))
    return NamedProcess(mdp, labels, {"row": of_rows, "state": of_states})


def storm_model(process: NamedProcess) -> Any:
    """Build the process in Storm."""
    models: Any = importlib.import_module("stormpy.models")
    structures: Any = importlib.import_module("stormpy.datastructures")
    mdp, n = process.mdp, process.mdp.n_states
    groups = {"has_custom_row_grouping": True, "row_groups": n, "force_dimensions": True}
    builder = structures.SparseMatrixBuilder[float](mdp.n_rows, n, mdp.nnz, **groups)
    matrix = mdp.to_scipy()
    matrix.sort_indices()
    row = np.repeat(np.arange(mdp.n_rows), np.diff(matrix.indptr))
    entries = row.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    builder.add_next_values(*entries, mdp.state_ptr[:-1].tolist())
    labeling = models.StateLabeling(n)
    for name, states in {"init": np.arange(n) == 0, **process.labels}.items():
        labeling.add_label(name)
        labeling.set_states(name, structures.BitVector(n, np.flatnonzero(states).tolist()))
    of_states = process.rewards["state"][mdp.state_ptr[:-1]].tolist()
    rewards = {
        "row": models.SparseRewardModel[float](optional_state_action_reward_vector=process.rewards["row"].tolist()),
        "state": models.SparseRewardModel[float](optional_state_reward_vector=of_states),
    }
    return models.SparseMdp[float](models.SparseModelComponents[float](builder.build(), labeling, rewards))


def differences(seed: int) -> list[str]:
    """Return the formulas whose values differ for a random process."""
    stormpy: Any = importlib.import_module("stormpy")
    environment: Any = importlib.import_module("stormpy.environments").sound()
    process, found = random_process(Random(seed)), []
    model = storm_model(process)
    for text in FORMULAS:
        ours = process.solve(text).v
        wanted = stormpy.parse_properties(text)[0]
        theirs = np.array(stormpy.model_checking(model, wanted, environment=environment).get_value_vector())
        if not np.allclose(ours, theirs, rtol=_PRECISION, atol=_PRECISION):
            found.append(f"seed {seed}, {text}: {ours.tolist()} and {theirs.tolist()}")
    return found


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    different = [line for seed in range(count) for line in differences(seed)]
    print("\n".join(different) or f"{count * len(FORMULAS):,} values of {count} processes agree with Storm")
    sys.exit(bool(different))
