"""Small MDPs solved in rational arithmetic, for use if floating point cannot prove a bound.

Floats are rational numbers, so an MDP of floats has rational values. Policy iteration [Howard 1960] finds these values
without any rounding: each policy is evaluated by elimination, and changed only where another row is strictly better, so
no policy recurs and the last one is optimal. Numerators and denominators grow with the size of a strongly connected
component, so the method is limited to small components. Rewards and probabilities can have any magnitude.

Each row is divided by the exact sum of its probabilities. Since probabilities might have been rounded when the MDP was
built, the error bound holds for all MDPs whose probabilities differ from the given ones by at most a relative error
``e`` of four rounding units. The value of a policy of ``n`` states is a weighted sum of rewards. Each weight is a
quotient of two sums whose terms are products of ``n`` probabilities [Markov chain tree theorem; O'Cinneide 1993]. In
all these MDPs, the weights therefore differ by a relative error ``d`` of at most about ``2 n e``. States whose rows all
have a single successor are not counted in ``n``. Hence the values of the policy with rewards ``r - d |r|`` are lower
bounds, and the optimal values with rewards ``r + d |r|`` are upper bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.chain.elimination import closed_classes
from punish_fast.mdp.graph.end_components import components_of
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Exact, Unsolved

_LARGEST_COMPONENT = 32
_MOST_STATES = 256
# Twice four rounding units, with a margin for their products.
_ALLOWANCE = Fraction(9, 2**53)

Numbers = list[Fraction]


class Equation(NamedTuple):
    """``x = constant + sum of coefficient[t] * x[t]``."""

    constant: Fraction
    coefficient: dict[int, Fraction]

    def at(self, x: Numbers | dict[int, Fraction]) -> Fraction:
        """Return the value of the right-hand side for ``x``."""
        return self.constant + sum((p * x[t] for t, p in self.coefficient.items()), Fraction(0))


def is_small(mdp: MDP) -> bool:
    """Return True if an MDP can be solved in rational arithmetic within seconds."""
    return mdp.n_states <= _MOST_STATES and int(np.bincount(components_of(mdp)).max(initial=0)) <= _LARGEST_COMPONENT


class RationalProcess:
    """An MDP whose rewards and probabilities are fractions."""

    def __init__(self, mdp: MDP, reward: np.ndarray, discount: float = 1.0) -> None:
        """Convert an MDP that is not compact. ``reward``, float64 ``[n_rows]``, replaces its rewards."""
        columns, data = mdp.indices.tolist(), [Fraction(p) for p in mdp.data.tolist()]
        paid, begins, ends = reward.tolist(), mdp.indptr.tolist(), mdp.state_ptr.tolist()
        factor = Fraction(discount)
        self.rows: list[list[Equation]] = []  # Rewards and discounted probabilities of each state's rows
        for state in range(mdp.n_states):
            equations = []
            for row in range(ends[state], ends[state + 1]):
                total = sum(data[begins[row] : begins[row + 1]], Fraction(0))
                to: dict[int, Fraction] = {}
                for k in range(begins[row], begins[row + 1]):
                    if data[k]:
                        to[columns[k]] = to.get(columns[k], Fraction(0)) + factor * data[k] / total
                equations.append(Equation(Fraction(paid[row]), to))
            self.rows.append(equations)
        # Successors come first, so that components are eliminated one at a time.
        self._order = np.argsort(components_of(mdp), kind="stable").tolist()

    def total(self, choice: Sequence[int], worth: Numbers) -> Numbers:
        """Return the values of a policy that terminates or is discounted.

        ``choice`` contains the row taken in each state, counted from 0. ``worth`` contains the values of terminals.
        """
        n, equations = len(self.rows), {}
        for state in self._order:
            constant, to = self.rows[state][choice[state]]
            paid = Equation(constant, {t - n: p for t, p in to.items() if t >= n}).at(worth)
            equations[state] = Equation(paid, {t: p for t, p in to.items() if t < n})
        x = solved(equations)
        return [x[state] for state in range(n)] + worth

    def best(self, choice: list[int]) -> tuple[Fraction, Numbers]:
        """Improve a policy until its gain is maximal, and return the gain and the bias."""
        gain, bias = self._gain(choice)
        # The value of an optimal row is the bias of its state plus the gain.
        while self.improve(choice, bias, [x + gain for x in bias]):
            gain, bias = self._gain(choice)
        return gain, bias

    def gains(self, choice: Sequence[int]) -> Numbers:
        """Return the gain of each recurrent class of a policy."""
        return [self._cycle(choice, states)[0] for states in self._classes(choice)]

    def _classes(self, choice: Sequence[int]) -> list[list[int]]:
        """Return the states of each recurrent class of a policy."""
        chain = np.zeros((len(choice), len(choice)), dtype=bool)
        for state, row in enumerate(choice):
            chain[state, list(self.rows[state][row].coefficient)] = True
        return [states.tolist() for states in closed_classes(chain)]

    def _gain(self, choice: list[int]) -> tuple[Fraction, Numbers]:
        """Change a policy so that all states reach its best recurrent class, and return the policy's gain and bias."""
        n, classes = len(self.rows), self._classes(choice)
        best = max(classes, key=lambda states: self._cycle(choice, states)[0])
        inside = set(best) if len(classes) > 1 else set(range(n))
        while len(inside) < n:
            for state in range(n):
                rows = [choice[state], *range(len(self.rows[state]))] if state not in inside else []
                row = next((k for k in rows if inside & self.rows[state][k].coefficient.keys()), None)
                if row is not None:
                    choice[state] = row
                    inside.add(state)
        gain, bias = self._cycle(choice, [best[0], *(state for state in range(n) if state != best[0])])
        return gain, [bias[state] for state in range(n)]

    def _cycle(self, choice: Sequence[int], states: Sequence[int]) -> tuple[Fraction, dict[int, Fraction]]:
        """Return the gain and the bias of a policy within a set of states.

        The policy must never leave these states, and must visit the first of them with probability 1.
        """
        first, rows = states[0], {state: self.rows[state][choice[state]] for state in states}
        inside = {s: {t: p for t, p in row.coefficient.items() if t != first} for s, row in rows.items()}
        reward = solved({s: Equation(row.constant, inside[s]) for s, row in rows.items()})
        steps = solved({s: Equation(Fraction(1), to) for s, to in inside.items()})
        gain = reward[first] / steps[first]
        return gain, {s: reward[s] - gain * steps[s] if s != first else Fraction(0) for s in states}

    def optimize(self, choice: list[int], worth: Numbers) -> tuple[Numbers, int]:
        """Improve a policy until it is optimal, and return its values and the number of policies evaluated."""
        rounds, values = 1, self.total(choice, worth)
        while self.improve(choice, values, values):
            rounds, values = rounds + 1, self.total(choice, worth)
        return values, rounds

    @property
    def share(self) -> Fraction:
        """Upper bound on the relative error that rounded probabilities cause in the weight of a reward."""
        rounded = sum(any(len(row.coefficient) > 1 for row in rows) for rows in self.rows)
        return _ALLOWANCE * (rounded + 1) if rounded else Fraction(0)

    def changed(self, share: Fraction) -> RationalProcess:
        """Return a copy of the MDP in which each reward is raised by a share of its absolute value."""
        other = copy(self)
        other.rows = [[row._replace(constant=raised(row.constant, share)) for row in rows] for rows in self.rows]
        return other

    def improve(self, choice: list[int], values: Numbers, target: Numbers) -> bool:
        """Switch to the first best row in states where its value exceeds ``target``. Return True if any row changed."""
        changed = False
        for state, rows in enumerate(self.rows):
            q = [row.at(values) for row in rows]
            best = max(q)
            if best > target[state]:
                choice[state] = q.index(best)
                changed = True
        return changed


def solved(equations: dict[int, Equation]) -> dict[int, Fraction]:
    """Solve linear equations ``x = constant + A x`` of a terminating chain, and eliminate the last state first."""
    rows = {k: Equation(constant, dict(coefficient)) for k, (constant, coefficient) in equations.items()}
    states = list(rows)
    while states:
        k = states.pop()
        constant, to = rows[k]
        leaving = 1 - to.pop(k, Fraction(0))
        rows[k] = Equation(constant / leaving, {t: p / leaving for t, p in to.items()})
        for s in states:
            weight = rows[s].coefficient.pop(k, None)
            if weight is not None:
                into = rows[s].coefficient
                for t, p in rows[k].coefficient.items():
                    into[t] = into.get(t, Fraction(0)) + weight * p
                rows[s] = Equation(rows[s].constant + weight * rows[k].constant, into)
    x: dict[int, Fraction] = {}
    for k, row in rows.items():
        x[k] = row.at(x)
    return x


def best_gain(mdp: MDP, choice: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the maximum average reward of an MDP without terminals, in which all states can reach each other.

    Returns:
        A lower and an upper bound on the gain, ``[1]`` each, relative values ``[n_states]``, 0 in the first state, and
        the policy, int64 ``[n_states]``. The gain of the policy is at least the lower bound. The policy takes the first
        of equally good rows.
    """
    process, policy = RationalProcess(mdp, mdp.reward), (choice - mdp.state_ptr[:-1]).tolist()
    gain, bias = process.best(policy)
    first = [
        next(k for k, row in enumerate(rows) if row.at(bias) == bias[state] + gain)
        for state, rows in enumerate(process.rows)
    ]
    # All recurrent classes of this policy have the same gain.
    lower = min(process.changed(-process.share).gains(first))
    upper, _ = process.changed(process.share).best(policy)
    try:
        relative = np.array([_nearest(x - bias[0]) for x in bias])
        return np.array([-upward(-lower)]), np.array([upward(upper)]), relative, mdp.state_ptr[:-1] + first
    except OverflowError:
        raise SolveError("reward: the average reward is too large for floating point") from None


def raised(x: Fraction, share: Fraction) -> Fraction:
    """Return ``x`` plus a share of its absolute value."""
    return x + share * abs(x)


def upward(x: Fraction) -> float:
    """Return the smallest float not below ``x``. It must be in the range of finite floats."""
    rounded = float(x)
    return rounded if Fraction(rounded) >= x else float(np.nextafter(rounded, np.inf))


def _nearest(x: Fraction) -> float:
    """Return the nearest float, or infinity if ``x`` is out of range."""
    try:
        return float(x)
    except OverflowError:
        return np.inf if x > 0 else -np.inf


def use_fractions(problem: Total) -> Exact | Unsolved:
    """Solve a small MDP, starting with the policy of sweeps. The error bound covers rounded inputs."""
    mdp, payoff, found = problem.mdp, problem.payoff, problem.found
    if problem.limits.is_over or not is_small(mdp):
        return Unsolved("a component is too large, or the time is over")
    worth, n = [Fraction(x) for x in payoff.end.tolist()], mdp.n_states
    if problem.discount < 1:
        # The value of a terminal that pays at every step was rounded.
        paid = zip(mdp.terminal_reward.tolist(), worth, strict=True)
        worth = [Fraction(x) / (1 - Fraction(problem.discount)) if x else end for x, end in paid]
    process, policy = RationalProcess(mdp, payoff.row, problem.discount), (found.choice - mdp.state_ptr[:-1]).tolist()
    values, rounds = process.optimize(policy, worth)
    lower, upper = process.changed(-process.share), process.changed(process.share)
    below = lower.total(policy, [raised(x, -process.share) for x in worth])
    try:
        above, _ = upper.optimize(policy.copy(), [raised(x, process.share) for x in worth])
        v = np.array([float(x) for x in values[:n]])
    except ZeroDivisionError:
        raise SolveError(
            "reward: endless play costs so little per step that it might pay if probabilities were rounded when the "
            "process was built; use a discount or larger costs"
        ) from None
    except OverflowError:
        raise SolveError("reward: a value is too large for floating point") from None
    bounds = zip(map(Fraction, v.tolist()), below, above, strict=False)
    bound = upward(max(max(x - low, high - x) for x, low, high in bounds))
    choice, v = mdp.state_ptr[:-1] + policy, np.clip(v, *payoff.value_range)
    exact = Exact(v, choice, bound, found.rounds + rounds, rounds)
    return exact if bound < found.error_bound else Unsolved(f"error bound {bound:.1e}", exact)
