"""Damaging one field of a file while everything else stays sound, and reading everything there is in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.store.checksum import seal
from punish_fast.store.reader import Artefact, load


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
    """Replace a dataset by what is made of it."""
    with editing(path) as file:
        array = np.array(change_array(file[name][...]))
        del file[name]
        file.create_dataset(name, data=array)


def put(index: int | slice, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The same array with ``value`` at ``index``."""

    def change_array(array: np.ndarray) -> np.ndarray:
        array[index] = value
        return array

    return change_array


def swap_first_two(array: np.ndarray) -> np.ndarray:
    array[:2] = array[1::-1].copy()
    return array


def read_everything(path: Path) -> dict[str, Any]:
    """All that a file says through the reader, in a form that compares bit by bit."""
    file = load(path)
    read: dict[str, Any] = {"kind": file.kind, "rules": file.rules, "attributes": repr(sorted(file.attributes.items()))}
    read["shapes"] = file.shapes
    for name, array in _arrays(file).items():
        read[name] = (array.dtype.str, array.shape, array.tobytes())
    if file.kind != "strategy":
        read["enemy"] = file.enemy
    if file.kind == "agent":
        solution = file.solution()
        read["log"] = repr(solution.log)
        read["solution"] = (solution.fingerprint, solution.error_bound, solution.discount, solution.sweeps)
    return read


def _arrays(file: Artefact) -> dict[str, np.ndarray]:
    if file.kind == "strategy":
        return dict(zip(("state", "p"), file.strategy(), strict=True))
    arrays = {"code": file.code, "layer_ptr": file.layer_ptr} | vars(file.mdp())
    if file.kind == "agent":
        solution = file.solution()
        arrays |= {"v": solution.v, "q": solution.q, "choice": solution.choice}
    return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
