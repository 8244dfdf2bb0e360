"""The real game for two players, slow and exact, for checking the graph of full states.

A position is what one player knows (a `twin.TwinState`) together with the other's hand; between two measures it is the
two kept hands and both HP. Every probability is a fraction, and the rules of a breath are those of ``twin.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import twin
from twin import LOSS, WIN, Pile, TwinState

Policy = Callable[[TwinState], dict[int, Fraction]]


class Position(NamedTuple):
    """A position during a measure."""

    view: TwinState
    enemy: Pile


class Node(NamedTuple):
    """What is left after a measure."""

    own: Pile
    enemy: Pile
    own_hp: int
    enemy_hp: int


Successor = Position | Node | str


def enemy_view(position: Position) -> TwinState:
    return twin.mirror(position.view, position.enemy)


def deck_of(rules: Any, position: Position) -> Pile:
    return twin._minus(twin._unseen(rules, position.view), position.enemy)


def after(rules: Any, position: Position, own: twin._Move, enemy: twin._Move) -> Successor:
    """What follows two moves."""
    view = twin._after(rules, position.view, own, enemy)
    if isinstance(view, str):
        return view
    hand = twin._minus(position.enemy, twin._pile([enemy.picked]))
    if view.breath > rules.breaths:
        return Node(view.hand, hand, view.own_hp, view.enemy_hp)
    return Position(view, hand)


def breath(rules: Any, position: Position, own: int, enemy: int) -> dict[Successor, Fraction]:
    """The law of what follows when both players have chosen."""
    law: defaultdict[Successor, Fraction] = defaultdict(Fraction)
    for own_move, enemy_move, p in twin._moves(deck_of(rules, position), own, enemy):
        law[after(rules, position, own_move, enemy_move)] += p
    return dict(law)


def deal(rules: Any, node: Node) -> dict[Position, Fraction]:
    """The law of the position that follows when all cards but the kept ones are shuffled and dealt."""
    law: defaultdict[Position, Fraction] = defaultdict(Fraction)
    pool = twin._minus(twin._minus(tuple(rules.copies), node.own), node.enemy)
    for own, p_own in twin._subsets(pool, rules.hand_size - sum(node.own)).items():
        rest = twin._minus(pool, own)
        for enemy, p_enemy in twin._subsets(rest, rules.hand_size - sum(node.enemy)).items():
            for shown, p_shown in twin._subsets(twin._minus(rest, enemy), rules.reveal_size).items():
                hand = twin._plus(node.own, own)
                view = TwinState(1, hand, node.own_hp, 0, 0, node.enemy_hp, rules.hand_size, 0, 0, shown)
                law[Position(view, twin._plus(node.enemy, enemy))] += p_own * p_enemy * p_shown
    return dict(law)


def begin(rules: Any) -> Node:
    return Node((0,) * 5, (0,) * 5, rules.hp, rules.hp)


def layers(rules: Any, nodes: set[Node]) -> list[set[Position]]:
    """Positions by breath that can follow nodes within a measure."""
    found = [{position for node in nodes for position in deal(rules, node)}]
    while len(found) < rules.breaths:
        found.append({then for position in found[-1] for then in _afters(rules, position) if type(then) is Position})
    return found


def _afters(rules: Any, position: Position) -> Iterator[Successor]:
    for own in twin.actions(rules, position.view):
        for enemy in twin.actions(rules, enemy_view(position)):
            yield from breath(rules, position, own, enemy)


def everything(rules: Any) -> tuple[list[set[Position]], set[Node]]:
    """All positions by breath, and all nodes, that a game can come to."""
    nodes = {begin(rules)}
    while True:
        positions = layers(rules, nodes)
        found = {then for position in positions[-1] for then in _afters(rules, position) if type(then) is Node}
        if found <= nodes:
            return positions, found
        nodes |= found


def duel(rules: Any, own: Policy, enemy: Policy) -> Fraction:
    """How likely the own policy wins, exactly.

    Within a measure, the chance to win is an affine function of those of the nodes; these solve linear equations.
    """
    positions, nodes = everything(rules)
    order = sorted(nodes)
    place = {node: k for k, node in enumerate(order)}
    size = len(order) + 1
    value: dict[Successor, list[Fraction]] = {
        LOSS: [Fraction(0)] * size,
        WIN: [Fraction(0)] * (size - 1) + [Fraction(1)],
    }
    for node in order:
        value[node] = [Fraction(int(k == place[node])) for k in range(size)]
    for layer in reversed(positions):
        for position in layer:
            value[position] = _mixed(value, _law(rules, position, own, enemy))
    # x = M x + c, written as (I - M) x = c.
    equations = []
    for node in order:
        row = _mixed(value, deal(rules, node))
        equations.append([Fraction(int(k == place[node])) - row[k] for k in range(size - 1)] + [row[-1]])
    solution = [*twin._eliminate(equations), Fraction(1)]
    opening = _mixed(value, deal(rules, begin(rules)))
    return sum((a * x for a, x in zip(opening, solution, strict=True)), Fraction(0))


def _law(rules: Any, position: Position, own: Policy, enemy: Policy) -> dict[Successor, Fraction]:
    law: defaultdict[Successor, Fraction] = defaultdict(Fraction)
    for own_action, p in own(position.view).items():
        for enemy_action, q in enemy(enemy_view(position)).items():
            for then, chance in breath(rules, position, own_action, enemy_action).items():
                law[then] += p * q * chance
    return dict(law)


def _mixed(value: dict[Any, list[Fraction]], law: dict[Any, Fraction]) -> list[Fraction]:
    columns = zip(*([p * x for x in value[then]] for then, p in law.items()), strict=True)
    return [sum(column, Fraction(0)) for column in columns]
