"""One iteration of equilibrium play: what is played in a measure, how likely it comes to what, and what is learned.

A round is made of a whole measure or of an excerpt. Deals belong to the whole: an excerpt takes them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium import _regret_matching
from punish_fast.equilibrium.counterfactual_response import CounterfactualResponse
from punish_fast.equilibrium.reach import Reach, Strategies
from punish_fast.equilibrium.regret_minimisers import RegretMinimiser
from punish_fast.runtime.parallel import for_each

Passes = Iterator[tuple[str, Callable[[], None]]]


class RegretIteration:
    """A player and its enemy in a measure.

    Attributes:
        measure: The measure, whole or an excerpt.
        minimiser: What makes strategies of regrets.
        share: The share of games against the answer.
        answer: An answer to the player, if there is one.
        dealt: float64 ``[n]``, how often a game is expected to come to each full state of the first breath.
        v: float64 ``[n_values]``, chances to win.
        reach: How likely the last iteration came to each full state, and the last that worked out deals to each node.
            In the second column, own choices since the deal weigh at least as much as the minimiser says.
        strategy: float64 ``[n_rows]``, what the player plays.
        enemy: What its enemy plays: the same, if there is no answer.
        seen: float64 ``[n_states, 2]``, how likely the last iteration came to each information state.
    """

    def __init__(
        self,
        measure: LayeredGraph,
        minimiser: RegretMinimiser,
        share: float,
        dealt: np.ndarray,
        v: np.ndarray,
        answer: CounterfactualResponse | None,
    ) -> None:
        """Begin with what the minimiser says; ``dealt``, ``v`` and ``answer`` are taken over."""
        n_rows = len(minimiser.regret)
        self.measure, self.minimiser, self.share, self.answer = measure, minimiser, share, answer
        self.dealt, self.v = dealt, v
        self.reach = Reach(measure, has_answer=answer is not None)
        self.strategy = np.empty(n_rows)
        self.enemy = self.strategy if answer is None else np.empty(n_rows)
        self.seen = np.zeros((len(measure.state_ptr) - 1, 2))
        self._rows = (measure.state_ptr, measure.action)
        self.play()

    @property
    def nodes(self) -> np.ndarray:
        """Chances to win from the nodes between measures, float64 ``[n_nodes]``, a part of ``v``."""
        return self.v[self.measure.nodes]

    def play(self) -> None:
        """Strategies of both sides, from all tables."""
        self.minimiser.play(self.strategy)
        self._meet()

    def passes(self, iteration: int, deal: Callable[[], None] | None = None) -> Passes:
        """The passes of an iteration, each by name, to be made one after the other.

        Args:
            iteration: Its number, from 1.
            deal: What works out the deals that follow the measure; if there is none, nobody goes on to the nodes.
        """
        n_breaths = self.measure.n_breaths
        self._begin()
        for number in range(n_breaths if deal is not None else n_breaths - 1):
            yield f"spread {number + 1}", partial(self._spread, number)
        if deal is not None:
            yield "deal", deal
        for number in reversed(range(n_breaths)):
            yield f"regret {number + 1}", partial(self._regret, number)
        yield "nodes", self._back_up
        yield "learn", partial(self.minimiser.learn, iteration, self.seen, self.strategy)
        if self.answer is not None:
            yield "answer", partial(self._improve, self.answer)

    @property
    def _strategies(self) -> Strategies:
        return self.strategy, self.enemy

    def _meet(self) -> None:
        """Make the answer a part of the enemy."""
        if self.answer is not None:
            args = (self.measure.state_ptr, self.strategy, self.answer.choice, self.share, self.enemy)
            for_each(_regret_matching.mix_answer, len(self.seen), *args)

    def _begin(self) -> None:
        self.reach.begin(self.dealt, None if self.answer is None else self.answer.dealt)

    def _spread(self, number: int) -> None:
        choice = None if self.answer is None else self.answer.choice
        self.reach.spread(number, self._strategies, self.minimiser.off_policy_weight, choice)

    def _regret(self, number: int) -> None:
        """RegretMatching in a breath, and the values of its full states."""
        args = (self.measure.full, self.measure.draws, self._rows, self._strategies, self.reach.table, self.v)
        self.measure.for_states(number, _regret_matching.regret_full, *args, self.minimiser.regret, self.seen)

    def _back_up(self) -> None:
        self.nodes[:] = self.measure.back_up_nodes(self.v[:, None])[:, 0]

    def _improve(self, answer: CounterfactualResponse) -> None:
        """CounterfactualResponse the strategy of now.

        What is believed of hands is of the strategy before, which was hardly another one: it needs no walk of its own.
        """
        answer.choose(self.strategy, self.reach.table[:, _regret_matching.RESPONSE_OTHERS])
        self._meet()
