"""The measurements of ``limit``, in a child process: kernels and bandwidth in turn."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bench.bandwidth import Bandwidth, file_content, write
from bench.benchmark import DISCOUNT
from bench.child import tell
from punish_fast.mdp.model import MDP
from punish_fast.mdp.value_iteration import Evaluation, Jacobi, Layered
from punish_fast.punish.rules import load_rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.runtime._jit import set_threads
from punish_fast.store.tensors import save

SWEEPS = ("layered sweep", "jacobi sweep", "evaluation sweep")
BANDWIDTHS = ("read", "triad", "fill")
_FLOAT = _POINTER = 8
_PER_RUN = 5

T = TypeVar("T")


def sweep_bytes(mdp: MDP) -> dict[str, int]:
    """The bytes that one sweep of each kind must move if nothing is read twice.

    Every sweep reads the tensor's arrays and the old values and writes new ones. A Jacobi sweep also reads and replaces
    a value for each row and a choice for each state, an evaluation reads a weight for each row.
    """
    arrays = (mdp.state_ptr, mdp.indptr, mdp.indices, mdp.data, mdp.reward)
    common = sum(array.nbytes for array in arrays) + _FLOAT * (mdp.n_columns + mdp.n_states)
    jacobi = 2 * _FLOAT * mdp.n_rows + 2 * _POINTER * mdp.n_states
    return dict(zip(SWEEPS, (common, common + jacobi, common + _FLOAT * mdp.n_rows), strict=True))


class Stopwatches:
    """Durations by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def time(self, name: str, function: Callable[[], T]) -> T:
        """Time a call of ``function``."""
        begin = time.perf_counter()
        result = function()
        self.seconds.setdefault(name, []).append(time.perf_counter() - begin)
        return result


class Traffic:
    """One game and its measurements."""

    def __init__(self, rules: str, folder: Path) -> None:
        """Build the game."""
        self._space = StateSpace(load_rules(rules))
        self.mdp = build(self._space)
        counts = np.diff(self.mdp.state_ptr)
        uniform = np.repeat(1 / counts, counts)
        sweepers = (Layered(self.mdp, DISCOUNT), Jacobi(self.mdp, DISCOUNT), Evaluation(self.mdp, DISCOUNT, uniform))
        self._sweepers: dict[str, Layered | Jacobi] = dict(zip(SWEEPS, sweepers, strict=True))
        self._bandwidth = Bandwidth(self.mdp.n_entries)
        self._file = folder / "game.h5"
        self._plain = folder / "plain"
        self._content = file_content()
        self.file_bytes = 0

    def run(self, watches: Stopwatches) -> None:
        """Measure everything once, short work several times."""
        for _ in range(_PER_RUN):
            self._move(watches)
            for name, sweeper in self._sweepers.items():
                watches.time(name, sweeper.sweep)
        watches.time("tensor", lambda: build(self._space))
        watches.time("HDF5 file", lambda: save(self._file, self._space, self.mdp))
        self.file_bytes = self._file.stat().st_size
        watches.time("write", lambda: write(self._plain, self.file_bytes, self._content))

    def _move(self, watches: Stopwatches) -> None:
        """Move memory, and check the results."""
        total = watches.time("read", lambda: self._bandwidth.read(self.mdp.data))
        if abs(total - self.mdp.n_rows) > 1e-3:
            raise ArithmeticError(f"the probabilities of {self.mdp.n_rows} rows add up to {total}")
        sums = watches.time("triad", lambda: self._bandwidth.triad(self.mdp.data))
        filled = watches.time("fill", lambda: self._bandwidth.fill(3.0))
        if sums[-1] != self.mdp.data[-1] + 2 or filled[-1] != 3:
            raise ArithmeticError("triad or fill wrote wrong numbers")


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Measure the game of ``rules`` with ``threads`` threads in ``runs`` runs after a warm-up."""
    set_threads(request["threads"])
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-", dir=request["folder"]) as folder:
        traffic = Traffic(request["rules"], Path(folder))
        traffic.run(Stopwatches())
        watches = Stopwatches()
        for number in range(1, request["runs"] + 1):
            tell(f"limit: run {number} of {request['runs']}")
            traffic.run(watches)
    mdp = traffic.mdp
    tensor = sum(array.nbytes for array in (mdp.indptr, mdp.indices, mdp.data, mdp.reward))
    numbers = {"read": mdp.data.nbytes, "triad": 3 * mdp.data.nbytes, "fill": mdp.data.nbytes}
    moved = numbers | sweep_bytes(mdp) | {"tensor": tensor, "HDF5 file": traffic.file_bytes}
    sizes = {"states": mdp.n_states, "rows": mdp.n_rows, "nonzeros": mdp.n_entries}
    return {"seconds": watches.seconds, "bytes": moved | {"write": traffic.file_bytes}, **sizes}
