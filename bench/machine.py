"""Provenance of a benchmark: processor, memory, versions, commit, date."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.child import ROOT
from punish_fast.runtime.limits import usable_cores
from punish_fast.runtime.memory import total_memory

PACKAGES = ("punish-fast", "numpy", "numba", "scipy", "h5py", "quantecon", "mdpsolver", "pymdptoolbox", "stormpy")


def cpu_model() -> str:
    """The name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages compared."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit of these sources, with ``+dirty`` if they have changed since; ``unknown`` without git."""
    try:
        name = _git("rev-parse", "--short=12", "HEAD")
        # A run writes these two itself.
        changed = _git("status", "--porcelain", "--", ".", ":!bench/results.jsonl", ":!docs/benchmarks.md")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name}+dirty" if changed else name


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def provenance() -> dict[str, Any]:
    """Date, commit, machine and versions, as JSON values."""
    memory = total_memory()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {
            "cpu": cpu_model(),
            "cores": usable_cores(),
            "memory_gb": None if memory is None else round(memory / 1e9, 1),
            "system": f"{platform.system()} {platform.release()}",
        },
        "versions": versions(),
    }
