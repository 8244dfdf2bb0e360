"""Links, virtual datasets, external storage and false sizes are found before anything is read."""

import re

import h5py
import numpy as np
import pytest
from fuzz.damage import editing

from punish_fast.runtime.files import ReadError
from punish_fast.store.reader import load


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
