"""Compilation of the kernels that build graphs and sweep them, without enumerating states."""

import numpy as np

from punish_fast.duel import _decks, _graph, _passes
from punish_fast.duel.graph import Graph
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.kernel_files import KernelGroup
from punish_fast.runtime.parallel import calls_for_nothing


def compile_graph() -> None:
    """Compile the kernels that build a graph, and those that evaluate two policies."""
    with calls_for_nothing():
        graph = Graph(StateSpace.empty(true_rules(PRESETS["tiny"])))
        weights = np.zeros(0)
        graph.back_up(weights, weights, np.zeros((graph.n_values, 2)))
        graph.spread(weights, weights, np.zeros(0))


GRAPH = KernelGroup(
    compile_graph,
    (
        _decks.tabulate_draws,
        _decks.count_decks,
        _decks.fill_decks,
        _graph.count_full,
        _graph.fill_full,
        _graph.number_nodes,
        _graph.list_deals,
        _passes.back_up_full,
        _passes.spread_full,
    ),
)
