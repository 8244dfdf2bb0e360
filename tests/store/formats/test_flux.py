from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.runtime.files import OutputError, ReadError
from punish_fast.store.formats.flux import read_flux, write_flux

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(st.lists(finite, min_size=8, max_size=8), st.sampled_from([np.float32, np.float64]))
def test_what_is_written_is_read_to_the_bit(tmp_path_factory, numbers, dtype):
    path = tmp_path_factory.mktemp("flux") / "w.json"
    layers = [(np.array(numbers[:6], dtype=dtype).reshape(3, 2), np.array(numbers[6:], dtype=dtype))]
    write_flux(path, layers)
    ((weight, bias),) = read_flux(path)
    assert weight.shape == (3, 2)
    assert np.array_equal(weight.astype(dtype), layers[0][0])
    assert np.array_equal(bias.astype(dtype), layers[0][1])


def test_a_list_of_columns_has_one_for_each_input(tmp_path):
    path = tmp_path / "w.json"
    path.write_text("[[[1, 2], [3, 4], [5, 6]], [7, 8]]")
    ((weight, bias),) = read_flux(path)
    assert weight.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert bias.tolist() == [7, 8]
    # Flux multiplies a 2 x 3 matrix with a column of three inputs.
    assert (np.array([1, 10, 100]) @ weight + bias).tolist() == [1 + 30 + 500 + 7, 2 + 40 + 600 + 8]


def test_small_numbers_are_written_short(tmp_path):
    path = tmp_path / "w.json"
    write_flux(path, [(np.array([[0.1]], dtype=np.float32), np.array([1e-8], dtype=np.float32))])
    assert json.loads(path.read_text()) == [[[0.1]], [1e-8]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a JSON file"),
        ("[[[1], [2]], [1]", "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        ("\udc80", "not a JSON file"),
        ("{}", "not a list of alternating weights and biases"),
        ("3", "not a list of alternating weights and biases"),
        ("[]", "not a list of alternating weights and biases"),
        ("[[[1]]]", "not a list of alternating weights and biases"),
        ("[[1], [1]]", "array 1 of 2: allowed is a list of lists of numbers"),
        ("[[[1]], [[1]]]", "array 2 of 2: allowed is a list of numbers"),
        ("[[[1, 2], [3]], [1]]", "array 1 of 2: allowed is a list of lists of numbers"),
        ("[[[1, null]], [1]]", "array 1 of 2: allowed is a list of lists of numbers"),
        ('[[["1"]], [1]]', "array 1 of 2: allowed is a list of lists of numbers"),
        ("[[[true]], [1]]", "array 1 of 2: allowed is a list of lists of numbers"),
        ("[[[]], [1]]", "array 1 of 2: allowed is a list of lists of numbers"),
        ("[[[1]], []]", "array 2 of 2: allowed is a list of numbers"),
        ("[[[1]], {}]", "array 2 of 2: allowed is a list of numbers"),
        ("[[[1]], [1" + "0" * 400 + "]]", "array 2 of 2: allowed is a list of numbers"),
        ("[[[1]], [1" + "0" * 5000 + "]]", "not a JSON file"),
        ("[[[NaN]], [1]]", "array 1 of 2: a number is not finite"),
        ("[[[1]], [1e999]]", "array 2 of 2: a number is not finite"),
        ("[[[1]], [1], [[1]], [-Infinity]]", "array 4 of 4: a number is not finite"),
    ],
)
def test_anything_else_is_refused_in_one_line(tmp_path, text, problem):
    path = tmp_path / "w.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ReadError, match=problem) as caught:
        read_flux(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(ReadError, match="there is no such file"):
        read_flux(tmp_path / "none.json")
    with pytest.raises(ReadError, match="is a folder"):
        read_flux(tmp_path)
    with pytest.raises(OutputError, match="there is no folder"):
        write_flux(tmp_path / "no" / "w.json", [])
