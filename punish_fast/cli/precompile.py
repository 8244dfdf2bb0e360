"""The kernels that ``solve`` calls, and who compiles half of them at its first start.

Compiling holds one lock in a process, so a second process takes part: it begins with the kernel that is called last and
goes towards the first, until it finds those that the first one has compiled on its way. Each finds in the cache what
the other has done. For that, the types of all arguments must be known before there are any: they are those of the
examples here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from punish_fast.mdp import _bellman
from punish_fast.punish import _codes, _marginals, _outcomes, _redeal, _space, _tensor
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS
from punish_fast.runtime import _jit

Call = tuple[Callable[..., Any], tuple[Any, ...]]

_COMPACT = "compact"
# Python complains of processes that are forgotten before they end.
_begun: list[subprocess.Popen[bytes]] = []


def solver_calls(is_compact: bool) -> list[Call]:
    """All kernels that ``solve`` calls against the naive enemy, in the order of their first calls, with arguments.

    The arguments have the right types, and nothing else to them. A compact tensor (``is_compact``) has one array more.
    """
    i32, i64, u64, f64 = (np.zeros(0, dtype) for dtype in (np.int32, np.int64, np.uint64, np.float64))
    u8, u16, u32 = (np.zeros(0, dtype) for dtype in (np.uint8, np.uint16, np.uint32))
    types = (np.uint8, np.uint16, np.int64, np.float64)
    u8_table, u16_table, i64_table, f64_table = (np.zeros((0, 0), dtype) for dtype in types)
    rules = PRESETS["tiny"]
    layout = layout_of(rules)
    outcomes = _outcomes.BreathOutcomes(i32, u16, i32, i64, i32, u8, i64_table)
    layer = _space.Layer(i64, i32, u16_table, u16, i32, np.zeros((0, 0, 0), np.uint8))
    places = _codes.Places(i64, i64, i64, i64_table, i64_table, i64_table, i64_table)
    naive = _tensor.Naive(i32, f64_table)
    rows = _tensor.Rows(i64, i64, i32, i64, f64, f64)
    sweep = (0, 0, u64, _bellman.Tensor(u64, u64, u32, f64, f64), u64 if is_compact else None, 0.5, f64)
    return [
        (_outcomes.tabulate_outcomes, (rules, layout, False, outcomes)),
        (_space.deal_openings, (layout, places, i64)),
        (_space.number_states, (0, 0, i64, u8_table, u16_table, u16)),
        (_space.index_blocks, (i64, i32)),
        (_space.discover_cards, (0, 0, layout, places, outcomes, layer, i32, i64, 0)),
        (_space.mark_states, (0, 0, layout, places, outcomes, layer, layer, u8_table)),
        (_tensor.count_entries, (0, 0, layout, outcomes, layer, i64, u8, i64, i64)),
        (_redeal.count_redeals, (0, 0, layout, False, layer, 0, i64, i64)),
        (_tensor.place_rows, (i64, i64)),
        (_tensor.mark_keys, (0, 0, layout, layer, u8)),
        (_marginals.fill_naive_marginals, (0, 0, layout, i64, f64_table)),
        (_tensor.fill_blocks, (0, 0, layout, places, outcomes, (layer, layer), naive, None, u8, rows)),
        (_redeal.fill_redeals, (0, 0, layout, False, layer, layer, i64, i64, i32, f64)),
        (_bellman.find_successors, (0, 0, i64, i64, i64, i32, 0, i64, i64)),
        (_bellman.sweep, (*sweep, f64, f64)),
        (_bellman.back_up_rows, (*sweep, f64, f64, u64, f64_table)),
    ]


def load_solver(is_compact: bool, threads: int | None = None) -> None:
    """Begin to load the kernels that ``solve`` calls, or to compile them if they are not cached.

    Who asks for one of the ``threads`` alone gets no second process.
    """
    kernels = [kernel for kernel, _ in solver_calls(is_compact)]
    _jit.load_ahead(kernels, None if threads == 1 else lambda: _begin_to_compile(is_compact))


def _begin_to_compile(is_compact: bool) -> None:
    """Begin to compile in another process, if there is a processor for it and it can tell whether this one is there."""
    if _jit.cache_folder is None or _jit.max_threads() == 1 or os.name != "posix":
        return
    # Nothing is to be imported from the folder that the command happens to run in.
    command = [sys.executable, "-P", "-m", __name__, str(os.getpid()), *([_COMPACT] if is_compact else [])]
    environment = os.environ | {"NUMBA_CACHE_DIR": _jit.cache_folder}
    # Without it, this process compiles all by itself.
    with suppress(OSError):
        nothing = subprocess.DEVNULL
        _begun.append(subprocess.Popen(command, env=environment, stdin=nothing, stdout=nothing, stderr=nothing))


def _compile(parent: int, is_compact: bool) -> None:
    """Compile the kernels from the last to the first, as long as the process ``parent`` is there."""
    for kernel, arguments in reversed(solver_calls(is_compact)):
        if os.getppid() != parent:
            return
        _jit.compile_for(kernel, *arguments)


if __name__ == "__main__":
    _compile(int(sys.argv[1]), _COMPACT in sys.argv)
