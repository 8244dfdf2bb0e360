from __future__ import annotations

import numpy as np
import pytest

from punish_fast.cli.frame.progress import Progress
from punish_fast.cli.solving import solve as command
from punish_fast.runtime.errors import WriteError
from punish_fast.store.reader import load

TINY = ("solve", "--rules", "tiny", "--no-tensor")


@pytest.fixture
def every_sweep(monkeypatch):
    monkeypatch.setattr(command, "_SECONDS_BETWEEN", 0.0)


@pytest.fixture
def stop(monkeypatch):
    """Interrupt the next run after a number of sweeps."""

    def stop(after):
        show = Progress.sweep

        def sweep(self, stage, sweeps, bound):
            show(self, stage, sweeps, bound)
            if sweeps > after:
                raise KeyboardInterrupt

        monkeypatch.setattr(Progress, "sweep", sweep)
        return lambda: monkeypatch.setattr(Progress, "sweep", show)

    return stop


@pytest.mark.usefixtures("every_sweep")
def test_an_interrupted_solution_is_resumed_from_its_values(run, folder, stop):
    options = ("--objective", "reach-probability")
    run(*TINY, *options, "-o", "whole.h5")
    go_on = stop(4)
    stopped = run(*TINY, *options, "-o", "a.h5")
    assert stopped.code == 130
    assert "a.checkpoint.h5 contains the values so far; resume with --from a.checkpoint.h5" in stopped.err
    assert run("show", "a.checkpoint.h5").code == 0
    (described,) = (each for each in run("agents", "--json").report["files"] if each["file"] == "a.checkpoint.h5")
    assert (described["kind"], described["rules"]) == ("checkpoint", "tiny")
    run("arena", "a.checkpoint.h5", "random").refused(
        "a.checkpoint.h5 is a checkpoint, not an agent. Finish it first: punish-fast solve --from a.checkpoint.h5"
    )
    go_on()
    before = (folder / "a.checkpoint.h5").read_bytes()
    run(*TINY, "-o", "a.h5").refused("a.checkpoint.h5: left by an earlier run; resume with --from a.checkpoint.h5")
    assert (folder / "a.checkpoint.h5").read_bytes() == before
    run(*TINY, *options, "-o", "a.h5", "--from", "a.checkpoint.h5")
    assert sorted(path.name for path in folder.iterdir()) == ["a.h5", "whole.h5"]
    resumed, whole = load("a.h5").solution(), load("whole.h5").solution()
    assert resumed.converged
    assert resumed.sweeps < whole.sweeps
    assert np.abs(resumed.v - whole.v).max() <= resumed.error_bound + whole.error_bound


def test_short_solutions_write_no_checkpoint(run, folder, stop):
    stop(3)
    assert run(*TINY, "-o", "a.h5").code == 130
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("every_sweep", "folder")
def test_a_checkpoint_that_cannot_be_written_does_not_stop_the_solution(run, monkeypatch):
    def fail(path, *_args):
        raise WriteError(f"{path}: no space left on the disk; nothing was changed")

    monkeypatch.setattr("punish_fast.store.tensors.save_values", fail)
    done = run(*TINY, "-o", "a.h5")
    assert done.code == 0
    assert "no checkpoint: a.checkpoint.h5: no space left on the disk" in done.err
    assert load("a.h5").solution().converged
