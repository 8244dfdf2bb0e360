"""What stands in a file, read with plain h5py and SciPy."""

import json
import re
from datetime import datetime

import h5py
import numpy as np
import pytest
from fuzz.damage import editing
from scipy.sparse import csr_array

from bench.make.key_pages import keys_in
from punish_fast import __version__
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import to_mapping
from punish_fast.runtime.errors import ReadError
from punish_fast.store import schema
from punish_fast.store.reader import load
from punish_fast.store.schema import ATTRIBUTES, DATASETS
from punish_fast.store.tensors import save


def datasets(file):
    found = {}
    file.visititems(lambda name, item: found.update({f"/{name}": item} if isinstance(item, h5py.Dataset) else {}))
    return found


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


OF_TENSOR = {
    *("/states/code", "/states/layer_ptr", "/rows/state_ptr", "/rows/action", "/rows/reward"),
    *("/transitions/indptr", "/transitions/indices", "/transitions/data"),
}
OF_AGENT = OF_TENSOR | {"/solution/v", "/solution/q", "/log/residual", "/log/seconds"}


def test_a_file_holds_its_datasets_with_dtypes_and_checksums(originals):
    for kind, names in (("tensor", OF_TENSOR), ("agent", OF_AGENT), ("strategy", {"/strategy/state", "/strategy/p"})):
        with h5py.File(originals[kind]) as file:
            found = datasets(file)
            assert found.keys() == names
            for name, dataset in found.items():
                assert dataset.dtype == np.dtype(DATASETS[name].dtype)


def test_root_attributes(game, originals):
    with h5py.File(originals["agent"]) as file:
        attributes = {
            name: text(value) if isinstance(value, str | bytes) else value for name, value in file.attrs.items()
        }
    assert datetime.fromisoformat(attributes.pop("created")).tzinfo is not None
    assert json.loads(attributes.pop("rules")) == to_mapping(game.space.rules)
    assert json.loads(attributes.pop("enemy")) == {"kind": "built-in", "name": "random"}
    names = ("sweeps", "residual", "error_bound", "digest")
    assert attributes == {
        "format": "punish-fast",
        "format_version": 2,
        "kind": "agent",
        "package_version": __version__,
        "rules_digest": game.space.rules.digest,
        "discount": 0.95,
        "objective": "discounted",
        "method": "layered",
        "tolerance": 1e-10,
        **{name: getattr(game.solution, name) for name in names},
    }


def test_transitions_are_a_scipy_matrix_of_distributions(game, originals):
    with h5py.File(originals["tensor"]) as file:
        group = file["transitions"]
        assert text(group.attrs["encoding-type"]) == "csr_matrix"
        assert tuple(group.attrs["shape"]) == (game.mdp.n_rows, game.space.n_states + 2)
        parts = tuple(group[name][...] for name in ("data", "indices", "indptr"))
        matrix = csr_array(parts, shape=tuple(group.attrs["shape"]))
        reward = file["rows/reward"][...]
    matrix.check_format()
    assert (matrix != game.mdp.to_scipy()).nnz == 0
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-12)
    n_states = game.space.n_states
    win_less_loss = matrix[:, [n_states]].toarray()[:, 0] - matrix[:, [n_states + 1]].toarray()[:, 0]
    np.testing.assert_allclose(win_less_loss, reward, rtol=0, atol=1e-15)


def test_log_has_an_entry_for_each_sweep_and_more_for_jacobi(game, tmp_path):
    solution = solve(game.mdp, method="jacobi", sweeps=7)
    save(tmp_path / "jacobi.h5", game.space, game.mdp, solution)
    with h5py.File(tmp_path / "jacobi.h5") as file:
        found = datasets(file)
        assert found.keys() == OF_AGENT | {"/log/rmse", "/log/choice_changes"}
        assert {dataset.shape for name, dataset in found.items() if name.startswith("/log")} == {(7,)}
        assert found["/log/choice_changes"].dtype == np.int64
        assert file["log/rmse"][...].tolist() == solution.log.rmse
        assert np.isnan(file.attrs["tolerance"])


def test_every_attribute_and_dataset_is_documented():
    for heading, names in (("Root attributes", ATTRIBUTES), ("Datasets", DATASETS)):
        assert [key.name for key in keys_in(schema.__doc__, heading)] == [*names]


def test_files_have_the_documented_datasets_of_their_kind(originals):
    documented = {key.name: key.type.split(" and ") for key in keys_in(schema.__doc__, "Datasets")}
    for kind, path in originals.items():
        with h5py.File(path) as file:
            found = datasets(file).keys()
        assert found <= {name for name, kinds in documented.items() if {kind, f"{kind}?"} & {*kinds}}
        assert found >= {name for name, kinds in documented.items() if kind in kinds}


@pytest.mark.parametrize(
    ("put", "what"),
    [
        (lambda file, name: file.update({name: h5py.SoftLink(name)}), "is a link instead of a dataset"),
        (lambda file, name: file.update({name: h5py.ExternalLink("gone.h5", "/v")}), "is a link instead of a dataset"),
        (lambda file, name: file.update({name: file["/"]}), "is not a dataset"),
        (lambda file, name: file.update({name: np.dtype("f8")}), "is not a dataset"),
        (lambda file, name: file.update({name: h5py.Empty("f8")}), "is not a dataset"),
        (
            lambda file, name: file.create_dataset(name, (558,), "f8", external=[("/etc/passwd", 0, 4464)]),
            "is stored in another file or dataset",
        ),
        (lambda file, name: file.create_dataset(name, (558,), "f8", chunks=True), "larger than the file"),
        (
            lambda file, name: file.create_dataset(name, data=np.zeros(1 << 20), compression="gzip"),
            "larger than the file",
        ),
    ],
)
def test_what_leads_elsewhere_is_refused_before_reading(copies, put, what):
    path, name = copies["agent"], "/solution/v"
    with editing(path) as file:
        del file[name]
        put(file, name)
    with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: {name}: [^\n]*{what}[^\n]*\Z"):
        load(path)


@pytest.mark.parametrize("source", [".", "/etc/passwd"])
def test_virtual_datasets_are_refused_before_reading(copies, source):
    """One that is its own source would kill the process."""
    path, name = copies["agent"], "/solution/v"
    with editing(path) as file:
        layout = h5py.VirtualLayout((558,), "f8")
        layout[:] = h5py.VirtualSource(source, name, (558,))
        del file[name]
        file.create_virtual_dataset(name, layout)
    with pytest.raises(ReadError, match=rf"{name}: [^\n]*(stored in another|larger than the file)"):
        load(path)


@pytest.mark.slow
def test_zeros_that_fill_the_memory_are_refused_before_reading(copies, monkeypatch):
    path = copies["strategy"]
    n = 1 << 16
    with editing(path) as file:
        for name in ("/strategy/state", "/strategy/p"):
            del file[name]
        file.create_dataset("/strategy/state", data=np.arange(n, dtype=np.int32))
        file.create_dataset("/strategy/p", (n, 11), "f8", compression="gzip", shuffle=True, fillvalue=0)
        file["/strategy/p"][:] = 0
    file = load(path)
    monkeypatch.setattr(type(file), "array", lambda *_: pytest.fail("the data was read"))
    with pytest.raises(ReadError, match=rf"/strategy/state: {n} states, but the game has 558"):
        file.strategy()
