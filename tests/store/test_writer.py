"""Writing in the background and on a full disk; ``test_round_trip.py`` reads what is written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.files import WriteError
from punish_fast.store.reader import load
from punish_fast.store.tensors import write_rows, write_solution, write_states
from punish_fast.store.writer import new_file

TINY = PRESETS["tiny"]


@pytest.fixture(scope="module")
def space():
    return StateSpace(TINY)


def write(path, space):
    """Write an agent, the solution after all else was to go to the disk."""
    mdp = build(space)
    with new_file(path, "agent", TINY, enemy='{"kind": "naive"}') as out:
        write_states(out, space)
        write_rows(out, mdp)
        out.sync()
        solution = solve(mdp)
        write_solution(out, solution)
    return solution


def test_what_went_to_the_disk_early_is_in_the_file_with_all_that_came_later(tmp_path, space, monkeypatch):
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(threading.current_thread().name), fsync(file)))
    solution = write(tmp_path / "x.h5", space)
    assert synced[0] == "sync"
    # And once more, when it is whole.
    assert len(synced) > 1
    file = load(tmp_path / "x.h5")
    assert np.array_equal(file.code, space.code)
    assert np.array_equal(file.solution().v, solution.v)


def test_a_disk_that_fails_meanwhile_is_told_at_the_end_and_leaves_nothing(tmp_path, space, monkeypatch):
    fsync = os.fsync

    def fail_early(file):
        if threading.current_thread().name == "sync":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(file)

    monkeypatch.setattr(os, "fsync", fail_early)
    with pytest.raises(WriteError, match=r"x\.h5: .*[Nn]o space left"):
        write(tmp_path / "x.h5", space)
    assert list(tmp_path.iterdir()) == []


def test_files_are_flushed_through_writable_descriptors(tmp_path, space, monkeypatch):
    """As Windows demands."""
    fcntl, fsync = pytest.importorskip("fcntl"), os.fsync

    def insist(file):
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        fsync(file)

    monkeypatch.setattr(os, "fsync", insist)
    solution = write(tmp_path / "x.h5", space)
    assert load(tmp_path / "x.h5").solution().fingerprint == solution.fingerprint


_WRITE_WITH_A_LIMIT = """
import resource, sys
from pathlib import Path
from punish_fast import StateSpace, build, load, load_rules, save, solve
from punish_fast.runtime.files import WriteError
space = StateSpace(load_rules("tiny"))
mdp = build(space)
solution = solve(mdp, sweeps=1)
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), before[1]))
try:
    save(sys.argv[1], space, mdp, solution)
except WriteError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, before)
other = Path(sys.argv[1]).with_name("other.h5")
for _ in range(3):
    save(other, space, mdp, solution)
    assert load(other).solution().fingerprint == solution.fingerprint
print("alive")
"""


@pytest.mark.skipif(os.name == "nt", reason="needs a limit of POSIX systems")
@pytest.mark.parametrize("limit", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 20_000, 90_000))])
def test_a_file_too_large_leaves_the_old_one_and_a_sound_process(originals, tmp_path, limit):
    path = tmp_path / "agent.h5"
    path.write_bytes(originals["agent"].read_bytes())
    command = [sys.executable, "-c", _WRITE_WITH_A_LIMIT, str(path), str(limit)]
    child = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert path.read_bytes() == originals["agent"].read_bytes()
    assert not list(tmp_path.glob(".*.tmp"))
    assert child.stdout.splitlines()[:1] == [f"{path}: the file would be too large here; nothing was changed"]
    assert (child.returncode, child.stdout.splitlines()[1:], child.stderr) == (0, ["alive"], "")


def test_errors_of_the_block_pass_unchanged(game, tmp_path):
    with pytest.raises(ValueError, match="mine"), new_file(tmp_path / "x.h5", "tensor", game.space.rules):
        raise ValueError("mine")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_of_the_old_file_is_not_disturbed(game, tmp_path):
    path = game.save(tmp_path / "x.h5", "agent")
    file = load(path)
    code = file.code
    game.save(path, "agent")
    assert np.array_equal(code, load(path).code)
    assert file.solution().fingerprint == game.solution.fingerprint
