"""Writing beside other work; what is written is read in ``test_round_trip.py``, and faults are in ``test_disk.py``."""

from __future__ import annotations

import errno
import os
import threading

import numpy as np
import pytest

from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.runtime.files import WriteError
from punish_fast.store.reader import load
from punish_fast.store.writer import new_file

TINY = PRESETS["tiny"]


@pytest.fixture(scope="module")
def space():
    return StateSpace(TINY)


def write(path, space):
    """Write an agent, the solution after all else was to go to the disk."""
    mdp = build(space)
    with new_file(path, "agent", TINY, enemy='{"kind": "naive"}') as out:
        out.states(space.code, space.layer_ptr)
        out.rows(mdp)
        out.sync()
        solution = solve(mdp)
        out.solution(solution)
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
