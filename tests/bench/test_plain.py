from __future__ import annotations

import signal
from itertools import product

import numpy as np
import pytest

from bench import plain
from bench.child import ChildError
from bench.plain import OBJECTIVES, POLICY, VALUE, main, measure, ours, problem_of, task_of
from bench.processes.seeded import KINDS, make
from punish_fast.mdp.model import check
from punish_fast.mdp.reachability import evaluate_reach_probability

SMALL = 64


@pytest.fixture(autouse=True)
def _own_signals():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_processes_whose_guide_reaches_the_goal(kind):
    seeded = make(kind, 3, 200)
    assert check(seeded.mdp).n_states <= 200
    assert seeded.mdp.reward.max() <= 1
    assert evaluate_reach_probability(seeded.mdp, seeded.guide, seeded.goal).v == pytest.approx(1)
    assert not (seeded.goal & seeded.avoid).any()


def test_a_seed_makes_the_same_process_again():
    one, other = make("grid", 5, SMALL), make("grid", 5, SMALL)
    assert np.array_equal(one.mdp.reward, other.mdp.reward)
    assert np.array_equal(one.avoid, other.avoid)


def test_seeds_have_all_pairs_of_kind_and_objective():
    assert {task_of(seed) for seed in range(len(KINDS) * len(OBJECTIVES))} == set(product(KINDS, OBJECTIVES))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", ["random", "grid"])
def test_plain_solvers_and_ours_agree(kind, objective):
    seeded = make(kind, 1, SMALL)
    problem = problem_of(seeded, objective)
    found = ours(seeded, objective, problem)
    v = {"average": lambda: found.gain, "total": lambda: -found.v}.get(objective, lambda: found.v)()
    assert plain.error_of(problem, v, found.choice, getattr(found, "bias", None)) <= 3 * problem.tolerance
    solvers = (
        plain.relative_value_iteration if objective == "average" else plain.value_iteration,
        plain.policy_iteration,
    )
    for solver in solvers:
        solver(problem, lambda w: np.abs(w - v).max() <= 2 * problem.tolerance)


def test_a_table_has_a_row_for_each_task(capsys):
    assert main(["--seeds", "0", "4", "--kind", "ring", "--largest", str(SMALL)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:3] == ["2", "ring", "0.9"]
    assert lines[-1] == "1 processes, 0 not ok"


def test_failures_and_slow_or_wrong_answers_are_verdicts(monkeypatch):
    found = {"cpu": 1.0, "accuracy": 1e-8, "bound": 1e-7, "tolerance": 1e-8, "states": 3, "off": 4.0}
    answers = {plain.OURS: found, VALUE: {"cpu": 0.01}, POLICY: ChildError("policy iteration: took too long")}

    def run_child(_module, request, *_):
        answer = answers[request["solver"]]
        if isinstance(answer, ChildError):
            raise answer
        return answer

    monkeypatch.setattr(plain, "run_child", run_child)
    assert measure(0, SMALL)[-3:] == ["inf", "100", "slow wrong loose"]
    answers[plain.OURS] = ChildError("ours: took too long")
    assert measure(0, SMALL)[-2:] == ["-", "ours: took too long"]
