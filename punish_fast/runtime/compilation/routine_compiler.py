"""Compilation of routines only as far as kernels need it.

Numba compiles every function as if Python called it: it adds a wrapper that converts arguments, runs all passes of the
optimizer, and emits machine code. A routine is called only by kernels. They link its intermediate code and optimize it
together with their own. Here, the compiler therefore stops after lowering to save about a quarter of the time.
Most kernels get the same machine code. The others change in size by at most 5 %. Two routines are optimized before
kernels link them, because `fill_blocks` and `fill_full` were 10 to 20 % slower without.

The classes override two methods of Numba that are not public. For versions of Numba that the tests have not covered,
`is_supported` is False and routines are compiled like kernels.
"""

from typing import Any, NoReturn

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

# The first and the last minor version of Numba with which the tests pass. The limits in pyproject.toml are the same.
FIRST, LAST = (0, 61), (0, 68)

is_supported: bool = FIRST <= tuple(numba.version_info.short) <= LAST


class _RoutineLibrary(JITCodeLibrary):
    """Intermediate code of a routine and of the routines it calls, for linking into kernels."""

    def _finalize_final_module(self) -> None:
        """Finish without emitting machine code."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _UnoptimizedLibrary(_RoutineLibrary):
    """Intermediate code that is optimized only by kernels, after they have linked it."""

    def _optimize_final_module(self) -> None:
        pass


@register_pass(mutates_CFG=False, analysis_only=True)
class _Declaration(LoweringPass):
    """Declares a lowered routine to its callers, as Numba's lowering does for functions with machine code."""

    _name = "declare_routine"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Declare the routine under a new key in place of the function that Python would call."""
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
        """Return Numba's pipeline, with a declaration after the lowering."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_Declaration, NativeLowering)
        pipeline.finalize()
        return [pipeline]


class _OptimizingCompiler(_RoutineCompiler):
    """Numba's compiler without wrappers and machine code."""

    library = _RoutineLibrary


class Routine(CPUDispatcher):
    """A function for calls from kernels. Raises TypeError if called from Python."""

    def __init__(self, function: Any, options: dict[str, Any], optimize: bool) -> None:
        compiler = _OptimizingCompiler if optimize else _RoutineCompiler
        super().__init__(function, targetoptions=options, pipeline_class=compiler)

    def __call__(self, *_args: Any, **_keywords: Any) -> NoReturn:
        """Raise TypeError, because a routine has no machine code."""
        raise TypeError(f"{self.py_func.__name__} is a routine; only kernels can call it")

    def add_overload(self, compiled: Any) -> None:
        """Add the code for a signature. Unlike Numba's method, do not register an entry point for Python."""
        self.overloads[tuple(compiled.signature.args)] = compiled
