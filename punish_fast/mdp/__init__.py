"""Sparse Markov decision processes: the CSR tensor and the Bellman solver. Knows no game.

The public names load what they need when they are first used::

    from punish_fast.mdp import MDP, solve
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "MDP": "model",
    "ModelError": "model",
    "check": "model",
    "from_rows": "model",
    "Solution": "solution",
    "SolveError": "bounds.stopping_rule",
    "evaluate": "solver",
    "solve": "solver",
    "compare": "comparison",
    "greedy": "policy",
    "softmax": "policy",
}

__all__ = [
    "MDP",
    "ModelError",
    "Solution",
    "SolveError",
    "check",
    "compare",
    "evaluate",
    "from_rows",
    "greedy",
    "softmax",
    "solve",
]

if TYPE_CHECKING:
    from punish_fast.mdp.bounds.stopping_rule import SolveError
    from punish_fast.mdp.comparison import compare
    from punish_fast.mdp.model import MDP, ModelError, check, from_rows
    from punish_fast.mdp.policy import greedy, softmax
    from punish_fast.mdp.solution import Solution
    from punish_fast.mdp.solver import evaluate, solve


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
