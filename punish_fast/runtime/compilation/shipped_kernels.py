"""Kernels compiled in advance, in the optional package ``punish-fast-kernels``.

The package contains cache files (``kernel_files.py``) for one version of Python, Numba and llvmlite, and for one level
of processors: ``x86-64-v3`` or arm64. Kernels for ``x86-64-v3`` are about as fast as kernels for a specific processor.
A kernel whose source has changed is compiled as if the package were missing.
"""

import importlib.util
import platform
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import numba

# Features that distinguish processors of level 3 from older processors.
_LEVEL_3 = "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3 xsave"
_LEVELS = {"x86_64": ("x86-64-v3", _LEVEL_3), "amd64": ("x86-64-v3", _LEVEL_3)}
_config: Any = numba.config


class ShippedKernels(NamedTuple):
    """Folder of the kernels that this machine can load, or the reason why the kernels are unavailable."""

    folder: Path | None
    reason: str


def level() -> str:
    """Return LLVM's name of the processor level of shipped kernels for this type of machine."""
    return _LEVELS.get(platform.machine().lower(), ("generic", ""))[0]


def shipped_processor(triple: str) -> tuple[str, str, str]:
    """Return the processor of shipped kernels in the form of Numba's ``magic_tuple``."""
    return portable(triple), level(), ""


def portable(triple: str) -> str:
    """Return a target triple without the version of macOS, which does not affect machine code."""
    return re.sub(r"(?<=darwin)[0-9.]+", "", triple)


@cache
def shipped_kernels() -> ShippedKernels:
    """Find the kernels of ``punish-fast-kernels`` without importing the package."""
    spec = importlib.util.find_spec("punish_fast_kernels")
    if spec is None or not spec.submodule_search_locations:
        return ShippedKernels(None, "punish-fast-kernels is not installed")
    for name in ("CPU_NAME", "CPU_FEATURES"):
        if (value := getattr(_config, name)) is not None:
            return ShippedKernels(None, f"NUMBA_{name} is {value}")
    has = llvmlite.binding.get_host_cpu_features()
    needed = _LEVELS.get(platform.machine().lower(), ("generic", ""))[1].split()
    if lacking := [feature for feature in needed if not has.get(feature)]:
        return ShippedKernels(None, f"this processor lacks {', '.join(lacking)}")
    return ShippedKernels(Path(spec.submodule_search_locations[0]), "")
