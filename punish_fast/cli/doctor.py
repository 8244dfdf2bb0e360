"""The commands ``warmup`` and ``doctor``."""

from __future__ import annotations

import platform
import time
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from punish_fast.cli.errors import CheckError
from punish_fast.cli.report import Progress, in_units, print_json, print_table
from punish_fast.cli.warmup import rehearse
from punish_fast.mdp.solver import solve
from punish_fast.punish.codes import from_decimal
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.runtime import _jit
from punish_fast.runtime.memory import total_memory
from punish_fast.runtime.version import __version__

_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "h5py", "typer")

# Rush and strike in hand, punish revealed, all HP: worked out by hand-written exact arithmetic.
_KNOWN_STATE = 101010200220000001
_KNOWN_VALUE = 12.399994108689343


def warmup_command(as_json: bool) -> None:
    """Run ``punish-fast warmup``."""
    begin = time.perf_counter()
    progress = Progress()
    rehearse(partial(progress.part, "warmup"))
    progress.clear()
    report = {"seconds": time.perf_counter() - begin, "cache": _jit.cache_folder}
    if as_json:
        print_json(report)
    else:
        where = f"kept in {report['cache']}" if report["cache"] else "not kept: there is nowhere to write"
        print(f"all kernels compiled in {report['seconds']:.1f} s, {where}")


def doctor_command(as_json: bool) -> None:
    """Run ``punish-fast doctor``."""
    checks = _self_test()
    report: dict[str, Any] = {
        "punish_fast": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "threads": _jit.threads(),
        "max_threads": _jit.max_threads(),
        "jit": not _jit.config.DISABLE_JIT,
        "cache": _jit.cache_folder,
        "memory": total_memory(),
        "checks": checks,
        "ok": all(checks.values()),
    }
    if as_json:
        print_json(report)
    else:
        _print_doctor(report)
    if not report["ok"]:
        failed = ", ".join(name for name, holds in checks.items() if not holds)
        raise CheckError(f"the self-test failed: {failed}")


def _self_test() -> dict[str, bool]:
    """Solve the tiny game and compare with what is known of it."""
    space = StateSpace(PRESETS["tiny"])
    mdp = build(space)
    layered = solve(mdp)
    jacobi = solve(mdp, schedule="jacobi")
    row = space.row(from_decimal(space.layout, _KNOWN_STATE))
    sums = np.add.reduceat(mdp.data, mdp.indptr[:-1])
    return {
        "46, 462 and 50 states by breath": space.states_by_breath == [46, 462, 50],
        "911 rows and 4,111 nonzeros": (mdp.n_rows, mdp.n_entries) == (911, 4111),
        "probabilities add up to 1": bool(np.abs(sums - 1).max() < 1e-12),
        "a known value": bool(abs(layered.v[row] - _KNOWN_VALUE) <= layered.error_bound + 1e-14),
        "both schedules agree": bool(np.abs(layered.v - jacobi.v).max() <= layered.error_bound + jacobi.error_bound),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _print_doctor(report: dict[str, Any]) -> None:
    rows = [
        ["punish-fast", report["punish_fast"]],
        ["python", f"{report['python']} on {report['platform']}"],
        *([name, text or "not installed"] for name, text in report["packages"].items()),
        ["threads", f"{report['threads']} of {report['max_threads']}"],
        ["compiler", "on" if report["jit"] else "off (NUMBA_DISABLE_JIT)"],
        ["kernel cache", report["cache"] or "none: every process compiles anew"],
        ["memory", in_units(report["memory"], "B") if report["memory"] else "unknown"],
    ]
    print_table(rows, left=2)
    print()
    print_table([["ok" if holds else "FAILED", name] for name, holds in report["checks"].items()], left=2)
