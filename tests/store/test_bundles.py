"""Bundles: what is read is what was written, and damage is found."""

import h5py
import numpy as np
import pytest

from punish_fast.runtime.files import OutputError, ReadError
from punish_fast.store.bundles import header_of, load_bundle, save_bundle
from punish_fast.store.checksum import seal
from punish_fast.store.reader import load

HEADER = {"game": {"name": "a game"}, "seed": 2**60}
LAYOUTS = {"thing": {"q": ("float64", 2), "policy": ("float16", 3)}}


def arrays():
    generator = np.random.default_rng(1)
    return {"q": generator.random((2, 7)), "policy": generator.random((2, 3, 4)).astype(np.float16)}


@pytest.fixture
def path(tmp_path):
    save_bundle(tmp_path / "x.h5", "thing", HEADER, arrays())
    return tmp_path / "x.h5"


def test_round_trip(path):
    found = load_bundle(path, LAYOUTS)
    assert found.header == header_of(path) == {"kind": "thing"} | HEADER
    for name, array in arrays().items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)


def put(name, array, **options):
    def edit(file):
        del file[name]
        file.create_dataset(name, data=array, **options)

    return edit


@pytest.mark.parametrize("compression", ["gzip", "lzf"])
def test_arrays_that_another_program_compressed_are_read(path, compression):
    with h5py.File(path, "r+") as file:
        put("/arrays/q", np.ones((9, 2270)), compression=compression)(file)
    seal(path)
    assert np.array_equal(load_bundle(path, LAYOUTS).arrays["q"], np.ones((9, 2270)))


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda file: file.attrs.modify("kind", "tensors"), "kind: 'tensors' is unknown"),
        (lambda file: file.attrs.modify("header", "{"), "header: is not a JSON object"),
        (lambda file: file.attrs.modify("header", '{"kind": "other"}'), "kind: 'other'; it must be thing"),
        (lambda file: file.attrs.modify("header", '{"kind": ["thing"]}'), "kind: .*; it must be thing"),
        (lambda file: file.pop("/arrays/q"), "/arrays/q: missing"),
        (lambda file: file.pop("/arrays"), "/arrays/q: missing"),
        (put("/arrays/q", np.zeros((2, 7), np.float32)), "/arrays/q: dtype is float32; it must be float64"),
        (put("/arrays/q", np.zeros(7)), r"/arrays/q: shape is \(7,\); it must be i x j"),
        (put("/arrays/q", None, shape=(1 << 20, 1 << 20), dtype="f8"), "/arrays/q: shape is .*, larger than the file"),
        (put("/arrays/q", np.full((2, 7), np.inf)), "/arrays/q: a number is not finite"),
    ],
)
def test_what_is_not_a_bundle_is_refused_with_the_name_of_the_field(path, edit, text):
    with h5py.File(path, "r+") as file:
        edit(file)
    seal(path)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_bundle(path, LAYOUTS)


def test_other_files_are_refused(originals, path, tmp_path):
    with pytest.raises(ReadError, match=r"agent\.h5: kind: 'agent'; it must be 'bundle'"):
        load_bundle(originals["agent"], LAYOUTS)
    with pytest.raises(ReadError, match="there is no such file"):
        load_bundle(tmp_path / "none.h5", LAYOUTS)
    with pytest.raises(ReadError, match=r"x\.h5: kind: a bundle is not one of tensor, agent, strategy"):
        load(path)


def test_a_bundle_is_written_whole_or_not_at_all(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("punish_fast.store.writer.seal", lambda _path: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save_bundle(path, "thing", {}, {"q": np.ones((1, 1))})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(OutputError, match="there is no folder"):
        save_bundle(path / "nowhere" / "x.h5", "thing", {}, {})
