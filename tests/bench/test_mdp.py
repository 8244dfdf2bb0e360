from __future__ import annotations

import json
import signal

import numpy as np
import pytest

from bench import mdp
from bench.benchmark import Measurement, Options, new_report
from bench.child import ChildError, ChildTimeoutError
from bench.contenders import DISCOUNTED, FEW, OURS, OURS_ONE, REACHABILITY, Contender
from bench.mdp import Contest, Record, Task, add_targets, main, measure, measurement_of, tasks_of


@pytest.fixture(autouse=True)
def _own_signals():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


TASK = Task("forest", "small", 0.9)
SCIPY = next(one for one in DISCOUNTED if one.name == "SciPy, value iteration")


def test_tasks_take_the_discounts_of_their_process():
    tasks = list(tasks_of(["forest", "consensus"], ["small", "middle"], [0.9, 0.999]))
    names = [task.name for task in tasks]
    assert names[:2] == ["forest small, 0.9", "forest small, 0.999"]
    assert names[-2:] == ["consensus small, reachability", "consensus middle, reachability"]
    assert len(names) == 6
    assert tasks[0].contenders == DISCOUNTED
    assert tasks[-1].contenders == REACHABILITY


def measured(**seconds):
    """The facts of a task; text is the reason of a failure, such as 10 seconds."""
    names = {"ours": OURS, "one": OURS_ONE, "a": "QuantEcon, a", "b": "QuantEcon, b", "scipy": "SciPy, c"}
    records = {
        names[key]: Record(failure=value, limit=10.0 if value.startswith("over") else np.inf)
        if isinstance(value, str)
        else Record(list(value))
        for key, value in seconds.items()
    }
    return measurement_of(Task("random", "middle", 0.9), records, 12)


def test_ratios_are_of_medians_and_of_the_best_of_a_program():
    found = measured(ours=(2.0, 1.0, 9.0), one=(3.0,), a=(8.0,), b=(5.0, 4.0, 3.0), scipy=(6.0,))
    assert found.median == 2.0
    assert found.facts["QuantEcon"] == found.facts["best"] == 2.0
    assert found.facts["SciPy"] == 3.0
    assert found.facts["best peer"] == "QuantEcon, b"
    assert found.facts["1 thread"] == 3.0
    assert found.facts["seconds: QuantEcon, a"] == 8.0
    assert "Storm" not in found.facts


def test_peers_out_of_time_are_slower_than_the_limit_allows():
    found = measured(ours=(2.0,), a="over 10 s", b="failed", scipy="differs")
    assert found.facts["QuantEcon"] == found.facts["best"] == "> 5.00"
    assert found.facts["SciPy"] == "differs"
    assert found.facts["best peer"] == ""


def test_ours_out_of_time_counts_with_its_limit():
    found = measured(ours="over 10 s", a=(2.0,))
    assert found.median == 10
    assert found.facts["ours"] == "over 10 s"
    assert found.facts["best"] == "< 0.200"
    assert measured(ours="over 10 s", a="over 10 s").facts["best"] == "over 10 s"


def test_targets_are_the_least_and_the_median_ratio_and_random_with_one_thread():
    report = new_report("mdp", Options(), "none")
    report.measurements = [
        measured(ours=(1.0,), one=(1.5,), a=(2.0,), b=(3.0,)),
        Measurement("another", (1.0,), {"best": "> 8.00"}),
        Measurement("a third", (1.0,), {"best": 0.5}),
    ]
    add_targets(report)
    assert [target.value for target in report.targets] == pytest.approx([0.5, 2.0, 0.75])


@pytest.mark.parametrize(
    ("values", "ok"), [([1.0, 2.0 + 2e-6], True), ([1.0, 2.0 + 3e-6], False), ([1.0, np.nan], False), ([1.0], False)]
)
def test_values_must_agree_with_ours(tmp_path, values, ok):
    contest = Contest(Options(), tmp_path)
    contest.our_bound = 1e-6
    np.save(tmp_path / "ours.npy", np.array([1.0, 2.0]))
    np.save(tmp_path / "theirs.npy", np.array(values))
    assert contest.agrees(TASK, SCIPY, tmp_path / "theirs.npy", 1e-6) is ok
    assert [check.ok for check in contest.checks] == [ok]


def test_contenders_take_turns_and_slow_or_failed_ones_have_one(lines, own_temporaries, monkeypatch):
    monkeypatch.setattr(mdp, "SLOW", 0.0)
    broken = Contender("Storm, broken", "no_such_peer")
    everyone = (DISCOUNTED[0], SCIPY, broken)
    monkeypatch.setattr(Task, "contenders", everyone)
    report = measure(Options(runs=2, threads=1, say=lines.append), [TASK], everyone)
    (found,) = report.measurements
    assert found.name == "forest small, 0.9"
    assert len(found.seconds) == 2
    assert found.facts["SciPy"] > 0
    assert found.facts["Storm"] == "failed"
    assert report.ok
    assert [line for line in lines if "run 2" in line] == [f"mdp: forest small, 0.9, run 2 of 2, {OURS}"]
    assert len(report.problems) == 1
    assert report.problems[0].startswith("forest small, 0.9: Storm, broken: ")
    assert list(own_temporaries.iterdir()) == []


def test_whoever_takes_too_long_has_no_time(lines, own_temporaries, monkeypatch):
    monkeypatch.setitem(mdp.LIMIT, "small", 1e-6)
    report = measure(Options(runs=1, threads=1, say=lines.append), [TASK], DISCOUNTED[:1])
    assert report.measurements[0].facts["ours"] == "over 1e-06 s"
    assert list(own_temporaries.iterdir()) == []


def test_whoever_runs_out_of_time_is_not_tried_at_harder_tasks(lines, monkeypatch):
    asked = []

    def out_of_time(_module, request, _say, what):
        if "make" in request:
            np.save(f"{request['folder']}/indptr.npy", np.array([0, 5]))
            return {}
        asked.append((what, request["settings"]["discount"]))
        raise ChildTimeoutError("too long")

    monkeypatch.setattr(mdp, "run_child", out_of_time)
    tasks = list(tasks_of(["forest", "queues"], ["small", "middle"], [0.9, 0.99]))
    report = measure(Options(runs=1, threads=1, say=lines.append), tasks, (DISCOUNTED[0], SCIPY))
    assert [discount for what, discount in asked if what == SCIPY.name] == [0.9, 0.9]
    assert [discount for what, discount in asked if what == OURS] == [0.9, 0.99] * 4
    assert report.measurements[3].facts[f"seconds: {SCIPY.name}"] == "over 10 s, like forest small, 0.9"
    assert report.measurements[3].facts["SciPy"] == "over 10 s, like forest small, 0.9"


def test_nobody_waits_for_the_slow_and_they_are_left_out_at_larger_sizes(lines, monkeypatch):
    asked = []

    def run(_module, request, _say, what):
        if "make" in request:
            np.save(f"{request['folder']}/indptr.npy", np.array([0, 5]))
            return {}
        asked.append((what, request["limit"]))
        if what == SCIPY.name:
            raise ChildTimeoutError("too long")
        np.save(request["values"], np.zeros(3))
        return {"seconds": 0.3, "error_bound": 0.0}

    monkeypatch.setattr(mdp, "run_child", run)
    contenders = (DISCOUNTED[0], SCIPY)
    tasks = list(tasks_of(["forest"], ["small", "middle"], [0.9, 0.99]))
    report = measure(Options(runs=1, threads=1, say=lines.append), tasks, contenders)
    assert asked == [(OURS, 5.0), (SCIPY.name, 2.0)] * 2 + [(OURS, 10.0)] * 2
    assert [found.facts["SciPy"] for found in report.measurements] == ["> 6.67"] * 2 + ["left out"] * 2


def test_the_command_line_runs_a_choice(monkeypatch, capsys, tmp_path):
    asked = {}

    def fake(options, tasks, contenders=None):
        asked.update(runs=options.runs, tasks=tasks, contenders=contenders)
        report = new_report("mdp", options, "none")
        report.measurements.append(measured(ours=(1.0,), a=(2.0,)))
        return report

    monkeypatch.setattr(mdp, "measure", fake)
    monkeypatch.setattr(mdp, "RESULTS", tmp_path / "results.jsonl")
    file = tmp_path / "report.json"
    arguments = ["--process", "forest", "--size", "small", "--discount", "0.99", "--solver", "SciPy", "--runs", "3"]
    assert main([*arguments, "--json", str(file), "--note", "half of it"]) == 0
    assert asked["tasks"] == [Task("forest", "small", 0.99)]
    assert asked["contenders"][0].name == OURS
    assert all(one.name == OURS or "SciPy" in one.name for one in asked["contenders"])
    assert asked["runs"] == 3
    out = capsys.readouterr().out
    assert "random middle, 0.9" in out
    assert "seconds:" not in out
    assert json.loads(file.read_text(encoding="utf-8"))["facts"]["note"] == "half of it"
    assert "half of it" in (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    assert main(["--quick"]) == 0
    assert [task.name for task in asked["tasks"]] == ["forest small, 0.9", "consensus small, reachability"]
    assert asked["contenders"] == FEW


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [(KeyboardInterrupt(), 130, "interrupted: the results"), (ChildError("forest small: no luck"), 1, "error: forest")],
)
def test_a_run_that_cannot_go_on_is_told_in_one_line(monkeypatch, capsys, error, code, text):
    def fail(*_arguments):
        raise error

    monkeypatch.setattr(mdp, "measure", fail)
    assert main(["--quick"]) == code
    assert capsys.readouterr().err.startswith(text)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--process", "chess"], "invalid choice: 'chess'"),
        (["--runs", "0"], "--runs: 0 is not allowed, it must be 1 or more"),
        (["--threads", "100000"], "--threads: 100000 is not possible here"),
    ],
)
def test_wrong_usage_exits_with_2(capsys, arguments, text):
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert text in capsys.readouterr().err
