"""The measurements of ``iteration``, in a child process: passes of equilibrium learning and read bandwidth in turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.bandwidth import Bandwidth
from bench.child import tell
from bench.traffic import Stopwatches
from punish_fast.duel._graph import Full
from punish_fast.duel.graph import Graph
from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.punish.rules import load_rules, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.runtime._jit import set_threads

READ, FAR, NEAR, RESTRICTED = "read", "far ", "near ", "restricted "
# Passes that build a restricted game and take over what it learned.
REBUILD = ("restrict", "mark", "merge")
# Share of games against a best response, the default of the command under `view`.
SHARE = 0.9
# The response has settled after so many iterations, and the next one is still full.
_FULL_AFTER = 10
# After so many iterations the next one is restricted, and the one after it full.
_RESTRICTED_AFTER = 30
_FLOAT, _POINTER, _INDEX, _ACTION = 8, 8, 4, 1
# Values of so many successors fit into a core's smallest cache, and repeat too seldom to wait for each other.
_CLUSTER = 256
_LEAST_READ = 1 << 22


def pass_bytes(measure: LayeredGraph) -> dict[str, int]:
    """The bytes that each pass of an iteration must move if it moves each of its arrays once.

    A breath has ``s`` information states with ``r`` rows and ``f`` full states with ``e`` successors; ``g`` full states
    or nodes follow it. Every walk over a breath reads

        common = 4 e + (4 + 4 + 4 + 32) f + (8 + 1) r + 2 * 8 s

    bytes: successors; for each full state their offset, the mirrored information state, the deck and one line of four
    reaches; the own strategy and the actions; offsets of rows and of full states. In addition,

    * ``spread`` reads the enemy's strategy and the response's choices, ``8 r + 8 s``, and writes reaches, ``32 g``;
    * ``regret`` reads the enemy's strategy and later values, ``8 r + 8 g``, and writes values, regrets and both reaches
      of states, ``8 f + 8 r + 16 s``;
    * ``response`` reads and writes values, ``8 g + 8 f``, and choices, ``16 s``, and then mixes the enemy's strategy
      from the own one and the choices, ``16 r + 16 s`` with offsets.

    ``learn`` moves ``7 * 8 r + 5 * 8 s``: logits, strategies and averages twice, regrets once; variances twice, pairs
    of reaches of states, and offsets. ``deal`` and ``nodes`` read 12 bytes for each deal that can follow a node, a
    probability and the deal; both reaches are dealt, and both kinds of values are backed up.
    """
    full, states = measure.full, np.array(measure.layer_ptr, dtype=np.int64)
    ptrs = (full.entry_ptr[states], full.ptr[states], measure.state_ptr[states], states)
    sizes = list(zip(*(np.diff(ptr).tolist() for ptr in ptrs), strict=True))
    listed = measure.redeal.deal.nbytes + measure.redeal.p.nbytes
    between = listed + _FLOAT * (sizes[0][1] + measure.n_nodes)
    moved = {"deal": 2 * between, "nodes": between, "response": between, "learn": 0}
    for number, (entries, here, n_rows, n_states) in enumerate(sizes):
        after = measure.room_after(number)[1]
        common = _INDEX * entries + (3 * _INDEX + 4 * _FLOAT) * here + (_FLOAT + _ACTION) * n_rows
        common += 2 * _POINTER * n_states
        moved[f"spread {number + 1}"] = common + _FLOAT * (n_rows + n_states + 4 * after)
        moved[f"regret {number + 1}"] = common + _FLOAT * (2 * n_rows + here + after + 2 * n_states)
        moved["response"] += common + _FLOAT * (here + after + 4 * n_states + 2 * n_rows)
        moved["learn"] += _FLOAT * (7 * n_rows + 5 * n_states)
    return moved


def successors_by_breath(measure: LayeredGraph) -> list[int]:
    """The number of successors of each breath's full states."""
    found: list[int] = np.diff(measure.full.entry_ptr[np.array(measure.layer_ptr)]).tolist()
    return found


def clustered(graph: Graph) -> Full:
    """The full states, all successors but win and loss replaced by a few that lie side by side."""
    after = graph.full.after.copy()
    for number in range(graph.space.rules.breaths):
        first, win = graph.targets_of(number)
        begin, end = graph.full.entry_ptr[graph.space.layer_ptr[number : number + 2]]
        part = after[begin:end]
        cluster = first + np.arange(len(part)) % min(_CLUSTER, graph.room_after(number)[1])
        np.copyto(part, cluster.astype(part.dtype), where=part < win)
    return graph.full._replace(after=after)


class Learning:
    """An equilibrium whose passes are timed, on the graph as it is and with clustered successors.

    Attributes:
        graph: The game.
        equilibrium: The equilibrium being learned.
        numbers: float64, ones to read for the bandwidth.
    """

    def __init__(self, rules: str, information: str) -> None:
        """Build the game and run the first iterations."""
        game = true_rules(load_rules(rules))
        self.graph = Graph(StateSpace(game, information))
        self.equilibrium = Equilibrium(self.graph, share=SHARE)
        self._original, self._clustered = self.graph.full, clustered(self.graph)
        self._before_full, self._before_restricted = self._learn(_FULL_AFTER), self._learn(_RESTRICTED_AFTER)
        self._restriction_pays = self.restricted_game is not None
        self.numbers = np.ones(max(_LEAST_READ, self.graph.n_entries // 2))
        self._bandwidth = Bandwidth(len(self.numbers))

    def _learn(self, iterations: int) -> dict[str, np.ndarray]:
        """Learn up to so many iterations; return a copy of the tables."""
        while self.equilibrium.iterations < iterations:
            self.equilibrium.iterate()
        return {name: table.copy() for name, table in self.equilibrium.tables.items()}

    @property
    def restricted_game(self) -> LayeredGraph | None:
        """The graph of restricted iterations; None if it would be too large to pay."""
        self.equilibrium.resume(_RESTRICTED_AFTER, self._before_restricted)
        self.equilibrium.iterate()
        measure = self.equilibrium.current_graph
        return None if measure is self.graph else measure

    def run(self, watches: Stopwatches) -> None:
        """Measure everything once, always the same iterations."""
        if self._restriction_pays:
            self._run_restricted(watches)
        self.equilibrium.resume(_FULL_AFTER, self._before_full)
        total = watches.time(READ, lambda: self._bandwidth.read(self.numbers))
        if total != len(self.numbers):
            raise ArithmeticError(f"{len(self.numbers)} ones add up to {total}")
        for name, make in self.equilibrium.passes():
            watches.time(FAR + name, make)
        self._run_near(watches)

    def _run_restricted(self, watches: Stopwatches) -> None:
        """Time a restricted iteration, and of the full one after it the passes in `REBUILD`."""
        self.equilibrium.resume(_RESTRICTED_AFTER, self._before_restricted)
        for name, make in self.equilibrium.passes():
            watches.time(RESTRICTED + name, make)
        for name, make in self.equilibrium.passes():
            if name in REBUILD:
                watches.time(RESTRICTED + name, make)
            else:
                make()

    def _run_near(self, watches: Stopwatches) -> None:
        """Time the same passes with clustered successors; equal tables and reaches make them skip the same states."""
        learning = self.equilibrium
        iterations, reach, nodes = learning.iterations, learning.reach.table.copy(), learning.reach.nodes.copy()
        tables = {name: table.copy() for name, table in learning.tables.items()}
        self.graph.full = self._clustered
        try:
            for name, make in learning.passes():
                learning.reach.table[:], learning.reach.nodes[:] = reach, nodes
                watches.time(NEAR + name, make)
        finally:
            self.graph.full = self._original
            learning.resume(iterations, tables)


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Measure the game of ``rules`` and ``information`` with ``threads`` threads in ``runs`` runs after a warm-up."""
    set_threads(request["threads"])
    learning = Learning(request["rules"], request["information"])
    learning.run(Stopwatches())
    watches = Stopwatches()
    for number in range(1, request["runs"] + 1):
        tell(f"iteration: run {number} of {request['runs']}")
        learning.run(watches)
    graph, game = learning.graph, learning.restricted_game
    return {
        "seconds": watches.seconds,
        "bytes": pass_bytes(graph) | {READ: learning.numbers.nbytes},
        "successors_by_breath": successors_by_breath(graph),
        "full_states": graph.n_full,
        "successors": graph.n_entries,
        "restricted": None
        if game is None
        else {
            "bytes": pass_bytes(game),
            "successors_by_breath": successors_by_breath(game),
            "full_states": game.n_full,
        },
    }
