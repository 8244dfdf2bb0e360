"""One peer's turn, in a child process: warm up on a small game, load the tensor, solve it, write the values."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

import numpy as np


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Let the peer ``peer`` solve the tensor of ``folder`` ``repeats`` times.

    The values go into the file ``values``. A peer compiles its kernels on the game of ``small``.
    """
    peer = importlib.import_module(f"bench.peer.{request['peer']}")
    settings = request["settings"]
    peer.prepare(Path(request["small"]), settings)()
    solve = peer.prepare(Path(request["folder"]), settings)
    seconds = []
    for _ in range(request["repeats"]):
        begin = time.perf_counter()
        answer = solve()
        seconds.append(time.perf_counter() - begin)
    np.save(request["values"], answer.values())
    return {"seconds": seconds, "error_bound": answer.error_bound, "iterations": answer.iterations}
