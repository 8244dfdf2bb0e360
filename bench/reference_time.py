"""Speed-up over the same model in plain Python, as in a notebook.

First the tensor of the game is compared with the reference in plain Python, on a sample of states in each breath. Legal
actions and successors must be equal, and probabilities and rewards must agree within 1e-12. If they agree, each run
times the reference on another sample and extrapolates to the whole game. It also times our enumeration of states, the
tensor, and values within 1e-9. The extrapolated time includes as many episodes of value iteration as our Jacobi sweeps
need for this error bound.

Within a breath, all states are sampled with equal probability. Hence

    sum over breaths of (states of the breath / sampled states) * seconds for the sampled states

is an unbiased estimate of the seconds for all states. (Random walks from breath to breath favor states with many
predecessors, and overestimate the nonzeros of the notebook's game by a fifth.) The same formula, with nonzeros instead
of seconds, estimates the number of nonzeros. Its error indicates the quality of the sample. The reference has one
thread and never waits, so its times are processor times.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench import reference
from bench.harness import DISCOUNT, TOLERANCE, Check, Measurement, Options, Report, new_report, run_child, say
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import load_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build

OURS = "punish-fast, states, tensor and solve"
THEIRS = "plain Python, extrapolated"
STAGES = {
    "states": f"{THEIRS}: states",
    "maps": f"{THEIRS}: transition maps",
    "episode": f"{THEIRS}: one episode",
    "all": THEIRS,
}
LEAST_TIMES = 10_000
MAX_DIFFERENCE = 1e-12
TIMED_EPISODES = 5
_COMPARED, _SAMPLE, _QUICK_SAMPLE = 2000, 200, 10
_REPEATS = 5


def run(options: Options) -> Report:
    """Compare the tensor with the reference, time both, and report the ratio of times."""
    rules = "tiny" if options.quick else "notebook"
    report, module = new_report("reference", options, rules), "bench.reference_time"
    say(f"reference: comparing rules {rules}")
    request = {"rules": rules, "seed": 0, "per_breath": _QUICK_SAMPLE if options.quick else _COMPARED}
    compared = run_child(module, request | {"task": "compare"}, "the comparison with plain Python")
    difference = compared["difference"]
    report.checks.append(Check("tensor and plain Python", difference, MAX_DIFFERENCE))
    report.facts["compared states"] = compared["states"]
    if not report.ok:
        return report
    ours: list[float] = []
    theirs: list[dict[str, Any]] = []
    for number in range(1, options.runs + 1):
        say(f"reference: run {number} of {options.runs}")
        request = {"rules": rules, "seed": number, "per_breath": _QUICK_SAMPLE if options.quick else _SAMPLE}
        theirs.append(run_child(module, request | {"task": "time"}, THEIRS))
        asked = {"rules": rules, "threads": options.threads, "repeats": _REPEATS}
        ours += run_child("bench.scaling", asked, OURS)["seconds"]["all"]
    report.measurements.append(Measurement(OURS, ours))
    report.measurements += [Measurement(name, [found[key] for found in theirs]) for key, name in STAGES.items()]
    report.facts["episodes of value iteration"] = theirs[0]["episodes"]
    error = 100 * max(abs(found["nonzeros_ratio"] - 1) for found in theirs)
    report.facts["largest error of nonzeros extrapolated from a sample, %"] = error
    times = report.measurements[-1].median / report.measurements[0].median
    report.aim("plain Python / states, tensor and solve", times, at_least=LEAST_TIMES)
    return report


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Compare the tensor with the reference, or time the reference, in a child process."""
    space = StateSpace(load_rules(request["rules"]))
    mdp = build(space)
    rows = sample_rows(space, request["per_breath"], np.random.default_rng(request["seed"]))
    if request["task"] == "time":
        return extrapolate(space, mdp, rows)
    found = [largest_difference(space, mdp, row) for row in np.concatenate(rows).tolist()]
    return {"difference": max(found), "states": len(found)}


def sample_rows(space: StateSpace, per_breath: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Sample states of each layer uniformly without replacement.

    Return an int64 array for each layer, with ``per_breath`` states, or all states of smaller layers.
    """
    return [
        begin + np.sort(generator.choice(size, min(per_breath, size), replace=False))
        for begin, size in zip(space.layer_ptr, space.states_by_breath, strict=False)
    ]


def largest_difference(space: StateSpace, mdp: MDP, row: int) -> float:
    """Return the largest difference between a state's probabilities or rewards and the reference.

    Return 1 if legal actions or successors differ.
    """
    rules = reference.Rules(**space.rules._asdict())
    expected = reference.transitions(rules, reference.State(*space.state(row)), reference.uniform(rules, 1.0), 1.0)
    rows = slice(mdp.state_ptr[row], mdp.state_ptr[row + 1])
    if mdp.action[rows].tolist() != list(expected):
        return 1.0
    largest = 0.0
    for k, transition in zip(range(rows.start, rows.stop), expected.values(), strict=True):
        entries = slice(*mdp.indptr[k : k + 2])
        columns, data = mdp.indices[entries].tolist(), mdp.data[entries].tolist()
        ends = {space.n_states: reference.WIN, space.n_states + 1: reference.LOSS}
        names = [ends.get(column) or reference.State(*space.state(column)) for column in columns]
        found = dict(zip(names, data, strict=True))
        if found.keys() != transition.keys() or len(found) != len(columns):
            return 1.0
        errors = [abs(found[successor] - p) for successor, p in transition.items()]
        reward = abs(float(mdp.reward[k]) - reference.expected_reward(transition))
        # Unlike `max`, `np.max` returns NaN if an entry is NaN.
        largest = float(np.max([largest, reward, *errors]))
    return largest


def extrapolate(space: StateSpace, mdp: MDP, samples: list[np.ndarray]) -> dict[str, Any]:
    """Extrapolate the processor seconds that the reference needs for the game against the random player."""
    rules = reference.Rules(**space.rules._asdict())
    uniform = reference.uniform(rules, 1.0)
    enumeration = timed(lambda: sorted(reference.breath_1_states(rules)))[1]

    def listed(states: list[reference.State]) -> object:
        return sorted(reference.next_breath(rules, states))

    def numbered(states: list[reference.State]) -> reference.Game:
        return reference.Game(states, lambda state: reference.transitions(rules, state, uniform, 1.0))

    maps = episode = nonzeros = 0.0
    for rows, size in zip(samples, space.states_by_breath, strict=True):
        states = [reference.State(*space.state(row)) for row in rows.tolist()]
        scale = size / len(states)
        # The successors of the last layer are the states of breath 1, whose enumeration is already timed.
        if states[0].breath <= rules.breaths:
            enumeration += scale * timed(listed, states)[1]
        game, seconds = timed(numbered, states)
        maps += scale * seconds
        # Use the median, because extrapolation would multiply the time of a single garbage collection.
        episodes = [timed(game.episode, DISCOUNT)[1] for _ in range(TIMED_EPISODES)]
        episode += scale * statistics.median(episodes)
        nonzeros += scale * game.nnz
    n_episodes = solve(mdp, DISCOUNT, "jacobi", TOLERANCE).sweeps
    whole = enumeration + maps + n_episodes * episode
    found = {"states": enumeration, "maps": maps, "episode": episode, "all": whole}
    return found | {"episodes": n_episodes, "nonzeros_ratio": nonzeros / mdp.nnz}


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Call a function and return its result and the processor seconds of this thread."""
    begin = time.thread_time()
    result = function(*arguments)
    return result, time.thread_time() - begin
