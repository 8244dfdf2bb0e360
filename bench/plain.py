"""Our solvers compared with value iteration and policy iteration in plain NumPy and SciPy, on random processes.

Each process of ``processes/seeded.py`` is solved for one objective. Our solver certifies an error bound. The *accuracy*
is this bound or the tolerance, whichever is larger. Plain *value iteration* sweeps a SciPy matrix and ends as soon as
its values are within the accuracy of ours. *Policy iteration* solves the linear equations of each policy with SuperLU.
Each solver runs in its own process with one thread. A plain solver may use as much processor time as our solver, but at
least 2 and at most 60 seconds.

Our values are compared with the values of our policy, computed by SuperLU, and with the result of one more sweep. The
larger difference divided by the accuracy is *off*. Verdicts: *slow* if our solver takes more than 50 ms plus ten times
as long as the faster plain solver, *wrong* if *off* is above 3, *loose* if the error bound exceeds the tolerance.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array, hstack
from scipy.sparse.linalg import splu

from bench.harness import BenchmarkError, allow, run_child, say
from bench.processes.seeded import KINDS, LARGEST, Seeded, make
from bench.report import fact
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.objectives.average_reward import average_reward
from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime._jit import set_threads

OBJECTIVES = ("0.9", "0.99", "0.999", "0.9999", "total", "reach", "average")
OURS, VALUE, POLICY = "ours", "value iteration", "policy iteration"
N_SEEDS = 200
LIMIT = 60.0
TIMES, GRACE = 10.0, 0.05
_SHARE = 1e-8
# A discount for reach probabilities, so that the equations of every policy have a solution.
_NO_DISCOUNT = 1 - 1e-12
_SMALL = 300
# Minimum time limit of plain solvers in seconds, and the ratio of elapsed time to a solver's limit at which it is
# killed.
_PATIENCE, _BUSY = 2.0, 3.0
# The errors of values, policy and SuperLU may add up.
_MOST_OFF = 3.0
COLUMNS = ("seed", "kind", "objective", "states", "bound", "off", OURS, VALUE, POLICY, "ratio", "verdict")
_WIDTHS = (4, 9, 9, 7, 8, 8, 8, 15, 16, 7)


class Problem(NamedTuple):
    """A process and an objective.

    The objective is the maximum average reward if ``discount`` is NaN. Otherwise it is the maximum expected reward
    until a state with a fixed value is reached.
    """

    mdp: MDP  # the process
    rows: csr_array  # transition probabilities, ``[n_rows, n_states]``
    reward: np.ndarray  # float64 ``[n_rows]``
    fixed: np.ndarray  # float64 ``[n_states]``, values of final states, or NaN for other states
    discount: float  # from 0 to 1, or NaN for average rewards
    tolerance: float  # the required error bound

    def backed_up(self, v: np.ndarray) -> np.ndarray:
        """Return the values of rows, given the values of states."""
        g = 1.0 if np.isnan(self.discount) else self.discount
        return np.asarray(self.reward + g * (self.rows @ v))

    def best(self, q: np.ndarray) -> np.ndarray:
        """Return the values of states, given the values of rows."""
        return np.where(np.isnan(self.fixed), np.maximum.reduceat(q, self.mdp.state_ptr[:-1]), self.fixed)

    def valued(self, rows: csr_array, reward: np.ndarray, discount: float) -> np.ndarray:
        """Return the values of the policy with these rows.

        For average rewards, the first entry is the gain, and the others are the biases of all states but the first.
        """
        n, is_open = len(reward), np.isnan(self.fixed)
        if np.isnan(self.discount):
            # The bias of the first state is 0, so its column can stand for the gain.
            system = (eye_array(n, format="csc") - csc_array(rows))[:, 1:]
            whole = csc_array(np.ones((n, 1)))
            return np.asarray(splu(csc_array(hstack([whole, system]))).solve(reward))
        v = np.where(is_open, 0.0, self.fixed)
        inner = np.flatnonzero(is_open)
        right = reward[inner] + discount * (rows[inner] @ v)
        system = eye_array(len(inner), format="csc") - discount * csc_array(rows[inner][:, inner])
        v[inner] = splu(csc_array(system)).solve(right)
        return v


def problem_of(seeded: Seeded, objective: str) -> Problem:
    """Return the problem for an objective. Total rewards are negative costs."""
    mdp, reward, fixed = seeded.mdp, seeded.mdp.reward, np.full(seeded.mdp.n_states, np.nan)
    discount = {"total": 1.0, "reach": 1.0, "average": np.nan}.get(objective) or float(objective)
    if objective == "total":
        reward = reward - 1.01
        fixed[seeded.goal] = 0.0
    elif objective == "reach":
        reward = np.zeros(mdp.n_rows)
        fixed[seeded.goal], fixed[seeded.avoid] = 1.0, 0.0
    problem = Problem(mdp, csr_array(mdp.to_scipy()), reward, fixed, discount, _SHARE)
    if objective in ("reach", "average"):
        return problem
    mixture = csr_array((seeded.guide, np.arange(mdp.n_rows), mdp.state_ptr), shape=(mdp.n_states, mdp.n_rows))
    rough = problem.valued(csr_array(mixture @ problem.rows), mixture @ reward, discount)
    return problem._replace(tolerance=_SHARE * float(np.abs(rough).max()))


def ours(seeded: Seeded, objective: str, problem: Problem) -> Any:
    """Solve a problem with punish-fast."""
    if objective == "total":
        costs = replace(seeded.mdp, reward=-problem.reward)
        return total_reward(costs, seeded.goal, maximize=False, tolerance=problem.tolerance)
    if objective == "reach":
        return reach_probability(seeded.mdp, seeded.goal, avoid=seeded.avoid, tolerance=problem.tolerance)
    if objective == "average":
        return average_reward(seeded.mdp, tolerance=problem.tolerance)
    return solve(seeded.mdp, problem.discount, tolerance=problem.tolerance)


def value_iteration(problem: Problem, near: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Sweep until ``near(v)`` holds."""
    v = np.where(np.isnan(problem.fixed), 0.0, problem.fixed)
    while not near(v):
        v = problem.best(problem.backed_up(v))
    return v


def relative_value_iteration(problem: Problem, near: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Sweep relative values, damped by a quarter, until ``near(gain)`` holds."""
    h = np.zeros(problem.mdp.n_states)
    while True:
        change = problem.best(problem.backed_up(h)) - h
        gain = np.full(len(h), (change.min() + change.max()) / 2)
        if near(gain):
            return gain
        h += 0.75 * (change - change[0])


def policy_iteration(problem: Problem, near: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Improve a policy until its values satisfy ``near(v)``."""
    begins, per_state = problem.mdp.state_ptr[:-1], np.diff(problem.mdp.state_ptr)
    is_reach = problem.discount == 1 and problem.reward.max() == 0
    choice, discount = begins, _NO_DISCOUNT if is_reach else problem.discount
    while True:
        found = problem.valued(problem.rows[choice], problem.reward[choice], discount)
        v, h = found, found
        if np.isnan(problem.discount):
            h = np.append(0.0, found[1:])
            v = np.full(len(h), found[0])
        if near(v):
            return v
        q = problem.backed_up(h)
        is_best = np.flatnonzero(q == np.repeat(np.maximum.reduceat(q, begins), per_state))
        best = is_best[np.searchsorted(is_best, begins)]
        # Keep rows that are equally good up to rounding, so that policies cannot cycle.
        better = np.where(q[best] > q[choice] + 1e-12 * np.abs(h).max(), best, choice)
        if (better == choice).all():
            raise ArithmeticError("no policy is better, but values are not near enough")
        choice = better


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Solve a task with one solver.

    Our solver writes its values to the file ``values``. Plain solvers read them from there.
    """
    solver, objective = request["solver"], request["objective"]
    seeded = make(request["kind"], request["seed"], request["largest"])
    problem = problem_of(seeded, objective)
    if solver == OURS:
        return _our_turn(seeded, problem, request)
    right, accuracy, begin = np.load(request["values"]), request["accuracy"], time.process_time()

    def near(v: np.ndarray) -> bool:
        if time.process_time() - begin > request["limit"]:
            raise TimeoutError
        return bool(np.abs(v - right).max() <= accuracy)

    solve_plainly = policy_iteration if solver == POLICY else value_iteration
    if objective == "average" and solver == VALUE:
        solve_plainly = relative_value_iteration
    # Set a timer, because the time cannot be checked during a call of SuperLU.
    allow(_BUSY * request["limit"])
    solve_plainly(problem, near)
    return {"cpu": time.process_time() - begin}


def _our_turn(seeded: Seeded, problem: Problem, request: dict[str, Any]) -> dict[str, Any]:
    set_threads(1)
    small = make(request["kind"], request["seed"], _SMALL)
    ours(small, request["objective"], problem_of(small, request["objective"]))
    allow(_BUSY * LIMIT)
    begin = time.process_time()
    found = ours(seeded, request["objective"], problem)
    cpu = time.process_time() - begin
    allow(0)
    v = found.gain if request["objective"] == "average" else found.v
    v = -v if request["objective"] == "total" else v
    np.save(request["values"], v)
    accuracy = max(found.error_bound, problem.tolerance)
    off = error_of(problem, v, found.choice, getattr(found, "bias", None)) / accuracy
    bounds = {"accuracy": accuracy, "bound": found.error_bound, "tolerance": problem.tolerance}
    return {"cpu": cpu, **bounds, "states": len(v), "off": off}


def error_of(problem: Problem, v: np.ndarray, choice: np.ndarray, bias: np.ndarray | None) -> float:
    """Return the largest difference from ``v`` to the exact values of its policy or to the values after a sweep."""
    rows, reward = problem.rows[choice], problem.reward[choice]
    if bias is not None:
        policy = np.full(len(v), problem.valued(rows, reward, 1.0)[0])
        swept = np.maximum.reduceat(np.asarray(problem.rows @ v), problem.mdp.state_ptr[:-1])
    else:
        # In states that cannot reach the goal, the policy is arbitrary and its equations may be singular.
        fixed = np.where(v == 0, 0.0, problem.fixed)
        policy = problem._replace(fixed=fixed).valued(rows, reward, problem.discount)
        swept = problem.best(problem.backed_up(v))
    return float(max(np.abs(v - policy).max(), np.abs(v - swept).max()))


def task_of(seed: int) -> tuple[str, str]:
    """Return the kind of process and the objective for a seed. Consecutive seeds cycle through all combinations."""
    return list(KINDS)[seed % len(KINDS)], OBJECTIVES[seed // len(KINDS) % len(OBJECTIVES)]


def measure(seed: int, largest: int) -> list[str]:
    """Run all solvers on the task of a seed and return its row of the table."""
    kind, objective = task_of(seed)
    request = {"kind": kind, "objective": objective, "seed": seed, "largest": largest}
    row = [str(seed), kind, objective]
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as folder:
        request["values"] = str(Path(folder) / "v.npy")
        try:
            found = run_child("bench.plain", request | {"solver": OURS}, OURS)
        except BenchmarkError as error:
            return [*row, *["-"] * (len(COLUMNS) - 4), str(error)]
        request |= {"accuracy": found["accuracy"], "limit": min(LIMIT, max(_PATIENCE, found["cpu"]))}
        seconds = {solver: _turn(request | {"solver": solver}) for solver in (VALUE, POLICY)}
    fastest = min(seconds.values())
    verdicts = {
        "slow": found["cpu"] > TIMES * fastest + GRACE,
        "wrong": not found["off"] <= _MOST_OFF,
        "loose": found["bound"] > found["tolerance"],
    }
    numbers = (found["states"], found["bound"], found["off"], found["cpu"], *seconds.values(), found["cpu"] / fastest)
    return [*row, *map(fact, numbers), " ".join(name for name, holds in verdicts.items() if holds) or "ok"]


def _turn(request: dict[str, Any]) -> float:
    """Return the processor seconds of a plain solver, or infinity if it fails or takes too long."""
    try:
        return float(run_child("bench.plain", request, request["solver"])["cpu"])
    except BenchmarkError:
        return np.inf


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.plain", description="Compare with plain solvers.")
    parser.add_argument(
        "--seeds", type=int, nargs=2, default=(0, N_SEEDS), metavar=("FIRST", "LAST"), help="seeds, without LAST"
    )
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this one; repeatable")
    parser.add_argument("--objective", action="append", choices=OBJECTIVES, help="only this one; repeatable")
    parser.add_argument("--largest", type=int, default=LARGEST, metavar="N", help="states at most")
    given = parser.parse_args(arguments)
    # SIGTERM must also end the child process. Shells start background jobs with SIGINT ignored, so restore its handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    table = []
    print(_line(COLUMNS))
    try:
        for seed in range(*given.seeds):
            kind, objective = task_of(seed)
            if kind in (given.kind or KINDS) and objective in (given.objective or OBJECTIVES):
                table.append(measure(seed, given.largest))
                print(_line(table[-1]), flush=True)
    except KeyboardInterrupt:
        say("interrupted")
    wrong = [row for row in table if row[-1] != "ok"]
    print(f"{len(table)} processes, {len(wrong)} not ok", *map(_line, wrong), sep="\n")
    return 1 if wrong else 0


def _line(row: Sequence[str]) -> str:
    return " ".join([*(cell.rjust(width) for cell, width in zip(row, _WIDTHS, strict=False)), row[-1]])


if __name__ == "__main__":
    sys.exit(main())
