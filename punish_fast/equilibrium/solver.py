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
calm, and the more it still concedes in the end. Without answers it matches regrets (`RegretMatching`).

How close the average is, is in any case not proved but measured, by agents made to beat it (``exploiter.py``).
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel.graph import Graph, Outline
from punish_fast.duel.layered_graph import N_PARTS, LayeredGraph
from punish_fast.equilibrium import _regret_matching
from punish_fast.equilibrium._restricted_game import INSIDE
from punish_fast.equilibrium.best_response import Start
from punish_fast.equilibrium.counterfactual_response import CounterfactualResponse
from punish_fast.equilibrium.reach import Reach
from punish_fast.equilibrium.regret_iteration import Passes, RegretIteration
from punish_fast.equilibrium.regret_minimisers import Hedge, RegretMatching, RegretMinimiser
from punish_fast.equilibrium.restricted_game import MOST, RestrictedGame, all_inside, fit, mark, restrict

# Bytes of the program with its libraries, and of writing the file.
_PROGRAM = 350_000_000


class Equilibrium:
    """A player that learns, and the average of all its strategies so far.

    Attributes:
        graph: The game.
        iterations: How many were made.
        share: The share of games against an answer.
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
        self._opening = graph.dealt if opening is None else opening
        # All rows were learned by every iteration so far.
        self._marks = all_inside(graph)
        self._whole = self._begin()
        # What hasty iterations play, as long as they do, unless the excerpt would be so large that it does not pay.
        self._part: _Part | None = None
        self._pays = True

    def _begin(self) -> RegretIteration:
        graph = self.graph
        v = np.full(graph.n_values, 0.5)
        v[-2:] = 1.0, 0.0
        if self.share == 0:
            return RegretIteration(graph, RegretMatching(graph.state_ptr), 0.0, self._opening.copy(), v, None)
        minimiser, answer = (
            Hedge(graph.state_ptr, self._marks.row),
            CounterfactualResponse(graph, v[:, None].copy(), self._opening),
        )
        return RegretIteration(graph, minimiser, self.share, self._opening.copy(), v, answer)

    @property
    def minimiser(self) -> RegretMinimiser:
        """What makes strategies of regrets."""
        return self._whole.minimiser

    @property
    def measure(self) -> LayeredGraph:
        """What is played now: the graph, or an excerpt of it."""
        return self.graph if self._part is None else self._part.round.measure

    @property
    def dealt(self) -> np.ndarray:
        """How often a game is expected to come to each full state of the first breath, float64 ``[n]``."""
        return self._whole.dealt

    @property
    def nodes(self) -> np.ndarray:
        """Chances to win from the nodes between measures, float64 ``[n_nodes]``."""
        self._take_back()
        return self._whole.nodes

    @property
    def average(self) -> np.ndarray:
        """The average strategy, float64 ``[n_rows]``: a policy of the graph's information states.

        Where nothing was added up, it is the last strategy. Actions less likely than the minimiser's
        ``least_probability`` are left out.
        """
        # Whoever wants it will need memory for something else, and the excerpt is soon made again.
        self._go_back()
        policy = np.ones(len(self.graph.action))
        total, strategy = self.minimiser.tables["total"], self._whole.strategy
        own = policy[: len(strategy)]
        mass = self._by_state(total)
        np.divide(total, mass, out=own, where=mass > 0)
        np.copyto(own, strategy, where=mass <= 0)
        if self.minimiser.least_probability > 0:
            own[own < self.minimiser.least_probability] = 0.0
            own /= self._by_state(own)
        return policy

    @property
    def exploiter_start(self) -> Start:
        """Where to start the search for an exploiter of the average.

        It is the response to the last strategies, or the average itself if there is none.
        """
        response = self._whole.answer
        if response is None:
            policy, values = self.average, self.nodes
        else:
            self._take_back()
            policy, values = response.policy, response.nodes[:, 0]
        return Start(policy, np.column_stack([values, np.zeros_like(values)]))

    def _by_state(self, rows: np.ndarray) -> np.ndarray:
        """The sum over its information state, for each row."""
        state_ptr = self.graph.state_ptr
        return np.repeat(np.add.reduceat(rows, state_ptr[:-1]), np.diff(state_ptr))

    def iterate(self) -> None:
        """Play one measure in probabilities, and learn from it.

        If it is interrupted, what was learned is spoilt; an equilibrium can be begun anew from a copy of `tables`.
        """
        for _, make in self.passes():
            make()

    def passes(self) -> Passes:
        """The passes of the next iteration, each by name, to be made one after the other.

        They are ``spread`` and ``regret`` of each breath, ``deal`` and ``nodes`` of what is between measures,
        ``learn``, which makes a strategy of regrets, and ``answer``, if there is one to be improved against it. A
        hasty iteration has no ``deal`` and no last ``spread``. Before it there may be ``excerpt``, which makes what
        hasty ones play; before a thorough one ``whole``, which takes over what they have learned. Behind that is
        ``mark``, which says what matters.
        """
        self.iterations += 1
        is_full, is_next_thorough = (self.minimiser.is_full(self.iterations + k) for k in (0, 1))
        if not is_full and self._part is None and self._pays:
            yield "excerpt", self._excerpt
        if not is_full and self._part is not None:
            yield from self._part.round.passes(self.iterations)
            return
        if self._part is not None:
            yield "whole", self._go_back
        yield from self._whole.passes(self.iterations, self._deal)
        if is_full and not is_next_thorough:
            yield "mark", self._mark

    @property
    def reach(self) -> Reach:
        """How likely the last iteration of the whole game came to each full state and node.

        In the second column, own choices since the deal weigh at least as much as the minimiser says.
        """
        return self._whole.reach

    @property
    def tables(self) -> dict[str, np.ndarray]:
        """All that the next iteration follows from, besides how many there were."""
        self._take_back()
        whole = self._whole
        tables = whole.minimiser.tables | {"dealt": whole.dealt, "nodes": whole.nodes}
        if whole.answer is not None:
            answer, n_full = whole.answer, self.graph.n_full
            tables |= {"answer": answer.choice, "answer_dealt": answer.dealt, "answer_nodes": answer.nodes[:, 0]}
            # What is outside of the excerpt is worth what it was.
            tables |= {"values": whole.v[:n_full], "answer_values": answer.v[:n_full, 0]}
            tables |= {"marked_rows": self._marks.row, "marked_full": self._marks.full}
        return tables

    @property
    def reached(self) -> np.ndarray:
        """Which information states the average comes to by its own choices from any deal, bool ``[n_states]``."""
        average, full_ptr = self.average, self.graph.full.ptr
        reach = Reach(self.graph)
        reach.begin(np.ones(len(self.dealt)))
        reach.spread_all((average, np.ones(len(self._whole.strategy))))
        return np.asarray(np.add.reduceat(reach.table[:, _regret_matching.OWN], full_ptr[:-1]) > 0)

    def resume(self, iterations: int, tables: dict[str, np.ndarray]) -> None:
        """Go on from `tables` of an earlier time, after so many iterations.

        Raises:
            ValueError: they cannot be such, as their marks do not fit each other; then what was learned is spoilt.
        """
        self.iterations = iterations
        mine = self.tables
        self._part, self._pays = None, True
        for name, table in tables.items():
            mine[name][:] = table
        np.maximum.reduceat(self._marks.row, self.graph.state_ptr[:-1], out=self._marks.state)
        if not fit(self.graph, self._marks):
            raise ValueError("marked_full, marked_rows: what is marked needs what is not")
        self._whole.play()

    def compile_kernels(self) -> None:
        """Play an excerpt of what was played last, whether it pays or not: then all kernels are compiled."""
        self._mark()
        found = restrict(self.graph, self._marks, must_pay=False)
        assert found is not None
        for _, make in _Part(self._whole, found).round.passes(self.iterations):
            make()

    def _deal(self) -> None:
        """The deals of the next iteration."""
        whole = self._whole
        whole.dealt[:] = self._opening + whole.reach.deal_again()
        if whole.answer is not None:
            whole.answer.deal_again(whole.reach.deal_again(int(_regret_matching.RESPONSE_OWN)))

    def _mark(self) -> None:
        """Say what matters in the next iterations."""
        whole = self._whole
        assert whole.answer is not None
        mark(self.graph, whole.reach.table, whole.strategy, whole.minimiser.regret, whole.answer.choice, self._marks)
        self._pays = True

    def _excerpt(self) -> None:
        """Make the excerpt, if it pays; otherwise everything matters."""
        found = restrict(self.graph, self._marks)
        self._pays = found is not None
        if found is None:
            for marks in self._marks:
                marks[:] = INSIDE
        else:
            self._part = _Part(self._whole, found)

    def _take_back(self) -> None:
        """Take over what hasty iterations have learned."""
        if self._part is not None:
            self._part.give_back(self._whole)

    def _go_back(self) -> None:
        """Play the whole game again, if it is not what is played."""
        if self._part is not None:
            self._take_back()
            self._part = None
            self._whole.play()


class _Part:
    """A round of an excerpt, and where it belongs in a round of the whole.

    Attributes:
        round: The round.
    """

    def __init__(self, whole: RegretIteration, excerpt: RestrictedGame) -> None:
        assert whole.answer is not None
        assert isinstance(whole.minimiser, Hedge)
        self._excerpt = excerpt
        self._learner = whole.minimiser.part(excerpt.states, excerpt.rows, excerpt.state_ptr)
        v, answer_v = excerpt.take_values(whole.v), excerpt.take_values(whole.answer.v[:, 0])
        self._answer = CounterfactualResponse(excerpt, answer_v[:, None], whole.answer.dealt)
        self._answer.choice[:] = excerpt.choices(whole.answer.choice)
        self.round = RegretIteration(excerpt, self._learner, whole.share, whole.dealt, v, self._answer)

    def give_back(self, whole: RegretIteration) -> None:
        """Write what was learned where it belongs."""
        assert whole.answer is not None
        assert isinstance(whole.minimiser, Hedge)
        excerpt, answer = self._excerpt, self._answer
        whole.minimiser.take_back(self._learner, excerpt.states, excerpt.rows)
        excerpt.give_values(self.round.v, whole.v)
        excerpt.give_values(answer.v[:, 0], whole.answer.v[:, 0])
        whole.answer.choice[excerpt.states] = excerpt.rows[answer.choice]


def bytes_needed(outline: Outline, share: float = 0.0) -> int:
    """About how much memory an equilibrium takes at the most, with its graph, from an outline of the game.

    Args:
        outline: The game.
        share: The share of games against an answer.
    """
    n_states = len(outline.full.ptr) - 1
    n_rows = int(outline.space.state_ptr[n_states])
    listed = sum(array.nbytes for table in (*outline.decks, outline.full, *outline.space.layers) for array in table)
    # Four tables of rows. Of full states two reaches, and room to pass them on in parts, and a value. A mark of each.
    # How many nodes there are is not known yet: fewer than full states of the largest breath.
    n_parts = 1 if outline.space.information.keeps_revealed else 1 + N_PARTS
    reach = outline.n_full + n_parts * max(outline.full_by_breath)
    tables = 4 * n_rows + 2 * reach + outline.n_full + 4 * n_states + (n_rows + n_states + outline.n_full) // 8
    # While it is measured, four more policies, as much as before for the search, and value and length of it and of two
    # duels.
    further = 4 * n_rows + 2 * reach + 3 * 2 * outline.n_full
    if share > 0:
        # The enemy's strategy; the answer, and how much regrets varied; two more reaches; the answer's values.
        tables += n_rows + 2 * n_states + 2 * reach + outline.n_full
        # An excerpt has all of these, places in the whole, and successors. To make it takes some counts of full states,
        # and then they have reaches and values; those that are not in it can be leaves. It is given up before anything
        # is measured.
        of_rows, of_states, of_full = 6 * MOST * n_rows, 9 * MOST * n_states, 7 * outline.n_full
        room = 4 * (reach - outline.n_full)
        further = max(further, int(of_rows + of_states + MOST * outline.n_entries / 2) + of_full + room)
    return _PROGRAM + listed + 8 * (tables + further)
