import csv

from punish_fast.runtime.files import write_csv

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
