import tomllib
from pathlib import Path

import numpy as np
import pytest
from numba import config

from punish_fast.runtime import _jit
from punish_fast.runtime.compilation import routine_compiler
from punish_fast.runtime.compilation.routine_compiler import Routine

WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
ROOT = Path(__file__).parents[2]


def make_kernel():
    """A kernel that adds numbers by a routine, which calls another one; and the outer routine."""

    @_jit.routine
    def double(number):
        return 2 * number

    @_jit.routine
    def add(total, number):
        return total + double(number) / 2

    @_jit.kernel
    def add_all(numbers):
        total = numbers[0] * 0
        for number in numbers:
            total = add(total, number)
        return total

    return add_all, add


@WITH_JIT
def test_a_kernel_links_its_routines_for_each_type_of_arguments(monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", None)
    kernel, routine = make_kernel()
    assert kernel(np.arange(5.0)) == 10
    assert kernel(np.arange(5)) == 10
    assert kernel(np.arange(5, dtype=np.float32)) == 10
    assert len(routine.overloads) > 1
    for compiled in routine.overloads.values():
        code = compiled.library.get_llvm_str()
        assert compiled.fndesc.mangled_name in code
        assert "cpython" not in code


@WITH_JIT
def test_a_routine_raises_if_python_calls_it(monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", None)
    kernel, routine = make_kernel()
    for _ in range(2):
        with pytest.raises(TypeError, match=r"^add is a routine; only kernels can call it$"):
            routine(1, 2.0)
        kernel(np.arange(5.0))


@WITH_JIT
def test_routines_are_compiled_like_kernels_with_another_numba(monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", None)
    monkeypatch.setattr(_jit, "is_supported", False)
    kernel, routine = make_kernel()
    assert not isinstance(routine, Routine)
    assert routine(1.0, 2.0) == 3.0
    assert kernel(np.arange(5.0)) == 10


def test_supported_versions_of_numba_are_the_required_ones():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    first, (major, minor) = routine_compiler.FIRST, routine_compiler.LAST
    assert f"numba>={first[0]}.{first[1]},<{major}.{minor + 1}" in project["dependencies"]
    assert routine_compiler.is_supported
