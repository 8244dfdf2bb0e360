"""Equilibrium play: a player learns from regrets until nobody has much to gain, neither its equal nor who knows it.

In every iteration the game is played through once in probabilities, measure by measure: what is known of the deals is
passed forward and the chances to win backward, and in every information state the strategy changes by what each action
would have won more (``punish/_regret.py``, ``learners.py``). Deals and values of nodes are handed on from one iteration
to the next, so that no iteration has to see more than one measure.

The enemy is the player itself: one table plays both seats. In two-player zero-sum games whose players forget nothing,
the average of all strategies then comes as close to an equilibrium as one likes. A player here forgets what the model
of information says, and almost everything before the last deal. Then the averages soon settle where each action by
itself has nothing to gain, but a whole plan has: who knows the strategy makes one that leads only to what it can tell
apart.

So a share of the games can be played against just that enemy: an answer to the strategy that is improved by a round in
each iteration (``answer.py``). M. Johanson, N. Bard, N. Burch and M. Bowling ("Finding Optimal Abstract Strategies in
Extensive-Form Games", AAAI 2012) play all games so. Answers leap. So against them the player takes short steps
(`Hedge`), and its equal, in the other games, holds it. The more games it plays against its equal, the sooner it is
calm, and the more it still concedes in the end. Without answers it matches regrets (`Regrets`).

How close the average is, is in any case not proved but measured, by agents made to beat it (``exploiter.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from punish_fast.arena.answer import Answer
from punish_fast.arena.learners import Care, Hedge, Learner, Regrets
from punish_fast.arena.reach import Reach, Strategies
from punish_fast.chunks import for_each
from punish_fast.punish import _regret
from punish_fast.punish.graph import N_PARTS, Graph, Outline

# Bytes of the program with its libraries, and of writing the file.
_PROGRAM = 350_000_000


class Equilibrium:
    """A player that learns, and the average of all its strategies so far.

    Attributes:
        graph: The game.
        iterations: How many were made.
        learner: What makes strategies of regrets.
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
            share: The share of games that are played against an answer instead of against oneself, from 0 to 1; with 0
                it learns by regret matching, otherwise by multiplicative weights.

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
        self.learner: Learner = Hedge(self._state_ptr) if share > 0 else Regrets(self._state_ptr)
        self._opening = graph.dealt if opening is None else opening
        self.dealt = self._opening.copy()
        self.nodes = np.full(graph.n_nodes, 0.5)
        self._reach = Reach(graph, has_answer=share > 0)
        self._v = np.zeros(graph.n_full + graph.n_nodes + 2)
        self._v[-2] = 1.0
        self._rows = (self._state_ptr, graph.space.action)
        self._strategy = np.empty(n_rows)
        # How likely the last iteration came to each information state.
        self._seen = np.empty((n_states, 2))
        self._care = Care()
        self._answer: Answer | None = None
        self._enemy = self._strategy
        if share > 0:
            self._answer = Answer(graph, np.full((graph.n_full + graph.n_nodes + 2, 1), 0.5), opening)
            self._enemy = np.empty(n_rows)
        self._play()

    @property
    def average(self) -> np.ndarray:
        """The average strategy, float64 ``[n_rows]``: a policy of the graph's information states.

        Where nothing was added up, it is the last strategy. Actions less likely than the learner's ``least_kept`` are
        left out.
        """
        policy = np.ones(len(self.graph.space.action))
        total, own = self.learner.tables["total"], policy[: len(self._strategy)]
        mass = self._by_state(total)
        np.divide(total, mass, out=own, where=mass > 0)
        np.copyto(own, self._strategy, where=mass <= 0)
        if self.learner.least_kept > 0:
            own[own < self.learner.least_kept] = 0.0
            own /= self._by_state(own)
        return policy

    @property
    def rival(self) -> tuple[np.ndarray, np.ndarray]:
        """Where to begin to look for who beats the average: a policy, and its chances to win from the nodes.

        It is the answer, which knows the last strategies, or the average itself if there is none.
        """
        if self._answer is None:
            return self.average, self.nodes
        return self._answer.policy, self._answer.nodes[:, 0]

    def _by_state(self, rows: np.ndarray) -> np.ndarray:
        """The sum over its information state, for each row."""
        return np.repeat(np.add.reduceat(rows, self._state_ptr[:-1]), np.diff(self._state_ptr))

    def iterate(self) -> None:
        """Play one measure in probabilities, and learn from it.

        If it is interrupted, what was learned is spoilt; an equilibrium can be begun anew from a copy of `tables`.
        """
        for _, make in self.passes():
            make()

    def passes(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """The passes of the next iteration, each by name, to be made one after the other.

        They are ``spread`` and ``regret`` of each breath, ``deal`` and ``nodes`` of what is between measures,
        ``learn``, which makes a strategy of regrets, and ``answer``, if there is one to be improved against it. An
        iteration that leaves the deals as they are has no ``deal`` and no last ``spread``.
        """
        self.iterations += 1
        self._care = self.learner.care(self.iterations)
        n_breaths = self.graph.space.rules.breaths
        self._begin()
        for number in range(n_breaths if self._care.deals else n_breaths - 1):
            yield f"spread {number + 1}", partial(self._spread, number)
        if self._care.deals:
            yield "deal", self._deal
        for number in reversed(range(n_breaths)):
            yield f"regret {number + 1}", partial(self._regret, number)
        yield "nodes", self._back_up
        yield "learn", self._learn
        if self._answer is not None:
            yield "answer", partial(self._improve, self._answer)

    @property
    def reach(self) -> Reach:
        """How likely the last iteration came to each full state, and the last that worked out deals to each node.

        In the second column, own choices since the deal weigh at least as much as the learner says.
        """
        return self._reach

    @property
    def _strategies(self) -> Strategies:
        return self._strategy, self._enemy

    @property
    def tables(self) -> dict[str, np.ndarray]:
        """All that the next iteration follows from, besides how many there were."""
        tables = self.learner.tables | {"dealt": self.dealt, "nodes": self.nodes}
        if self._answer is not None:
            answer = self._answer
            tables |= {"answer": answer.choice, "answer_dealt": answer.dealt, "answer_nodes": answer.nodes[:, 0]}
            # Of full states that the next iteration passes over, the values of before are read.
            n_full = self.graph.n_full
            tables |= {"values": self._v[:n_full], "answer_values": answer.v[:n_full, 0]}
        return tables

    @property
    def reached(self) -> np.ndarray:
        """Which information states the average comes to by its own choices from any deal, bool ``[n_states]``."""
        reach, full_ptr = Reach(self.graph), self.graph.full.ptr
        reach.begin(np.ones(len(self.dealt)))
        reach.spread_all((self.average, np.ones(len(self._strategy))))
        return np.asarray(np.add.reduceat(reach.table[:, _regret.OWN], full_ptr[:-1]) > 0)

    def resume(self, iterations: int, tables: dict[str, np.ndarray]) -> None:
        """Go on from `tables` of an earlier time, after so many iterations."""
        self.iterations = iterations
        mine = self.tables
        for name, table in tables.items():
            mine[name][:] = table
        self._play()

    def _play(self) -> None:
        """Strategies of both sides, from all tables."""
        self.learner.play(self._strategy)
        if self._answer is not None:
            self._meet(self._answer)

    def _meet(self, answer: Answer) -> None:
        """Make the answer a part of the enemy."""
        args = (self._state_ptr, self._strategy, answer.choice, self.share, self._enemy)
        for_each(_regret.mix_answer, len(self._state_ptr) - 1, *args)

    def _begin(self) -> None:
        self._v[self.graph.n_full : -2] = self.nodes
        self._reach.begin(self.dealt, None if self._answer is None else self._answer.dealt)

    def _spread(self, number: int) -> None:
        choice = None if self._answer is None else self._answer.choice
        self._reach.spread(number, self._strategies, self.learner.stray, choice, self._care.full_states)

    def _deal(self) -> None:
        """The deals of the next iteration."""
        self.dealt = self._opening + self._reach.deal_again()
        if self._answer is not None:
            self._answer.deal_again(self._reach.deal_again(int(_regret.ANSWER_OWN)))

    def _learn(self) -> None:
        self.learner.learn(self.iterations, self._seen, self._strategy)

    def _improve(self, answer: Answer) -> None:
        """Answer the strategy of now.

        What is believed of hands is of the strategy before, which was hardly another one: it needs no walk of its own.
        """
        answer.choose(self._strategy, self._reach.table[:, _regret.ANSWER_OTHERS], self._care.full_states)
        self._meet(answer)

    def _regret(self, number: int) -> None:
        """Regrets in a breath, and the values of its full states."""
        full, draws = self.graph.full, self.graph.draws
        args = (full, draws, self._rows, self._strategies, self._care.states, self._reach.table, self._v)
        self.graph.for_states(number, _regret.regret_full, *args, self.learner.regret, self._seen)

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
    # them on in parts, and a value; while it is measured as much for the search, and value and length of it and of two
    # duels. How many nodes there are is not known yet: fewer than full states of the largest breath.
    n_parts = 1 if outline.space.information.keeps_revealed else 1 + N_PARTS
    reach = outline.n_full + n_parts * max(outline.full_by_breath)
    tables = (4 + 4) * n_rows + (2 + 2) * reach + (1 + 3 * 2) * outline.n_full + 4 * n_states
    if share > 0:
        # The enemy's strategy; the answer and how much regrets varied; two more reaches, and the answer's values.
        tables += n_rows + 2 * n_states + 2 * reach + outline.n_full
    return _PROGRAM + listed + 8 * tables
