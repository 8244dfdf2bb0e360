"""Networks in files: what is read is what was written, and damage is found."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from punish_fast.runtime.files import ReadError
from punish_fast.store.checksum import seal
from punish_fast.store.networks import MuZeroFile, NetworkFile, load_muzero_file, load_network, save_network
from punish_fast.store.reader import load

_PLAYED = ("action", "is_random", "value")


def content():
    generator = np.random.default_rng(1)
    weights, target, momentum, variance = (generator.random(7, dtype=np.float32) for _ in range(4))
    snapshots, action = generator.random((3, 7), dtype=np.float32), generator.integers(-1, 9, (5, 4), dtype=np.int16)
    return NetworkFile({"name": "a game"}, {"seed": 2**60}, weights, target, momentum, variance, snapshots, action)


def content_of_muzero():
    """The same with what searches have found."""
    *shared, action = content()._replace(target=None)
    generator = np.random.default_rng(2)
    is_random, policy = generator.integers(0, 2, (5, 4), dtype=np.uint8), generator.random((5, 4, 9))
    searched = action, is_random, -generator.random((5, 4), dtype=np.float32), policy.astype(np.float16)
    return MuZeroFile(*(part for part in shared if part is not None), *searched)


@pytest.fixture
def path(tmp_path):
    save_network(tmp_path / "x.h5", content())
    return tmp_path / "x.h5"


@pytest.mark.parametrize(("wanted", "load"), [(content(), load_network), (content_of_muzero(), load_muzero_file)])
def test_round_trip(tmp_path, wanted, load):
    save_network(tmp_path / "x.h5", wanted)
    found = load(tmp_path / "x.h5")
    assert found[:2] == wanted[:2]
    for one, other in zip(found[2:], wanted[2:], strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


def test_empty_arrays_are_written(tmp_path):
    nothing = content()._replace(snapshots=np.zeros((0, 7), np.float32), action=np.zeros((0, 0), np.int16))
    save_network(tmp_path / "x.h5", nothing)
    assert load_network(tmp_path / "x.h5").snapshots.shape == (0, 7)
    played = {
        name: np.zeros((0, 0), array.dtype) for name, array in content_of_muzero()._asdict().items() if name in _PLAYED
    }
    save_network(tmp_path / "x.h5", content_of_muzero()._replace(**played, policy=np.zeros((0, 0, 9), np.float16)))
    assert load_muzero_file(tmp_path / "x.h5").policy.shape == (0, 0, 9)


def replace_dataset(path, name, array):
    """Write another dataset, or none, into a file, and its checksum."""
    with h5py.File(path, "r+") as file:
        del file[name]
        if array is not None:
            file[name] = array
    seal(path)


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
    replace_dataset(path, name, array)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_network(path)


@pytest.mark.parametrize(
    ("name", "array", "text"),
    [
        ("/replay/policy", np.zeros((5, 3, 9), np.float16), "/replay/policy: shape is .* allowed is 5 x 4 x 9"),
        (
            "/replay/policy",
            np.full((5, 4, 9), 2, np.float16),
            "/replay/policy: a number is 2.0, allowed are those from 0",
        ),
        ("/replay/value", np.full((5, 4), np.nan, np.float32), "/replay/value: a number is not finite"),
        ("/replay/value", np.full((5, 4), 1001, np.float32), "/replay/value: a number is 1001.0"),
        ("/replay/is_random", np.full((5, 4), 2, np.uint8), "/replay/is_random: a number is 2, allowed are those"),
        ("/replay/is_random", None, "/replay/is_random: missing"),
        ("/network/momentum", np.zeros(8, np.float32), "/network/momentum: shape is .* allowed is 7"),
    ],
)
def test_what_is_no_file_of_muzero_is_refused_with_the_name_of_the_field(tmp_path, name, array, text):
    changed = {} if array is None else {name.rpartition("/")[2]: array}
    save_network(tmp_path / "x.h5", content_of_muzero()._replace(**changed))
    if array is None:
        replace_dataset(tmp_path / "x.h5", name, None)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_muzero_file(tmp_path / "x.h5")


def test_other_files_are_refused(originals, path):
    with pytest.raises(ReadError, match=r"agent\.h5: kind: 'agent', must be a network"):
        load_network(originals["agent"])
    with pytest.raises(ReadError, match=r"x\.h5: kind: 'network', must be a network of MuZero"):
        load_muzero_file(path)
    with pytest.raises(ReadError, match=r"x\.h5: kind: a network is none of tensor, agent, strategy"):
        load(path)
