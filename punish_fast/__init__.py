"""Solvers for the card duel Punish and for Markov decision processes.

Public names are imported on first use, so importing the package is fast.
"""

from punish_fast.runtime import __version__ as __version__
from punish_fast.runtime.exports import import_later, on_first_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from punish_fast.arena.players import Player, PlayerError, PolicyPlayer
    from punish_fast.arena.ratings import Standing, rank
    from punish_fast.arena.tournament import Tournament, TournamentError, round_robin
    from punish_fast.duel.batch import GameBatch
    from punish_fast.duel.evaluation import Duel, SimulationResult, head_to_head, simulate
    from punish_fast.duel.graph import DuelError, GameGraph
    from punish_fast.duel.public_states import PublicPolicy, PublicStateError, PublicStates
    from punish_fast.enemies.counts import Counts, count_choices
    from punish_fast.enemies.parless import parless
    from punish_fast.equilibrium.exploitation.best_response import Exploiter, best_response
    from punish_fast.equilibrium.exploitation.bracket import BracketResult, bracket
    from punish_fast.equilibrium.public_equilibrium import PublicEquilibrium, likely_public_states
    from punish_fast.equilibrium.resolving import PublicMeasure, Resolver
    from punish_fast.equilibrium.solver import Equilibrium
    from punish_fast.mdp.conversion.objective_text import NamedProcess
    from punish_fast.mdp.conversion.umb import export_umb
    from punish_fast.mdp.model.comparison import compare_solutions
    from punish_fast.mdp.model.mdp import MDP, validate
    from punish_fast.mdp.model.solution import Solution
    from punish_fast.mdp.objectives.average_reward import average_reward
    from punish_fast.mdp.objectives.finite_horizon import finite_horizon
    from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
    from punish_fast.mdp.objectives.solver import evaluate, solve
    from punish_fast.punish.bots import BotView, policy_from_function
    from punish_fast.punish.codes import State, StateError
    from punish_fast.punish.encoding import Encoding, encode
    from punish_fast.punish.position import position
    from punish_fast.punish.rules import Rules, RulesError, load_rules
    from punish_fast.punish.states.information import InformationError
    from punish_fast.punish.states.openings import Openings, openings
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.strategy import (
        StrategyError,
        policy_of_table,
        table_of_policy,
        to_finer_model,
        uniform_policy,
    )
    from punish_fast.punish.transitions.tensor import TransitionPattern, build, build_compact
    from punish_fast.runtime.errors import (
        ArgumentError,
        ExtraError,
        OutputError,
        PunishFastError,
        ReadError,
        WriteError,
    )
    from punish_fast.runtime.results import to_frame
    from punish_fast.store.formats.notebook_json import (
        NotebookStrategy,
        NotebookValues,
        export_notebook,
        import_notebook,
    )
    from punish_fast.store.formats.npz import export_npz
    from punish_fast.store.formats.umb import export_punish_umb
    from punish_fast.store.formats.umb_import import import_umb
    from punish_fast.store.policies import save_policy
    from punish_fast.store.reader import SolutionFile, load
    from punish_fast.store.tensors import save

# Rules, states and processes
__all__ = ["Encoding", "Openings", "Rules", "State", "StateSpace", "TransitionPattern", "build", "build_compact"]
__all__ += ["encode", "load_rules", "openings", "position"]
# Solvers
__all__ += ["MDP", "Solution", "average_reward", "compare_solutions", "evaluate", "finite_horizon"]
__all__ += ["reach_probability", "solve", "total_reward", "validate"]
# Policies and players
__all__ += ["BotView", "Counts", "Player", "PolicyPlayer", "count_choices", "parless", "policy_from_function"]
__all__ += ["policy_of_table", "table_of_policy", "to_finer_model", "uniform_policy"]
# Duels, best responses and equilibria
__all__ += ["BracketResult", "Duel", "Equilibrium", "Exploiter", "GameBatch", "GameGraph", "PublicEquilibrium"]
__all__ += ["PublicMeasure", "PublicPolicy", "PublicStates", "Resolver", "SimulationResult", "Standing", "Tournament"]
__all__ += ["best_response", "bracket", "head_to_head", "likely_public_states", "rank", "round_robin", "simulate"]
# Files
__all__ += ["NamedProcess", "NotebookStrategy", "NotebookValues", "SolutionFile", "export_notebook", "export_npz"]
__all__ += ["export_punish_umb", "export_umb", "import_notebook", "import_umb", "load", "save", "save_policy"]
__all__ += ["to_frame"]
# Errors
__all__ += ["ArgumentError", "DuelError", "ExtraError", "InformationError", "OutputError", "PlayerError"]
__all__ += ["PublicStateError", "PunishFastError", "ReadError", "RulesError", "StateError", "StrategyError"]
__all__ += ["TournamentError", "WriteError"]

# `policy_of` accepts names and files of players after this module is imported.
import_later["policy_of"] = f"{__name__}.arena.players"

__getattr__ = on_first_use(__name__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
