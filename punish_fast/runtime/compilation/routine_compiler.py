"""Faster compilation of routines, which only kernels call.

Numba compiles every function for calls from Python: it adds a wrapper that converts arguments, runs all passes of the
optimizer, and emits machine code. Kernels link the intermediate code of routines and optimize it together with their
own code. For routines, this compiler therefore stops after lowering, which saves about a quarter of the time. The
machine code of most kernels is unchanged. The others change in size by at most 5 %. Two routines are optimized before
kernels link them, because the kernels `fill_blocks` and `fill_full` would otherwise be 10 to 20 % slower.

The classes override two private methods of Numba. `is_supported` is False for untested versions of Numba. Routines are
then compiled like kernels.
"""

from typing import Any, NoReturn

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

# First and last minor version of Numba with which the tests pass. pyproject.toml contains the same limits.
FIRST, LAST = (0, 61), (0, 68)

is_supported: bool = FIRST <= tuple(numba.version_info.short) <= LAST


class _RoutineLibrary(JITCodeLibrary):
    """Intermediate code of a routine and of all routines that it calls. Kernels link this code."""

    def _finalize_final_module(self) -> None:
        """Finish the library without machine code."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _UnoptimizedLibrary(_RoutineLibrary):
    """Intermediate code that is optimized only after kernels have linked it."""

    def _optimize_final_module(self) -> None:
        pass


@register_pass(mutates_CFG=False, analysis_only=True)
class _Declaration(LoweringPass):
    """Compiler pass that declares a lowered routine to its callers."""

    _name = "declare_routine"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Declare the routine under a new key, because it has no function for calls from Python."""
        key = object()
        state["cr"] = state["cr"]._replace(cfunc=key)
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        return True


class _RoutineCompiler(Compiler):
    """Numba's compiler without wrappers, optimization and machine code."""

    library: type[_RoutineLibrary] = _UnoptimizedLibrary

    def __init__(
        self, typing_context: Any, target: Any, library: Any, args: Any, return_type: Any, flags: Any, types: Any
    ) -> None:
        flags.no_compile = flags.no_cpython_wrapper = True
        library = self.library(target.codegen(), "routine")
        super().__init__(typing_context, target, library, args, return_type, flags, types)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> list[Any]:
        """Return Numba's pipeline with the pass `_Declaration` after lowering."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_Declaration, NativeLowering)
        pipeline.finalize()
        return [pipeline]


class _OptimizingCompiler(_RoutineCompiler):
    """Numba's compiler without wrappers and machine code."""

    library = _RoutineLibrary


class Routine(CPUDispatcher):
    """A function for calls from kernels. A call from Python raises TypeError."""

    def __init__(self, function: Any, options: dict[str, Any], optimize: bool) -> None:
        compiler = _OptimizingCompiler if optimize else _RoutineCompiler
        super().__init__(function, targetoptions=options, pipeline_class=compiler)

    def __call__(self, *_args: Any, **_keywords: Any) -> NoReturn:
        """Raise TypeError, because a routine has no machine code."""
        raise TypeError(f"{self.py_func.__name__} is a routine; only kernels can call it")

    def add_overload(self, compiled: Any) -> None:
        """Add the code for a signature. Unlike Numba's method, do not register an entry point for Python."""
        self.overloads[tuple(compiled.signature.args)] = compiled
