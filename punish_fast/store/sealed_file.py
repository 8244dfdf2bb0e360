"""Reading sealed HDF5 files: attributes, shapes and datasets, checked against the schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.runtime.files import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store import schema
from punish_fast.store.checksum import check_seal

# gzip cannot compress further than this.
_MOST_COMPRESSED = 1032


class SealedFile:
    """A file of one of the kinds in ``schema.py``; datasets are read when they are asked for.

    Attributes:
        path: The file.
        kind: Its kind.
        attributes: Its root attributes.
        shapes: Shapes of its datasets, by name.
    """

    def __init__(self, path: str | Path) -> None:
        """Check the seal and read the attributes.

        Raises:
            ReadError: the file cannot be read, or is not one of ours; the message names the field.
        """
        self.path = Path(path)
        self._open()
        self._check_types(schema.ROOT_ATTRIBUTES)
        version: int = self.attributes["format_version"]
        if version != schema.FORMAT_VERSION:
            raise self.error("format_version", f"{version} is not known, allowed is {schema.FORMAT_VERSION}")
        self.kind: str = self.attributes["kind"]
        if self.kind not in schema.ATTRIBUTES:
            raise self.error("kind", f"{self.kind!r} is not known, allowed are {', '.join(schema.ATTRIBUTES)}")
        self._check_types(schema.ATTRIBUTES[self.kind])

    def error(self, field: str, problem: str) -> ReadError:
        """The error of a field."""
        return ReadError(f"{self.path}: {field}: {problem}")

    @uninterrupted()
    def _open(self) -> None:
        # Unlike the methods of Path, these take names that no file can have.
        if not os.path.isfile(self.path):  # noqa: PTH113
            what = "is a folder" if os.path.isdir(self.path) else "there is no such file"  # noqa: PTH112
            raise ReadError(f"{self.path}: {what}")
        check_seal(self.path)
        try:
            with h5py.File(self.path, "r") as file:
                self.attributes = {name: plain(value) for name, value in file.attrs.items()}
                found = {name: file.get(name) for name in schema.DTYPES}
                self.shapes = {name: item.shape for name, item in found.items() if isinstance(item, h5py.Dataset)}
        # HDF5 reports damage in many ways.
        except Exception as error:
            raise ReadError(f"{self.path}: not a readable HDF5 file ({first_line(error)})") from None
        if self.attributes.get("format") != schema.FORMAT:
            raise self.error("format", f"not a file of {schema.FORMAT}")

    def _check_types(self, types: dict[str, type]) -> None:
        for name, kind in types.items():
            value = self.attributes.get(name)
            if kind is float and isinstance(value, int):
                value = self.attributes[name] = float(value)
            if not isinstance(value, kind):
                raise self.error(name, "missing" if value is None else f"{value!r} is no {kind.__name__}")

    @uninterrupted()
    def array(self, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """A dataset of the given shape (None: any length), with the dtype of the schema.

        Raises:
            ReadError: it is missing, damaged, or of another shape or dtype.
        """
        if name not in self.shapes:
            raise self.error(name, "missing")
        try:
            with h5py.File(self.path, "r") as file:
                dataset = file[name]
                self._check_dataset(name, dataset, shape)
                array: np.ndarray = dataset[...]
        except ReadError:
            raise
        except Exception as error:
            raise self.error(name, f"not readable ({first_line(error)})") from None
        return array

    def _check_dataset(self, name: str, dataset: h5py.Dataset, shape: tuple[int | None, ...]) -> None:
        if dataset.dtype != np.dtype(schema.DTYPES[name]):
            raise self.error(name, f"dtype is {dataset.dtype}, allowed is {schema.DTYPES[name]}")
        found = dataset.shape
        if len(found) != len(shape) or any(n not in (None, m) for n, m in zip(shape, found, strict=True)):
            wanted = " x ".join("any" if n is None else str(n) for n in shape)
            raise self.error(name, f"shape is {found}, allowed is {wanted}")
        # A damaged shape must not claim more memory than the file can hold.
        most = self.path.stat().st_size * (_MOST_COMPRESSED if dataset.compression else 1)
        if dataset.nbytes > most:
            raise self.error(name, f"{dataset.nbytes} bytes are more than the file has")

    def json_object(self, name: str) -> dict[str, Any]:
        """An attribute that is a JSON object.

        Raises:
            ReadError: it is something else.
        """
        try:
            value = json.loads(self.attributes.get(name, "null"))
        except (TypeError, ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.error(name, "not a JSON object")
        return value


def plain(value: Any) -> Any:
    """An attribute as a Python object."""
    value = value.item() if isinstance(value, np.generic) else value
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def first_line(error: Exception) -> str:
    """The first line of an error's text."""
    text = str(error)
    return text.splitlines()[0] if text else type(error).__name__
