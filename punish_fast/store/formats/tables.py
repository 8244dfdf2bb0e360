"""Export of tables as CSV files."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from punish_fast.runtime.files import replacing


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a UTF-8 CSV file with a header row; None is written as an empty cell, and floats keep all digits."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
