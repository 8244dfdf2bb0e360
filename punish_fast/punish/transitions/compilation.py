"""Compilation of the kernels that build transition tensors, without enumerating states."""

from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states import _redeal
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions import _marginals, _tensor
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.kernel_files import KernelGroup
from punish_fast.runtime.parallel import calls_for_nothing


def compile_tensor() -> None:
    """Compile the kernels that build the tensor against the uniform enemy."""
    with calls_for_nothing():
        build(StateSpace.empty(PRESETS["tiny"]))


TENSOR = KernelGroup(
    compile_tensor,
    (
        _tensor.mark_keys,
        _marginals.fill_uniform_marginals,
        _tensor.count_entries,
        _redeal.count_redeals,
        _tensor.place_rows,
        _tensor.fill_blocks,
        _redeal.fill_redeals,
    ),
)
