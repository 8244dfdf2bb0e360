"""``DiscreteDP`` of QuantEcon, on state-action pairs and a sparse matrix, with the given ``method``.

Value iteration stops when the largest change is below ``epsilon (1 - discount) / (2 discount)``. Modified policy
iteration stops when the span of the changes is below ``epsilon (1 - discount) / discount``, and then moves the values
to the middle between their lower and upper bounds. In both cases they are within ``epsilon / 2`` of the optimal values,
so ``epsilon`` is twice the tolerance. QuantEcon uses one thread.

QuantEcon treats win and loss as ordinary states. In each iteration, the errors of their values decrease only by a
factor equal to the discount, so from QuantEcon's own initial values they take most of the time. With
``knows_terminals`` the initial values are zeros and the exact values of win and loss, as for all solvers that support
terminals.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.peer import Result, Settings, Solve
from bench.tensor import load
from punish_fast.mdp.conversion.quantecon import to_quantecon
from punish_fast.mdp.model.mdp import MDP


def prepare(folder: Path, settings: Settings) -> Solve:
    """Load the tensor into a ``DiscreteDP``."""
    tensor = load(folder)
    process = to_quantecon(MDP(**tensor._asdict()), settings["discount"])
    options = {"k": settings["k"]} if "k" in settings else {}
    terminals = tensor.terminal_reward / (1 - settings["discount"])
    start = np.append(np.zeros(tensor.n_states), terminals) if settings.get("knows_terminals") else None

    def solved() -> Result:
        epsilon = 2 * settings["tolerance"]
        # QuantEcon overwrites the initial values.
        v = None if start is None else start.copy()
        found = process.solve(method=settings["method"], v_init=v, epsilon=epsilon, max_iter=100_000, **options)
        return Result(lambda: found.v[: tensor.n_states], settings["tolerance"])

    return solved
