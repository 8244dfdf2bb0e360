"""NumPy archives: read by NumPy without pickle, and by SciPy, they hold the process bit by bit."""

from __future__ import annotations

import errno
import json

import numpy as np
import pytest
import scipy.sparse

from punish_fast import __version__
from punish_fast.punish.codes import to_decimal
from punish_fast.punish.rules import from_mapping
from punish_fast.runtime.files import OutputError, WriteError
from punish_fast.store.formats.npz import export_npz
from punish_fast.store.reader import load


@pytest.fixture
def archive(tiny, tiny_mdp, tmp_path):
    export_npz(tmp_path / "x.npz", tiny, tiny_mdp, {"kind": "naive"})
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        return dict(file)


@pytest.mark.parametrize(
    "name", ["state_ptr", "layer_ptr", "action", "reward", "terminal_reward", "data", "indices", "indptr"]
)
def test_arrays_are_those_of_the_process(archive, tiny_mdp, name):
    array = getattr(tiny_mdp, name)
    assert np.array_equal(archive[name], array)
    assert archive[name].dtype == (np.int32 if name == "indptr" else array.dtype)


def test_every_column_has_its_code(archive, tiny):
    states = [tiny.state(row) for row in range(tiny.n_states)]
    assert archive["code"].tolist() == [*map(to_decimal, states), -1, -2]
    assert archive["is_initial"].tolist() == [s.breath == 1 for s in states] + [False, False]


def test_texts_tell_where_it_comes_from(archive, tiny):
    assert from_mapping(json.loads(str(archive["rules"]))) == tiny.rules
    assert json.loads(str(archive["enemy"])) == {"kind": "naive"}
    assert str(archive["package_version"]) == __version__


def test_scipy_reads_the_transitions(tiny, tiny_mdp, tmp_path):
    export_npz(tmp_path / "x.npz", tiny, tiny_mdp)
    matrix = scipy.sparse.load_npz(tmp_path / "x.npz")
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert matrix.shape == (tiny_mdp.n_rows, tiny_mdp.n_columns)
    assert (matrix != tiny_mdp.to_scipy()).nnz == 0
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12


def test_a_file_is_exported_like_what_was_saved(game, originals, tmp_path):
    file = load(originals["agent"])
    export_npz(tmp_path / "file.npz", file, file.mdp(), file.enemy)
    export_npz(tmp_path / "memory.npz", game.space, game.mdp, file.enemy)
    assert (tmp_path / "file.npz").read_bytes() == (tmp_path / "memory.npz").read_bytes()


def test_the_name_is_taken_as_it_is(game, tmp_path):
    export_npz(str(tmp_path / "x"), game.space, game.mdp)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_failure_leaves_the_old_file(game, tmp_path, monkeypatch):
    def fail(file, **_arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.npz"
    path.write_bytes(b"old")
    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(WriteError, match=r"x\.npz: cannot be written .*; nothing was changed"):
        export_npz(path, game.space, game.mdp)
    assert path.read_bytes() == b"old"
    assert [other.name for other in tmp_path.iterdir()] == ["x.npz"]


def test_a_folder_that_is_missing_is_named(game, tmp_path):
    with pytest.raises(OutputError, match="there is no folder"):
        export_npz(tmp_path / "no" / "x.npz", game.space, game.mdp)
