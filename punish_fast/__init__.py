"""Solvers for the card duel Punish and for Markov decision processes.

Public names are imported on first use, so importing the package is fast.
"""

from punish_fast.runtime import __version__ as __version__
from punish_fast.runtime.exports import import_later, on_first_use

TYPE_CHECKING = False
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
        compare_solutions,
        evaluate,
        finite_horizon,
        reach_probability,
        solve,
        total_reward,
        validate,
    )
    from punish_fast.punish.bots import policy_from_function
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

# Rules, states and processes
__all__ = ["Rules", "State", "StateSpace", "TransitionPattern", "build", "build_compact", "load_rules", "position"]
# Solvers
__all__ += ["MDP", "Solution", "average_reward", "compare_solutions", "evaluate", "finite_horizon", "validate"]
__all__ += ["reach_probability", "solve", "total_reward"]
# Policies and players
__all__ += ["Player", "count_choices", "parless", "policy_from_function", "policy_of_table", "table_of_policy"]
__all__ += ["to_finer_model", "uniform_policy"]
# Duels and equilibria
__all__ += ["Equilibrium", "GameGraph", "bayes_response", "best_response", "head_to_head", "simulate", "upper_bound"]
# Files
__all__ += ["SolutionFile", "export_notebook", "export_npz", "export_umb", "import_notebook", "import_umb", "load"]
__all__ += ["save", "save_policy"]

# `policy_of` accepts names and files of players after this module is imported.
import_later["policy_of"] = f"{__name__}.arena.players"

__getattr__ = on_first_use(__name__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
