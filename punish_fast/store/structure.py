"""The structure of an HDF5 file, looked at before any data is read.

HDF5 does whatever a file says: it follows links into other files, gathers virtual datasets, unpacks gigabytes of zeros.
So a file may hold only what the schema names: groups, hard links, datasets of one dtype that are stored in the file
itself and as large as they claim, and attributes of known types. ``attributes.py`` checks their values.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from h5py import h5d, h5g, h5l, h5o, h5s, h5t, h5z

from punish_fast.runtime.files import ReadError
from punish_fast.store import schema
from punish_fast.store.attributes import FieldError, check_attributes, check_format, first_line, read_attributes
from punish_fast.store.schema import Dataset

# gzip cannot compress further than this.
_MOST_COMPRESSED = 1032
# Chunks of h5py have 1 MiB at the most.
_LARGEST_CHUNK = 1 << 22
_FILTERS = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE)
_LINKS = {h5l.TYPE_SOFT: "a soft link", h5l.TYPE_EXTERNAL: "a link to another file"}


class Structure(NamedTuple):
    """What a file holds.

    Attributes:
        kind: Its kind.
        attributes: Its root attributes.
        matrix: The attributes of ``/transitions``; empty if there is no such group.
        shapes: The shapes of its datasets, by name.
    """

    kind: str
    attributes: dict[str, Any]
    matrix: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]


def open_hdf5(path: Path) -> h5py.File:
    """Open a file to read it, without a lock: no file is written in place, and network folders may have no locks."""
    return h5py.File(path, "r", locking=False)


def look(path: Path) -> Structure:
    """Look at a file and read its attributes, but none of its data.

    Raises:
        ReadError: it is no readable HDF5 file, or holds something else than the schema says; the message names it.
    """
    try:
        with open_hdf5(path) as file:
            return _structure(h5g.open(file.id, b"/"))
    except FieldError as error:
        raise ReadError(f"{path}: {error}") from None
    # HDF5 reports damage in many ways.
    except Exception as error:
        raise ReadError(f"{path}: not a readable HDF5 file ({first_line(error)})") from None


def _structure(root: h5g.GroupID) -> Structure:
    attributes = read_attributes(root, schema.ATTRIBUTES)
    kind = check_format(attributes)
    check_attributes(attributes, schema.ATTRIBUTES, kind)
    datasets = {dataset.name: dataset for dataset in schema.datasets_of(kind)}
    shapes: dict[str, tuple[int, ...]] = {}
    matrix: dict[str, Any] = {}
    for name in _links(root, "", {name.split("/")[1] for name in datasets}):
        group = _open(root, name, "")
        if not isinstance(group, h5g.GroupID):
            raise FieldError(f"/{name}", "is no group")
        known = schema.MATRIX_ATTRIBUTES if name == "transitions" else ()
        found = read_attributes(group, known, f"/{name}")
        check_attributes(found, known, kind, f"/{name}")
        matrix |= found
        members = {each.split("/")[2] for each in datasets if each.startswith(f"/{name}/")}
        for member in _links(group, f"/{name}", members):
            dataset = datasets[f"/{name}/{member}"]
            shapes[dataset.name] = _look_at(dataset, _open(group, member, f"/{name}"))
    _check_presence(kind, attributes, shapes)
    return Structure(kind, attributes, matrix, shapes)


def _links(group: h5g.GroupID, of: str, known: set[str]) -> list[str]:
    """The members of a group, all of them known and hard links."""
    number = group.get_num_objs()
    names = [name.decode(errors="backslashreplace") for name, _ in zip(group, range(len(known) + 1), strict=False)]
    for name in names:
        if name not in known:
            raise FieldError(f"{of}/{name}", "is not known, a file of this kind holds no such thing")
        kind = group.links.get_info(name.encode()).type
        if kind != h5l.TYPE_HARD:
            raise FieldError(f"{of}/{name}", f"missing, {_LINKS.get(kind, 'another link')} is in its place")
    if number != len(names):
        raise FieldError(of or "/", f"{number} members, allowed are {len(known)}")
    return names


def _open(group: h5g.GroupID, name: str, of: str) -> Any:
    try:
        return h5o.open(group, name.encode())
    except Exception as error:
        raise FieldError(f"{of}/{name}", f"not readable ({first_line(error)})") from None


def _look_at(dataset: Dataset, found: Any) -> tuple[int, ...]:
    """The shape of a dataset, which has the right dtype and is stored as it should be."""
    if not isinstance(found, h5d.DatasetID):
        raise FieldError(dataset.name, "missing, something else is in its place")
    dtype = np.dtype(dataset.dtype)
    if not found.get_type().equal(h5t.py_create(dtype)):
        raise FieldError(dataset.name, f"dtype is {_dtype_text(found)}, allowed is {dataset.dtype}")
    space = found.get_space()
    shape = space.get_simple_extent_dims() if space.get_simple_extent_type() == h5s.SIMPLE else ()
    if len(shape) != len(dataset.shape):
        raise FieldError(dataset.name, f"shape is {shape}, allowed is {' x '.join(map(str, dataset.shape))}")
    n_bytes, stored = prod(shape) * dtype.itemsize, found.get_storage_size()
    # A damaged shape must not claim more memory than the file can hold.
    if n_bytes > stored * (_MOST_COMPRESSED if dataset.compressed else 1):
        raise FieldError(dataset.name, f"{n_bytes} bytes are more than the file has")
    _check_layout(dataset, found, dtype.itemsize)
    return tuple(shape)


def _dtype_text(found: h5d.DatasetID) -> str:
    try:
        return str(found.dtype)[:80]
    except Exception:
        return "something else"


def _check_layout(dataset: Dataset, found: h5d.DatasetID, itemsize: int) -> None:
    settings = found.get_create_plist()
    layout = settings.get_layout()
    if settings.get_external_count() or layout == h5d.VIRTUAL:
        raise FieldError(dataset.name, "is stored in another file or dataset")
    if layout != (h5d.CHUNKED if dataset.compressed else h5d.CONTIGUOUS):
        raise FieldError(dataset.name, f"is not stored {'in chunks' if dataset.compressed else 'in one piece'}")
    if not dataset.compressed:
        return
    filters = tuple(settings.get_filter(k)[0] for k in range(settings.get_nfilters()))
    if filters != _FILTERS or prod(settings.get_chunk()) * itemsize > _LARGEST_CHUNK:
        raise FieldError(dataset.name, "is not compressed with shuffle and gzip in chunks of up to 4 MiB")


def _check_presence(kind: str, attributes: dict[str, Any], shapes: dict[str, Any]) -> None:
    """Check that a file has the datasets it must have, and no others."""
    groups = {name.rpartition("/")[0] for name in shapes}
    for dataset in schema.datasets_of(kind):
        when, is_there = dataset.when, dataset.name in shapes
        # Only `information` may be missing, and is `view` then.
        wanted = when is None or (attributes.get(when.attribute, "view") == when.value) == when.is_equal
        if is_there and not wanted:
            raise FieldError(dataset.name, f"is not allowed here, only with {when}")
        if wanted and not is_there and (kind not in dataset.optional or dataset.name.rpartition("/")[0] in groups):
            raise FieldError(dataset.name, "missing")
