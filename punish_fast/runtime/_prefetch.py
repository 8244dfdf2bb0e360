"""Prefetch hints.

Processors detect sequential reads of an array and fetch the next entries, but they stop at the end of each memory page
and cannot predict jumps between short rows. A hint costs about one cycle and affects only the time of later reads. The
address of a hint may be invalid, for example past the end of the array.
"""

from llvmlite import ir
from numba import types

from punish_fast.runtime._jit import intrinsic

# Arguments of LLVM's prefetch intrinsic: read access, all cache levels, data cache.
_HINTS = (0, 3, 1)


@intrinsic
def prefetch(_context, array, index):
    """Fetch ``array[index]`` into the cache. ``index`` must be unsigned."""

    def generate(context, builder, signature, args):
        # Import this module only for compilation, because the import is slow.
        from numba.np.arrayobj import make_array

        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.gep(make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(hint, [builder.bitcast(place, byte), *(number(k) for k in _HINTS)])
        return context.get_dummy_value()

    return types.void(array, index), generate
