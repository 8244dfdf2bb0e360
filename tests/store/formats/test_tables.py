from __future__ import annotations

import csv
import sys

import pytest

from punish_fast.runtime.extras import ExtraError
from punish_fast.store.formats.tables import check_parquet, write_csv, write_parquet

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


def test_parquet_keeps_types_and_gaps(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "table.parquet", COLUMNS)
    table = parquet.read_table(tmp_path / "table.parquet")
    assert table.to_pydict() == COLUMNS
    assert [str(kind) for kind in table.schema.types] == ["string", "int64", "double", "double", "double"]


def test_a_missing_extra_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExtraError, match=r'pip install "punish-fast\[parquet\]"'):
        check_parquet()
