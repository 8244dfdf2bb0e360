"""Every benchmark and script runs once on small games, and its checks hold."""

import json
import signal

import numpy as np
import pytest

from bench import __main__ as command
from bench import duels, mdp, plain, rates, reference_time, report
from bench.harness import Measurement, Options, new_report
from punish_fast.mdp.arrays.policy import softmax
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.transitions.tensor import build

# The other benchmarks start the command, which compiles all kernels, or take seconds on their smallest games.
QUICK = ("reference", "peers", "mdp")


@pytest.fixture(autouse=True)
def _own_results(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results.jsonl")
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_benchmarks_run_and_agree(tmp_path, capsys):
    assert command.main([*QUICK, "--quick", "--threads", "1", "--json", str(tmp_path / "reports.json")]) == 0
    reports = json.loads((tmp_path / "reports.json").read_text(encoding="utf-8"))
    assert [each["benchmark"] for each in reports] == list(QUICK)
    assert all(each["measurements"] and each["checks"] for each in reports)
    assert "WRONG" not in capsys.readouterr().out
    # Quick runs are not kept.
    assert (tmp_path / "results.jsonl").read_text(encoding="utf-8") == ""


def test_the_page_is_written_alone(capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(["page", "peers"])
    assert "page: cannot be combined with benchmarks" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")  # of libraries that other programs import
def test_environments_agree_on_the_length_of_games(capsys):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    assert command.main(["envs", "--quick", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "WRONG" not in shown
    assert all(
        f"{name}, {program}" in shown for name in ("connect4", "tictactoe") for program in ("GameAECEnv", "pgx of 64")
    )


def test_the_page_is_up_to_date():
    assert report.PAGE.read_text(encoding="utf-8") == report.page_of(report.newest())


def test_a_wrong_tensor_is_noticed_and_solvers_agree(capsys):
    space = StateSpace(PRESETS["tiny"])
    mdp = build(space)
    assert reference_time.largest_difference(space, mdp, 0) < 1e-14
    mdp.data[0] += 1e-9
    assert reference_time.largest_difference(space, mdp, 0) > 1e-12
    assert plain.main(["--seeds", "0", "4", "--kind", "ring", "--largest", "64"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 processes, 0 not ok"


def test_peers_that_ran_out_of_time_have_bounds():
    records = {"punish-fast": mdp.Record([2.0]), "Storm, a": mdp.Record(failure="over 10 s", limit=10.0)}
    found = mdp.measurement_of(mdp.Task("random", "middle", 0.9), records, 12)
    assert (found.facts["Storm"], found.facts["best"], found.facts["best peer"]) == ("> 5.00", "> 5.00", "")
    assert isinstance(found, Measurement)
    assert new_report("mdp", Options(), "none").ok


def test_duels_are_tables(capsys, monkeypatch):
    assert rates.main(["--games", "4000", "--rules", "tiny"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(rates.DUELS)
    monkeypatch.setattr(duels, "TEMPERATURES", (1.0,))
    space = StateSpace(PRESETS["tiny"])
    other = softmax(space.state_ptr, np.random.default_rng(1).random(len(space.action)), 0.1)
    text = duels.study(PRESETS["tiny"], {"naive": uniform_policy(space), "other": other})
    assert text.count("| naive |") == 2 * (1 + len(duels.TEMPERATURES)) + 3
