"""The measurements of ``iteration``, in a process of its own: the passes of equilibrium play, and reading, in turns."""

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

READ, FAR, NEAR, HASTY = "read", "far ", "near ", "hasty "
# What is made before and behind iterations that play it.
EXCERPT = ("restrict", "mark", "merge")
# The share of games against an answer that the command has by default for the view.
ANSWERS = 0.9
# By then the answer has settled, and the next iteration still goes everywhere.
_THOROUGH_BEFORE = 10
# The next iteration plays an excerpt, and the one after it goes everywhere.
_HASTY_BEFORE = 30
_FLOAT, _POINTER, _INDEX, _ACTION = 8, 8, 4, 1
# So many successors fit into a core's smallest cache, and are far enough apart not to wait for each other.
_CROWD = 256
_LEAST_READ = 1 << 22


def pass_bytes(measure: LayeredGraph) -> dict[str, int]:
    """The bytes that each pass of an iteration must move if it moves each of its arrays once.

    With ``e`` successors of ``f`` full states of ``s`` information states with ``r`` rows in a breath, and ``g`` full
    states or nodes after it, every walk reads

        common = 4 e + (4 + 4 + 4 + 32) f + (8 + 1) r + 2 * 8 s

    bytes: successors; where they begin, mirrored information states, decks and four reaches that stand in one line,
    whichever of them it wants; the own strategy and actions; where rows and full states begin. Forward, the enemy's
    strategy and the answer's choices are read, ``8 r + 8 s``, and reaches written, ``32 g``. Backward, the enemy's
    strategy and values after the breath are read, ``8 r + 8 g``, and values, regrets and both chances of states
    written, ``8 f + 8 r + 16 s``. To answer, values are read and written, ``8 g + 8 f``, and choices, too, ``16 s``;
    and then the enemy's strategy is mixed of the own one and choices, ``16 r + 16 s`` with where rows begin.

    To learn, ``7 * 8 r + 5 * 8 s`` are read or written: logits, strategies and average twice, regrets once; how regrets
    varied twice, chances of states, which stand in pairs, and where rows begin. Nodes read a probability and a deal, 12
    bytes, for each deal that can follow what is in hand; there are two kinds of deals to be passed on, and two kinds of
    values.
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
    """How many successors full states of each breath have."""
    found: list[int] = np.diff(measure.full.entry_ptr[np.array(measure.layer_ptr)]).tolist()
    return found


def crowded(graph: Graph) -> Full:
    """The full states, with all successors but win and loss among a few that stand side by side."""
    after = graph.full.after.copy()
    for number in range(graph.space.rules.breaths):
        first, win = graph.targets_of(number)
        begin, end = graph.full.entry_ptr[graph.space.layer_ptr[number : number + 2]]
        part = after[begin:end]
        crowd = first + np.arange(len(part)) % min(_CROWD, graph.room_after(number)[1])
        np.copyto(part, crowd.astype(part.dtype), where=part < win)
    return graph.full._replace(after=after)


class Learning:
    """Equilibrium play whose passes are timed, on the graph as it is and with all successors near each other.

    Attributes:
        graph: The game.
        equilibrium: What is learnt.
        numbers: float64, ones to read for measuring the bandwidth.
    """

    def __init__(self, rules: str, information: str) -> None:
        """Build the game and learn a little."""
        game = true_rules(load_rules(rules))
        self.graph = Graph(StateSpace(game, information))
        self.equilibrium = Equilibrium(self.graph, share=ANSWERS)
        self._full, self._crowded = self.graph.full, crowded(self.graph)
        self._thorough, self._hasty = self._learn(_THOROUGH_BEFORE), self._learn(_HASTY_BEFORE)
        self._excerpts_pay = self.excerpt is not None
        self.numbers = np.ones(max(_LEAST_READ, self.graph.n_entries // 2))
        self._bandwidth = Bandwidth(len(self.numbers))

    def _learn(self, iterations: int) -> dict[str, np.ndarray]:
        """Go on until so many iterations were made; return the tables of then."""
        while self.equilibrium.iterations < iterations:
            self.equilibrium.iterate()
        return {name: table.copy() for name, table in self.equilibrium.tables.items()}

    @property
    def excerpt(self) -> LayeredGraph | None:
        """What hasty iterations play, if it is not the whole game."""
        self.equilibrium.resume(_HASTY_BEFORE, self._hasty)
        self.equilibrium.iterate()
        measure = self.equilibrium.current_graph
        return None if measure is self.graph else measure

    def run(self, watches: Stopwatches) -> None:
        """Measure everything once, always the same iterations."""
        if self._excerpts_pay:
            self._run_hasty(watches)
        self.equilibrium.resume(_THOROUGH_BEFORE, self._thorough)
        total = watches.time(READ, lambda: self._bandwidth.read(self.numbers))
        if total != len(self.numbers):
            raise ArithmeticError(f"{len(self.numbers)} ones add up to {total}")
        for name, make in self.equilibrium.passes():
            watches.time(FAR + name, make)
        self._run_near(watches)

    def _run_hasty(self, watches: Stopwatches) -> None:
        """An iteration that plays an excerpt, what it takes to make one, and to give back what it has learned."""
        self.equilibrium.resume(_HASTY_BEFORE, self._hasty)
        for name, make in self.equilibrium.passes():
            watches.time(HASTY + name, make)
        for name, make in self.equilibrium.passes():
            if name in EXCERPT:
                watches.time(HASTY + name, make)
            else:
                make()

    def _run_near(self, watches: Stopwatches) -> None:
        """The same passes from the same tables and reaches, so that all that is skipped stays the same."""
        learning = self.equilibrium
        iterations, reach, nodes = learning.iterations, learning.reach.table.copy(), learning.reach.nodes.copy()
        tables = {name: table.copy() for name, table in learning.tables.items()}
        self.graph.full = self._crowded
        try:
            for name, make in learning.passes():
                learning.reach.table[:], learning.reach.nodes[:] = reach, nodes
                watches.time(NEAR + name, make)
        finally:
            self.graph.full = self._full
            learning.resume(iterations, tables)


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Measure ``runs`` iterations in the game of ``rules`` and ``information``, after one that is not counted."""
    set_threads(request["threads"])
    learning = Learning(request["rules"], request["information"])
    learning.run(Stopwatches())
    watches = Stopwatches()
    for number in range(1, request["runs"] + 1):
        tell(f"iteration: run {number} of {request['runs']}")
        learning.run(watches)
    graph, excerpt = learning.graph, learning.excerpt
    return {
        "seconds": watches.seconds,
        "bytes": pass_bytes(graph) | {READ: learning.numbers.nbytes},
        "successors_by_breath": successors_by_breath(graph),
        "full_states": graph.n_full,
        "successors": graph.n_entries,
        "excerpt": None
        if excerpt is None
        else {
            "bytes": pass_bytes(excerpt),
            "successors_by_breath": successors_by_breath(excerpt),
            "full_states": excerpt.n_full,
        },
    }
