"""One peer's turn, in a child process: warm up on a small game, load the tensor, solve it, write the values."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

import numpy as np


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Time ``repeats`` solves of the tensor in ``folder`` by ``peer``, after a warm-up on that in ``small``.

    The values are written to the file ``values``.
    """
    peer = importlib.import_module(f"bench.peer.{request['peer']}")
    settings = request["settings"]
    peer.prepare(Path(request["small"]), settings)()
    solve = peer.prepare(Path(request["folder"]), settings)
    seconds = []
    for _ in range(request["repeats"]):
        begin = time.perf_counter()
        solution = solve()
        seconds.append(time.perf_counter() - begin)
    np.save(request["values"], solution.values())
    return {"seconds": seconds, "error_bound": solution.error_bound, "iterations": solution.iterations}
