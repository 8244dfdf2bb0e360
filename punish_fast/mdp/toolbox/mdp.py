"""Solvers with the class names, arguments and attributes of pymdptoolbox.

All classes for discounted rewards use the same solver, so their results are equal: optimal values with an error of at
most 1e-10, unless rounding prevents it. Arguments that limit iterations or set the initial values or policy are stored.
They do not change these values.
"""

from __future__ import annotations

import time
from typing import Any, NoReturn

import numpy as np

from punish_fast.mdp.arrays.policy import best_values, taking
from punish_fast.mdp.graph.row_selection import first_marked, rows_of_states, states_of_rows
from punish_fast.mdp.model.limits import SolveError, discount_of
from punish_fast.mdp.objectives.average_reward import average_reward
from punish_fast.mdp.objectives.finite_horizon import finite_horizon
from punish_fast.mdp.objectives.solver import solve
from punish_fast.mdp.toolbox.util import getSpan, process_of
from punish_fast.runtime.errors import as_float, check_allowed, shown


class MDP:
    """Process with discounted rewards, and base class of the solvers.

    Args:
        transitions: Transition probabilities, an array ``[A, S, S]`` or a matrix ``[S, S]``, dense or sparse, for each
            action.
        reward: Rewards ``[S]``, ``[S, A]`` or ``[A, S, S]``.
        discount: Discount factor from 0 to 1.
        epsilon: Positive number, or None. It does not affect the results.
        max_iter: Positive number, or None. It does not affect discounted rewards.
        initial_value: Not used.

    Attributes:
        S: Number of states.
        A: Number of actions.
        P: Tuple of transition matrices ``[S, S]``, one for each action.
        R: Tuple of expected rewards, float64 ``[S]``, one array for each action.
        V: Optimal values as a tuple. None until `run` is called.
        policy: Optimal action of each state as a tuple. None until `run` is called.
        time: Duration of `run` in seconds. None until `run` is called.
        iter: Number of iterations, at least 1 after `run`.
        verbose: True to print the error bound after each iteration.

    Raises:
        ModelError: If the arrays do not form an MDP.
        SolveError: If another argument is out of range.

    Examples:
        >>> from punish_fast.mdp.toolbox import example
        >>> vi = ValueIteration(*example.forest(), 0.9)
        >>> vi.run()
        >>> np.round(vi.V, 6).tolist(), vi.policy
        ([26.244, 29.484, 33.484], (0, 0, 0))
    """

    def __init__(
        self,
        transitions: Any,
        reward: Any,
        discount: Any,
        epsilon: Any = None,
        max_iter: Any = None,
        initial_value: Any = 0,
    ) -> None:
        for name, limit in (("epsilon", epsilon), ("max_iter", max_iter)):
            check_allowed(limit is None or as_float(limit) > 0, SolveError, name, shown(limit), "a number above 0")
        self.epsilon, self.max_iter, self.initial_value = epsilon, max_iter, initial_value
        self.discount = discount_of(discount)
        self._mdp = mdp = process_of(transitions, reward)
        self.P = tuple(transitions)
        self.S, self.A = mdp.n_states, len(self.P)
        rewards = np.full((self.A, self.S), -np.inf)
        rewards[mdp.action, states_of_rows(mdp)] = mdp.reward
        self.R = tuple(rewards)
        self.V: Any = None
        self.policy: Any = None
        self.time: float | None = None
        self.iter, self.verbose = 0, False

    def setVerbose(self) -> None:
        """Print the error bound after each iteration."""
        self.verbose = True

    def setSilent(self) -> None:
        """Print nothing."""
        self.verbose = False

    def run(self) -> None:
        """Compute `V` and `policy`."""
        begin = time.perf_counter()
        self._find()
        self.iter = max(self.iter, 1)
        self.time = time.perf_counter() - begin

    def _find(self) -> None:
        found = solve(self._mdp, self.discount, progress=self._count)
        self._keep(found.v, found.choice)

    def _count(self, _stage: str, _sweeps: int, bound: float) -> None:
        self.iter += 1
        if self.verbose:
            print(f"iteration {self.iter}: error bound {bound:.3g}")

    def _keep(self, values: np.ndarray, choice: np.ndarray) -> None:
        self.V, self.policy = tuple(values.tolist()), tuple(self._mdp.action[choice].tolist())


class ValueIteration(MDP):
    """Optimal discounted rewards. See `MDP` for arguments and attributes."""


class ValueIterationGS(MDP):
    """Optimal discounted rewards. See `MDP` for arguments and attributes."""


class PolicyIterationModified(MDP):
    """Optimal discounted rewards. See `MDP` for arguments and attributes."""


class LP(MDP):
    """Optimal discounted rewards. See `MDP` for arguments and attributes."""


_LP = LP  # the name of the class in pymdptoolbox 4.0b3


class PolicyIteration(MDP):
    """Optimal discounted rewards. See `MDP` for attributes. Arguments after ``discount`` do not affect the results."""

    def __init__(
        self,
        transitions: Any,
        reward: Any,
        discount: Any,
        policy0: Any = None,
        max_iter: Any = 1000,
        eval_type: Any = 0,
    ) -> None:
        super().__init__(transitions, reward, discount, None, max_iter)
        self.policy0, self.eval_type = policy0, eval_type


class FiniteHorizon(MDP):
    """Optimal rewards of ``N`` steps. ``h`` ``[S]`` contains the values after the last step, 0 by default.

    `V` is float64 ``[S, N + 1]`` and `policy` int64 ``[S, N]``, with a column for each step. The last column of `V`
    contains ``h``.
    """

    def __init__(self, transitions: Any, reward: Any, discount: Any, N: Any, h: Any = None) -> None:
        super().__init__(transitions, reward, discount)
        self.N, self._h = int(N), h

    def _find(self) -> None:
        found = finite_horizon(self._mdp, self.N, self.discount, self._h)
        self.V, self.policy = found.v.T.copy(), self._mdp.action[found.choice.T].astype(np.int64)
        for stage in reversed(range(self.N)) if self.verbose else ():
            print(f"stage: {stage}, policy: {self.policy[:, stage].tolist()}")


class RelativeValueIteration(MDP):
    """Maximum average reward per step. After `run`, ``average_reward`` is this maximum, and `V` has relative values.

    The relative value of the last state is the average reward. ``max_iter`` limits the number of changes of the policy
    in states that are not visited in the long run. `run` raises `SolveError` if the average reward depends on the
    initial state.
    """

    def __init__(self, transitions: Any, reward: Any, epsilon: Any = 0.01, max_iter: Any = 1000) -> None:
        super().__init__(transitions, reward, 1, epsilon, max_iter)
        self.average_reward: float | None = None

    def _find(self) -> None:
        mdp, found = self._mdp, average_reward(self._mdp, progress=self._count)
        gain, choice = float(found.gain[-1]), found.choice
        if getSpan(found.gain) > 2 * found.error_bound:
            told = f"from {found.gain.min():.9g} to {found.gain.max():.9g}"
            raise SolveError(f"average_reward: differs between states, {told}; use punish_fast.mdp.average_reward")
        # Improve the policy in states that are not visited in the long run, at most `max_iter` times. Row values that
        # differ by at most 1e-9 of the largest one are tied.
        for _ in range(int(self.max_iter) * int(np.isfinite(found.bias).all())):
            q = mdp.reward + mdp.to_scipy() @ found.bias
            least = best_values(mdp.state_ptr, q) - 1e-9 * float(np.abs(q).max())
            before, choice = choice, first_marked(mdp.state_ptr, q >= rows_of_states(mdp, least))
            if np.array_equal(choice, before):
                break
            found = average_reward(mdp, policy=taking(mdp.n_rows, choice))
        self.average_reward = gain
        self._keep(found.bias - found.bias[-1] + gain, choice)


def QLearning(*_args: Any, **_options: Any) -> NoReturn:
    """Raise an error, because Q-learning only estimates values.

    Raises:
        SolveError: Always.

    Examples:
        >>> QLearning()
        Traceback (most recent call last):
        punish_fast.mdp.model.limits.SolveError: QLearning: is not offered, because its values are estimates; use ...
    """
    raise SolveError("QLearning: is not offered, because its values are estimates; use ValueIteration")
