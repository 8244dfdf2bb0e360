"""Sparse Markov decision processes and solvers for several objectives."""

from punish_fast.runtime.exports import on_first_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from punish_fast.mdp.arrays.names import Names
    from punish_fast.mdp.arrays.policy import PolicyError, greedy, softmax
    from punish_fast.mdp.arrays.row_sums import ModelError
    from punish_fast.mdp.chain.stationary import StationaryDistribution, stationary_distribution
    from punish_fast.mdp.conversion.objective_text import NamedProcess, ObjectiveError
    from punish_fast.mdp.conversion.quantecon import to_quantecon
    from punish_fast.mdp.conversion.umb import export_umb
    from punish_fast.mdp.model.comparison import Comparison, Differences, compare_solutions
    from punish_fast.mdp.model.limits import SolveError, SolverLimits
    from punish_fast.mdp.model.mdp import MDP, from_rows, validate
    from punish_fast.mdp.model.process import NonzeroCount
    from punish_fast.mdp.model.results import ModelRows, ResultTable, StateValues
    from punish_fast.mdp.model.solution import BoundedValues, Log, Solution
    from punish_fast.mdp.objectives.average_reward import AverageReward, average_reward
    from punish_fast.mdp.objectives.finite_horizon import FiniteHorizon, finite_horizon
    from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
    from punish_fast.mdp.objectives.solver import evaluate, solve
    from punish_fast.mdp.objectives.steps import (
        cumulative_reward,
        next_probability,
        reach_within,
        reward_at_step,
        stay_probability,
    )

# Processes
__all__ = ["MDP", "ModelError", "NamedProcess", "Names", "NonzeroCount", "export_umb", "from_rows"]
__all__ += ["ObjectiveError", "to_quantecon", "validate"]
# Solvers and policies
__all__ += ["PolicyError", "SolveError", "SolverLimits", "evaluate", "greedy", "softmax", "solve"]
# Objectives
__all__ += ["average_reward", "finite_horizon", "reach_probability", "stationary_distribution", "total_reward"]
__all__ += ["cumulative_reward", "next_probability", "reach_within", "reward_at_step", "stay_probability"]
# Results
__all__ += ["AverageReward", "BoundedValues", "Comparison", "Differences", "FiniteHorizon", "Log", "ModelRows"]
__all__ += ["ResultTable", "Solution", "StateValues", "StationaryDistribution", "compare_solutions"]

__getattr__ = on_first_use(__name__)
