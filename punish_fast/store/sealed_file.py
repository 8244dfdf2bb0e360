"""Reading sealed HDF5 files: seal, structure and sizes, then datasets, checked against the schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.runtime.files import ReadError, fault_of_input
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.parallel import for_each
from punish_fast.store import schema
from punish_fast.store.attributes import first_line, json_object
from punish_fast.store.checksum import check_seal
from punish_fast.store.schema import BY_NAME, LAST, Dataset
from punish_fast.store.structure import look, open_hdf5


class SealedFile:
    """A file of one of the kinds in ``schema.py``; datasets are read when they are asked for.

    Attributes:
        path: The file.
        kind: Its kind.
        attributes: Its root attributes.
        shapes: Shapes of its datasets, by name.
        sizes: What is known of the sizes in the schema.
    """

    def __init__(self, path: str | Path) -> None:
        """Check the seal and the structure, and read the attributes.

        Raises:
            ReadError: the file cannot be read, or is not one of ours; the message names the field.
        """
        self.path = Path(path)
        if fault := fault_of_input(self.path):
            raise ReadError(f"{self.path}: {fault}")
        with uninterrupted():
            check_seal(self.path)
        self._look()

    @uninterrupted()
    def _look(self) -> None:
        self.kind, self.attributes, self._matrix, self.shapes = look(self.path)
        self.sizes: dict[str, int] = {}
        if "sweeps" in self.attributes:
            self.sizes["n_sweeps"] = self.attributes["sweeps"]

    def error(self, field: str, problem: str) -> ReadError:
        """The error of a field."""
        return ReadError(f"{self.path}: {field}: {problem}")

    @uninterrupted()
    def check_shapes(self) -> None:
        """Check the shapes of all datasets against the sizes, which `sizes` then holds.

        Raises:
            ReadError: they do not fit together.
        """
        for dataset in schema.datasets_of(self.kind):
            if dataset.name in self.shapes:
                self.must_have_shape(dataset.name, self._expected(dataset))
                self._find_size(dataset.name)

    def _expected(self, dataset: Dataset) -> tuple[int, ...]:
        """The shape that follows from the sizes; sizes that are new are those of the dataset."""
        shape = []
        for size, found in zip(dataset.shape, self.shapes[dataset.name], strict=True):
            if isinstance(size, int):
                shape.append(size)
            else:
                name, _, further = size.partition(" + ")
                shape.append(self.sizes.setdefault(name, found - int(further or 0)) + int(further or 0))
        return tuple(shape)

    def _find_size(self, pointer: str) -> None:
        """Take the last entry of a pointer for the size that it is."""
        for size, name in LAST.items():
            if name == pointer:
                try:
                    with open_hdf5(self.path) as file:
                        self.sizes[size] = int(file[name][-1])
                except Exception as error:
                    raise self.error(name, f"not readable ({first_line(error)})") from None
                if self.sizes[size] < 0:
                    raise self.error(name, f"ends with {self.sizes[size]}, allowed are numbers from 0")
        if pointer == "/rows/state_ptr":
            shape = self.sizes["n_rows"], self.sizes["n_states"] + 2
            if self._matrix and tuple(self._matrix["shape"]) != shape:
                raise self.error("/transitions: shape", f"is {self._matrix['shape']}, must be {list(shape)}")

    def must_have_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Check the shape of a dataset.

        Raises:
            ReadError: the dataset is missing or of another shape.
        """
        if name not in self.shapes:
            raise self.error(name, "missing")
        if self.shapes[name] != shape:
            raise self.error(name, f"shape is {self.shapes[name]}, allowed is {' x '.join(map(str, shape))}")

    @uninterrupted()
    def array(self, name: str, check_range: bool = True) -> np.ndarray:
        """A dataset whose numbers are in the range of the schema, unless that is checked elsewhere.

        Raises:
            ReadError: it is missing, damaged, or a number is out of range.
        """
        if name not in self.shapes:
            raise self.error(name, "missing")
        try:
            array = np.empty(self.shapes[name], BY_NAME[name].dtype)
            with open_hdf5(self.path) as file:
                if array.size:
                    file[name].read_direct(array)
        except Exception as error:
            raise self.error(name, f"not readable ({first_line(error)})") from None
        if check_range:
            self._check_range(BY_NAME[name], array)
        return array

    def _check_range(self, dataset: Dataset, array: np.ndarray) -> None:
        if dataset.may_be_nan and np.isnan(array).all():
            return
        least, most = _ends(array.reshape(-1))
        if not (np.isfinite(least) and np.isfinite(most)):
            raise self.error(dataset.name, "a number is not finite")
        if not (dataset.low <= least and most <= dataset.high):
            number = most if most > dataset.high else least
            allowed = schema.range_text(dataset.low, dataset.high)
            raise self.error(dataset.name, f"a number is {number}, allowed are those {allowed}")

    def json_object(self, name: str) -> dict[str, Any]:
        """An attribute that is a JSON object.

        Raises:
            ReadError: it is something else.
        """
        value = json_object(self.attributes.get(name, "null"))
        if value is None:
            raise self.error(name, "not a JSON object")
        return value


def _ends(numbers: np.ndarray) -> tuple[Any, Any]:
    """The least and the largest number; NaN if there is one, and zeros if there is none."""
    if numbers.size == 0:
        return 0, 0
    ends = []

    def find(begin: int, end: int) -> None:
        part = numbers[begin:end]
        ends.append((part.min(), part.max()))

    for_each(find, len(numbers))
    least, most = zip(*ends, strict=True)
    return np.min(least), np.max(most)
