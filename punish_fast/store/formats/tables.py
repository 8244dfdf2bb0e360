"""Tables for other programs: CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from punish_fast.runtime.extras import require
from punish_fast.runtime.files import replacing


def check_parquet() -> None:
    """Check that Parquet files can be written.

    Raises:
        ExtraError: pyarrow is not installed.
    """
    require("parquet", "pyarrow")


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a UTF-8 CSV file with a header line; None is an empty cell, and numbers keep all their digits.

    Raises:
        OutputError: nothing can be written there.
        WriteError: it could not be written to its end.
    """
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a Parquet file; columns are text, int64 or float64, and None is null.

    Raises:
        ExtraError: pyarrow is not installed.
        OutputError: nothing can be written there.
        WriteError: it could not be written to its end.
    """
    check_parquet()
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({name: pa.array(list(values), _type_of(values)) for name, values in columns.items()})
    with replacing(path) as temporary:
        parquet.write_table(table, temporary)


def _type_of(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds == {str}:
        return pa.string()
    return pa.int64() if kinds == {int} else pa.float64()
