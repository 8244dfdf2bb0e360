"""Problems of total rewards for the ladder (``ladder.py``)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.bounds.stopping_rule import discounted
from punish_fast.mdp.model.limits import GENERAL_METHODS, PRECISION, SolveError, SolverOptions
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Exact, Payoff, Unsolved

# Larger values require an elimination or fractions, because their squares would overflow.
_LARGE_VALUE = 1e150
# As a last resort, accept an error bound of an elimination up to this fraction of the largest value.
_LEAST_PRECISION = 1e-3


@dataclass(eq=False)
class Total:
    """Maximum expected total reward, including the values of terminals.

    Without a discount, every policy must terminate. If `may_not_end` is True, policies with unbounded cost are exempt.
    """

    mdp: MDP  # MDP with one layer, not compact. Its rewards are ignored
    payoff: Payoff
    limits: SolverOptions
    discount: float = 1.0
    methods: Sequence[str] = GENERAL_METHODS  # permitted methods of policy evaluation
    may_not_end: bool = False
    skips_sweeps: bool = False
    evaluation: Any = None  # state from which policy evaluation can continue

    def __post_init__(self) -> None:
        """Start with the first row of each state, and decide which kinds of rungs are permitted."""
        # `found`: values found by sweeps, and the policy with which an elimination starts. `eliminated`: values of an
        # elimination whose error bound is too large.
        self.found = self.eliminated = Exact(np.zeros(self.mdp.n_states), self.mdp.state_ptr[:-1], np.inf, 0)
        self.is_discounted, self.is_auto = self.discount < 1, self.methods == GENERAL_METHODS
        # With a discount, half of the tolerance is left for ties.
        self.goal = self.limits.tolerance / 2 if self.is_discounted else self.limits.tolerance
        is_plain = self.is_discounted and self.is_auto and not self.skips_sweeps
        self.is_plain = is_plain and self.limits.initial_values is None

    @cached_property
    def large_value(self) -> float:
        """Upper bound on the absolute values with a discount, or 0 if no value is too large for sweeps."""
        largest = discounted(self.mdp, self.discount, n_steps=1).largest_value if self.is_discounted else 0.0
        return largest if largest > _LARGE_VALUE else 0.0

    @property
    def is_swept(self) -> bool:
        """True if sweeps are permitted."""
        return not (self.skips_sweeps or self.large_value)

    @property
    def eliminates(self) -> bool:
        """True if eliminations are permitted and the time is not over."""
        return (self.is_auto or self.large_value > 0) and not self.limits.is_over

    @property
    def failure(self) -> SolveError:
        """Error if all rungs fail."""
        if self.large_value:
            return SolveError(f"reward: values can reach {self.large_value:g}, too large for this MDP")
        told = f"{self.limits.max_sweeps:,} sweeps"
        if self.discount < 1:
            told = f"{told} leave an error bound of {self.found.error_bound:.1e}"
            return SolveError(f"max_sweeps: {told}; use more, or a tolerance above {self.limits.tolerance:g}")
        bound = self.eliminated.error_bound
        told += f", and policy iteration proves {f'only an error bound of {bound:.1e}' if bound < np.inf else 'none'}"
        return SolveError(f"tolerance: not reached after {told}; use a larger tolerance, a discount or more sweeps")

    def accepted(self, found: Exact | Unsolved) -> Exact | Unsolved:
        """Return the result of an elimination if its error bound is small enough, otherwise `Unsolved`."""
        if isinstance(found, Unsolved) or found.error_bound <= max(self.goal, least_bound(found)):
            return found
        self.eliminated = min(found, self.eliminated, key=lambda each: each.error_bound)
        return Unsolved(f"error bound {found.error_bound:.1e} after policy {found.policies}", found)


class Undiscounted(NamedTuple):
    """Maximum total reward without a discount, and row values."""

    mdp: MDP  # not compact. Its rewards are ignored
    endless: np.ndarray  # bool [n_states], mask of the states from which some policy might never terminate
    payoff: Payoff
    limits: SolverOptions
    # True if policies must terminate from all states. Endless runs must then have unbounded costs or no rewards, and
    # every state must have a policy that terminates.
    must_end: bool = False


@dataclass(eq=False)
class Probability:
    """Maximum or minimum probability of reaching a goal."""

    mdp: MDP  # not compact. Its rewards are ignored
    goal: np.ndarray  # bool [n_columns]
    stops: np.ndarray  # bool [n_columns], columns in which a run ends, in addition to the goal
    limits: SolverOptions
    maximize: bool = True
    is_exact: Any = None  # bool [n_states], states in which the probability found is exactly 0 or 1


class RewardUntil(NamedTuple):
    """Maximum or minimum total reward until a goal is reached."""

    mdp: MDP  # not compact, without stored zeros
    goal: np.ndarray  # bool [n_columns]
    limits: SolverOptions
    maximize: bool = True


def least_bound(found: Exact) -> float:
    """Return the largest error bound that is accepted if rounding keeps the tolerance out of reach.

    It is 0 if a value is infinite.
    """
    largest = float(np.abs(found.v).max(initial=0))
    return PRECISION * largest if np.isfinite(largest) else 0.0


def accept_loose_bound(problem: Total) -> Exact | Unsolved:
    """Return the values of an elimination if their error bound is at most 1e-3 of the largest value."""
    found = problem.eliminated
    if found.error_bound <= _LEAST_PRECISION / PRECISION * least_bound(found):
        return found
    return Unsolved("no elimination has a bound of at most 1e-3 of the largest value")
