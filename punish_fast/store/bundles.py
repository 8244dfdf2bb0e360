"""Bundles: sealed HDF5 files with named arrays and a JSON header. This module interprets only ``kind`` in a header."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punish_fast.runtime.errors import ReadError
from punish_fast.store import schema
from punish_fast.store.checked_file import CheckedFile
from punish_fast.store.writer import sealed_file

# Dtype and number of dimensions for each array, by name.
Layout = Mapping[str, tuple[str, int]]


class Bundle(NamedTuple):
    """Content of a bundle."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def save_bundle(path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a bundle atomically, and compress its float16 arrays."""
    with sealed_file(path, schema.BUNDLE, header=json.dumps({"kind": kind, **header})) as out:
        for name, array in arrays.items():
            out.array(f"/arrays/{name}", array)


def header_of(path: Path) -> dict[str, Any]:
    """Return the header of a bundle."""
    return _header(CheckedFile(path))


def _header(file: CheckedFile) -> dict[str, Any]:
    if file.kind != schema.BUNDLE:
        raise ReadError(f"{file.path}: is of kind {file.kind!r}, for Punish; see: punish-fast play")
    header: dict[str, Any] = file.attributes["header"]
    return header


def load_bundle(path: Path, layouts: Mapping[str, Layout]) -> Bundle:
    """Read the header of a bundle, and the arrays that ``layouts`` lists for its kind. All floats must be finite."""
    file = CheckedFile(path)
    header = _header(file)
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in layouts:
        raise file.error("kind", f"{str(kind)[:20]!r}; it must be {' or '.join(layouts)}")
    arrays = {
        name: file.array(
            f"/arrays/{name}",
            # Allow compression, because other programs might have compressed the array.
            schema.Dataset(dtype, ("i", "j", "k", "l")[:n_dimensions], is_compressed=True),
        )
        for name, (dtype, n_dimensions) in layouts[kind].items()
    }
    return Bundle(header, arrays)
