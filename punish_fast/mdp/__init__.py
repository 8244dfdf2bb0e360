"""Sparse Markov decision processes and solvers for several objectives."""

from typing import TYPE_CHECKING

from punish_fast.runtime.exports import on_first_use

if TYPE_CHECKING:
    from punish_fast.mdp.bounds.stopping_rule import SolveError
    from punish_fast.mdp.comparison import compare
    from punish_fast.mdp.conversion.row_lists import from_rows
    from punish_fast.mdp.model import MDP, ModelError, check
    from punish_fast.mdp.objectives.average_reward import average_reward
    from punish_fast.mdp.objectives.finite_horizon import finite_horizon
    from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
    from punish_fast.mdp.policy import greedy, softmax
    from punish_fast.mdp.solution import Solution, SolverLimits
    from punish_fast.mdp.solver import evaluate, solve

__all__ = ["MDP", "ModelError", "Solution", "SolveError", "SolverLimits", "average_reward", "check", "compare"]
__all__ += ["evaluate"]
__all__ += ["finite_horizon", "from_rows", "greedy", "reach_probability", "softmax", "solve", "total_reward"]

_NAMES = {
    "bounds.stopping_rule": ["SolveError"],
    "comparison": ["compare"],
    "conversion.row_lists": ["from_rows"],
    "model": ["MDP", "ModelError", "check"],
    "objectives.average_reward": ["average_reward"],
    "objectives.finite_horizon": ["finite_horizon"],
    "objectives.reachability": ["reach_probability", "total_reward"],
    "policy": ["greedy", "softmax"],
    "solution": ["SolverLimits", "Solution"],
    "solver": ["evaluate", "solve"],
}
__getattr__ = on_first_use(__name__, _NAMES)
