"""Equilibrium play: a player learns from regrets until nobody has much to gain, neither its equal nor who knows it.

In every iteration the game is played through once in probabilities, measure by measure: what is known of the deals is
passed forward and the chances to win backward, and in every information state the strategy changes by what each action
would have won more (``_regret.py``). Deals and values of nodes are handed on from one iteration to the next, so that no
iteration has to see more than one measure.

The enemy is the player itself: one table plays both seats. In two-player zero-sum games whose players forget nothing,
the average of all strategies then comes as close to an equilibrium as one likes. A player here forgets what the model
of information says, and everything before the last deal. Then the averages soon settle where each action by itself has
nothing to gain, but a whole plan has: who knows the strategy makes one that leads only to what it can tell apart.

So a share ``h`` of the games can be played against just that enemy: an answer to the strategy that is improved by a
round in each iteration (``answer.py``). M. Johanson, N. Bard, N. Burch and M. Bowling ("Finding Optimal Abstract
Strategies in Extensive-Form Games", AAAI 2012) play all games so. Let ``c_t`` be the chance to win that strategy ``t``
concedes above one half to its best answer, and ``R_T`` the regret of ``T`` iterations. Since some strategy wins half of
its games against any mixture of enemies,

    h (c_1 + ... + c_T) / T <= R_T / T,

and the plain average of all strategies concedes no more than they do on average. But answers leap, and regrets against
what leaps fall like ``1 / sqrt(T)`` instead of ``1 / T``: where nothing is forgotten, a share of 0 is best.

How close the average is, is in any case not proved but measured, by agents made to beat it (``exploiter.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from punish_fast.arena.answer import Answer
from punish_fast.arena.reach import Reach, Strategies
from punish_fast.chunks import for_each
from punish_fast.punish import _regret
from punish_fast.punish.graph import N_PARTS, Graph, Outline

# Bytes of the program with its libraries, and of writing the file.
_PROGRAM = 350_000_000


class Equilibrium:
    """Regrets of all information states, and the average of all strategies so far.

    Attributes:
        graph: The game.
        iterations: How many were made.
        regret: float64 ``[n_rows]``, sums of regrets, never below 0.
        last_regret: float64 ``[n_rows]``, regrets of the last iteration.
        total: float64 ``[n_rows]``, weighted sums of all strategies.
        share: The share of games against an answer.
        dealt: float64 ``[n]``, how often a game is expected to come to each full state of the first breath.
        nodes: float64 ``[n_nodes]``, chances to win from the nodes between measures.
    """

    def __init__(self, graph: Graph, opening: np.ndarray | None = None, share: float = 0.0) -> None:
        """Begin with strategies that play every action alike.

        Args:
            graph: The game.
            opening: float64 ``[n]``, how likely each full state of the first breath is at the beginning; by default,
                all deals to players of full HP. One table plays both seats, so it must be the same seen from both.
            share: The share of games that are played against an answer instead of against oneself, from 0 to 1.

        Raises:
            ValueError: ``share`` is out of range.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share}, allowed is from 0 to 1")
        self.graph = graph
        self.share = share
        self.iterations = 0
        n_states = len(graph.full.ptr) - 1
        self._state_ptr = graph.space.state_ptr[: n_states + 1]
        n_rows = int(self._state_ptr[-1])
        self.regret, self.last_regret, self.total = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
        self._opening = graph.dealt if opening is None else opening
        self.dealt = self._opening.copy()
        self.nodes = np.full(graph.n_nodes, 0.5)
        self._reach = Reach(graph)
        self._v = np.zeros(graph.n_full + graph.n_nodes + 2)
        self._v[-2] = 1.0
        self._rows = (self._state_ptr, graph.space.action)
        self._strategy = np.empty(n_rows)
        self._answer: Answer | None = None
        self._enemy = self._strategy
        if share > 0:
            self._answer = Answer(graph, np.full((graph.n_full + graph.n_nodes + 2, 1), 0.5), self._reach, opening)
            self._enemy = np.empty(n_rows)
        self._match()

    @property
    def average(self) -> np.ndarray:
        """The average strategy, float64 ``[n_rows]``: a policy of the graph's information states.

        Where the average never comes by its own choice, it is the last strategy.
        """
        policy = np.ones(len(self.graph.space.action))
        mass = np.repeat(np.add.reduceat(self.total, self._state_ptr[:-1]), np.diff(self._state_ptr))
        np.divide(self.total, mass, out=policy[: len(mass)], where=mass > 0)
        np.copyto(policy[: len(mass)], self._strategy, where=mass <= 0)
        return policy

    def iterate(self) -> None:
        """Play one measure in probabilities, and learn from it.

        If it is interrupted, what was learned is spoilt; an equilibrium can be begun anew from a copy of `tables`.
        """
        for _, make in self.passes():
            make()

    def passes(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """The passes of the next iteration, each by name, to be made one after the other.

        They are ``answer`` if there is one to be improved, ``spread`` and ``regret`` of each breath, ``deal`` and
        ``nodes`` of what is between measures, and ``match``, which makes strategies of regrets.
        """
        self.iterations += 1
        n_breaths = self.graph.space.rules.breaths
        if self._answer is not None:
            yield "answer", partial(self._meet, self._answer)
        self._begin()
        for number in range(n_breaths):
            yield f"spread {number + 1}", partial(self._reach.spread, number, self._strategies)
        yield "deal", self._deal
        for number in reversed(range(n_breaths)):
            yield f"regret {number + 1}", partial(self._regret, number)
        yield "nodes", self._back_up
        yield "match", self._match

    @property
    def reach(self) -> np.ndarray:
        """How likely the last iteration came to each full state, float64 ``[n_full, 2]``.

        The second column leaves out the own choices since the deal.
        """
        return self._reach.table

    @property
    def _strategies(self) -> Strategies:
        return self._strategy, self._enemy

    @property
    def tables(self) -> dict[str, np.ndarray]:
        """All that the next iteration follows from, besides how many there were."""
        names = ("regret", "last_regret", "total", "dealt", "nodes")
        tables: dict[str, np.ndarray] = {name: getattr(self, name) for name in names}
        if self._answer is not None:
            answer = self._answer
            tables |= {"answer": answer.choice, "answer_dealt": answer.dealt, "answer_nodes": answer.nodes[:, 0]}
        return tables

    @property
    def reached(self) -> np.ndarray:
        """Which information states the average comes to by its own choices, bool ``[n_states]``."""
        return np.asarray(np.add.reduceat(self.total, self._state_ptr[:-1]) > 0)

    def resume(self, iterations: int, tables: dict[str, np.ndarray]) -> None:
        """Go on from `tables` of an earlier time, after so many iterations."""
        self.iterations = iterations
        mine = self.tables
        for name, table in tables.items():
            mine[name][:] = table
        self._match()

    def _match(self) -> None:
        args = (self._state_ptr, self.regret, self.last_regret, self._strategy)
        for_each(_regret.match_regrets, len(self._state_ptr) - 1, *args)

    def _meet(self, answer: Answer) -> None:
        """Answer the strategy of now, and make that a part of the enemy."""
        answer.improve(self._strategy)
        args = (self._state_ptr, self._strategy, answer.choice, self.share, self._enemy)
        for_each(_regret.mix_answer, len(self._state_ptr) - 1, *args)

    def _begin(self) -> None:
        self._v[self.graph.n_full : -2] = self.nodes
        self._reach.begin(self.dealt)

    def _deal(self) -> None:
        """The deals of the next iteration."""
        self.dealt = self._opening + self._reach.deal_again()

    def _regret(self, number: int) -> None:
        """Regrets in a breath, and the values of its full states."""
        args = (self.graph.full, self.graph.draws, self._rows, self._strategies, self._reach.table, self._v)
        tables = (float(self.iterations) ** 2, self.regret, self.last_regret, self.total)
        self.graph.for_states(number, _regret.regret_full, *args, *tables)

    def _back_up(self) -> None:
        self.nodes = self.graph.back_up_nodes(self._v[:, None])[:, 0]


def bytes_needed(outline: Outline, share: float = 0.0) -> int:
    """About how much memory an equilibrium takes at the most, with its graph, from an outline of the game.

    Args:
        outline: The game.
        share: The share of games against an answer.
    """
    n_states = len(outline.full.ptr) - 1
    n_rows = int(outline.space.state_ptr[n_states])
    listed = sum(array.nbytes for table in (*outline.decks, outline.full, *outline.space.layers) for array in table)
    # Four tables of rows, and while it is measured four more policies. Of full states two reaches, and room to pass
    # them on, and a value; while it is measured as much for the search, and value and length of it and of two duels.
    room = 2 * (1 if outline.space.information.keeps_revealed else N_PARTS) * max(outline.full_by_breath)
    tables = (4 + 4) * n_rows + (2 + 1 + 2 + 3 * 2) * outline.n_full + 2 * room + 2 * n_states
    if share > 0:
        # The enemy's strategy, the answer, and its values.
        tables += n_rows + n_states + outline.n_full
    return _PROGRAM + listed + 8 * tables
