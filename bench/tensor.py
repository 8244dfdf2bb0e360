"""Construction of the tensor that all solvers solve, and the turn of one solver, both in child processes.

The tensor is built once and saved as one NumPy file per array. `load` imports only NumPy, so that the measured memory
is used by the solver.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.harness import allow

RULES = "rules.json"


class Tensor(NamedTuple):
    """The arrays of an `MDP`, with the same shapes and dtypes."""

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray

    @property
    def n_states(self) -> int:
        """Number of states, without terminals."""
        return len(self.state_ptr) - 1

    @property
    def n_terminals(self) -> int:
        """Number of terminals, whose columns come after all states."""
        return len(self.terminal_reward)


class WithTerminals(NamedTuple):
    """A process without terminals.

    Each terminal is replaced by an ordinary state with one row that returns to the state.
    """

    state_ptr: np.ndarray  # int64 [n + 1], first row of each state
    indptr: np.ndarray  # int32 [n_rows + 1], first entry of each row
    indices: np.ndarray  # int32 [nnz], columns
    data: np.ndarray  # float64 [nnz], probabilities
    reward: np.ndarray  # float64 [n_rows], expected immediate rewards


def load(folder: Path) -> Tensor:
    """Read the arrays from ``folder``."""
    return Tensor(*(np.load(folder / f"{name}.npy") for name in Tensor._fields))


def with_terminals(tensor: Tensor) -> WithTerminals:
    """Convert terminals to ordinary states, for solvers that do not support terminals."""
    terminals = tensor.n_states + np.arange(tensor.n_terminals, dtype=np.int32)
    ones = np.arange(1, tensor.n_terminals + 1)
    return WithTerminals(
        state_ptr=np.append(tensor.state_ptr, tensor.state_ptr[-1] + ones),
        indptr=np.append(tensor.indptr, tensor.indptr[-1] + ones).astype(np.int32),
        indices=np.append(tensor.indices, terminals),
        data=np.append(tensor.data, np.ones(len(terminals))),
        reward=np.append(tensor.reward, tensor.terminal_reward),
    )


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Run the solver ``peer``, if requested. Otherwise build the tensor of ``rules`` or of the process ``make``."""
    folder = Path(request["folder"])
    if "peer" in request:
        return _turn(request, folder)
    if "rules" in request:
        from punish_fast.punish.rules import load_rules, to_json
        from punish_fast.punish.states.space import StateSpace
        from punish_fast.punish.transitions.tensor import build

        rules = load_rules(request["rules"])
        (folder / RULES).write_text(to_json(rules), encoding="utf-8")
        mdp = build(StateSpace(rules))
    else:
        from bench.processes.registry import PROCESSES

        mdp = PROCESSES[request["make"]].make(request["size"])
    for name in Tensor._fields:
        np.save(folder / f"{name}.npy", getattr(mdp, name))
    return {"states": mdp.n_states, "rows": mdp.n_rows, "nonzeros": mdp.nnz}


def _turn(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Time ``repeats`` solves by ``peer``, after a warm-up with the tensor in ``small``.

    Each solve may take up to ``limit`` seconds, and the process may use up to ``bytes`` bytes of memory. The values are
    written to the file ``values``.
    """
    if "bytes" in request:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (request["bytes"],) * 2)
    peer, settings = importlib.import_module(f"bench.peer.{request['peer']}"), request["settings"]
    peer.prepare(Path(request["small"]), settings)()
    solve, seconds = peer.prepare(folder, settings), []
    for _ in range(request.get("repeats", 1)):
        allow(request.get("limit", 0))
        begin = time.perf_counter()
        solution = solve()
        seconds.append(time.perf_counter() - begin)
        allow(0)
    np.save(request["values"], solution.values())
    return {"seconds": seconds, "error_bound": solution.error_bound}
