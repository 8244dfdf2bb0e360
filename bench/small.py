"""Small processes of textbooks (``processes/textbook.py``): our solver beside QuantEcon's and plain NumPy.

All solvers run in one process and take turns. Their times are processor times of a warm solve to an error of `BOUND`,
without building the model. QuantEcon's policy iteration and modified policy iteration solve the sparse form and, below
`FEW` states, its policy iteration also the dense form. *Plain* is value iteration with a SciPy matrix, which stops by
the span of the changes. Only our error bound includes rounding. QuantEcon's policy iteration would take minutes on
processes with over `MANY` states and is omitted.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from copy import copy

import numpy as np
from quantecon.markov import DiscreteDP
from scipy.sparse import csr_matrix

from bench.harness import Check, Fact, Measurement, Options, Report, new_report, say
from bench.processes.textbook import PROBLEMS
from punish_fast.mdp import MDP, solve

BOUND = 1e-8
# QuantEcon's values may be off by its own stopping rule and by rounding.
ROUNDING = 2e-7
FEW, MANY, SLOW = 200, 2_000, 1.0
QUICK = ("forest 10", "bus 175")
OURS, POLICY, MODIFIED, DENSE, PLAIN = "ours", "QuantEcon policy", "QuantEcon modified", "QuantEcon dense", "plain"


def plain_values(mdp: MDP, discount: float) -> np.ndarray:
    """Return the values of value iteration in NumPy and SciPy, within `BOUND` of the optimum except for rounding."""
    matrix, begins, v = mdp.to_scipy(), mdp.state_ptr[:-1], np.zeros(mdp.n_states)
    while True:
        new = np.maximum.reduceat(mdp.reward + discount * (matrix @ v), begins)
        change, v = new - v, new
        if discount * (change.max() - change.min()) / (1 - discount) < BOUND:
            middle: np.ndarray = v + discount / (1 - discount) * (change.max() + change.min()) / 2
            return middle


def solvers_of(mdp: MDP, discount: float) -> dict[str, Callable[[], np.ndarray]]:
    """Return the solvers of a process by name. Each returns the state values."""
    state = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr))
    sparse = DiscreteDP(mdp.reward, csr_matrix(mdp.to_scipy()), discount, state, mdp.action)
    # Constructors of `MDP` compute this property, but some processes are built from arrays.
    assert mdp.max_row_sum_error < BOUND
    solvers = {
        # A copy has no other cached properties.
        OURS: lambda: solve(copy(mdp), discount, tolerance=BOUND).v,
        MODIFIED: lambda: sparse.solve(method="modified_policy_iteration", epsilon=BOUND, max_iter=100_000).v,
        PLAIN: lambda: plain_values(mdp, discount),
    }
    if mdp.n_states <= MANY:
        solvers[POLICY] = lambda: sparse.solve(method="policy_iteration").v
    if mdp.n_states < FEW:
        dense = sparse.to_product_form()
        solvers[DENSE] = lambda: dense.solve(method="policy_iteration").v
    return solvers


def measured(name: str, runs: int) -> tuple[Measurement, list[Check]]:
    """Time the solvers of a process in turns, and compare their values with ours."""
    make, discount = PROBLEMS[name]
    mdp = make()
    solvers, seconds, values = solvers_of(mdp, discount), dict[str, list[float]](), dict[str, np.ndarray]()
    for _ in range(runs + 1):
        for solver, solved in solvers.items():
            # Another turn of a slow solver would not change the table.
            if solver != OURS and min(seconds.get(solver, [0.0])) > SLOW:
                continue
            begin = time.process_time()
            values[solver] = solved()
            seconds.setdefault(solver, []).append(time.process_time() - begin)
    medians = {solver: statistics.median(times[1:] or times) for solver, times in seconds.items()}
    ours, others = medians.pop(OURS), medians
    best = min((solver for solver in others if solver != DENSE), key=others.__getitem__)
    facts: dict[str, Fact] = {"entries": mdp.nnz, "ms": 1e3 * ours}
    facts |= {solver: 1e3 * others[solver] for solver in (POLICY, MODIFIED, PLAIN, DENSE) if solver in others}
    facts["best"] = others[best] / ours
    limit = BOUND + ROUNDING
    checks = [
        Check(f"{solver} at {name}", float(np.abs(v - values[OURS]).max()), limit)
        for solver, v in values.items()
        if solver != OURS
    ]
    return Measurement(name, seconds[OURS][1:], facts), checks


def run(options: Options) -> Report:
    """Run the benchmark."""
    report = new_report("small", options, "none")
    for name in QUICK if options.quick else PROBLEMS:
        say(f"small: {name}")
        measurement, checks = measured(name, options.runs)
        report.measurements.append(measurement)
        report.checks += checks
        limit = {"forest 10": 1.0, "search 400": 5.0}.get(name)
        if limit is not None:
            report.aim(f"{name}: milliseconds of our solve", 1e3 * measurement.median, at_most=limit)
        if isinstance(dense := measurement.facts.get(DENSE), float):
            report.aim(f"{name}: our solve / {DENSE}", 1e3 * measurement.median / dense, at_most=3)
    if not options.quick:
        least = min(float(each.facts["best"]) for each in report.measurements)
        report.aim("the best other solver / our solve, least of all processes", least, at_least=1 / 1.15)
    return report
