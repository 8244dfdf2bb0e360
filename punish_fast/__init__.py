"""Solvers for the card duel Punish and for Markov decision processes.

Public names are imported on first use, so importing the package is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from punish_fast.runtime import __version__ as __version__
from punish_fast.runtime.exports import import_later, on_first_use

_NAMES = {
    "arena.players": ["Player"],
    "duel.evaluation": ["head_to_head", "simulate"],
    "duel.graph": ["GameGraph"],
    "enemies.counts": ["count_choices"],
    "enemies.parless": ["parless"],
    "equilibrium.exploitation.bayes": ["bayes_response"],
    "equilibrium.exploitation.best_response": ["best_response"],
    "equilibrium.exploitation.upper_bound": ["upper_bound"],
    "equilibrium.solver": ["Equilibrium"],
    "mdp": [
        "MDP",
        "Solution",
        "average_reward",
        "check",
        "compare",
        "evaluate",
        "finite_horizon",
        "reach_probability",
        "solve",
        "total_reward",
    ],
    "punish.bots": ["policy"],
    "punish.codes": ["State"],
    "punish.position": ["position"],
    "punish.rules": ["Rules", "load_rules"],
    "punish.states.space": ["StateSpace"],
    "punish.strategy": ["to_finer_model", "policy_of_table", "table_of_policy", "uniform_policy"],
    "punish.transitions.tensor": ["TransitionPattern", "build", "build_compact"],
    "store.formats.notebook_json": ["export_notebook", "import_notebook"],
    "store.formats.npz": ["export_npz"],
    "store.formats.umb": ["export_umb"],
    "store.formats.umb_import": ["import_umb"],
    "store.policies": ["save_policy"],
    "store.reader": ["SolutionFile", "load"],
    "store.tensors": ["save"],
}

__all__ = [
    "MDP",
    "Equilibrium",
    "GameGraph",
    "Player",
    "Rules",
    "Solution",
    "SolutionFile",
    "State",
    "TransitionPattern",
]
__all__ += ["StateSpace", "average_reward", "bayes_response", "best_response", "build", "build_compact", "check"]
__all__ += ["compare", "count_choices", "evaluate", "export_notebook", "export_npz", "export_umb", "finite_horizon"]
__all__ += ["head_to_head", "import_notebook", "import_umb", "load", "load_rules", "parless", "to_finer_model"]
__all__ += ["policy", "policy_of_table", "position", "reach_probability", "save", "save_policy", "simulate", "solve"]
__all__ += ["table_of_policy", "total_reward", "uniform_policy", "upper_bound"]

if TYPE_CHECKING:
    from punish_fast.arena.players import Player
    from punish_fast.duel.evaluation import head_to_head, simulate
    from punish_fast.duel.graph import GameGraph
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
    from punish_fast.punish.bots import policy
    from punish_fast.punish.codes import State
    from punish_fast.punish.position import position
    from punish_fast.punish.rules import Rules, load_rules
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.strategy import policy_of_table, table_of_policy, to_finer_model, uniform_policy
    from punish_fast.punish.transitions.tensor import TransitionPattern, build, build_compact
    from punish_fast.store.formats.notebook_json import export_notebook, import_notebook
    from punish_fast.store.formats.npz import export_npz
    from punish_fast.store.formats.umb import export_umb
    from punish_fast.store.formats.umb_import import import_umb
    from punish_fast.store.policies import save_policy
    from punish_fast.store.reader import SolutionFile, load
    from punish_fast.store.tensors import save


# `policy_of` accepts names and files of players after this module is imported.
import_later["policy_of"] = f"{__name__}.arena.players"

__getattr__ = on_first_use(__name__, _NAMES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
