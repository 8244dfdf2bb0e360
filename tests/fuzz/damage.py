"""Damaging one field of a file while everything else stays sound."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.store.checksum import seal


@contextmanager
def editing(path: Path) -> Iterator[h5py.File]:
    """The file, open to be changed, and sealed again afterwards: what the seal keeps out gets in."""
    with h5py.File(path, "r+") as file:
        yield file
    seal(path)


def set_attribute(path: Path, name: str, value: Any, of: str = "/") -> None:
    """Write an attribute, or remove it if ``value`` is None."""
    with editing(path) as file:
        del file[of].attrs[name]
        if value is not None:
            file[of].attrs[name] = value


def remove(path: Path, name: str) -> None:
    with editing(path) as file:
        del file[name]


def change(path: Path, name: str, change_array: Callable[[np.ndarray], np.ndarray]) -> None:
    with editing(path) as file:
        array, is_packed = np.array(change_array(file[name][...])), file[name].chunks is not None
        del file[name]
        options = {"compression": "gzip", "shuffle": True} if is_packed and array.ndim else {}
        file.create_dataset(name, data=array, **options)


def put(index: int | slice, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change_array(array: np.ndarray) -> np.ndarray:
        array[index] = value
        return array

    return change_array
