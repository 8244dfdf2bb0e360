"""The maximum average reward per step, in MDPs of any structure. Its computation is described in ``averages.py``."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

import numpy as np

from punish_fast.mdp.chain.induced_chain import evaluated
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, SolverLimits, limits_of
from punish_fast.mdp.model.mdp import MDP, check_arrays, negated, normalized
from punish_fast.mdp.model.results import rows_of
from punish_fast.mdp.model.solution import BoundedValues, bounded
from punish_fast.mdp.reductions.averages import Averages


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AverageReward(BoundedValues):
    """Result of `average_reward`: average rewards per step, and a policy that attains them.

    `StateValues` describes the policy and access by name. The value ``v`` of a state is its gain. Tables and files have
    the columns ``gain`` and ``bias``. ``lower`` and ``upper`` are bounds on the gain.

    The *gain* of a policy is its expected reward per step in the long run. Differences in its *bias* are the advantages
    of one initial state over another. Gain ``g`` and bias ``h`` of the policy solve ``g(s) + h(s) = r(s) + E[h(t)]``,
    where ``r(s)`` is the policy's reward in ``s``, and ``t`` is the next state.

    Attributes:
        v: float64 ``[n_states]``, average reward per step from each state: the maximum, the minimum, or the gain of a
            given policy.
        lower: float64 ``[n_states]``, lower bounds on ``v``.
        upper: float64 ``[n_states]``, upper bounds on ``v``.
        error_bound: Upper bound on the error of ``v``, and on the difference between ``v`` and the policy's gain.
        choice: int64 ``[n_states]``, row that the policy takes in each state.
        rows: Rows of the MDP.
        tolerance: Requested error bound of the gains.
        bias: float64 ``[n_states]``, relative values of the policy, in the unit of the rewards. They are 0 in one state
            of each component in which trajectories stay. Values that cannot be computed are infinite or NaN.
        bias_residual: Bound on the absolute difference between the two sides of the equation for gain and bias. For an
            optimal policy, it also bounds by how much a row with a tied gain can exceed the left side. It is infinite
            if ``bias`` is not finite.
    """

    bias: np.ndarray
    bias_residual: float
    _columns: ClassVar = {"gain": "v", "lower": "lower", "upper": "upper", "bias": "bias"}

    @property
    def gain(self) -> np.ndarray:
        """Average rewards ``v``, float64 ``[n_states]``."""
        return self.v

    def bias_of(self, state: Any) -> float:
        """Return the bias of a state. The gain is `value`.

        Args:
            state: Name of the state, or its index if states have no names.

        Returns:
            The bias, in the unit of the rewards.

        Raises:
            ArgumentError: If the state is unknown or a terminal.

        Examples:
            >>> from punish_fast.mdp import MDP, average_reward
            >>> rows = {"here": {"go": (0.0, {"there": 1.0})}, "there": {"return": (2.0, {"here": 1.0})}}
            >>> found = average_reward(MDP.from_function(rows.get, ["here"]))
            >>> round(found.value("there"), 6), round(found.bias_of("there") - found.bias_of("here"), 6)
            (1.0, 1.0)
            >>> print(found.table())
            state  gain  lower  upper  bias  action
            here   1     1      1      0     go
            there  1     1      1      1     return
        """
        return float(self.bias[self._index(state)])


def average_reward(
    mdp: MDP,
    tolerance: float = DEFAULT_TOLERANCE,
    policy: Any = None,
    maximize: bool = True,
    **limits: Unpack[SolverLimits],
) -> AverageReward:
    """Find the maximum or minimum average reward per step, or the average reward of a policy.

    Args:
        mdp: The MDP, unichain or multichain. Use `validate` to check an MDP of unknown origin.
        tolerance: Stop at this error bound of the gains, in the unit of the rewards, by default 1e-10.
        policy: Policy to evaluate, in a form that `MDP.under` accepts. If given, ``choice[s]`` is ``s``, the only row
            of state ``s`` in the chain of the policy.
        maximize: If False, find the minimum, for example of costs.
        **limits: Maximum number of sweeps within and between end components, maximum duration and progress (see
            `SolverLimits`).

    Returns:
        Gain and bias of each state, and an optimal policy. Among rows with tied gains, the policy takes a row with the
        best bias.

    Raises:
        SolveError: If an option is out of range, a value is too large for floating point, no solver reaches the
            tolerance or 1e-9 of the gain (the message contains the proved bracket), or ``policy`` is invalid or mixes
            actions into a transition probability below 2.23e-308.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine pays 1 per step while it runs, and breaks down with probability 0.5 after each step. A repair takes
        one step and costs 0.5:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
        >>> found = average_reward(mdp)
        >>> found.gain.round(6), found.choice
        (array([0.5, 0.5]), array([0, 2]))
        >>> (found.bias[0] - found.bias[1]).round(6)  # advantage of a running machine
        np.float64(1.0)
    """
    check_arrays(mdp, maximize)
    within, between = (limits_of(tolerance, limits, stage) for stage in ("gain", "solve"))

    def solved(mdp: MDP) -> AverageReward:
        mdp = normalized(mdp.expanded()).without_zeros()
        found = climb(Averages(mdp, within, between))
        gains = bounded(found.v, found.error_bound, found.choice, rows_of(mdp), tolerance=within.tolerance)
        return AverageReward(**vars(gains), bias=found.bias, bias_residual=found.bias_residual)

    if policy is not None:
        return evaluated(mdp, policy, solved)
    if maximize:
        return solved(mdp)
    found = solved(negated(mdp))
    return replace(found, v=0.0 - found.v, lower=0.0 - found.upper, upper=0.0 - found.lower, bias=0.0 - found.bias)
