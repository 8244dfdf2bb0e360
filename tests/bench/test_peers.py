from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.benchmark import Check, Measurement, Options, new_report
from bench.contenders import DISCOUNTED, REACHABILITY
from bench.peers import GIVEN, OURS, OURS_ONE, PEERS, WHOLE, WIN, Peer, Race, Turns, add_targets, best, run

# One peer of each file; the others differ in settings.
FEW = {peer.module: peer for peer in reversed(PEERS)}
NEEDS = {"quantecon_ddp": "quantecon", "mdpsolver_lists": "mdpsolver", "storm": "stormpy"}


def has(package: str) -> bool:
    try:
        __import__(package)
    except ImportError:
        return False
    return True


def test_every_peer_has_a_file_and_a_unique_name():
    folder = Path(__import__("bench.peer").peer.__file__).parent
    modules = {peer.module for peer in PEERS} | {one.module for one in (*DISCOUNTED, *REACHABILITY)}
    assert modules == {path.stem for path in folder.glob("*.py")} - {"__init__"}
    names = [peer.name for peer in PEERS]
    assert len(set(names)) == len(names)
    # Ours come before the peers compared with them.
    assert all(not peer.against or peer.against in names[: names.index(peer.name)] for peer in PEERS)


def test_one_peer_of_each_kind_agrees_with_ours_on_tiny(own_temporaries, lines):
    peers = tuple(peer for peer in PEERS if FEW[peer.module] is peer or peer.name in (OURS, OURS + WIN))
    report = run(Options(runs=1, threads=1, quick=True, rules="tiny", say=lines.append), peers)
    missing = [peer for peer in peers if peer.module in NEEDS and not has(NEEDS[peer.module])]
    assert [m.name for m in report.measurements] == [peer.name for peer in peers if peer not in missing]
    assert len(report.problems) == len(missing)
    assert all('install with: pip install "punish-fast[bench]"' in problem for problem in report.problems)
    assert report.ok
    assert len(report.checks) == len(report.measurements) - 2
    assert all(measurement.facts["peak MB"] > 0 for measurement in report.measurements)
    assert report.facts["nonzeros"] == 4111
    assert list(own_temporaries.iterdir()) == []


def test_a_failed_peer_is_reported_once_and_does_not_affect_others(lines):
    broken = Peer("broken", "no_such_peer", OURS)
    ours = next(peer for peer in PEERS if peer.name == OURS)
    report = run(Options(runs=2, threads=1, quick=True, rules="tiny", say=lines.append), (broken, ours))
    assert [measurement.name for measurement in report.measurements] == [OURS]
    assert len(report.problems) == 1
    assert report.problems[0].startswith("broken: ")
    assert len([line for line in lines if "broken" in line]) == 1


@pytest.fixture
def race(tmp_path):
    race = Race(tmp_path, Options(runs=1, rules="tiny"))
    ours = tmp_path / "ours.npy"
    np.save(ours, np.array([1.0, 2.0]))
    race._turns[OURS] = Turns(ours, [1.0], error_bound=1e-9)
    return race


@pytest.mark.parametrize(
    ("values", "ok"), [([1.0, 2.0 + 2e-9], True), ([1.0, 2.0 + 3e-9], False), ([1.0, math.nan], False), ([1.0], False)]
)
def test_values_are_compared_with_ours(race, tmp_path, values, ok):
    np.save(tmp_path / "theirs.npy", np.array(values))
    race._turns["theirs"] = Turns(tmp_path / "theirs.npy", [1.0], error_bound=1e-9)
    race._compare(Peer("theirs", "", OURS))
    assert [check.ok for check in race.report.checks] == [ok]


def test_the_largest_difference_of_all_runs_is_reported(race, tmp_path):
    path = tmp_path / "theirs.npy"
    race._turns["theirs"] = Turns(path, [1.0], error_bound=1e-9)
    for value in (2.0 + 1e-9, 2.5, 2.0, 2.1):
        np.save(path, np.array([1.0, value]))
        race._compare(Peer("theirs", "", OURS))
    assert race.report.checks == [Check(f"theirs and {OURS}", 0.5, race.report.checks[0].limit)]


def report_of(**seconds: float):
    report = new_report("peers", Options(), "notebook")
    names = {"ours": OURS, "whole": WHOLE, "win": OURS + WIN}
    report.measurements = [Measurement(names.get(name, name), (value,)) for name, value in seconds.items()]
    return report


def test_targets_compare_with_the_best_of_a_kind():
    report = report_of(ours=0.1, whole=0.4, win=0.2, QuantEcon_a=6.0, QuantEcon_b=5.0, Storm_a=2.0, Storm_b=1.0)
    assert best(report, "QuantEcon").name == "QuantEcon_b"
    add_targets(report)
    assert [target.value for target in report.targets] == pytest.approx([50.0, 12.5, 5.0])
    assert [target.ok for target in report.targets] == [True, True, False]


def test_given_terminals_are_reported_without_a_target():
    report = report_of(ours=0.1)
    report.measurements += [Measurement("QuantEcon", (6.0,)), Measurement(f"QuantEcon{GIVEN}", (2.0,))]
    add_targets(report)
    assert [target.value for target in report.targets] == pytest.approx([60.0])
    assert list(report.facts.values()) == pytest.approx([20.0])


def test_what_was_not_measured_has_no_target():
    report = report_of(ours=0.1, win=0.1)
    add_targets(report)
    assert report.targets == []


def test_the_single_threaded_peer_differs_only_in_threads():
    assert next(peer for peer in PEERS if peer.name == OURS_ONE) == replace(
        PEERS[0], name=OURS_ONE, against=OURS, one_thread=True
    )
