"""Who solves the processes of ``processes/``: ours, and all solvers that others offer to Python users.

Each guarantees, by its own stopping rule and in exact arithmetic, values within the tolerance of the optimal ones (see
its file in ``peer/``). Storm alone computes reachability with a guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.peer.ours import named_methods

OURS = "punish-fast"
OURS_ONE = "punish-fast, 1 thread"
FAMILIES = ("QuantEcon", "MDPSolver", "pymdptoolbox", "SciPy", "Storm")


@dataclass(frozen=True)
class Contender:
    """A solver with its options.

    Attributes:
        name: Its name in tables, which begins with its family.
        module: Its file in ``peer/``.
        settings: Options besides discount, tolerance and threads.
        uses_threads: Whether it may use all threads.
    """

    name: str
    module: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    uses_threads: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is a method of this package."""
        return self.name.startswith(OURS)


def _quantecon(name: str, **settings: Any) -> Contender:
    return Contender(f"QuantEcon, {name}", "quantecon_ddp", settings)


def _mdpsolver(name: str, uses_threads: bool, **settings: Any) -> Contender:
    return Contender(f"MDPSolver, {name}", "mdpsolver_lists", settings, uses_threads)


DISCOUNTED = (
    Contender(OURS, "ours", uses_threads=True),
    Contender(OURS_ONE, "ours"),
    *(Contender(f"{OURS}, {method}", "ours", {"method": method}, uses_threads=True) for method in named_methods()),
    _quantecon("modified policy iteration, k=20", method="modified_policy_iteration", k=20),
    _quantecon("modified policy iteration, k=5", method="modified_policy_iteration", k=5),
    _quantecon("modified policy iteration, k=80", method="modified_policy_iteration", k=80),
    _quantecon("policy iteration", method="policy_iteration"),
    _quantecon("value iteration", method="value_iteration"),
    _mdpsolver("modified policy iteration, 1 thread", False),
    _mdpsolver("modified policy iteration", True),
    _mdpsolver("modified policy iteration, Gauss-Seidel", False, update="gs"),
    _mdpsolver("value iteration", True, algorithm="vi"),
    _mdpsolver("value iteration, Gauss-Seidel", False, algorithm="vi", update="gs"),
    _mdpsolver("policy iteration", True, algorithm="pi"),
    Contender("pymdptoolbox, modified policy iteration", "toolbox", {"method": "PolicyIterationModified"}),
    Contender("pymdptoolbox, value iteration", "toolbox", {"method": "ValueIteration"}),
    Contender("SciPy, policy iteration", "scipy_policy"),
    Contender("SciPy, value iteration", "scipy_csr"),
    Contender("Storm, value iteration", "storm_arrays"),
)
_REACHABILITY = {"objective": "win-probability"}
REACHABILITY = (
    Contender(OURS, "ours", _REACHABILITY, uses_threads=True),
    Contender(OURS_ONE, "ours", _REACHABILITY),
    Contender("Storm, default sound method", "storm_arrays", {"method": "TOPOLOGICAL"}),
    Contender("Storm, interval iteration", "storm_arrays", {"method": "INTERVAL_ITERATION"}),
    Contender("Storm, optimistic value iteration", "storm_arrays", {"method": "OPTIMISTIC_VALUE_ITERATION"}),
    Contender("Storm, sound value iteration", "storm_arrays", {"method": "SOUND_VALUE_ITERATION"}),
)
# One of each family.
FEW = tuple(
    next(one for one in everyone if one.name.startswith(name))
    for everyone, names in ((DISCOUNTED, (OURS, *FAMILIES)), (REACHABILITY, (OURS, "Storm")))
    for name in names
)
