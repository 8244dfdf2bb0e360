"""Solvers for the card duel Punish and for Markov decision processes.

Public names are imported on first use, so importing the package is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from punish_fast.runtime import __version__ as __version__
from punish_fast.runtime.exports import on_first_use

_HOMES = {
    "MDP": "mdp",
    "check": "mdp",
    "Solution": "mdp",
    "average_reward": "mdp",
    "finite_horizon": "mdp",
    "reach_probability": "mdp",
    "total_reward": "mdp",
    "evaluate": "mdp",
    "solve": "mdp",
    "compare": "mdp",
    "Rules": "punish.rules",
    "load_rules": "punish.rules",
    "State": "punish.codes",
    "position": "punish.position",
    "StateSpace": "punish.states.space",
    "uniform_policy": "punish.strategy",
    "policy_of_table": "punish.strategy",
    "table_of_policy": "punish.strategy",
    "Refillable": "punish.transitions.tensor",
    "build": "punish.transitions.tensor",
    "Graph": "duel.graph",
    "lift": "punish.strategy",
    "Equilibrium": "equilibrium.solver",
    "bayes_response": "equilibrium.exploitation.bayes",
    "best_response": "equilibrium.exploitation.best_response",
    "upper_bound": "equilibrium.exploitation.upper_bound",
    "head_to_head": "duel.exact_evaluation",
    "simulate": "duel.simulated_evaluation",
    "build_compact": "punish.transitions.tensor",
    "count_choices": "enemies.counts",
    "parless": "enemies.parless",
    "Artefact": "store.reader",
    "Player": "arena.players",
    "export_notebook": "store.formats.notebook_json",
    "import_notebook": "store.formats.notebook_json",
    "export_npz": "store.formats.npz",
    "export_umb": "store.formats.umb",
    "import_umb": "store.formats.umb_import",
    "load": "store.reader",
    "save": "store.tensors",
    "save_policy": "store.policies",
}

__all__ = [
    "MDP",
    "Artefact",
    "Equilibrium",
    "Graph",
    "Player",
    "Refillable",
    "Rules",
    "Solution",
    "State",
    "StateSpace",
    "average_reward",
    "bayes_response",
    "best_response",
    "build",
    "build_compact",
    "check",
    "compare",
    "count_choices",
    "evaluate",
    "export_notebook",
    "export_npz",
    "export_umb",
    "finite_horizon",
    "head_to_head",
    "import_notebook",
    "import_umb",
    "lift",
    "load",
    "load_rules",
    "parless",
    "policy_of_table",
    "position",
    "reach_probability",
    "save",
    "save_policy",
    "simulate",
    "solve",
    "table_of_policy",
    "total_reward",
    "uniform_policy",
    "upper_bound",
]

if TYPE_CHECKING:
    from punish_fast.arena.players import Player
    from punish_fast.duel.exact_evaluation import head_to_head
    from punish_fast.duel.graph import Graph
    from punish_fast.duel.simulated_evaluation import simulate
    from punish_fast.enemies.counts import count_choices
    from punish_fast.enemies.parless import parless
    from punish_fast.equilibrium.exploitation.bayes import bayes_response
    from punish_fast.equilibrium.exploitation.best_response import best_response
    from punish_fast.equilibrium.exploitation.upper_bound import upper_bound
    from punish_fast.equilibrium.solver import Equilibrium
    from punish_fast.mdp import (
        MDP,
        Solution,
        average_reward,
        check,
        compare,
        evaluate,
        finite_horizon,
        reach_probability,
        solve,
        total_reward,
    )
    from punish_fast.punish.codes import State
    from punish_fast.punish.position import position
    from punish_fast.punish.rules import Rules, load_rules
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.strategy import lift, policy_of_table, table_of_policy, uniform_policy
    from punish_fast.punish.transitions.tensor import Refillable, build, build_compact
    from punish_fast.store.formats.notebook_json import export_notebook, import_notebook
    from punish_fast.store.formats.npz import export_npz
    from punish_fast.store.formats.umb import export_umb
    from punish_fast.store.formats.umb_import import import_umb
    from punish_fast.store.policies import save_policy
    from punish_fast.store.reader import Artefact, load
    from punish_fast.store.tensors import save


# Functions that accept players by name or file; importing `_PLAYERS` registers these types of arguments.
_PLAYED = ("bayes_response", "best_response", "head_to_head", "simulate", "upper_bound")
_PLAYERS = "arena.players"


_find = on_first_use(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    value = _find(name)
    if name in _PLAYED:
        import_module(f"{__name__}.{_PLAYERS}")
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
