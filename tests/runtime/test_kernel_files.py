"""Kernels compiled by other processes."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config

from punish_fast.duel.graph import GRAPH, Graph
from punish_fast.punish.transitions.tensor import TENSOR, build
from punish_fast.runtime import kernel_files
from punish_fast.runtime.kernel_files import KernelFiles, KernelGroup, compile_ahead, wait_for


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_groups_compile_the_signatures_that_a_game_needs(graph):
    kernels = [*TENSOR.kernels, *GRAPH.kernels]
    build(graph.space)
    again = Graph(graph.space)
    weights = np.zeros(len(again.action))
    again.back_up(weights, weights, np.zeros((again.n_values, 2)))
    again.spread(weights, weights, np.zeros(again.n_full))
    needed = [set(kernel.signatures) for kernel in kernels]
    assert all(needed)
    for group in (TENSOR, GRAPH):
        group.compile()
    assert [set(kernel.signatures) for kernel in kernels] == needed


class _Kernel:
    def __init__(self, folder):
        self._cache = KernelFiles(folder, "kernel", b"")


def compile_nothing():
    """Compile a kernel, if this were a real group."""


def test_only_missing_kernels_are_compiled_and_only_on_other_cores(tmp_path, monkeypatch):
    started = []

    class Process:
        kill = poll = staticmethod(lambda: 0)

        def __init__(self, command, **_streams):
            started.append(command)

    monkeypatch.setattr(subprocess, "Popen", Process)
    group = KernelGroup(compile_nothing, (_Kernel(tmp_path),))
    for n_cores, n_threads, n_processes in ((1, 9, 0), (9, 1, 0), (2, 9, 1), (9, 9, 2)):
        monkeypatch.setattr(kernel_files, "_processes", {})
        monkeypatch.setattr(kernel_files, "usable_cores", lambda n=n_cores: n)
        compile_ahead([group, group], n_threads)
        compile_ahead([group], n_threads)
        assert len(started) == n_processes
        started.clear()
    monkeypatch.setattr(kernel_files, "_processes", {})
    group.kernels[0]._cache.save("key", "data")
    compile_ahead([group], 9)
    assert started == []


def test_a_kernel_that_no_process_compiles_is_not_waited_for(monkeypatch):
    polls = iter([None, None, None, 0])
    monkeypatch.setattr(kernel_files, "_processes", {"kernel": SimpleNamespace(poll=lambda: next(polls))})
    answers = iter([None, None, "compiled"])
    assert wait_for("kernel", lambda: next(answers)) == "compiled"
    assert wait_for("kernel", lambda: None) is None
    assert list(polls) == []
    assert wait_for("other", lambda: None) is None
