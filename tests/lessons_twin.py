"""A policy in self-play in the real game, with dictionaries, to check lessons from it.

Positions, nodes and their distributions are those of ``duel_twin.py``, in floats. Games are followed for a fixed number
of measures, after which next to none is undecided.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import duel_twin
import numpy as np
from duel_twin import Node, Position, Successor
from exact import strategy_of

from bench import reference
from punish_fast.punish.states.space import StateSpace

_MEASURES = 60


class TwinPlay:
    """Values, visits and beliefs by position.

    Attributes:
        value: Win probabilities.
        visits: Expected visits per game, of positions and nodes.
        belief: The same if all own choices since the deal had probability 1.
    """

    def __init__(self, space: StateSpace, policy: np.ndarray) -> None:
        self.rules = space.rules
        self._chosen = {view: _floats(chosen) for view, chosen in strategy_of(space, policy).items()}
        self._layers, nodes = duel_twin.everything(self.rules)
        self._laws: dict[Any, dict[Successor, float]] = {}
        self.deals = {node: _floats(duel_twin.deal(self.rules, node)) for node in nodes | {duel_twin.begin(self.rules)}}
        self.value = self._solve(nodes)
        self.visits = self._follow()
        self.belief = self._believe()

    def chosen(self, view: reference.State) -> dict[int, float]:
        """The policy in an information state."""
        return self._chosen[view]

    def action_value(self, position: Position, action: int) -> float:
        """The win probability after an action, with the enemy's hand known."""
        return sum(
            q * p * self.value[then]
            for enemy, q in self.chosen(duel_twin.enemy_view(position)).items()
            for then, p in self._law(position, action, enemy).items()
        )

    def seen_value(self, view: reference.State, action: int) -> float:
        """The win probability after an action, under the belief about the enemy's hand."""
        weights = {position: self.belief[position] for position in self.belief_of(view)}
        total = sum(weights.values())
        return sum(w * self.action_value(position, action) for position, w in weights.items()) / total

    def belief_of(self, view: reference.State) -> list[Position]:
        """The positions of a view."""
        return [position for position in self.belief if position.view == view]

    def node_value(self, node: Node) -> float:
        """The win probability from hands kept over a redeal, reachable or not."""
        return sum(float(p) * self.value[position] for position, p in duel_twin.deal(self.rules, node).items())

    def _law(self, position: Position, own: int, enemy: int) -> dict[Successor, float]:
        key = position, own, enemy
        if key not in self._laws:
            self._laws[key] = _floats(duel_twin.breath(self.rules, position, own, enemy))
        return self._laws[key]

    def _steps(self, position: Position, own_counts: bool = True) -> Iterator[tuple[Successor, float]]:
        for own, x in self.chosen(position.view).items():
            for enemy, y in self.chosen(duel_twin.enemy_view(position)).items():
                for then, p in self._law(position, own, enemy).items():
                    yield then, (x if own_counts else 1.0) * y * p

    def _solve(self, nodes: set[Node]) -> dict[Any, float]:
        value: dict[Any, float] = dict.fromkeys(nodes, 0.5) | {reference.WIN: 1.0, reference.LOSS: 0.0}
        steps = {position: list(self._steps(position)) for layer in self._layers for position in layer}
        for _ in range(_MEASURES):
            for layer in reversed(self._layers):
                for position in layer:
                    value[position] = sum(p * value[then] for then, p in steps[position])
            for node in nodes:
                value[node] = sum(p * value[position] for position, p in self.deals[node].items())
        return value

    def _follow(self) -> dict[Any, float]:
        visits: defaultdict[Any, float] = defaultdict(float)
        now = dict(self.deals[duel_twin.begin(self.rules)])
        for _ in range(_MEASURES):
            for _ in self._layers:
                after: defaultdict[Any, float] = defaultdict(float)
                for position, p in now.items():
                    visits[position] += p
                    for then, q in self._steps(position):
                        after[then] += p * q
                now = {then: p for then, p in after.items() if not isinstance(then, str)}
            dealt: defaultdict[Any, float] = defaultdict(float)
            for node, p in now.items():
                visits[node] += p
                for position, q in self.deals[node].items():
                    dealt[position] += p * q
            now = dict(dealt)
        return visits

    def _believe(self) -> dict[Any, float]:
        belief: defaultdict[Any, float] = defaultdict(float)
        for position in self._layers[0]:
            belief[position] = self.visits[position]
        for layer in self._layers[:-1]:
            for position in layer:
                for then, p in self._steps(position, own_counts=False):
                    if isinstance(then, Position):
                        belief[then] += belief[position] * p
        return belief


def _floats(law: dict[Any, Any]) -> dict[Any, float]:
    return {key: float(p) for key, p in law.items()}
