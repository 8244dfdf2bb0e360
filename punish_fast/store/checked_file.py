"""Reader of sealed HDF5 files.

The checksum, the attributes, and the dtypes and numbers of dimensions of datasets are checked when a file is opened.
Elements of datasets are checked when they are read.

HDF5 follows links to other files, assembles virtual datasets, and expands small files to gigabytes of zeros. Therefore,
a dataset is read only if its links are hard, its dtype and number of dimensions match the schema, and the file contains
enough bytes for its shape. Datasets and attributes outside the schema are ignored.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf, isnan, prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.runtime.errors import ReadError, printable
from punish_fast.runtime.files import fault_of_input
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store.checksum import check_seal
from punish_fast.store.schema import ATTRIBUTES, BUNDLE, DATASETS, FORMAT_VERSION, Attribute, Dataset

# Maximum compression ratio of gzip.
_MOST_COMPRESSED = 1032
# Maximum size of a chunk in bytes. By default, h5py creates chunks of at most 1 MiB.
_LARGEST_CHUNK = 1 << 22
_MOST_CHARACTERS = 80
_LONGEST_TEXT = 1 << 20
# Commands that write files of each kind.
_COMMANDS = {
    "tensor": "build",
    "agent": "solve",
    "checkpoint": "solve",
    "strategy": "equilibrium or punish-fast enemy",
    "equilibrium": "equilibrium --resume",
}
_TYPES = {str: "a text", dict: "a JSON object", int: "a whole number", float: "a number", list: "two numbers"}


def shorten(text: str) -> str:
    """Escape and shorten a text for an error message."""
    return printable(text, _MOST_CHARACTERS)


class OldFormatError(ReadError):
    """Raised for a file of an earlier format. The message contains the command that recreates the file."""


class CheckedFile:
    """A sealed file of a kind from ``schema.py``. Datasets are read on demand."""

    path: Path
    kind: str
    attributes: dict[str, Any]  # root attributes by name, JSON objects as dictionaries
    shapes: dict[str, tuple[int, ...]]  # shapes of the file's datasets, by name
    sizes: dict[str, int]  # values of the named sizes in the schema's shapes, such as ``n_states``

    def __init__(self, path: str | Path) -> None:
        """Check the seal, read the attributes, and check each dataset's dtype and number of dimensions."""
        self.path = Path(path)
        if fault := fault_of_input(self.path):
            raise ReadError(f"{self.path}: {fault}")
        with uninterrupted():
            check_seal(self.path)
            with self.opened("not a readable HDF5 file") as file:
                self.attributes = {name: self._attribute(file, name) for name in ("format", "format_version", "kind")}
                self.kind, version = self.attributes["kind"], self.attributes["format_version"]
                if version < FORMAT_VERSION and self.kind != BUNDLE:
                    fault = f"this version cannot read the format {version} of kind {self.kind!r}"
                    cure = f"remove it and make it again: punish-fast {_COMMANDS[self.kind]}"
                    raise OldFormatError(f"{self.path}: {fault}; {cure}")
                for name, attribute in ATTRIBUTES.items():
                    if self.kind in attribute.kinds and not (attribute.is_optional and name not in file.attrs):
                        self.attributes[name] = self._attribute(file, name)
                found = {name: self._shape_of(file, name, dataset) for name, dataset in DATASETS.items()}
        self.shapes = {name: shape for name, shape in found.items() if shape is not None}
        self.sizes = {"n_sweeps": self.attributes["sweeps"]} if "sweeps" in self.attributes else {}

    @contextmanager
    def opened(self, fault: str) -> Iterator[h5py.File]:
        """Open the file for reading. Convert any error in the block to a `ReadError` with the message ``fault``."""
        try:
            # Files are never modified, so a lock is unnecessary. Network file systems might not support locks.
            with h5py.File(self.path, "r", locking=False) as file:
                yield file
        except ReadError:
            raise
        # h5py raises exceptions of many types for damaged files.
        except Exception as error:
            lines = str(error).splitlines()
            text = shorten(lines[0] if lines else type(error).__name__)
            raise ReadError(f"{self.path}: {fault} ({text})") from None

    def error(self, field: str, problem: str) -> ReadError:
        """Return a `ReadError` about a field of the file."""
        return ReadError(f"{self.path}: {field}: {problem}")

    def check_shapes(self) -> None:
        """Check that the shapes of the datasets are consistent, and store their named sizes in `sizes`."""
        for name, shape in self.shapes.items():
            expected = []
            for size, found in zip(DATASETS[name].shape, shape, strict=True):
                if isinstance(size, int):
                    expected.append(size)
                else:
                    of, _, further = size.partition(" + ")
                    expected.append(self.sizes.setdefault(of, found - int(further or 0)) + int(further or 0))
            require_shape(self, name, tuple(expected))

    @uninterrupted()
    def array(self, name: str, dataset: Dataset | None = None) -> np.ndarray:
        """Read a dataset and check its elements. For a name outside the schema, ``dataset`` is the description."""
        with self.opened(f"{name}: not readable") as file:
            shape = self.shapes.get(name) if dataset is None else self._shape_of(file, name, dataset)
            if shape is None:
                raise self.error(name, "missing")
            dataset = dataset or DATASETS[name]
            array = np.empty(shape, dataset.dtype)
            if array.size:
                file[name].read_direct(array)
        least, most = (array.min(), array.max()) if array.size else (dataset.low, dataset.low)
        if dataset.may_be_nan and np.isnan(array).all():
            return array
        if array.size and not (np.isfinite(least) and np.isfinite(most)):
            raise self.error(name, "a number is not finite")
        if not dataset.low <= least <= most <= dataset.high:
            number = most if most > dataset.high else least
            raise self.error(name, f"a number is {number}; it must be {range_text(dataset)}")
        return array

    def _attribute(self, file: h5py.File, name: str) -> Any:
        """Read an attribute and check its type and value."""
        if name not in file.attrs:
            raise self.error(name, "missing")
        return self.checked(name, file.attrs[name], ATTRIBUTES[name])

    def checked(self, name: str, value: Any, attribute: Attribute) -> Any:
        """Convert an attribute to a Python object, after checks of its type and value."""
        wanted = attribute.type
        try:
            value = _plain(value, wanted)
        except (ValueError, RecursionError):
            value = None
        if type(value) is not wanted:
            raise self.error(name, f"is not {_TYPES[wanted]}")
        if attribute.allowed and value not in attribute.allowed:
            raise self.error(
                name, f"{shorten(repr(value))} is unknown; it must be one of {', '.join(attribute.allowed)}"
            )
        numbers: Any = value if wanted is list else [value] if wanted in (int, float) else []
        for number in numbers:
            is_missing = attribute.may_be_nan and isnan(number)
            if not is_missing and not attribute.low <= number <= attribute.high:
                raise self.error(name, f"{shorten(repr(number))} is not allowed; it must be {range_text(attribute)}")
        return value

    def _shape_of(self, file: h5py.File, name: str, dataset: Dataset) -> tuple[int, ...] | None:
        """Return the shape of a dataset (None if missing), after checks of everything except its elements."""
        for part in (name.rpartition("/")[0], name):
            link = file.get(part, getlink=True)
            if link is None:
                return None
            if not isinstance(link, h5py.HardLink):
                raise self.error(name, "is a link instead of a dataset")
        found, dtype = file[name], np.dtype(dataset.dtype)
        if not isinstance(found, h5py.Dataset) or found.shape is None:
            raise self.error(name, "is not a dataset")
        if found.dtype != dtype:
            raise self.error(name, f"dtype is {shorten(str(found.dtype))}; it must be {dataset.dtype}")
        if found.ndim != len(dataset.shape):
            raise self.error(name, f"shape is {found.shape}; it must be {' x '.join(map(str, dataset.shape))}")
        if found.is_virtual or found.external:
            raise self.error(name, "is stored in another file or dataset")
        # Reject a shape that exceeds the maximum size of the stored bytes after decompression.
        stored = found.id.get_storage_size() * (_MOST_COMPRESSED if dataset.is_compressed else 1)
        if prod(found.shape) * dtype.itemsize > stored or prod(found.chunks or ()) * dtype.itemsize > _LARGEST_CHUNK:
            raise self.error(name, f"shape is {found.shape}, larger than the file")
        return tuple(found.shape)


def _plain(value: Any, wanted: type) -> Any:
    """Convert an attribute to the Python type ``wanted`` or, if this is impossible, to another type."""
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


def range_text(of: Attribute | Dataset) -> str:
    """Return the allowed range of an attribute or a dataset in words."""
    if of.low == of.high:
        return f"{of.low:g}"
    if of.high == inf:
        return "finite" if of.low == -inf else f"at least {of.low:.10g}"
    return f"from {of.low:.10g} to {of.high:.10g}"


def require_shape(file: CheckedFile, name: str, shape: tuple[int, ...]) -> None:
    """Raise `ReadError` if a dataset is missing or has a different shape."""
    if name not in file.shapes:
        raise file.error(name, "missing")
    if file.shapes[name] != shape:
        raise file.error(name, f"shape is {file.shapes[name]}; it must be {' x '.join(map(str, shape))}")
