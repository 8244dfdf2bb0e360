"""Writing in the background and on a full disk; ``test_round_trip.py`` reads what is written."""

import errno
import os
import threading

import numpy as np
import pytest

from punish_fast.runtime.files import WriteError
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load
from punish_fast.store.tensors import write_rows, write_solution, write_states
from punish_fast.store.writer import new_file


def write(path, game):
    """Write an agent, the solution after all else was to go to the disk."""
    with new_file(path, "agent", game.space.rules, enemy='{"kind": "naive"}') as out:
        write_states(out, game.space)
        write_rows(out, game.mdp)
        out.sync()
        write_solution(out, game.solution)


def test_what_goes_to_the_disk_early_is_in_the_file(game, tmp_path, monkeypatch):
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(threading.current_thread().name), fsync(file)))
    write(tmp_path / "x.h5", game)
    assert synced[0].startswith("sync")
    # And once more, when it is whole.
    assert len(synced) > 1
    file = load(tmp_path / "x.h5")
    assert np.array_equal(file.code, game.space.code)
    assert np.array_equal(file.solution().v, game.solution.v)
    with pytest.raises(ValueError, match="mine"), new_file(tmp_path / "x.h5", "tensor", game.space.rules):
        raise ValueError("mine")
    assert list(tmp_path.iterdir()) == [tmp_path / "x.h5"]
    assert np.array_equal(load(tmp_path / "x.h5").code, game.space.code)


def test_a_disk_that_fails_meanwhile_is_told_at_the_end_and_leaves_nothing(game, tmp_path, monkeypatch):
    fsync = os.fsync

    def fail_early(file):
        if threading.current_thread().name.startswith("sync"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(file)

    monkeypatch.setattr(os, "fsync", fail_early)
    with pytest.raises(WriteError, match=r"x\.h5: .*[Nn]o space left"):
        write(tmp_path / "x.h5", game)
    assert list(tmp_path.iterdir()) == []


def test_files_are_flushed_through_writable_descriptors(game, tmp_path, monkeypatch):
    """As Windows demands."""
    fcntl, fsync = pytest.importorskip("fcntl"), os.fsync

    def insist(file):
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        fsync(file)

    monkeypatch.setattr(os, "fsync", insist)
    write(tmp_path / "x.h5", game)
    assert load(tmp_path / "x.h5").solution().fingerprint == game.solution.fingerprint


@pytest.mark.parametrize("limit", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 2_000, 8_000))])
def test_a_file_too_large_leaves_the_old_one_and_a_sound_process(game, originals, tmp_path, limit):
    resource = pytest.importorskip("resource", reason="needs a limit of POSIX systems")
    path = tmp_path / "agent.h5"
    path.write_bytes(originals["agent"].read_bytes())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(WriteError) as error:
            save_policy(path, game.space, game.policy)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(error.value) == f"{path}: cannot be written (File too large); nothing was changed"
    assert path.read_bytes() == originals["agent"].read_bytes()
    assert list(tmp_path.iterdir()) == [path]
    save_policy(tmp_path / "other.h5", game.space, game.policy)
    assert np.array_equal(load(tmp_path / "other.h5").policy(game.space), game.policy)
