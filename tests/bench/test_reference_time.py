from __future__ import annotations

from bench.benchmark import Options, new_report
from bench.reference_time import OURS, THEIRS, add_check, add_times, run, work

AGREED = {"states": 3, "rows": 4, "successors": 5, "max_difference": 1e-16, "limit": 1e-12, "disagreement": None}


def test_tiny_is_compared_before_it_is_timed(lines):
    report = run(Options(runs=1, quick=True, rules="tiny", say=lines.append))
    assert report.ok
    assert report.facts["compared states"] >= 4 * 558
    assert [line for line in lines if "comparing" in line] == lines[:5]
    assert report.find(THEIRS).median > report.find(f"{THEIRS}: one episode").median > 0
    assert report.find(OURS) is not None


def test_results_that_differ_are_not_timed():
    report = new_report("reference", Options(), "tiny")
    assert not add_check(report, {"disagreement": "state 1: package has 0.5, reference 0.25"})
    assert not report.ok
    assert report.measurements == []
    assert "package has 0.5" in report.problems[0]


def test_a_difference_above_the_limit_fails_the_check():
    assert not add_check(new_report("reference", Options(), "tiny"), AGREED | {"max_difference": 1e-6})
    assert add_check(new_report("reference", Options(), "tiny"), AGREED)


def test_a_disagreement_is_a_result_of_the_child(monkeypatch):
    from bench import agreement

    def disagree(*_arguments: object) -> None:
        raise agreement.Disagreement("here")

    monkeypatch.setattr(agreement, "check", disagree)
    request = {"task": "compare", "rules": "tiny", "per_breath": 1, "seed": 0, "all_ways": False}
    assert work(request) == {"disagreement": "here"}


def test_times_are_compared_by_their_medians():
    report = new_report("reference", Options(), "tiny")
    theirs = {"enumeration_seconds": 1.0, "maps_seconds": 2.0, "episode_seconds": 3.0, "episodes": 10}
    theirs |= {"states": (1, 2), "nonzeros_ratio": 0.98}
    totals = ({**theirs, "total_seconds": total} for total in (900.0, 1000.0, 2000.0))
    add_times(report, [{"seconds": {"all": [0.1, 0.2, 0.05]}, "states": 7}], list(totals))
    assert [target.value for target in report.targets] == [10_000]
    assert report.targets[0].ok
