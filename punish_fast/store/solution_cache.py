"""Cache of solutions in the user's cache folder, so that no game is solved twice against the same enemy.

A solution is stored under a digest of everything that determines it, including all files of the package. Damaged files
are ignored and replaced. If the files take more than `MOST_BYTES`, those that were not used for longest are removed.
"""

import hashlib
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from punish_fast.mdp.methods.value_iteration import Log
from punish_fast.mdp.solution import Solution
from punish_fast.runtime.cluster.connection import versions
from punish_fast.runtime.errors import ReadError, StoreError
from punish_fast.store.bundles import load_bundle, save_bundle

MOST_BYTES = 10**9
# Games with fewer states are solved faster than a file is read.
_FEW_STATES = 20_000
_KIND, _LAYOUT = "solution", {"v": ("<f8", 1), "q": ("<f8", 1), "rows_taken": ("<i8", 1)}


def folder() -> Path:
    """Return the folder of the cache, which might not exist."""
    return Path(platformdirs.user_cache_dir("punish-fast", appauthor=False)) / "solutions"


def files() -> list[Path]:
    """Return the cached files, the least recently used first."""
    found = []
    for path in folder().glob("*.h5"):
        # Another process may have removed the file.
        with suppress(OSError):
            found.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(found)]


def cached_solution(
    state_ptr: np.ndarray, policy: np.ndarray | None, settings: Any, solve: Callable[[], Solution]
) -> Solution:
    """Load a solution from the cache; if it is not there, call ``solve`` and store the result.

    Args:
        state_ptr: Row offsets of the states of the game, int64 ``[n_states + 1]``.
        policy: Policy of the enemy, float64 ``[n_rows]``; None if the enemy is uniform.
        settings: Digest of the rules, and all options of the solver.
    """
    if len(state_ptr) - 1 < _FEW_STATES:
        return solve()
    digest = hashlib.sha256(repr((versions(), settings)).encode())
    if policy is not None:
        digest.update(policy.tobytes())
    path = folder() / f"{digest.hexdigest()[:32]}.h5"
    with suppress(StoreError, OSError, TypeError):
        return _load(path, state_ptr)
    solution = solve()
    # Without a cache, the next process solves the game again.
    with suppress(StoreError, OSError):
        _save(path, solution)
    return solution


def _load(path: Path, state_ptr: np.ndarray) -> Solution:
    header, arrays = load_bundle(path, {_KIND: _LAYOUT})
    header.pop("kind")
    if not len(arrays["rows_taken"]) == len(arrays["v"]) == len(state_ptr) - 1 or len(arrays["q"]) != state_ptr[-1]:
        raise ReadError(f"{path}: solution of another game")
    # A folder that cannot be written is still read.
    with suppress(OSError):
        path.touch()
    header["log"] = Log(**header["log"])
    fields: dict[str, Any] = {**header, **arrays, "state_ptr": state_ptr}
    return Solution(**fields)


def _save(path: Path, solution: Solution) -> None:
    arrays = {"v": solution.v, "q": solution.q, "rows_taken": solution.choice}
    if not math.isfinite(solution.error_bound) or sum(array.nbytes for array in arrays.values()) > MOST_BYTES:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ("objective", "discount", "method", "tolerance", "sweeps", "residual", "error_bound", "policies", "reason")
    header = {name: getattr(solution, name) for name in names}
    save_bundle(path, _KIND, header | {"log": asdict(solution.log)}, arrays)
    found = files()
    total = sum(each.stat().st_size for each in found)
    for each in found:
        if total > MOST_BYTES:
            total -= each.stat().st_size
            with suppress(OSError):
                each.unlink()


def clear() -> None:
    """Remove all files of the cache."""
    for path in files():
        with suppress(OSError):
            path.unlink()
