"""Sparse Markov decision processes and solvers for several objectives."""

from punish_fast.runtime.exports import on_first_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from punish_fast.mdp.bounds.stopping_rule import SolveError
    from punish_fast.mdp.comparison import compare_solutions
    from punish_fast.mdp.conversion.row_lists import from_rows
    from punish_fast.mdp.model import MDP, ModelError, validate
    from punish_fast.mdp.objectives.average_reward import average_reward
    from punish_fast.mdp.objectives.finite_horizon import finite_horizon
    from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
    from punish_fast.mdp.policy import greedy, softmax
    from punish_fast.mdp.solution import Solution, SolverLimits
    from punish_fast.mdp.solver import evaluate, solve

# Processes
__all__ = ["MDP", "ModelError", "from_rows", "validate"]
# Solvers and their results
__all__ += ["Solution", "SolveError", "SolverLimits", "average_reward", "compare_solutions", "evaluate"]
__all__ += ["finite_horizon", "greedy", "reach_probability", "softmax", "solve", "total_reward"]

__getattr__ = on_first_use(__name__)
