"""QuantEcon's ``DiscreteDP``, on state-action pairs with a sparse matrix, by the given ``method``.

Value iteration stops when the largest change is below ``epsilon (1 - discount) / (2 discount)``; modified policy
iteration when the span of the changes is below ``epsilon (1 - discount) / discount``, and then moves the values to the
middle of the bracket of the optimal ones. Either way, they are within ``epsilon / 2`` of the optimal ones, so
``epsilon`` is twice the tolerance. QuantEcon has one thread only.

To QuantEcon, win and loss are ordinary states, whose values grow by one power of the discount in each iteration; from
its own start that takes most of the time. With ``knows_terminals`` it starts from zeros and the exact values of win and
loss, as all solvers with terminals do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.peer import Result, Settings, Solve
from bench.tensor import load
from punish_fast.mdp.model import MDP


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor into a ``DiscreteDP``."""
    tensor = load(folder)
    process = MDP(**tensor._asdict()).to_quantecon(settings["discount"])
    options = {"k": settings["k"]} if "k" in settings else {}
    terminals = tensor.terminal_reward / (1 - settings["discount"])
    start = np.append(np.zeros(tensor.n_states), terminals) if settings.get("knows_terminals") else None

    def solved() -> Result:
        epsilon = 2 * settings["tolerance"]
        # It overwrites its start.
        v = None if start is None else start.copy()
        found = process.solve(method=settings["method"], v_init=v, epsilon=epsilon, max_iter=100_000, **options)
        return Result(lambda: found.v[: tensor.n_states], settings["tolerance"])

    return solved
