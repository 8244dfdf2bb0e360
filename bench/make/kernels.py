"""Build a package of compiled kernels: ``python -m bench.make.kernels [FOLDER]`` writes a wheel for this platform.

The wheel ``punish-fast-kernels`` requires certain versions of Python, Numba and llvmlite. The module
``shipped_kernels.py`` describes how the package finds these kernels.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness import ROOT
from punish_fast.runtime.compilation.kernel_files import FOLDER
from punish_fast.runtime.compilation.shipped_kernels import level

_PROJECT = """
[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "punish-fast-kernels"
version = "{version}"
description = "Compiled kernels of punish-fast for {level} processors"
license = "MIT"
requires-python = ">=3.11"
dependencies = ["numba=={numba}", "llvmlite=={llvmlite}"]

[tool.hatch.build.targets.wheel]
packages = ["punish_fast_kernels"]
"""


def compile_into(cache: Path) -> None:
    """Compile all kernels into a folder in ``cache``, for the processor level returned by `level`."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "NUMBA_CPU_NAME": level(), "NUMBA_CPU_FEATURES": ""}
    subprocess.run([sys.executable, "-m", "punish_fast", "warmup"], env=environment, check=True)


def platform_tag() -> str:
    """Return the platform tag of the wheel. Kernels use no system libraries, so old versions of Linux are supported."""
    found = sysconfig.get_platform().replace("linux", "manylinux_2_17").replace("universal2", platform.machine())
    return found.translate(str.maketrans("-.", "__"))


def main(output: Path) -> None:
    """Compile the kernels and write the wheel into the folder ``output``."""
    versions = {name.replace("-", "_"): version(name) for name in ("numba", "llvmlite")} | {
        "version": version("punish-fast")
    }
    with TemporaryDirectory() as folder:
        base = Path(folder)
        compile_into(base)
        package = base / "punish_fast_kernels"
        package.mkdir()
        for path in (base / FOLDER).glob("*.nbc"):
            shutil.copy(path, package)
        (package / "__init__.py").write_text('"""Compiled kernels of punish-fast."""\n', encoding="utf-8")
        (base / "pyproject.toml").write_text(_PROJECT.format(level=level(), **versions), encoding="utf-8")
        run = [sys.executable, "-m"]
        subprocess.run([*run, "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", base, base], check=True)
        (wheel,) = base.glob("*.whl")
        tag = sysconfig.get_config_var("py_version_nodot")
        tags = [f"--python-tag=cp{tag}", f"--abi-tag=cp{tag}", f"--platform-tag={platform_tag()}"]
        subprocess.run([*run, "wheel", "tags", "--remove", *tags, wheel], check=True)
        output.mkdir(parents=True, exist_ok=True)
        for path in base.glob("*.whl"):
            print(shutil.move(path, output / path.name))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
