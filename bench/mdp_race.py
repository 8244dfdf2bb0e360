"""One peer's turn on a process: warm up on the small one, load the other, solve it in limited time and memory."""

from __future__ import annotations

import importlib
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.child import allow
from bench.processes.registry import PROCESSES
from bench.tensor import Tensor, save


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Make a process (with ``make``), or time a peer.

    The arrays of a process are written into ``folder``, the values of a peer to the file ``values``.
    """
    folder = Path(request["folder"])
    if "make" in request:
        mdp = PROCESSES[request["make"]].make(request["size"])
        save(folder, Tensor(*(getattr(mdp, name) for name in Tensor._fields)))
        return {"states": mdp.n_states, "rows": mdp.n_rows, "transitions": mdp.n_entries}
    resource.setrlimit(resource.RLIMIT_DATA, (request["bytes"],) * 2)
    peer = importlib.import_module(f"bench.peer.{request['peer']}")
    settings = request["settings"]
    peer.prepare(Path(request["small"]), settings)()
    solve = peer.prepare(folder, settings)
    allow(request["limit"])
    begin, cpu = time.perf_counter(), time.process_time()
    solution = solve()
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    allow(0)
    np.save(request["values"], solution.values())
    return {"seconds": seconds, "cpu": cpu, "error_bound": solution.error_bound, "iterations": solution.iterations}
