"""Win probability of the best opponent with perfect recall, slow and exact, to check bounds on exploitability.

The opponent knows a policy and remembers every card that it has seen since the first deal. The module enumerates its
observations in the exact model of ``duel_twin.py`` and updates a *belief*: a weight for every position, or between two
measures for every node, that agrees with the observations. All weights are integers, because the policy's
probabilities, the draws and the deals have common denominators. A game can last any number of measures. If it is cut
off after ``n`` measures, two bounds take its place: for an upper bound, the enemy's kept hand is shown before every
later deal, and for a lower bound, the opponent guesses this hand and counts all other hands as losses. Both bounds are
exact fractions.
"""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import gcd, lcm
from typing import Any

import duel_twin
from exact import strategy_of

from bench import reference
from punish_fast.punish.states.space import StateSpace

Belief = tuple[tuple[int, int], ...]  # indices of positions or nodes, ascending, and their weights
WON = -1
ONE = 2**60  # values at the cut are multiples of 1 / ONE, rounded outwards


def denominator(probabilities: Iterable[Fraction]) -> int:
    return lcm(*{p.denominator for p in probabilities})


def normalized(weights: dict[int, int]) -> tuple[int, Belief]:
    """The greatest common divisor of some weights, and the belief without this factor."""
    factor = gcd(*weights.values())
    return factor, tuple(sorted((index, weight // factor) for index, weight in weights.items()))


class Laws:
    """Deals and breaths of a game. Positions and nodes have indices, and probabilities are integers."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self.begin = self.start()
        self.positions, nodes = self.everything()
        index: dict[Any, int] = {}
        for then in (*self.positions, self.begin, *(nodes - {self.begin})):
            index[then] = len(index)
        self.index = index
        index[reference.WIN] = WON
        deals = {index[node]: self.deal(node) for node in nodes | {self.begin}}
        self.per_deal = denominator(p for deal in deals.values() for p in deal.values())
        self.deals = {
            node: [(self.seat(position).view, index[position], int(p * self.per_deal)) for position, p in deal.items()]
            for node, deal in deals.items()
        }
        clashes = [list(self.clashes(position)) for position in self.positions]
        self.per_draw = denominator(p for each in clashes for *_, p in each)
        # For each position and action of the player: enemy's action, observation, successor and weight.
        self.breaths: list[dict[int, list[tuple[int, Any, int, int]]]] = []
        for each in clashes:
            by_action = defaultdict(list)
            for own, other, seen, then, p in each:
                if then != reference.LOSS:
                    by_action[own].append((other, seen, index[then], int(p * self.per_draw)))
            self.breaths.append(by_action)
        self.actions = [reference.legal_actions(rules, self.seat(position).view) for position in self.positions]

    def start(self) -> Any:
        return duel_twin.begin(self.rules)

    def everything(self) -> tuple[list[Any], set[Any]]:
        """All positions in the order of the graph, and all nodes."""
        layers, nodes = duel_twin.everything(self.rules)
        return [position for layer in layers for position in layer], nodes

    def deal(self, node: Any) -> dict[Any, Fraction]:
        return duel_twin.deal(self.rules, node)

    def seat(self, position: Any) -> duel_twin.Position:
        return position

    def after(self, position: Any, own: reference.Play, enemy: reference.Play) -> Any:
        return duel_twin.after(self.rules, position, own, enemy)

    def plays(self, space: StateSpace, policy: Any) -> list[dict[int, Fraction]]:
        """Probabilities of the enemy's actions in each position."""
        plays = strategy_of(space, policy)
        return [plays[duel_twin.enemy_view(position)] for position in self.positions]

    def clashes(self, position: Any) -> Any:
        seat = self.seat(position)
        deck = duel_twin.deck_of(self.rules, seat)
        for own in reference.legal_actions(self.rules, seat.view):
            for other in reference.legal_actions(self.rules, duel_twin.enemy_view(seat)):
                for own_play, enemy_play, p in reference.clashes(own, other, deck):
                    yield own, other, (own_play, enemy_play), self.after(position, own_play, enemy_play), p


class PublicLaws(Laws):
    """Laws for policies that depend on the public state: positions and nodes are pairs that end with this state.

    A public state consists of the counts of the cards left and the sizes of the player's and the enemy's kept hand.
    """

    def start(self) -> Any:
        return duel_twin.begin(self.rules), ()

    def everything(self) -> tuple[list[Any], set[Any]]:
        found, waiting = {self.start()}, [self.start()]
        while waiting:
            then = waiting.pop()
            is_node = isinstance(then[0], duel_twin.Node)
            nexts = self.deal(then) if is_node else {after for *_, after, _ in self.clashes(then)}
            new = {after for after in nexts if not isinstance(after, str)} - found
            found |= new
            waiting += new
        nodes = {then for then in found if isinstance(then[0], duel_twin.Node)}
        return list(found - nodes), nodes - {self.start()}

    def deal(self, node: Any) -> dict[Any, Fraction]:
        return {(position, node[1]): p for position, p in duel_twin.deal(self.rules, node[0]).items()}

    def seat(self, position: Any) -> duel_twin.Position:
        found: duel_twin.Position = position[0]
        return found

    def after(self, position: Any, own: reference.Play, enemy: reference.Play) -> Any:
        then = duel_twin.after(self.rules, position[0], own, enemy)
        if isinstance(then, str):
            return then
        return then, public_after(self.rules, position[0], own, enemy) if isinstance(
            then, duel_twin.Node
        ) else position[1]

    def plays(self, space: StateSpace, policy: Any) -> list[dict[int, Fraction]]:
        rows = [tuple(row) for row in policy.states.rows.tolist()]
        by_public = {row: strategy_of(space, policy[k]) for k, row in enumerate([(), *rows])}
        return [
            by_public.get((*public[:-2], *public[:-3:-1]), by_public[()])[duel_twin.enemy_view(position)]
            for position, public in self.positions
        ]


def public_after(
    rules: Any, position: duel_twin.Position, own: reference.Play, enemy: reference.Play
) -> tuple[int, ...]:
    """The public state after the last breath of a measure."""
    view = reference.play(rules, position.view, own, enemy)
    return (*reference.minus(tuple(rules.copies), view.discard), sum(view.hand), view.enemy_hand)


laws_of = cache(Laws)


class PerfectRecall:
    """Exact bounds on the win probability of the best opponent with perfect recall of a policy."""

    def __init__(self, space: StateSpace, policy: Any, laws: Laws | None = None) -> None:
        self.laws = laws or laws_of(space.rules)
        mine = self.laws.plays(space, policy)
        shares = [{action: p / sum(play.values()) for action, p in play.items()} for play in mine]
        per_action = denominator(p for play in shares for p in play.values())
        self._plays = [{action: int(p * per_action) for action, p in play.items()} for play in shares]
        self._per_breath = per_action * self.laws.per_draw
        self._per_measure = self.laws.per_deal * self._per_breath**space.rules.breaths
        self._known: dict[tuple[int, Belief], tuple[int, int]] = {}
        self._shown = dict.fromkeys(self.laws.deals, (0, ONE))
        change = ONE
        while change > ONE >> 12:
            shown = {node: self._measure(node) for node in self._shown}
            change = max(abs(x - y) for node in shown for x, y in zip(shown[node], self._shown[node], strict=True))
            self._shown = shown
        self._known.clear()

    def _measure(self, node: int) -> tuple[int, int]:
        """Bounds times `ONE` at a known node, from those at the nodes after one measure."""
        self._known.clear()
        low, high = self._deal(1, ((node, 1),))
        return low // self._per_measure, -(-high // self._per_measure)

    def bounds(self, n_measures: int, belief: dict[Any, Fraction] | None = None) -> tuple[Fraction, Fraction]:
        """Lower and upper bound if a game is cut off after ``n_measures``, for a belief about the node before them."""
        belief = belief or {self.laws.begin: Fraction(1)}
        per_node = denominator(belief.values())
        weights = {self.laws.index[node]: int(p * per_node) for node, p in belief.items()}
        low, high = self._deal(n_measures, tuple(sorted(weights.items())))
        scale = ONE * per_node * self._per_measure**n_measures
        return Fraction(low, scale), Fraction(high, scale)

    def _deal(self, left: int, belief: Belief) -> tuple[int, int]:
        """Bounds times total weight, `ONE` and ``self._per_measure**left``, with ``left`` measures until the cut."""
        if left == 0:
            known = [(weight * self._shown[node][0], weight * self._shown[node][1]) for node, weight in belief]
            return max(low for low, _ in known), sum(high for _, high in known)
        if (left, belief) not in self._known:
            dealt: defaultdict[Any, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
            for node, weight in belief:
                for view, position, p in self.laws.deals[node]:
                    dealt[view][position] += weight * p
            self._known[left, belief] = self._total(left, 1, dealt)
        return self._known[left, belief]

    def _breath(self, left: int, number: int, belief: Belief) -> tuple[int, int]:
        """The same bounds before breath ``number`` of a measure: those of the best actions."""
        if (left, belief) not in self._known:
            values = [self._act(left, number, belief, own) for own in self.laws.actions[belief[0][0]]]
            self._known[left, belief] = max(low for low, _ in values), max(high for _, high in values)
        return self._known[left, belief]

    def _act(self, left: int, number: int, belief: Belief, own: int) -> tuple[int, int]:
        seen: defaultdict[Any, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
        won = 0
        for position, weight in belief:
            play = self._plays[position]
            for other, what, then, p in self.laws.breaths[position][own]:
                share = weight * p * play.get(other, 0)
                if then == WON:
                    won += share
                elif share:
                    seen[what][then] += share
        breaths = self.laws.rules.breaths
        won *= ONE * self._per_breath ** (breaths - number) * self._per_measure ** (left - 1)
        low, high = self._total(left, number + 1, seen)
        return won + low, won + high

    def _total(self, left: int, number: int, beliefs: dict[Any, defaultdict[int, int]]) -> tuple[int, int]:
        """The sum of the bounds of beliefs, before breath ``number`` or between two measures."""
        low = high = 0
        for weights in beliefs.values():
            factor, belief = normalized(weights)
            is_over = number > self.laws.rules.breaths
            values = self._deal(left - 1, belief) if is_over else self._breath(left, number, belief)
            low, high = low + factor * values[0], high + factor * values[1]
        return low, high
