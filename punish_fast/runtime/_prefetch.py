"""Prefetch hints.

Processors detect that an array is read from front to back and fetch the next entries, but they stop at the end of each
page of memory, and they lose track between many short rows. A hint costs a cycle and changes only the time that reading
takes later: it may point anywhere, also past the end of the array.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types

from punish_fast.runtime._jit import intrinsic

# The hint: for reading, into all caches, data.
_HINTS = (0, 3, 1)


@intrinsic
def prefetch(_context, array, index):
    """Fetch element ``index``, unsigned, of ``array`` into the cache."""

    def generate(context, builder, signature, args):
        # Importing it takes as long as some sweeps, and only compiling needs it.
        from numba.np.arrayobj import make_array

        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.gep(make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(hint, [builder.bitcast(place, byte), *(number(k) for k in _HINTS)])
        return context.get_dummy_value()

    return types.void(array, index), generate
