"""Equilibria of one measure by linear programming, to check learned strategies.

Under perfect recall, a strategy is a realisation plan: the probability of making the choices of each sequence. With
the plans ``x`` and ``y`` of both seats, the win probability is bilinear, ``x A y``. Plans solve linear equations,
``E x = e`` and ``F y = f``: the choices in an information set share the weight of their sequence. By duality

    value = max f q   such that   F' q <= A' x,  E x = e,  x >= 0

(B. von Stengel: "Efficient computation of behavior strategies", Games and Economic Behavior 14, 1996). The game is
played under the rules of ``duel_twin.py``, from the deal to the end of the measure; the caller gives the values of
undecided games. A single legal action is no choice, and needs no memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import duel_twin
import numpy as np
from duel_twin import Node, Position
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack

from bench import reference

Key = tuple[Hashable, ...]
Policy = Callable[[Key], Mapping[int, float]]

# Values between measures have converged when they change by less.
_CHANGE = 1e-10
_MOST_SWEEPS = 200
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Seen(NamedTuple):
    """What was visible in a measure: revealed cards, and the cards of both players, breath by breath."""

    revealed: reference.Counts
    own: tuple[reference.Counts, ...] = ()
    enemy: tuple[reference.Counts, ...] = ()

    @property
    def mirrored(self) -> Seen:
        return Seen(self.revealed, self.enemy, self.own)

    def after(self, own: reference.Play, enemy: reference.Play) -> Seen:
        return Seen(self.revealed, (*self.own, reference.counts_of(own)), (*self.enemy, reference.counts_of(enemy)))


def key_of(model: str, view: reference.State, seen: Seen) -> Key:
    """The information state of a player under an information model."""
    if model == "view":
        return (view,)
    return view, seen.revealed, _together(seen.own), _together(seen.enemy)


def _together(piles: tuple[reference.Counts, ...]) -> reference.Counts:
    return tuple(sum(pile[kind] for pile in piles) for kind in range(5))


class Seat:
    """The sequences of a player; number 0 makes no choice.

    Attributes:
        sets: For each information set with a choice, its number, the sequence that leads there, and a sequence for
            each action.
    """

    def __init__(self) -> None:
        self.sets: dict[Key, tuple[int, int, dict[int, int]]] = {}
        self.n_sequences = 1

    def choose(self, key: Key, legal: list[int], before: int) -> dict[int, int]:
        """The sequences that extend one, by action."""
        if len(legal) == 1:
            return {legal[0]: before}
        if key not in self.sets:
            numbers = range(self.n_sequences, self.n_sequences + len(legal))
            self.sets[key] = (len(self.sets) + 1, before, dict(zip(legal, numbers, strict=True)))
            self.n_sequences += len(legal)
        _, parent, sequences = self.sets[key]
        if parent != before:
            raise ValueError(f"imperfect recall: two ways of one's own lead to {key}")
        return sequences

    def constraints(self) -> tuple[csr_array, np.ndarray]:
        """The equations of realisation plans."""
        entries = [(0, 0, 1.0)]
        for number, parent, sequences in self.sets.values():
            entries.append((number, parent, -1.0))
            entries += [(number, sequence, 1.0) for sequence in sequences.values()]
        row, column, data = zip(*entries, strict=True)
        shape = (len(self.sets) + 1, self.n_sequences)
        return coo_array((data, (row, column)), shape=shape).tocsr(), np.eye(1, shape[0])[0]

    def plan(self, policy: Policy) -> np.ndarray:
        """The realisation plan of a policy."""
        plan = np.zeros(self.n_sequences)
        plan[0] = 1.0
        # Earlier sets come first.
        for key, (_, parent, sequences) in self.sets.items():
            chances = policy(key)
            for action, sequence in sequences.items():
                plan[sequence] = plan[parent] * chances[action]
        return plan


class Measure:
    """A measure of a game as two seats and a matrix.

    Attributes:
        begin: The node it follows.
        own: The seat of the own side.
        enemy: The enemy's.
    """

    def __init__(self, rules: Any, begin: Node, model: str) -> None:
        """Play all ways through a measure that follows a node.

        Raises:
            ValueError: a player does not remember all own choices that matter.
        """
        self.begin = begin
        self.own, self.enemy = Seat(), Seat()
        self._ends: defaultdict[Node | str, dict[tuple[int, int], Fraction]] = defaultdict(dict)
        now = {(position, Seen(position.view.discard), 0, 0): p for position, p in duel_twin.deal(rules, begin).items()}
        while now:
            now = self._breath(rules, model, now)

    def _breath(self, rules: Any, model: str, now: dict[Any, Fraction]) -> dict[Any, Fraction]:
        then: defaultdict[Any, Fraction] = defaultdict(Fraction)
        for (position, seen, own_before, enemy_before), p in now.items():
            enemy_view = duel_twin.enemy_view(position)
            mine = self.own.choose(
                key_of(model, position.view, seen), reference.legal_actions(rules, position.view), own_before
            )
            theirs = self.enemy.choose(
                key_of(model, enemy_view, seen.mirrored), reference.legal_actions(rules, enemy_view), enemy_before
            )
            deck = duel_twin.deck_of(rules, position)
            for action, own in mine.items():
                for reaction, enemy in theirs.items():
                    for *moves, chance in reference.clashes(action, reaction, deck):
                        after = duel_twin.after(rules, position, *moves)
                        if isinstance(after, Position):
                            then[after, seen.after(*moves), own, enemy] += p * chance
                        else:
                            ends = self._ends[after]
                            ends[own, enemy] = ends.get((own, enemy), Fraction(0)) + p * chance
        return dict(then)

    @property
    def nodes(self) -> list[Node]:
        """Nodes that an undecided measure may lead to."""
        return [end for end in self._ends if isinstance(end, Node)]

    def payoffs(self, nodes: Mapping[Node, float]) -> csr_array:
        """Win probabilities by both sequences, given the values of the nodes after the measure."""
        worth = {reference.WIN: 1.0, reference.LOSS: 0.0, **nodes}
        shape = (self.own.n_sequences, self.enemy.n_sequences)
        total = csr_array(shape)
        for end, law in self._ends.items():
            row, column = zip(*law, strict=True)
            data = [worth[end] * float(p) for p in law.values()]
            total += coo_array((data, (row, column)), shape=shape).tocsr()
        return total

    def value(self, nodes: Mapping[Node, float]) -> float:
        """The win probability in equilibrium."""
        own, own_right = self.own.constraints()
        enemy, enemy_right = self.enemy.constraints()
        n_own = own.shape[1]
        found = linprog(
            np.concatenate([np.zeros(n_own), -enemy_right]),
            A_ub=hstack([-self.payoffs(nodes).T, enemy.T]).tocsr(),
            b_ub=np.zeros(enemy.shape[1]),
            A_eq=hstack([own, csr_array((own.shape[0], enemy.shape[0]))]).tocsr(),
            b_eq=own_right,
            bounds=[(0, None)] * n_own + [(None, None)] * enemy.shape[0],
            method="highs",
            options=_PRECISE,
        )
        assert found.success, found.message
        return -float(found.fun)

    def guaranteed(self, plan: np.ndarray, nodes: Mapping[Node, float]) -> float:
        """The win probability of an own plan against a best response."""
        enemy, right = self.enemy.constraints()
        wins = plan @ self.payoffs(nodes)
        least = linprog(wins, A_eq=enemy, b_eq=right, bounds=(0, None), method="highs", options=_PRECISE)
        assert least.success, least.message
        return float(least.fun)


class Game:
    """A game without kept cards, in which nothing before the last deal matters.

    Attributes:
        measures: The measure that begins with each pair of HP.
    """

    def __init__(self, rules: Any, model: str, own_hp: int, enemy_hp: int) -> None:
        """Play all ways through all measures.

        Raises:
            ValueError: a player has imperfect recall of own choices, or keeps a card.
        """
        self.measures: dict[Node, Measure] = {}
        waiting = [_bare(own_hp, enemy_hp), _bare(enemy_hp, own_hp)]
        while waiting:
            node = waiting.pop()
            if node not in self.measures:
                if sum(node.own) + sum(node.enemy) > 0:
                    raise ValueError(f"kept cards are not forgotten: {node}")
                self.measures[node] = Measure(rules, node, model)
                waiting += self.measures[node].nodes
        keys = [key for measure in self.measures.values() for key in measure.own.sets]
        if len(set(keys)) < len(keys):
            raise ValueError("imperfect recall: the HP that a measure began with are forgotten")

    def values(self) -> dict[tuple[int, int], float]:
        """The win probability in equilibrium from every pair of HP."""
        return self._fixed_point(lambda measure, worth: measure.value(worth))

    def guaranteed(self, policy: Policy) -> dict[tuple[int, int], float]:
        """The win probability of a policy against a best response, from every pair of HP."""
        plans = {node: measure.own.plan(policy) for node, measure in self.measures.items()}
        return self._fixed_point(lambda measure, worth: measure.guaranteed(plans[measure.begin], worth))

    def _fixed_point(self, value: Callable[[Measure, dict[Node, float]], float]) -> dict[tuple[int, int], float]:
        """The fixed point: values of a measure that are also those of the nodes after it."""
        worth = dict.fromkeys(self.measures, 0.5)
        for _ in range(_MOST_SWEEPS):
            after = {node: value(measure, worth) for node, measure in self.measures.items()}
            change = max(abs(after[node] - worth[node]) for node in worth)
            worth = after
            if change < _CHANGE or not any(measure.nodes for measure in self.measures.values()):
                return {(node.own_hp, node.enemy_hp): value for node, value in worth.items()}
        raise ArithmeticError(f"values still change by {change} after {_MOST_SWEEPS} measures")


def _bare(own_hp: int, enemy_hp: int) -> Node:
    return Node((0,) * 5, (0,) * 5, own_hp, enemy_hp)
