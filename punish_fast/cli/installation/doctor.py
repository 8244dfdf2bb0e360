"""``punish-fast doctor``: check the installation with a small game whose values are known.

JSON keys:
    punish_fast (string): Version of the package.
    python (string): Version of Python.
    platform (string): Operating system and processor.
    packages (object of strings by package): Version of each package.
    threads (integer): Number of threads in use.
    max_threads (integer): Number of threads available.
    jit (boolean): True if kernels are compiled.
    cache (string or null): Folder of the compiled kernels. Null if no folder can be written.
    cache_reason (string): Reason for choosing this folder.
    kernels (object): Kernels by origin.
        compiled (integer): Number of kernels compiled on this machine.
        shipped (integer): Number of kernels from the package `punish-fast-kernels`.
        missing (integer): Number of kernels that are not compiled yet.
        package (string): Folder of `punish-fast-kernels`, or the reason why the package is not used.
    solutions (object): Cache of solutions.
        folder (string or null): Folder.
        reason (string): Reason for choosing this folder.
        files (integer): Number of files.
        bytes (integer, bytes): Size of all files.
    games (object): Databases of games.
        folder (string or null): Folder.
        reason (string): Reason for choosing this folder.
    memory_bytes (integer, bytes): Memory of the machine or its container.
    checks (object of booleans by check): True for each check that passed.
    ok (boolean): True if all checks passed.
"""

import platform
from collections import Counter
from importlib.metadata import version
from typing import Any

from punish_fast.cli.frame.options import CommonOptions, option, verb
from punish_fast.cli.frame.report import CheckError
from punish_fast.punish.rules import PRESETS
from punish_fast.runtime import __version__
from punish_fast.runtime.folders import find_folder
from punish_fast.runtime.limits import total_memory

# State code (rush and strike in hand, punish revealed, full HP), and its value computed with exact fractions.
_KNOWN_STATE = 101010200220000001
_KNOWN_VALUE = 12.399994108689343


class DoctorOptions(CommonOptions):
    """Options of ``doctor``."""

    clear: bool = option("Remove all solutions, and the kernels of other versions.", writes=True, default=False)


@verb("punish-fast doctor", "punish-fast doctor --clear", "punish-fast doctor --json")
def doctor(options: DoctorOptions) -> None:
    """Check the installation: versions, threads, caches, memory, and a small game with known values.

    Solutions for the coach, reviews and practice are stored in a cache of at most 1 GB.
    """
    from punish_fast.runtime import _jit
    from punish_fast.store import solution_cache

    if options.clear:
        solution_cache.clear()
    solutions = [path.lstat().st_size for path in solution_cache.files()]
    checks = _self_test()
    report: dict[str, Any] = {
        "punish_fast": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version(name) for name in ("numpy", "numba", "llvmlite", "scipy", "h5py", "typer")},
        "threads": _jit.threads(),
        "max_threads": _jit.max_threads(),
        "jit": not _jit.config.DISABLE_JIT,
        "cache": _jit.cache_folder,
        "cache_reason": _jit.cache_reason,
        "kernels": _kernel_report(options.clear),
        "solutions": solution_cache.place()._asdict() | {"files": len(solutions), "bytes": sum(solutions)},
        "games": find_folder("data")._asdict(),
        "memory_bytes": total_memory(),
        "checks": checks,
        "ok": all(checks.values()),
    }
    result = f"The installation works: {len(checks)} checks passed." if report["ok"] else ""
    options.print(report, result=result, then=("solve",) if report["ok"] else ())
    if not report["ok"]:
        failed = ", ".join(name for name, holds in checks.items() if not holds)
        raise CheckError(f"the self-test failed: {failed}")


def _kernel_report(clear: bool) -> dict[str, Any]:
    """Count the kernels by origin. If ``clear`` is True, first remove kernels of other versions of the package."""
    from punish_fast.runtime import _jit
    from punish_fast.runtime.compilation import kernel_files
    from punish_fast.runtime.compilation.shipped_kernels import shipped_kernels

    caches = _jit.cached_kernels()
    if clear and _jit.cache_folder is not None:
        kernel_files.remove_old_kernels(_jit.cache_folder, caches)
    origins = Counter(files.origin() for files in caches)
    counts = {origin: origins[origin] for origin in ("compiled", "shipped", "missing")}
    return counts | {"package": shipped_kernels().reason or shipped_kernels().folder}


def _self_test() -> dict[str, bool]:
    """Solve the game with the rules `tiny`. Return True for each check that the result passes."""
    import numpy as np

    from punish_fast.mdp.objectives.solver import solve
    from punish_fast.punish.codes import from_decimal
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.transitions.tensor import build, compile_model_kernels

    compile_model_kernels()
    space = StateSpace(PRESETS["tiny"])
    mdp = build(space)
    layered = solve(mdp)
    jacobi = solve(mdp, method="jacobi")
    index = space.index(from_decimal(space.layout, _KNOWN_STATE))
    sums = np.add.reduceat(mdp.data, mdp.indptr[:-1])
    return {
        "46, 462 and 50 states by breath": space.states_by_breath == [46, 462, 50],
        "911 rows and 4,111 nonzeros": (mdp.n_rows, mdp.nnz) == (911, 4111),
        "probabilities add up to 1": bool(np.abs(sums - 1).max() < 1e-12),
        "a known value": bool(abs(layered.v[index] - _KNOWN_VALUE) <= layered.error_bound + 1e-14),
        "both methods agree": bool(np.abs(layered.v - jacobi.v).max() <= layered.error_bound + jacobi.error_bound),
    }
