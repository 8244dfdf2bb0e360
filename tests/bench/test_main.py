from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from bench import __main__ as command
from bench.benchmark import BenchmarkError, Check, Measurement, new_report
from bench.child import ROOT, environment


@pytest.fixture(autouse=True)
def _own_results(monkeypatch, tmp_path):
    """Keep results in a folder of the test, and restore the signal handler."""
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results.jsonl")
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def found(difference: float):
    def run(name, options):
        report = new_report(name, options, "tiny")
        report.measurements.append(Measurement("a", (1.0,) * options.runs))
        report.checks.append(Check("a and b", difference, 1e-9))
        return report

    return run


def test_benchmarks_run_by_name_and_are_kept(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "run_benchmark", found(0.0))
    file = tmp_path / "reports.json"
    assert command.main(["limit", "peers", "limit", "--runs", "3", "--json", str(file)]) == 0
    reports = json.loads(file.read_text(encoding="utf-8"))
    assert [(report["benchmark"], report["runs"]) for report in reports] == [("limit", 3), ("peers", 3)]
    assert all(report["provenance"]["commit"] for report in reports)
    assert "limit (rules tiny, 3 runs" in capsys.readouterr().out
    assert (tmp_path / "results.jsonl").read_text(encoding="utf-8").count("\n") == 2


def test_without_names_all_benchmarks_run(monkeypatch, capsys):
    monkeypatch.setattr(command, "run_benchmark", found(0.0))
    assert command.main([]) == 0
    out = capsys.readouterr().out
    assert all(f"{name} (rules tiny, 5 runs" in out for name in command.REGISTER)


def test_quick_runs_are_single_and_not_kept(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "run_benchmark", found(0.0))
    assert command.main(["peers", "--quick"]) == 0
    assert "peers (quick, rules tiny, 1 run" in capsys.readouterr().out
    assert not (tmp_path / "results.jsonl").exists()


def test_results_that_differ_fail_and_are_not_kept(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "run_benchmark", found(1e-3))
    assert command.main(["peers"]) == 1
    assert "results differ by 1.0e-03" in capsys.readouterr().out
    assert not (tmp_path / "results.jsonl").exists()


def test_a_failed_benchmark_does_not_affect_others(monkeypatch, capsys, tmp_path):
    def run(name, options):
        if name == "limit":
            raise BenchmarkError("no luck today")
        return found(0.0)(name, options)

    monkeypatch.setattr(command, "run_benchmark", run)
    assert command.main(["limit", "peers"]) == 1
    assert "not measured: no luck today" in capsys.readouterr().out
    assert (tmp_path / "results.jsonl").read_text(encoding="utf-8").count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nonsense"], f"'nonsense' is not a benchmark, allowed are {', '.join(command.REGISTER)} and page"),
        (["page", "peers"], "page takes no other name"),
        (["--runs", "0"], "--runs: 0 is not allowed, it must be 1 or more"),
        (["--threads", "0"], "--threads: 0 is not possible here"),
        (["--threads", "100000"], "--threads: 100000 is not possible here"),
        (["--json", "no/such/file.json"], "--json: there is no folder no/such"),
        (["--plot", "no/such"], "--plot: there is no folder no/such"),
    ],
)
def test_wrong_usage_exits_with_2(capsys, arguments, text):
    with pytest.raises(SystemExit) as error:
        command.main(arguments)
    assert error.value.code == 2
    assert text in capsys.readouterr().err


def test_plots_are_drawn(monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(command, "run_benchmark", found(0.0))
    assert command.main(["peers", "--plot", str(tmp_path)]) == 0
    assert (tmp_path / "peers.png").is_file()
    assert "drew" in capsys.readouterr().err


def test_a_missing_extra_is_reported_before_any_work(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(command, "run_benchmark", None)
    assert command.main(["peers", "--plot", str(tmp_path)]) == 1
    assert 'install with: pip install "punish-fast[plot]"' in capsys.readouterr().err


def test_page_reports_whether_it_changed(monkeypatch, capsys):
    monkeypatch.setattr(command, "update", lambda: True)
    assert command.main(["page"]) == 0
    assert "docs/benchmarks.md written" in capsys.readouterr().err


def processes_with(word: str) -> list[str]:
    """Command lines of all processes that contain ``word``."""
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if word in line and "-eo args" not in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_processes_and_leaves_no_files(own_temporaries, number):
    process = subprocess.Popen(
        [sys.executable, "-m", "bench", "peers", "--quick"],
        cwd=ROOT,
        env=environment(TMPDIR=str(own_temporaries)),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert "building" in process.stderr.readline()
    # Wait for the child.
    deadline = time.monotonic() + 30
    while not processes_with(str(own_temporaries)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "interrupted: the results of this run are not kept"
    assert processes_with(str(own_temporaries)) == []
    assert list(own_temporaries.iterdir()) == []
