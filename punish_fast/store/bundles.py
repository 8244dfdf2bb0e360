"""Bundles: named arrays and a JSON header in a sealed HDF5 file.

Agents for other games, and tournaments of leagues, are stored as bundles. This module interprets only the ``kind`` in
the header.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store import schema
from punish_fast.store.sealed_file import SealedFile, first_line, open_hdf5
from punish_fast.store.writer import sealed_file

# Maximum compression ratio of gzip.
_MOST_COMPRESSED = 1032

# Dtype and number of dimensions of each array.
Layout = Mapping[str, tuple[str, int]]


class Bundle(NamedTuple):
    """The content of a bundle."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def save_bundle(path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a bundle atomically; float16 arrays are compressed."""
    with sealed_file(path, schema.BUNDLE, header=json.dumps({"kind": kind, **header})) as out:
        for name, array in arrays.items():
            out.array(f"/arrays/{name}", array)


def header_of(path: Path) -> dict[str, Any]:
    """Return the header of a bundle."""
    return _header(SealedFile(path))


def _header(file: SealedFile) -> dict[str, Any]:
    if file.kind != schema.BUNDLE:
        raise file.error("kind", f"{file.kind!r}, must be {schema.BUNDLE!r}")
    header: dict[str, Any] = file.attributes["header"]
    return header


def load_bundle(path: Path, layouts: Mapping[str, Layout]) -> Bundle:
    """Read a bundle of one of the kinds in ``layouts``, with the arrays listed there; floats must be finite."""
    file = SealedFile(path)
    header = _header(file)
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in layouts:
        raise file.error("kind", f"{str(kind)[:20]!r}, must be {' or '.join(layouts)}")
    with uninterrupted():
        arrays = {name: _array(file, name, *layout) for name, layout in layouts[kind].items()}
    return Bundle(header, arrays)


def _array(file: SealedFile, name: str, dtype: str, n_dimensions: int) -> np.ndarray:
    try:
        with open_hdf5(file.path) as hdf5:
            flaw, array = _read(hdf5["arrays"], name, dtype, n_dimensions)
    # For damaged files, h5py raises exceptions of many types.
    except Exception as error:
        raise file.error(name, f"not readable ({first_line(error)})") from None
    if flaw:
        raise file.error(name, flaw)
    return array


def _read(group: h5py.Group, name: str, dtype: str, n_dimensions: int) -> tuple[str, np.ndarray]:
    """Return a description of the array's defect (empty if none) and the array."""
    array = np.empty(0)
    if not isinstance(group.get(name, getlink=True), h5py.HardLink) or not isinstance(group[name], h5py.Dataset):
        return "missing", array
    stored = group[name]
    if stored.dtype != np.dtype(dtype) or stored.ndim != n_dimensions:
        return f"{stored.dtype} in {stored.ndim} dimensions, must be {dtype} in {n_dimensions}", array
    # A damaged shape must not claim more memory than the file can hold.
    n_bytes = stored.id.get_storage_size() * (1 if stored.compression is None else _MOST_COMPRESSED)
    if stored.is_virtual or stored.external or stored.nbytes > n_bytes:
        return "is larger than the file or stored elsewhere", array
    array = np.asarray(stored[()])
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return "a number is not finite", array
    return "", array
