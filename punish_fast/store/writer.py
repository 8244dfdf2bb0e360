"""Atomic writer of sealed HDF5 files. Data can be computed and written in pieces."""

import io
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from punish_fast.punish.rules import Rules, to_json
from punish_fast.runtime import __version__
from punish_fast.runtime.files import explain, replacing
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store import schema
from punish_fast.store.checksum import SIZE, seal
from punish_fast.store.schema import ATTRIBUTES, DATASETS

# Size of the chunks within a row.
_CHUNK = 1 << 20
_FLOATS = {name for name, attribute in ATTRIBUTES.items() if attribute.type is float}


class _Sink(io.FileIO):
    """File object for HDF5. Writes record errors, because HDF5 cannot recover from errors. `check` raises the first."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self._error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write ``data``. Record an error on failure."""
        view = memoryview(data).cast("B")
        done = 0
        try:
            while done < len(view):
                done += super().write(view[done:])
        except OSError as error:
            self._error = self._error or error
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Change the length of the file. Record an error on failure."""
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def check(self) -> None:
        """Raise the first recorded error."""
        if self._error is not None:
            raise self._error


class Writer:
    """An open output file, created by `new_file` or `sealed_file`."""

    def __init__(self, file: h5py.File, sink: _Sink, background: ThreadPoolExecutor) -> None:
        self._file = file
        self._sink = sink
        self._background = background
        self._flushed: Future[None] | None = None

    def attributes(self, **values: Any) -> None:
        """Set root attributes."""
        with uninterrupted():
            for name, value in values.items():
                self._file.attrs[name] = float(value) if name in _FLOATS else value

    def array(self, name: str, array: np.ndarray) -> None:
        """Write a dataset with the dtype and compression of the schema.

        A dataset outside the schema keeps its dtype, and is compressed if it is float16.
        """
        with uninterrupted():
            data = np.ascontiguousarray(array, dtype=(known := DATASETS.get(name)) and known.dtype)
            self._file.create_dataset(name, data=data, **_options(name, array.shape, array.dtype))
        self._sink.check()

    def rows(self, name: str, shape: tuple[int, int], rows: Iterable[np.ndarray]) -> None:
        """Write a dataset of the schema row by row, which needs less memory."""
        dtype = DATASETS[name].dtype
        with uninterrupted():
            table = self._file.create_dataset(name, shape, dtype, **_options(name, shape, np.dtype(dtype)))
        for index, row in enumerate(rows):
            with uninterrupted():
                table[index] = row
        self._sink.check()

    def sync(self) -> None:
        """Flush the file to disk in the background, which shortens the final wait."""
        with uninterrupted():
            self._flushed = self._background.submit(os.fsync, self._sink.fileno())

    def finish(self) -> None:
        """Close the file, and raise an error if the flush or an earlier write failed."""
        with uninterrupted():
            self._file.close()
            # Check the earlier flush, because the operating system reports a failed flush only once.
            if self._flushed is not None:
                self._flushed.result()
        self._sink.check()

    def csr_matrix(self, name: str, shape: tuple[int, int], indptr: np.ndarray) -> None:
        """Create the group of a sparse matrix and write ``indptr``. `part` writes the indices and data."""
        with uninterrupted():
            group = self._file.create_group(name)
            group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": shape})
            for part in ("indices", "data"):
                group.create_dataset(part, (int(indptr[-1]),), DATASETS[f"{name}/{part}"].dtype)
        self.array(f"{name}/indptr", indptr)

    def part(self, name: str, array: np.ndarray, begin: int, end: int) -> None:
        """Write elements ``begin`` to ``end - 1`` of ``array`` to the same indices of a dataset."""
        with uninterrupted():
            self._file[name][begin:end] = array[begin:end]
        self._sink.check()


def _options(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the HDF5 options of a dataset."""
    known = DATASETS.get(name)
    is_compressed = dtype == np.float16 if known is None else known.is_compressed
    # Higher compression levels take three times as long and save only a few percent.
    options: dict[str, Any] = {"compression": "gzip", "shuffle": True, "compression_opts": 4} if is_compressed else {}
    if known is not None and known.has_row_chunks:
        options["chunks"] = 1, min(shape[1], _CHUNK)
    return options


def new_file(path: Path, kind: str, rules: Rules, **attributes: Any) -> AbstractContextManager[Writer]:
    """Open a new file with `sealed_file`, and store ``rules`` as attributes."""
    return sealed_file(path, kind, rules=to_json(rules), rules_digest=rules.digest, **attributes)


@contextmanager
def sealed_file(path: Path, kind: str, **attributes: Any) -> Iterator[Writer]:
    """Open a new file of a kind from ``schema.py``. If the block succeeds, seal the file and move it to ``path``."""
    with replacing(path) as temporary:
        try:
            with _Sink(temporary) as sink, ThreadPoolExecutor(1, "sync") as background, ExitStack() as stack:
                with uninterrupted():
                    file = h5py.File(sink, "w", libver=schema.LIBRARY_VERSION, userblock_size=SIZE)
                    stack.callback(uninterrupted()(file.close))
                writer = Writer(file, sink, background)
                writer.attributes(
                    format=schema.FORMAT,
                    format_version=schema.FORMAT_VERSION,
                    kind=kind,
                    created=datetime.now(UTC).isoformat(timespec="seconds"),
                    package_version=__version__,
                    **attributes,
                )
                yield writer
                writer.finish()
            seal(temporary)
        except OSError as error:
            raise explain(path, error) from None
