"""The ladder: the solvers of Markov decision processes, in the order in which they are tried.

An objective (``objectives``) states its problem, and `climb` tries the rungs for this problem in order. A rung returns
values with an error bound within the tolerance, or `Unsolved` with the reason and the values found so far. Rounding can
keep the tolerance out of reach, so most rungs also accept a bound of 1e-9 times the largest value.

Numeric rungs solve the problems `Layers`, `Total` and `Gains`. Other problems, and `Layers` if sweeps over layers fail
or do not apply, are reduced to these problems by the rungs in ``reductions``, which call `climb` again:

* `Layers`: a discounted `Total`, `Undiscounted` or `Probability`
* `Undiscounted`: `Total` after end components are collapsed, or `RewardUntil` if endless runs have costs
* `Probability`: `Undiscounted`
* `RewardUntil`: `Undiscounted`, after the signs of gains are found by `Gains`
* `Averages`: `Gains` within end components, `Undiscounted` between them, and `Layers` for the bias

Fast rungs come first, followed by slower but more accurate rungs. The last rungs are fallbacks. Sweeps are fastest in
most MDPs, but their number and their rounding errors grow with the length of trajectories. The cost and the accuracy of
an elimination do not depend on the length of trajectories. Fractions have no rounding errors, but become long in large
components.

Rungs:
    sweeps over layers (`Layers`): In-place sweeps from the last layer to the first, or simultaneous updates.
        for: MDPs with layers, computed transitions, compact MDPs with a discount, the methods `layered` and `jacobi`
        limits: 1,000 sweeps (`jacobi` and computed transitions: the maximum number) and values up to 1e305
        next: the same MDP without layers, because trajectories may be too long for sweeps
    direct policy iteration (`Total`): Policy iteration in one thread, with an elimination in the order of the states.
        for: discounted rewards, if neither a method nor initial values are given
        limits: 100,000 states, 4e6 entries, 100 policies, 1e7 entries in the factors and 1e9 multiplications
        next: policy evaluation, because sweeps cost less than an elimination in large MDPs
    policy evaluation (`Total`): Evaluation of greedy policies by sweeps or BiCGSTAB, and backups of all states.
        for: discounted rewards
        limits: the work of 50 to 20,000 sweeps, depending on an elimination's cost, and values up to 1e150
        next: an elimination, because its cost does not depend on the length of trajectories
    sweeps over components (`Total`): Sweeps over one strongly connected component after another, then over bounds.
        for: total rewards and probabilities
        limits: 50 to 1,000 sweeps over a component, depending on an elimination's cost
        next: an elimination, because its cost does not depend on the length of trajectories
    elimination (`Total`): Policy iteration that evaluates each policy by an elimination without subtractions.
        for: discounted and total rewards, and probabilities
        limits: 100 policies (up to 400 without a discount), 3e7 entries in the factors and 1e10 multiplications
        next: fractions, because they have no rounding errors
    fractions (`Total`): Policy iteration in rational arithmetic. The bound covers only rounded probabilities.
        for: discounted and total rewards, and probabilities
        limits: 256 states with at most 32 in a component
        next: decimal numbers, because they are also accurate in large components
    decimals (`Total`): Policy iteration with decimal numbers. Longer trajectories require more digits.
        for: discounted and total rewards, and probabilities
        limits: 200 policies, and 5e7 digits in the process and the factors
        next: more sweeps, because a smaller bound is possible
    further policy evaluation (`Total`): Continued policy evaluation, unless an elimination has a smaller bound.
        for: discounted rewards
        limits: the maximum number of sweeps
        next: none
    further sweeps over components (`Total`): Sweeps with a larger limit.
        for: total rewards and probabilities
        limits: the maximum number of sweeps over a component
        next: a loose bound
    loose bound (`Total`): The most accurate values from elimination or decimals, with a larger bound.
        for: total rewards, probabilities and values above 1e150
        limits: an error bound of 1e-3 times the largest value
        next: none
    sweeps within end components (`Gains`): Sweeps over all end components together.
        for: average rewards
        limits: 1,000 sweeps
        next: policy iteration, because its cost does not depend on how slowly a chain mixes
    policy iteration for gains (`Gains`): Policy iteration in all end components, with an elimination for each policy.
        for: average rewards
        limits: 600 policies, 3e7 entries in the factors and 1e10 multiplications
        next: fractions, because they have no rounding errors
    fractions for gains (`Gains`): Policy iteration in rational arithmetic.
        for: average rewards
        limits: 32 states in an end component
        next: stationary weights, because they are accurate in chains of any size
    stationary weights (`Gains`): Stationary weights of the states, from an elimination without subtractions.
        for: average rewards in end components without choices
        limits: 3e7 entries in the factors and 1e10 multiplications
        next: more sweeps
    further sweeps within end components (`Gains`): Sweeps over the end components whose bounds are still wide.
        for: average rewards
        limits: the maximum number of sweeps
        next: none
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import dropwhile, takewhile
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.methods.layered_sweeps import Layers, sweep_layers
from punish_fast.mdp.methods.totals import Probability, RewardUntil, Total, Undiscounted, accept_loose_bound
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.solution import Unsolved


class Rung(NamedTuple):
    """A solver of the ladder."""

    name: str  # empty for reductions
    problem: Any  # class of the problem
    run: Callable[[Any], Any]  # returns values with an error bound, or `Unsolved`
    applies: Callable[[Any], bool] = lambda _: True


def rungs() -> Iterator[Rung]:
    """Yield all rungs in order. Import the module of a rung only when the caller reaches the rung."""
    yield Rung("sweeps over layers", Layers, sweep_layers, lambda p: not p.is_flat)
    from punish_fast.mdp.reductions import averages, component_solver, goals

    yield Rung("", Layers, partial(component_solver.solve_in_one_layer, climb))
    yield Rung("", Undiscounted, partial(component_solver.solve_by_component, climb))
    yield Rung("", Probability, partial(goals.find_probability, climb))
    yield Rung("", RewardUntil, partial(goals.find_reward, climb))
    yield Rung("", averages.Averages, partial(averages.find_averages, climb))
    from punish_fast.mdp.methods.direct_iteration import solve_directly

    yield Rung("direct policy iteration", Total, solve_directly, lambda p: p.is_plain)
    from punish_fast.mdp.methods.policy_evaluation import evaluate_policies

    yield Rung("policy evaluation", Total, evaluate_policies, lambda p: p.is_discounted and p.is_swept)
    from punish_fast.mdp.methods.component_brackets import sweep_components

    yield Rung("sweeps over components", Total, sweep_components, lambda p: p.is_swept and not p.is_discounted)
    from punish_fast.mdp.methods.exact_iteration import eliminate, use_decimals

    yield Rung("elimination", Total, eliminate, lambda p: p.eliminates)
    from punish_fast.mdp.methods.rational import use_fractions

    yield Rung("fractions", Total, use_fractions, lambda p: p.eliminates)
    yield Rung("decimals", Total, use_decimals, lambda p: p.eliminates)
    run = partial(evaluate_policies, is_further=True)
    yield Rung("further policy evaluation", Total, run, lambda p: p.is_discounted and p.is_swept and p.eliminates)
    run = partial(sweep_components, is_further=True)
    yield Rung("further sweeps over components", Total, run, lambda p: p.is_swept and p.eliminates and p.discount == 1)
    yield Rung("loose bound", Total, accept_loose_bound, lambda p: not (p.is_discounted and p.is_swept))
    from punish_fast.mdp.methods import component_gains as gains

    yield Rung("sweeps within end components", gains.Gains, gains.sweep_gains)
    yield Rung("policy iteration for gains", gains.Gains, gains.improve_gains)
    yield Rung("fractions for gains", gains.Gains, gains.use_fractions_for_gains)
    yield Rung("stationary weights", gains.Gains, gains.weigh_states)
    yield Rung("further sweeps within end components", gains.Gains, partial(gains.sweep_gains, is_further=True))


@cache
def _rungs_of(problem: type) -> tuple[Rung, ...]:
    """Return the rungs for a class of problems, which are consecutive. Do not import the modules of later rungs."""
    reached = dropwhile(lambda rung: rung.problem is not problem, rungs())
    return tuple(takewhile(lambda rung: rung.problem is problem, reached))


def climb(problem: Any) -> Any:
    """Try the rungs for a problem in order, and return the first solution.

    After the deadline, return the best values found.

    Raises:
        SolveError: If all rungs fail, or the deadline passes before an error bound is proved.
    """
    told: list[str] = []
    best: Any = None
    for rung in _rungs_of(problem.__class__):
        if not rung.applies(problem):
            continue
        with np.errstate(all="ignore"):
            outcome = rung.run(problem)
        told.append(": ".join(filter(None, (rung.name, outcome.reason))))
        if not isinstance(outcome, Unsolved):
            outcome.reason = "; ".join(told)
            return outcome
        if outcome.found is not None and (best is None or outcome.found.error_bound < best.error_bound):
            best = outcome.found
        if problem.limits.is_over and best is not None and best.error_bound < np.inf:
            return replace(best, reason="; ".join(told))
    if told and problem.limits.is_over:
        late, most = monotonic() - problem.limits.deadline, problem.limits.max_seconds
        cure = f"use more than {most:g}, or a larger tolerance"
        raise SolveError(f"max_seconds: no error bound was proved in {most + late:.3g} seconds; {cure}")
    if problem.failure is not None:
        raise problem.failure
    return best
