import csv

import numpy as np
import pytest

from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import write_csv
from punish_fast.store.formats.flux import read_flux


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
    with pytest.raises(ReadError, match="there is no such file"):
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
