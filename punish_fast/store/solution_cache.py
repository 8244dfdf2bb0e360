"""Cache of solutions in the user's cache folder, to avoid solving a game twice against the same enemy.

A solution is stored, without its log, under a digest of everything that determines it, including all files of the
package. Cached files are checked like agent files. Links and invalid files are ignored and replaced. If the total size
exceeds `MOST_BYTES`, the least recently used files are removed.
"""

import hashlib
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.policy import best_values
from punish_fast.mdp.model.results import ModelRows
from punish_fast.mdp.model.solution import Log, Solution
from punish_fast.runtime.cluster.connection import versions
from punish_fast.runtime.errors import StoreError
from punish_fast.runtime.folders import Place, find_folder
from punish_fast.store.bundles import save_bundle
from punish_fast.store.checked_file import CheckedFile
from punish_fast.store.schema import ATTRIBUTES, DATASETS, Attribute, Dataset

MOST_BYTES = 10**9
# Games with fewer states are not cached, because reading a file takes longer than solving them.
_FEW_STATES = 20_000
_KIND = "solution"
# Header entries and arrays, with the same checks as in agent files.
_ENTRIES = {name: ATTRIBUTES[name] for name in ("objective", "discount", "tolerance", "sweeps", "residual")}
_ENTRIES |= {"error_bound": ATTRIBUTES["error_bound"], "method": Attribute(str, ()), "reason": Attribute(str, ())}
_ARRAYS = {name: DATASETS[f"/solution/{name}"] for name in ("v", "q")} | {"choice": Dataset("int64", ("n_states",))}


def place() -> Place:
    """Find or create the folder of the cache."""
    return find_folder("cache", "solutions")


def files() -> list[Path]:
    """Return the cached files, least recently used first."""
    found = []
    inside = place().folder
    for path in [] if inside is None else inside.glob("*.h5"):
        # Another process may have removed the file.
        with suppress(OSError):
            found.append((path.lstat().st_mtime, path))
    return [path for _, path in sorted(found)]


def cached_solution(
    rows: ModelRows, policy: np.ndarray | None, settings: Any, solve: Callable[[], Solution]
) -> Solution:
    """Load a solution from the cache. If the cache lacks the solution, call ``solve`` and store the result.

    Args:
        rows: Rows of the game.
        policy: Policies that determine the solution, float64 ``[n]``, or None if the enemy is uniform.
        settings: Digest of the rules, and options that determine the solution. Equal settings have the same ``repr``.
    """
    if len(rows.state_ptr) - 1 < _FEW_STATES or (inside := place().folder) is None:
        return solve()
    digest = hashlib.sha256(repr((versions(), settings)).encode())
    if policy is not None:
        digest.update(policy.tobytes())
    path = inside / f"{digest.hexdigest()[:32]}.h5"
    with suppress(StoreError, OSError):
        # Remove a link, because otherwise its target would be replaced.
        if path.is_symlink():
            path.unlink()
        return _load(path, rows)
    solution = solve()
    # Ignore errors. The next process then solves the game again.
    with suppress(StoreError, OSError):
        _save(path, solution)
    return solution


def _load(path: Path, rows: ModelRows) -> Solution:
    """Read a solution. Raise `ReadError` if the solution is invalid or belongs to another game."""
    file = CheckedFile(path)
    header = file.attributes.get("header", {})
    entries = {name: file.checked(name, header.get(name), attribute) for name, attribute in _ENTRIES.items()}
    v, q, choice = (file.array(f"/arrays/{name}", dataset) for name, dataset in _ARRAYS.items())
    state_ptr = rows.state_ptr
    if len(q) != state_ptr[-1] or not np.array_equal(best_values(state_ptr, q), v):
        raise file.error("v", "must be the largest `q` of each state")
    if len(choice) != len(v) or (choice < state_ptr[:-1]).any() or (choice >= state_ptr[1:]).any():
        raise file.error("choice", "must be a row of each state")
    # The folder might be read-only.
    with suppress(OSError):
        path.touch()
    entries["tolerance"] = None if math.isnan(entries["tolerance"]) else entries["tolerance"]
    return Solution(v=v, q=q, choice=choice, rows=rows, log=Log(), **entries)


def _save(path: Path, solution: Solution) -> None:
    arrays = {"v": solution.v, "q": solution.q, "choice": solution.choice}
    if not math.isfinite(solution.error_bound) or sum(array.nbytes for array in arrays.values()) > MOST_BYTES:
        return
    header = {name: getattr(solution, name) for name in _ENTRIES}
    header["tolerance"] = math.nan if solution.tolerance is None else solution.tolerance
    save_bundle(path, _KIND, header, arrays)
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
