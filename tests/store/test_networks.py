"""Networks in files: what is read is what was written, and damage is found."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from punish_fast.runtime.files import ReadError
from punish_fast.store.checksum import seal
from punish_fast.store.networks import NetworkFile, load_network, save_network
from punish_fast.store.reader import load


def content():
    generator = np.random.default_rng(1)
    weights, target, momentum, variance = (generator.random(7, dtype=np.float32) for _ in range(4))
    snapshots, action = generator.random((3, 7), dtype=np.float32), generator.integers(-1, 9, (5, 4), dtype=np.int16)
    return NetworkFile({"name": "a game"}, {"seed": 2**60}, weights, target, momentum, variance, snapshots, action)


@pytest.fixture
def path(tmp_path):
    save_network(tmp_path / "x.h5", content())
    return tmp_path / "x.h5"


def test_round_trip(path):
    found, wanted = load_network(path), content()
    assert found[:2] == wanted[:2]
    for one, other in zip(found[2:], wanted[2:], strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


def test_empty_arrays_are_written(tmp_path):
    nothing = content()._replace(snapshots=np.zeros((0, 7), np.float32), action=np.zeros((0, 0), np.int16))
    save_network(tmp_path / "x.h5", nothing)
    assert load_network(tmp_path / "x.h5").snapshots.shape == (0, 7)


def test_every_changed_byte_is_noticed(path):
    written = path.read_bytes()
    for k in range(0, len(written), 197):
        path.write_bytes(written[:k] + bytes([written[k] ^ 4]) + written[k + 1 :])
        with pytest.raises(ReadError, match=r"x\.h5: (damaged|not a file of punish-fast)"):
            load_network(path)


@pytest.mark.parametrize(
    ("name", "array", "text"),
    [
        ("/network/target", np.zeros(8, np.float32), "/network/target: shape is .* allowed is 7"),
        ("/network/snapshots", np.zeros((3, 6), np.float32), "/network/snapshots: shape is .* allowed is 3 x 7"),
        ("/network/weights", np.zeros(7), "/network/weights: dtype is float64, allowed is float32"),
        ("/network/variance", np.full(7, -1, np.float32), "/network/variance: a number is -1.0"),
        ("/network/momentum", np.full(7, np.inf, np.float32), "/network/momentum: a number is not finite"),
        ("/replay/action", np.full((5, 4), -2, np.int16), "/replay/action: a number is -2, allowed are those from -1"),
        ("/replay/action", None, "/replay/action: missing"),
    ],
)
def test_what_is_no_network_is_refused_with_the_name_of_the_field(path, name, array, text):
    with h5py.File(path, "r+") as file:
        del file[name]
        if array is not None:
            file[name] = array
    seal(path)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_network(path)


def test_other_files_are_refused(originals, path):
    with pytest.raises(ReadError, match=r"agent\.h5: kind: 'agent', must be a network"):
        load_network(originals["agent"])
    with pytest.raises(ReadError, match=r"x\.h5: kind: a network is none of tensor, agent, strategy"):
        load(path)
