"""Tables of learners: what is read is what was written, and damage is found."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from punish_fast.runtime.files import OutputError, ReadError
from punish_fast.store.checksum import seal
from punish_fast.store.learners import load_learner, save_learner
from punish_fast.store.reader import load

GAME = {"name": "a game", "parameters": {"size": 3}}
LEARNER = {"how": ["this", "way"], "seed": 2**60}


@pytest.fixture
def path(tmp_path):
    generator = np.random.default_rng(1)
    path = tmp_path / "x.h5"
    save_learner(path, GAME, LEARNER, generator.random((2, 7)), generator.integers(0, 9, (2, 7)))
    return path


def test_round_trip(path):
    generator = np.random.default_rng(1)
    found = load_learner(path)
    assert (found.game, found.learner) == (GAME, LEARNER)
    assert np.array_equal(found.q, generator.random((2, 7)))
    assert np.array_equal(found.visits, generator.integers(0, 9, (2, 7)))


def test_every_changed_byte_is_noticed(path):
    content = path.read_bytes()
    for k in range(0, len(content), 97):
        path.write_bytes(content[:k] + bytes([content[k] ^ 4]) + content[k + 1 :])
        with pytest.raises(ReadError, match=r"x\.h5: (damaged|not a file of punish-fast)"):
            load_learner(path)
    path.write_bytes(content[:-1])
    with pytest.raises(ReadError, match="damaged"):
        load_learner(path)


def change(path, edit):
    with h5py.File(path, "r+") as file:
        edit(file)
    seal(path)


def put(name, array):
    def edit(file):
        del file[name]
        file[name] = array

    return edit


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda file: file.attrs.modify("kind", "tensors"), "kind: 'tensors' is not known"),
        (lambda file: file.attrs.modify("format_version", 2), "format_version: 2 is not allowed, it must be 1"),
        (lambda file: file.attrs.modify("game", "{"), "game: is not a JSON object"),
        (lambda file: file.attrs.modify("learner", "[1]"), "learner: is not a JSON object"),
        (lambda file: file.attrs.pop("game"), "game: missing"),
        (lambda file: file.pop("/learner/q"), "/learner/q: missing"),
        (put("/learner/q", np.zeros((2, 7), np.float32)), "/learner/q: dtype is float32, allowed is float64"),
        (put("/learner/visits", np.zeros(7, np.int64)), "/learner/visits: shape is .* allowed is n_tables x n_rows"),
        (put("/learner/visits", np.zeros((2, 8), np.int64)), "/learner/visits: shape is .* allowed is 2 x 7"),
    ],
)
def test_what_is_no_learner_is_refused_with_the_name_of_the_field(path, edit, text):
    change(path, edit)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_learner(path)


def test_other_files_are_refused(originals, tmp_path):
    with pytest.raises(ReadError, match=r"agent\.h5: kind: 'agent', must be a learner"):
        load_learner(originals["agent"])
    with pytest.raises(ReadError, match="there is no such file"):
        load_learner(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("a text")
    with pytest.raises(ReadError, match="not a file of punish-fast"):
        load_learner(tmp_path / "text.h5")


def test_a_learner_is_not_taken_for_another_artefact(path):
    with pytest.raises(ReadError, match=r"x\.h5: kind: a learner is none of tensor, agent, strategy"):
        load(path)


def test_a_learner_is_written_whole_or_not_at_all(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("punish_fast.store.writer.seal", lambda _path: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save_learner(path, GAME, LEARNER, np.ones((1, 1)), np.ones((1, 1)))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(OutputError, match="there is no folder"):
        save_learner(path / "nowhere" / "x.h5", GAME, LEARNER, np.ones((1, 1)), np.ones((1, 1)))
