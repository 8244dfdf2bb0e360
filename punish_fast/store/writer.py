"""Writing artefacts, piece by piece while they are computed, whole or not at all."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import h5py
import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import Solution
from punish_fast.punish.rules import Rules, to_json
from punish_fast.punish.space import StateSpace
from punish_fast.runtime.files import explain, replacing
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.version import __version__
from punish_fast.store import layout
from punish_fast.store.checksum import SIZE, seal

_DTYPES = layout.DTYPES | layout.LEARNER_DTYPES


class _Sink(io.FileIO):
    """The file that HDF5 writes to. It never fails, since HDF5 does not recover from failures; `check` does instead."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self._error: OSError | None = None
        self._syncing: Thread | None = None

    def write(self, data: Any) -> int:
        """Write all of ``data``, or remember why not."""
        view = memoryview(data).cast("B")
        done = 0
        try:
            while done < len(view):
                done += super().write(view[done:])
        except OSError as error:
            self._error = self._error or error
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Change the length, or remember why not."""
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def sync(self) -> None:
        """Let the disk take in what was written so far, beside what is done meanwhile; `wait` for it at the end."""
        if self._syncing is not None:
            self._syncing.join()
        # The file may be closed before.
        descriptor = os.dup(self.fileno())

        def work() -> None:
            try:
                os.fsync(descriptor)
            except OSError as error:
                self._error = self._error or error
            finally:
                os.close(descriptor)

        self._syncing = Thread(target=work, name="sync", daemon=True)
        self._syncing.start()

    def wait(self) -> None:
        """Wait until the disk has taken in what it was to, and fail if anything has failed.

        A failure is told but once by the system, so nobody else would hear of it.
        """
        if self._syncing is not None:
            self._syncing.join()
        self.check()

    def check(self) -> None:
        """Fail if anything has failed.

        Raises:
            OSError: the first failure.
        """
        if self._error is not None:
            raise self._error


class Writer:
    """An artefact that is being written. Get one from `new_file`."""

    def __init__(self, file: h5py.File, sink: _Sink) -> None:
        self._file = file
        self._sink = sink

    def attributes(self, **values: Any) -> None:
        """Set root attributes."""
        with uninterrupted():
            for name, value in values.items():
                self._file.attrs[name] = value

    def states(self, code: np.ndarray, layer_ptr: np.ndarray) -> None:
        """Write the states."""
        self._put("/states/code", code)
        self._put("/states/layer_ptr", layer_ptr)

    def rows(self, mdp: MDP) -> None:
        """Write the state-action pairs."""
        self._put("/rows/state_ptr", mdp.state_ptr)
        self._put("/rows/action", mdp.action)
        self._put("/rows/reward", mdp.reward)

    def transitions(self, mdp: MDP, layer: int) -> None:
        """Write the transitions of a layer; layers must come in their order."""
        if layer == 0:
            self._begin_transitions(mdp)
        begin, end = mdp.indptr[mdp.state_ptr[mdp.layer_ptr[layer : layer + 2]]]
        self._put_part("/transitions/indices", mdp.indices, begin, end)
        self._put_part("/transitions/data", mdp.data, begin, end)

    def _begin_transitions(self, mdp: MDP) -> None:
        with uninterrupted():
            group = self._file.create_group("/transitions")
            group.attrs["encoding-type"] = "csr_matrix"
            group.attrs["encoding-version"] = "0.1.0"
            group.attrs["shape"] = (mdp.n_rows, mdp.n_columns)
            for name, array in (("indices", mdp.indices), ("data", mdp.data)):
                group.create_dataset(name, array.shape, array.dtype)
        self._put("/transitions/indptr", mdp.indptr)

    def solution(self, solution: Solution) -> None:
        """Write a solution, its log, and the attributes that tell how it was found."""
        self._put("/solution/v", solution.v)
        self._put("/solution/q", solution.q)
        self._put("/log/residual", np.array(solution.log.residual))
        self._put("/log/seconds", np.array(solution.log.seconds))
        if solution.log.rmse:
            self._put("/log/rmse", np.array(solution.log.rmse))
            self._put("/log/choice_changes", np.array(solution.log.choice_changes, dtype=np.int64))
        self.attributes(
            discount=solution.discount,
            objective=solution.objective,
            schedule=solution.schedule,
            tolerance=np.nan if solution.tolerance is None else solution.tolerance,
            sweeps=solution.sweeps,
            residual=solution.residual,
            error_bound=solution.error_bound,
            fingerprint=solution.fingerprint,
        )

    def array(self, name: str, array: np.ndarray, compressed: bool = False) -> None:
        """Write a dataset that the layout names."""
        # Higher levels take three times as long and spare a few per cent.
        options = {"compression": "gzip", "shuffle": True, "compression_opts": 4} if compressed else {}
        self._put(name, array, **options)

    def sync(self) -> None:
        """Begin to bring to the disk what was written so far; at the end there is less to wait for."""
        with uninterrupted():
            self._sink.sync()

    def tables(self, q: np.ndarray, visits: np.ndarray) -> None:
        """Write what a learner has learned."""
        self._put("/learner/q", q)
        self._put("/learner/visits", visits)

    def _put(self, name: str, array: np.ndarray, **options: Any) -> None:
        with uninterrupted():
            data = np.ascontiguousarray(array, dtype=_DTYPES[name])
            self._file.create_dataset(name, data=data, **options)
        self._sink.check()

    def _put_part(self, name: str, array: np.ndarray, begin: int, end: int) -> None:
        with uninterrupted():
            self._file[name][begin:end] = array[begin:end]
        self._sink.check()


@contextmanager
def new_file(path: Path, kind: str, rules: Rules, **attributes: Any) -> Iterator[Writer]:
    """Write an artefact in the block; it appears under ``path`` when the block ends, or not at all.

    Args:
        path: The file.
        kind: ``"tensor"``, ``"agent"``, ``"strategy"`` or ``"equilibrium"``.
        rules: The rules it belongs to.
        **attributes: Further root attributes.

    Raises:
        OutputError: nothing can be written there, found out before anything else.
        WriteError: writing failed.
    """
    with sealed_file(path, kind, rules=to_json(rules), rules_digest=rules.digest, **attributes) as writer:
        yield writer


@contextmanager
def sealed_file(path: Path, kind: str, **attributes: Any) -> Iterator[Writer]:
    """Write a file of any kind in the block; it appears under ``path`` when the block ends, or not at all.

    Args:
        path: The file.
        kind: What it holds.
        **attributes: Root attributes besides those of every file.

    Raises:
        OutputError: nothing can be written there, found out before anything else.
        WriteError: writing failed.
    """
    with replacing(path) as temporary:
        try:
            with _Sink(temporary) as sink, ExitStack() as stack:
                with uninterrupted():
                    file = h5py.File(sink, "w", libver=layout.LIBRARY_VERSION, userblock_size=SIZE)
                    stack.callback(_close, file)
                writer = Writer(file, sink)
                writer.attributes(
                    format=layout.FORMAT,
                    format_version=layout.FORMAT_VERSION,
                    kind=kind,
                    created=datetime.now(UTC).isoformat(timespec="seconds"),
                    package_version=__version__,
                    **attributes,
                )
                yield writer
                stack.close()
                sink.check()
            seal(temporary)
            with uninterrupted():
                sink.wait()
        except OSError as error:
            raise explain(path, error) from None


def _close(file: h5py.File) -> None:
    with uninterrupted():
        file.close()


def save(
    path: str | Path,
    space: StateSpace,
    mdp: MDP,
    solution: Solution | None = None,
    enemy: dict[str, Any] | None = None,
) -> None:
    """Write a tensor, or with its solution an agent; `save_policy` writes strategies.

    Args:
        path: The file.
        space: The states.
        mdp: The process.
        solution: Its solution; None for a tensor alone.
        enemy: The enemy it was built against, JSON-like with a ``kind``; unknown if None.

    Raises:
        ValueError: the process has other states.
        WriteError: writing failed.
    """
    if mdp.n_states != space.n_states:
        raise ValueError(f"save: the process has {mdp.n_states} states, the space {space.n_states}")
    kind = "tensor" if solution is None else "agent"
    with new_file(Path(path), kind, space.rules, enemy=json.dumps(enemy or {"kind": "unknown"})) as out:
        out.states(space.code, space.layer_ptr)
        out.rows(mdp)
        for layer in range(mdp.n_layers):
            out.transitions(mdp, layer)
        if solution is not None:
            out.solution(solution)
