"""Solvers to compare: punish-fast and other solvers with a Python interface.

In exact arithmetic, each solver's stopping rule guarantees that discounted values are within the tolerance of the
optimal values (see its file in ``peer/``). For reachability, only Storm and our solver guarantee the accuracy of the
values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OURS, OURS_ONE = "punish-fast", "punish-fast, 1 thread"
FAMILIES = ("QuantEcon", "MDPSolver", "pymdptoolbox", "SciPy", "Storm")
# Suffix of solvers that start with the values of win and loss.
GIVEN = ", terminals given"
WHOLE = "punish-fast, states, tensor and solve"
WIN = ", win probability"


@dataclass(frozen=True)
class Contender:
    """A solver and its options."""

    name: str  # name in reports, which begins with the family
    module: str  # file in ``peer/``
    settings: Mapping[str, Any] = field(default_factory=dict)  # options other than discount, tolerance and threads
    uses_threads: bool = False


def _quantecon(name: str, **settings: Any) -> Contender:
    return Contender(f"QuantEcon, {name}", "quantecon_ddp", settings)


def _mdpsolver(name: str, uses_threads: bool, **settings: Any) -> Contender:
    return Contender(f"MDPSolver, {name}", "mdpsolver_lists", settings, uses_threads)


def _storm(name: str, method: str) -> Contender:
    return Contender(f"Storm, {name}", "storm_arrays", {"method": method})


_MODIFIED, _VALUE = "modified policy iteration", "value iteration"
_MPI, _VI = "modified_policy_iteration", "value_iteration"
_STORM = (
    _storm("default sound method", "TOPOLOGICAL"),
    _storm("interval iteration", "INTERVAL_ITERATION"),
    _storm("optimistic value iteration", "OPTIMISTIC_VALUE_ITERATION"),
)
DISCOUNTED = (
    Contender(OURS, "ours", uses_threads=True),
    Contender(OURS_ONE, "ours"),
    *(_quantecon(f"{_MODIFIED}, k={k}", method=_MPI, k=k) for k in (20, 5, 80)),
    _quantecon("policy iteration", method="policy_iteration"),
    _quantecon(_VALUE, method=_VI),
    _mdpsolver(f"{_MODIFIED}, 1 thread", False),
    _mdpsolver(_MODIFIED, True),
    _mdpsolver(f"{_MODIFIED}, Gauss-Seidel", False, update="gs"),
    _mdpsolver(_VALUE, True, algorithm="vi"),
    _mdpsolver(f"{_VALUE}, Gauss-Seidel", False, algorithm="vi", update="gs"),
    _mdpsolver("policy iteration", True, algorithm="pi"),
    Contender(f"pymdptoolbox, {_MODIFIED}", "toolbox", {"method": "PolicyIterationModified"}),
    Contender(f"pymdptoolbox, {_VALUE}", "toolbox", {"method": "ValueIteration"}),
    Contender("SciPy, policy iteration", "scipy_policy"),
    Contender(f"SciPy, {_VALUE}", "scipy_csr"),
    Contender(f"Storm, {_VALUE}", "storm_arrays"),
)
_REACH = {"task": "reachability"}
REACHABILITY = (
    Contender(OURS, "ours", _REACH, uses_threads=True),
    Contender(OURS_ONE, "ours", _REACH),
    *_STORM,
    _storm("sound value iteration", "SOUND_VALUE_ITERATION"),
)
# The first solver of each family.
FEW = tuple(
    next(one for one in everyone if one.name.startswith(name))
    for everyone, names in ((DISCOUNTED, (OURS, *FAMILIES)), (REACHABILITY, (OURS, "Storm")))
    for name in names
)
# Solvers compared on the tensor of Punish: for discounted values, and for the undiscounted win probability.
PEERS = (
    Contender(OURS, "ours", uses_threads=True),
    Contender(OURS_ONE, "ours"),
    Contender(WHOLE, "ours", {"task": "whole"}, uses_threads=True),
    *(_quantecon(f"{_MODIFIED}, k={k}", method=_MPI, k=k) for k in (20, 80)),
    _quantecon(_VALUE, method=_VI),
    _quantecon(f"{_MODIFIED}, k=5{GIVEN}", method=_MPI, k=5, knows_terminals=True),
    _quantecon(f"{_VALUE}{GIVEN}", method=_VI, knows_terminals=True),
    Contender(f"SciPy, {_VALUE}", "scipy_csr"),
    _mdpsolver(f"{_MODIFIED}{GIVEN}", True),
)
WIN_PEERS = (
    Contender(OURS + WIN, "ours", {"task": "win probability"}, uses_threads=True),
    Contender(OURS_ONE + WIN, "ours", {"task": "win probability"}),
    *_STORM,
)
