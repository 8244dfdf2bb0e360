from __future__ import annotations

import numpy as np
import pytest

from cli.test_solve import contents
from punish_fast.cli import checkpoints as keeping
from punish_fast.punish import matrix_free
from punish_fast.store.reader import load

TINY = ("solve", "--rules", "tiny", "--no-tensor")


@pytest.fixture
def every_sweep(monkeypatch):
    monkeypatch.setattr(keeping, "_SECONDS_BETWEEN", 0.0)


@pytest.fixture
def stop(monkeypatch):
    """Stop the next run after so many sweeps, as an interrupt does."""
    from punish_fast.cli.report import Progress

    def stop(after):
        show = Progress.sweep

        def sweep(self, stage, sweeps, bound):
            show(self, stage, sweeps, bound)
            if sweeps > after:
                raise KeyboardInterrupt

        monkeypatch.setattr(Progress, "sweep", sweep)

        def go_on():
            monkeypatch.setattr(Progress, "sweep", show)

        return go_on

    return stop


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "after"),
    [
        ((), 3),
        (("--schedule", "jacobi", "--sweeps", "12"), 5),
        (("--objective", "win-probability"), 4),
        (("--objective", "win-probability", "--sweeps", "9"), 4),
    ],
)
@pytest.mark.usefixtures("every_sweep")
def test_what_is_resumed_is_what_was_never_stopped(run, folder, stop, options, after):
    run(*TINY, *options, "-o", "whole.h5")
    assert [path.name for path in folder.iterdir()] == ["whole.h5"]
    go_on = stop(after)
    stopped = run(*TINY, *options, "-o", "a.h5")
    assert stopped.code == 130
    told = f"a.checkpoint.h5 has {after} sweeps; the same command with --resume a.checkpoint.h5 goes on"
    assert told in stopped.err
    assert load("a.checkpoint.h5").attributes["sweeps"] == after
    go_on()
    resumed = run(*TINY, *options, "-o", "a.h5", "--resume", "a.checkpoint.h5", "--json").report
    assert sorted(path.name for path in folder.iterdir()) == ["a.h5", "whole.h5"]
    assert contents(folder / "a.h5") == contents(folder / "whole.h5")
    assert resumed["sweeps"] == load("whole.h5").solution().sweeps


def test_short_solutions_write_no_checkpoint(run, folder, stop):
    stop(3)
    assert run(*TINY, "-o", "a.h5").code == 130
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("every_sweep")
def test_a_checkpoint_that_is_left_is_not_replaced_silently(run, folder, stop):
    go_on = stop(3)
    run(*TINY, "-o", "a.h5")
    (described,) = run("agents", "--json").report["files"]
    assert (described["kind"], described["rules"]) == ("checkpoint", "tiny")
    assert described["about"] == "against random, checkpoint of solve after 3 sweeps"
    before = (folder / "a.checkpoint.h5").read_bytes()
    go_on()
    run(*TINY, "-o", "a.h5").refused("a.checkpoint.h5: is left of an earlier run; resume with --resume a.checkpoint.h5")
    assert (folder / "a.checkpoint.h5").read_bytes() == before
    (folder / "a.checkpoint.h5").unlink()
    assert run(*TINY, "-o", "a.h5").code == 0
    assert [path.name for path in folder.iterdir()] == ["a.h5"]


@pytest.mark.slow
@pytest.mark.usefixtures("every_sweep")
def test_a_checkpoint_of_another_solution_is_refused(run, folder, stop):
    go_on = stop(3)
    run(*TINY, "-o", "a.h5")
    go_on()
    resume = ("-o", "b.h5", "--resume", "a.checkpoint.h5")
    run(*TINY, "--discount", "0.9", *resume).refused("a.checkpoint.h5: made with discount 0.95, not 0.9")
    run(*TINY, "--schedule", "jacobi", *resume).refused("made with schedule 'layered', not 'jacobi'")
    run(*TINY, "--tolerance", "1e-3", *resume).refused("made with tolerance 1e-10, not 0.001")
    run(*TINY, "--sweeps", "7", *resume).refused("made with tolerance 1e-10, not None")
    run(*TINY, "--enemy", "naive", *resume).refused("made against {'kind': 'built-in', 'name': 'random'}, not against")
    run("solve", "--no-tensor", *resume).refused("made for rules tiny, but the game's are notebook")
    run(*TINY, "-o", "start.h5")
    run(*TINY, "--from", "start.h5", *resume).refused("a.checkpoint.h5: made from other initial values")
    run("solve", "--rules", "tiny", "-o", "b.h5", "--resume", "start.h5").refused("kind: is agent, --resume takes a")
    assert not (folder / "b.h5").exists()
    # Of the same rules and settings, with the tensor kept or without.
    assert run("solve", "--rules", "tiny", *resume).code == 0


@pytest.mark.usefixtures("every_sweep")
def test_a_file_that_is_not_there_yet_is_made(run, folder):
    done = run(*TINY, "-o", "a.h5", "--resume", "run.h5")
    assert done.code == 0
    assert "run.h5: there is no such checkpoint yet, so this is the beginning" in done.err
    assert [path.name for path in folder.iterdir()] == ["a.h5"]


@pytest.mark.usefixtures("every_sweep", "folder")
def test_a_checkpoint_that_cannot_be_written_is_told_and_the_solution_goes_on(run, monkeypatch):
    from punish_fast.runtime.files import WriteError

    def fail(path, *_args):
        raise WriteError(f"{path}: no space left on the disk; nothing was changed")

    monkeypatch.setattr("punish_fast.store.sweeps.save_sweeps", fail)
    done = run(*TINY, "-o", "a.h5")
    assert done.code == 0
    assert "no checkpoint after sweep 1: a.checkpoint.h5: no space left on the disk" in done.err
    assert load("a.h5").solution().converged


@pytest.mark.usefixtures("every_sweep")
def test_a_tensor_is_solved_with_checkpoints_too(run, folder, stop):
    run("build", "--rules", "tiny", "-o", "t.h5")
    run("solve", "t.h5", "-o", "whole.h5")
    go_on = stop(3)
    run("solve", "t.h5", "-o", "a.h5")
    go_on()
    run("build", "--rules", "tiny", "--enemy", "careful", "-o", "u.h5")
    run("solve", "u.h5", "-o", "b.h5", "--resume", "a.checkpoint.h5").refused("a.checkpoint.h5: made against")
    assert run("solve", "t.h5", "-o", "a.h5", "--resume", "a.checkpoint.h5").code == 0
    assert contents(folder / "a.h5") == contents(folder / "whole.h5")


@pytest.mark.usefixtures("every_sweep", "folder")
def test_show_tells_what_a_checkpoint_is(run, stop):
    stop(3)
    run(*TINY, "-o", "a.h5")
    shown = run("show", "a.checkpoint.h5")
    assert "checkpoint of solve after 3 sweeps: objective discounted, discount 0.95, schedule layered" in shown.out
    run("show", "a.checkpoint.h5", "--hand", "g", "--discard", "r").refused("")
    run("arena", "a.checkpoint.h5", "random").refused("a.checkpoint.h5: is a checkpoint, allowed are agents")


@pytest.mark.usefixtures("every_sweep", "folder")
def test_a_matrix_free_solution_is_kept(run, stop, monkeypatch):
    monkeypatch.setattr("punish_fast.store.tensors._FEW_STATES", 0)
    monkeypatch.setattr("punish_fast.store.tensors.choose_mode", lambda *_: "matrix-free")
    made = []
    monkeypatch.setattr("punish_fast.store.tensors.MatrixFree", lambda *a: made.append(1) or matrix_free.MatrixFree(*a))
    run(*TINY, "-o", "whole.h5")
    go_on = stop(3)
    run(*TINY, "-o", "a.h5")
    go_on()
    assert run(*TINY, "-o", "a.h5", "--resume", "a.checkpoint.h5").code == 0
    assert len(made) == 3
    assert np.array_equal(load("a.h5").solution().q, load("whole.h5").solution().q)
