"""Sweeps over the layers of an MDP or of a process that computes its transitions, until an error bound is proved.

If a trajectory might never end, end components without rewards are collapsed first (``end_components.py``).
"""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.policy import first_best
from punish_fast.mdp.bounds.stopping_rule import LargeValueError, positive_terminals, terminal_values
from punish_fast.mdp.graph.end_components import collapsed
from punish_fast.mdp.graph.qualitative import EVALUATED, SWEPT, endless_error
from punish_fast.mdp.methods.value_iteration import Jacobi, Layered
from punish_fast.mdp.model.limits import GENERAL_METHODS, JACOBI, PRECISION, SolveError, SolverOptions
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import Process
from punish_fast.mdp.model.results import PROBABILITY
from punish_fast.mdp.model.solution import Exact, Payoff, Unsolved

# Maximum number of sweeps over layers before other methods are tried.
_PATIENCE = 1000
# If an MDP has at least `_FEW_STATES` states, sweeps may end with an error bound of `_LEAST_PRECISION` times the
# largest value.
_FEW_STATES, _LEAST_PRECISION = 10_000, 1e-6


@dataclass(eq=False)
class Layers:
    """Problem for sweeps over layers or ``jacobi`` sweeps: optimal values, or values of a policy."""

    mdp: Process
    discount: float
    limits: SolverOptions
    objective: str = "discounted"
    method: str = "auto"
    sweeps: int | None = None  # number of sweeps, regardless of the error bound
    initial_values: np.ndarray | None = None  # float64 [n_states]
    policy: np.ndarray | None = None  # float64 [n_rows], policy to evaluate, or None to find optimal values
    found: Any = None  # values of sweeps whose error bound is too large

    @cached_property
    def is_flat(self) -> bool:
        """True if the MDP is solved without layers."""
        mdp, is_plain = self.mdp, self.method == "auto" and self.sweeps is None and self.mdp.n_layers == 1
        if isinstance(mdp, MDP) and self.discount < 1:
            is_plain = is_plain and (mdp.data_ptr is None or self.policy is not None)
            return mdp.n_states > 0 and (is_plain or self.method in GENERAL_METHODS)
        return isinstance(mdp, MDP) and is_plain and mdp.n_states > 0 and self.initial_values is None

    @property
    def goal(self) -> float | None:
        """Error bound to reach, or None if a number of sweeps was requested."""
        return self.limits.tolerance if self.sweeps is None else None

    def payoff_of(self, mdp: Process) -> Payoff:
        """Return the payoff of the objective in the MDP of the problem or in its chain."""
        if self.objective == "reach-probability":
            # Only arrival at a terminal with a positive reward or value pays.
            return Payoff(np.zeros(mdp.n_rows), positive_terminals(mdp).astype(np.float64), PROBABILITY)
        return Payoff(mdp.reward, terminal_values(mdp, self.discount))

    @property
    def hands_over(self) -> bool:
        """True if other rungs can solve the MDP before sweeps reach their limit."""
        return isinstance(self.mdp, MDP) and self.goal is not None and self.method != JACOBI


def sweep_layers(problem: Layers) -> Exact | Unsolved:
    """Sweep until an error bound within the tolerance is proved or a limit is reached."""
    whole, quotient = problem, None
    try:
        iteration = _begin(problem)
    except LargeValueError as error:
        if not problem.hands_over:
            raise
        return Unsolved(str(error))
    if iteration.endless is not None:
        if problem.policy is not None:
            raise endless_error(iteration.endless, problem.mdp.names, EVALUATED)
        if not isinstance(problem.mdp, MDP):
            told = f"from {iteration.endless.sum():,} states play might never end"
            raise SolveError(f"discount: {told}; without a tensor in memory, the discount must be below 1")
        quotient = collapsed(problem.mdp, iteration.endless, pays=problem.objective == "discounted")
        # Values of the quotient cannot be saved, because its states are sets of states.
        limits, initial_values = replace(problem.limits, save=None), problem.initial_values
        initial_values = None if initial_values is None else initial_values[quotient.first]
        problem = replace(problem, mdp=quotient.mdp, limits=limits, initial_values=initial_values)
        iteration = _begin(problem)
        if iteration.endless is not None:
            if problem.hands_over:
                return Unsolved("runs with rewards might not end")
            raise endless_error(iteration.endless[quotient.number], quotient.original.names, SWEPT)
    mdp, goal, limits = problem.mdp, problem.goal, problem.limits
    if not iteration.contraction.is_known and not problem.hands_over:
        option = "sweeps" if goal is None else "method" if problem.method == JACOBI else "discount"
        cure = "use layered with a tolerance" if isinstance(mdp, MDP) else "without a tensor, use a discount below 1"
        raise SolveError(f"{option}: play may be too long for sweeps alone; {cure}")
    limit = limits.max_sweeps if problem.sweeps is None else problem.sweeps
    for n_done in range(1, (min(limit, _PATIENCE) if problem.hands_over else limit) + 1):
        begin = time.perf_counter()
        bound = iteration.sweep()
        iteration.log.seconds.append(time.perf_counter() - begin)
        limits.progress(n_done, bound)
        if limits.save is not None:
            limits.save(iteration.v[: mdp.n_states])
        if limits.is_over or (goal is not None and (bound <= goal or iteration.is_at_floor)):
            break
    found, is_solved = _closed(iteration, problem, bound)
    whole.found = found = found if quotient is None else quotient.lifted(found)
    reason = f"error bound {found.error_bound:.1e} after sweep {found.rounds:,}"
    return found if is_solved else Unsolved(reason, found)


def _begin(problem: Layers) -> Layered | Jacobi:
    """Return the iteration, ready for its first sweep."""
    mdp, discount, payoff = problem.mdp, problem.discount, problem.payoff_of(problem.mdp)
    if problem.method == JACOBI:
        return Jacobi(mdp, discount, payoff)
    return Layered(mdp, discount, payoff, problem.initial_values, problem.policy)


def _closed(iteration: Layered | Jacobi, problem: Layers, bound: float) -> tuple[Exact, bool]:
    """Compute the final values, and return True if their error bound is sufficient.

    ``bound`` is the error bound of the last sweep.
    """
    goal, n_states = problem.goal, problem.mdp.n_states
    is_reached = goal is None or bound <= goal or iteration.is_at_floor
    iteration.close()
    bound = max(bound, iteration.settle([bound] if goal is None or bound >= goal else [bound, goal]))
    v, log, proved = iteration.v[:n_states].copy(), iteration.log, iteration.proved_choice
    state_ptr = problem.mdp.state_ptr if problem.policy is None else np.arange(n_states + 1)
    choice = first_best(state_ptr, iteration.q) if proved is None else proved
    found = Exact(v, choice, bound, len(log.residual), 0, iteration.q, log=log)
    precision = PRECISION if n_states < _FEW_STATES or problem.policy is not None else _LEAST_PRECISION
    if isinstance(problem.mdp, MDP) and goal is not None:
        is_reached = bound <= max(goal, precision * float(np.abs(v).max(initial=0)))
    return found, is_reached
