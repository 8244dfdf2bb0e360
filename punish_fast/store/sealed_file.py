"""Read sealed HDF5 files: checksum, attributes and shapes first, datasets on demand.

HDF5 follows links to other files, assembles virtual datasets and unpacks gigabytes of zeros. A dataset is therefore
read only if all links to it are hard, its dtype and number of dimensions match the schema, and the file itself stores
enough bytes for it. Datasets and attributes that are not in the schema are ignored.
"""

from __future__ import annotations

import json
from math import inf, isnan, prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.runtime.files import ReadError, fault_of_input
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.printable import printable
from punish_fast.store.checksum import check_seal
from punish_fast.store.schema import ATTRIBUTES, DATASETS, Attribute, Dataset

# Maximum compression ratio of gzip.
_MOST_COMPRESSED = 1032
# h5py writes chunks of at most 1 MiB.
_LARGEST_CHUNK = 1 << 22
_MOST_CHARACTERS = 80
_LONGEST_TEXT = 1 << 20
_TYPES = {str: "a text", dict: "a JSON object", int: "a whole number", float: "a number", list: "two numbers"}


class FieldError(Exception):
    """Raised when an attribute or dataset does not match the schema; the message names it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")


def shorten(text: str) -> str:
    """Shorten a text for an error message."""
    return printable(text, _MOST_CHARACTERS)


def first_line(error: Exception) -> str:
    """Return the first line of an error message, shortened."""
    lines = str(error).splitlines()
    return shorten(lines[0] if lines else type(error).__name__)


def open_hdf5(path: Path) -> h5py.File:
    """Open a file for reading, without a lock: files are never modified, and some network folders have no locks."""
    return h5py.File(path, "r", locking=False)


class SealedFile:
    """A file of one of the kinds in ``schema.py``, whose datasets are read on demand."""

    path: Path
    kind: str
    attributes: dict[str, Any]  # root attributes by name; JSON objects as dictionaries
    shapes: dict[str, tuple[int, ...]]  # shapes of the datasets
    sizes: dict[str, int]  # values of the sizes named in the shapes of the schema

    def __init__(self, path: str | Path) -> None:
        """Check the seal and the datasets, and read the attributes."""
        self.path = Path(path)
        if fault := fault_of_input(self.path):
            raise ReadError(f"{self.path}: {fault}")
        with uninterrupted():
            check_seal(self.path)
            try:
                with open_hdf5(self.path) as file:
                    self.attributes = _attributes_of(file)
                    found = {name: _shape_of(file, name, dataset) for name, dataset in DATASETS.items()}
            except FieldError as error:
                raise ReadError(f"{self.path}: {error}") from None
            # For damaged files, h5py raises exceptions of many types.
            except Exception as error:
                raise ReadError(f"{self.path}: not a readable HDF5 file ({first_line(error)})") from None
        self.kind = self.attributes["kind"]
        self.shapes = {name: shape for name, shape in found.items() if shape is not None}
        self.sizes = {"n_sweeps": self.attributes["sweeps"]} if "sweeps" in self.attributes else {}

    def error(self, field: str, problem: str) -> ReadError:
        """Return an error that names a field."""
        return ReadError(f"{self.path}: {field}: {problem}")

    def check_shapes(self) -> None:
        """Check that the shapes of all datasets are consistent, and set `sizes`."""
        for name, shape in self.shapes.items():
            expected = []
            for size, found in zip(DATASETS[name].shape, shape, strict=True):
                if isinstance(size, int):
                    expected.append(size)
                else:
                    of, _, further = size.partition(" + ")
                    expected.append(self.sizes.setdefault(of, found - int(further or 0)) + int(further or 0))
            self.must_have_shape(name, tuple(expected))

    def must_have_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Raise `ReadError` if a dataset is missing or has another shape."""
        if name not in self.shapes:
            raise self.error(name, "missing")
        if self.shapes[name] != shape:
            raise self.error(name, f"shape is {self.shapes[name]}, allowed is {' x '.join(map(str, shape))}")

    @uninterrupted()
    def array(self, name: str) -> np.ndarray:
        """Read a dataset and check the range of its elements."""
        if name not in self.shapes:
            raise self.error(name, "missing")
        dataset = DATASETS[name]
        try:
            array = np.empty(self.shapes[name], dataset.dtype)
            with open_hdf5(self.path) as file:
                if array.size:
                    file[name].read_direct(array)
        except Exception as error:
            raise self.error(name, f"not readable ({first_line(error)})") from None
        least, most = (array.min(), array.max()) if array.size else (dataset.low, dataset.low)
        if dataset.may_be_nan and np.isnan(array).all():
            return array
        if array.size and not (np.isfinite(least) and np.isfinite(most)):
            raise self.error(name, "a number is not finite")
        if not dataset.low <= least <= most <= dataset.high:
            number = most if most > dataset.high else least
            raise self.error(name, f"a number is {number}, allowed are those {_range(dataset)}")
        return array


def _attributes_of(file: h5py.File) -> dict[str, Any]:
    """Read and check the attributes of a file."""
    head = {name: _value(file, name, ATTRIBUTES[name]) for name in ("format", "format_version", "kind")}
    return head | {
        name: _value(file, name, attribute)
        for name, attribute in ATTRIBUTES.items()
        if head["kind"] in attribute.kinds and not (attribute.is_optional and name not in file.attrs)
    }


def _value(file: h5py.File, name: str, attribute: Attribute) -> Any:
    if name not in file.attrs:
        raise FieldError(name, "missing")
    value: Any = file.attrs[name]
    wanted = attribute.type
    try:
        value = _plain(value, wanted)
    except (ValueError, RecursionError):
        value = None
    if type(value) is not wanted:
        raise FieldError(name, f"is not {_TYPES[wanted]}")
    if attribute.allowed and value not in attribute.allowed:
        raise FieldError(name, f"{shorten(repr(value))} is not known, allowed are {', '.join(attribute.allowed)}")
    numbers: Any = value if wanted is list else [value] if wanted in (int, float) else []
    for number in numbers:
        is_missing = attribute.may_be_nan and isnan(number)
        if not is_missing and not attribute.low <= number <= attribute.high:
            raise FieldError(name, f"{shorten(repr(number))} is not allowed, it must be {_range(attribute)}")
    return value


def _plain(value: Any, wanted: type) -> Any:
    """Convert an attribute to a Python object, of the type ``wanted`` if possible."""
    if wanted in (str, dict):
        text = value.decode() if isinstance(value, bytes) else value
        if not isinstance(text, str) or len(text.encode()) > _LONGEST_TEXT:
            return None
        return printable(text, _LONGEST_TEXT) if wanted is str else json.loads(text)
    if wanted is list:
        is_pair = isinstance(value, np.ndarray) and value.shape == (2,) and value.dtype == np.float64
        return value.tolist() if is_pair else None
    value = value.item() if isinstance(value, np.generic) else value
    return float(value) if wanted is float and type(value) is int else value


def _range(of: Attribute | Dataset) -> str:
    if of.low == of.high:
        return f"{of.low:g}"
    if of.high == inf:
        return "finite" if of.low == -inf else f"from {of.low:.10g}"
    return f"from {of.low:.10g} to {of.high:.10g}"


def _shape_of(file: h5py.File, name: str, dataset: Dataset) -> tuple[int, ...] | None:
    """Check a dataset against the schema; return its shape, or None if it is missing."""
    for part in (name.rpartition("/")[0], name):
        link = file.get(part, getlink=True)
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):
            raise FieldError(name, "missing, a link is in its place")
    found, dtype = file[name], np.dtype(dataset.dtype)
    if not isinstance(found, h5py.Dataset) or found.shape is None:
        raise FieldError(name, "missing, something else is in its place")
    if found.dtype != dtype:
        raise FieldError(name, f"dtype is {shorten(str(found.dtype))}, allowed is {dataset.dtype}")
    if found.ndim != len(dataset.shape):
        raise FieldError(name, f"shape is {found.shape}, allowed is {' x '.join(map(str, dataset.shape))}")
    if found.is_virtual or found.external:
        raise FieldError(name, "is stored in another file or dataset")
    # A damaged shape must not claim more memory than the file can hold.
    stored = found.id.get_storage_size() * (_MOST_COMPRESSED if dataset.is_compressed else 1)
    if prod(found.shape) * dtype.itemsize > stored or prod(found.chunks or ()) * dtype.itemsize > _LARGEST_CHUNK:
        raise FieldError(name, f"shape is {found.shape}, larger than the file")
    return tuple(found.shape)
