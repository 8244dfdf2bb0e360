"""Exported processes: initial states, refused ones, files of every format, and NumPy archives."""

import csv
import errno
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from punish_fast import __version__
from punish_fast.punish.codes import to_decimal
from punish_fast.punish.rules import PRESETS, from_mapping
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.errors import OutputError, ReadError, WriteError
from punish_fast.runtime.files import write_csv
from punish_fast.store.formats import labeled_process
from punish_fast.store.formats.labeled_process import process_of
from punish_fast.store.formats.notebook_parser import read_flux
from punish_fast.store.formats.npz import export_npz
from punish_fast.store.formats.umb import export_punish_umb
from punish_fast.store.reader import load


def test_games_begin_at_the_first_breath_with_all_hp(tiny, tiny_mdp):
    is_initial = process_of(tiny, tiny_mdp, None).is_initial
    states = [tiny.state(row) for row in range(tiny.n_states)]
    full = tiny.rules.hp
    expected = [state.breath == 1 and state.own_hp == state.enemy_hp == full for state in states]
    assert is_initial.tolist() == [*expected, False, False]
    assert is_initial.sum() == tiny.n_openings
    space = StateSpace(PRESETS["tiny"]._replace(healing=0))
    is_initial = process_of(space, build(space), None).is_initial
    assert 0 < is_initial.sum() == space.n_openings < space.states_by_breath[0]


def test_positions_are_told_in_blocks(game, monkeypatch):
    whole = process_of(game.space, game.mdp, None)
    monkeypatch.setattr(labeled_process, "_BLOCK", 7)
    blocks = process_of(game.space, game.mdp, None)
    assert np.array_equal(whole.fields, blocks.fields)
    assert np.array_equal(whole.decimals, blocks.decimals)
    assert whole.decimals.dtype == np.int64
    assert whole.enemy == {"kind": "unknown"}


def test_a_process_of_other_states_terminals_or_actions_is_refused(game):
    other, action = StateSpace(PRESETS["tiny"]._replace(hp=1)), game.mdp.action.copy()
    action[7] = 60
    for space, changes, message in (
        (other, {}, rf"558 states, but the space has {other.n_states}$"),
        (game.space, {"terminal_reward": np.zeros(3)}, "3 terminals; they must be win and loss$"),
        (game.space, {"terminal_value": np.zeros(2)}, "a terminal_value; win and loss must have rewards only$"),
        (game.space, {"action": action}, r"actions other than 10, 11, .*, 90$"),
    ):
        with pytest.raises(ValueError, match=rf"^export: the process has {message}"):
            process_of(space, replace(game.mdp, **changes), None)


@pytest.mark.parametrize("export", [export_punish_umb, export_npz])
def test_a_file_is_exported_like_what_was_saved(game, originals, tmp_path, monkeypatch, export):
    monkeypatch.setattr("time.time", lambda: 1.5)
    file = load(originals["agent"])
    export(tmp_path / "file", file, file.mdp(), file.enemy)
    export(tmp_path / "memory", game.space, game.mdp, file.enemy)
    assert (tmp_path / "file").read_bytes() == (tmp_path / "memory").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "memory"]


@pytest.mark.parametrize(
    ("export", "method"), [(export_punish_umb, "tarfile.TarFile.addfile"), (export_npz, "numpy.savez")]
)
def test_a_failure_leaves_the_old_file(game, tmp_path, monkeypatch, export, method):
    def fail(file, *_args, **_arrays):
        getattr(file, "fileobj", file).write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x"
    path.write_bytes(b"old")
    monkeypatch.setattr(method, fail)
    with pytest.raises(WriteError, match=r"x: cannot be written .*; nothing was changed"):
        export(path, game.space, game.mdp)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OutputError, match="there is no folder"):
        export(tmp_path / "no" / "x", game.space, game.mdp)


def test_numpy_archives_hold_the_process(tiny, tiny_mdp, tmp_path):
    export_npz(tmp_path / "x.npz", tiny, tiny_mdp, {"kind": "naive"})
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        archive = dict(file)
    for name in ("state_ptr", "layer_ptr", "action", "reward", "terminal_reward", "data", "indices", "indptr"):
        array = getattr(tiny_mdp, name)
        assert np.array_equal(archive[name], array)
        assert archive[name].dtype == (np.int32 if name == "indptr" else array.dtype)
    states = [tiny.state(row) for row in range(tiny.n_states)]
    assert archive["code"].tolist() == [*map(to_decimal, states), -1, -2]
    assert archive["is_initial"].tolist() == [s.breath == 1 for s in states] + [False, False]
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


def test_a_list_of_columns_has_one_for_each_input(tmp_path):
    path = tmp_path / "w.json"
    path.write_text("[[[1, 2], [3, 4], [5, 6]], [7, 8]]")
    ((weight, bias),) = read_flux(path)
    assert weight.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert bias.tolist() == [7, 8]
    # Flux multiplies a 2 x 3 matrix with a column of three inputs.
    assert (np.array([1, 10, 100]) @ weight + bias).tolist() == [1 + 30 + 500 + 7, 2 + 40 + 600 + 8]


def test_anything_else_is_refused_in_one_line(tmp_path):
    path = tmp_path / "w.json"
    for texts, problem in (
        (("", "[[[1], [2]], [1]", "[" * 100_000, "\udc80", "[[[1]], [1" + "0" * 5000 + "]]"), "not a JSON file"),
        (("{}", "3", "[]", "[[[1]]]"), "not a list of alternating weights and biases"),
        (
            ("[[1], [1]]", "[[[1, 2], [3]], [1]]", "[[[1, null]], [1]]", '[[["1"]], [1]]', "[[[true]], [1]]"),
            "array 1 of 2: must be a list of lists of numbers",
        ),
        (("[[[]], [1]]",), "array 1 of 2: must be a list of lists of numbers"),
        (
            ("[[[1]], [[1]]]", "[[[1]], []]", "[[[1]], {}]", "[[[1]], [1" + "0" * 400 + "]]"),
            "array 2 of 2: must be a list of numbers",
        ),
        (("[[[NaN]], [1]]",), "array 1 of 2: a number is not finite"),
        (("[[[1]], [1e999]]",), "array 2 of 2: a number is not finite"),
        (("[[[1]], [1], [[1]], [-Infinity]]",), "array 4 of 4: a number is not finite"),
    ):
        for text in texts:
            path.write_bytes(text.encode(errors="surrogateescape"))
            with pytest.raises(ReadError, match=problem) as caught:
                read_flux(path)
            assert str(caught.value).startswith(f"{path}: ")
            assert "\n" not in str(caught.value)
    with pytest.raises(ReadError, match="no such file"):
        read_flux(tmp_path / "none.json")
    with pytest.raises(ReadError, match="is a folder"):
        read_flux(tmp_path)


COLUMNS = {
    "point": ["hp=3, say", 'a "b"', "é"],
    "states": [1, None, 3],
    "length": [0.1 + 0.2, None, 1e-300],
    "kept": [None, None, None],
    "mixed": [1, 2.5, None],
}


def test_csv_keeps_all_digits(tmp_path):
    write_csv(tmp_path / "table.csv", COLUMNS)
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(COLUMNS)
    assert rows[0] == ["hp=3, say", "1", repr(0.1 + 0.2), "", "1"]
    assert [row[0] for row in rows] == COLUMNS["point"]
    assert float(rows[2][2]) == 1e-300
