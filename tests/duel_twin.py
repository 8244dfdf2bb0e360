"""The real game for two players, slow and exact, to check the graph of full states.

A position is what one player knows (a `reference.State`) and the other's hand; a node between two measures is both kept
hands and both HP. Every probability is a fraction; the rules of a breath are in ``bench/reference.py``.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from bench import reference
from bench.reference import Counts, State


class Position(NamedTuple):
    """A position during a measure."""

    view: State
    enemy: Counts


class Node(NamedTuple):
    """Kept hands and HP after a measure."""

    own: Counts
    enemy: Counts
    own_hp: int
    enemy_hp: int


Successor = Position | Node | str


def enemy_view(position: Position) -> State:
    return reference.mirror(position.view, position.enemy)


def deck_of(rules: Any, position: Position) -> Counts:
    return reference.minus(reference.unseen_cards(rules, position.view), position.enemy)


def after(rules: Any, position: Position, own: reference.Play, enemy: reference.Play) -> Successor:
    """The position or node after two plays, or the end of the game."""
    view = reference.play(rules, position.view, own, enemy)
    if isinstance(view, str):
        return view
    hand = reference.minus(position.enemy, reference.counts_of([enemy.picked]))
    if view.breath > rules.breaths:
        return Node(view.hand, hand, view.own_hp, view.enemy_hp)
    return Position(view, hand)


def breath(rules: Any, position: Position, own: int, enemy: int) -> dict[Successor, Fraction]:
    """The distribution over successors of both actions."""
    law: defaultdict[Successor, Fraction] = defaultdict(Fraction)
    for own_move, enemy_move, p in reference.clashes(own, enemy, deck_of(rules, position)):
        law[after(rules, position, own_move, enemy_move)] += p
    return dict(law)


def deal(rules: Any, node: Node) -> dict[Position, Fraction]:
    """The distribution over positions after all cards but the kept ones are shuffled and dealt."""
    law: defaultdict[Position, Fraction] = defaultdict(Fraction)
    pool = reference.minus(reference.minus(tuple(rules.copies), node.own), node.enemy)
    for own, p_own in reference.hands(pool, rules.hand_size - sum(node.own)).items():
        rest = reference.minus(pool, own)
        for enemy, p_enemy in reference.hands(rest, rules.hand_size - sum(node.enemy)).items():
            for shown, p_shown in reference.hands(reference.minus(rest, enemy), rules.reveal_size).items():
                hand = reference.plus(node.own, own)
                view = State(1, hand, node.own_hp, 0, 0, node.enemy_hp, rules.hand_size, 0, 0, shown)
                law[Position(view, reference.plus(node.enemy, enemy))] += p_own * p_enemy * p_shown
    return dict(law)


def begin(rules: Any) -> Node:
    return Node((0,) * 5, (0,) * 5, rules.hp, rules.hp)


def layers(rules: Any, nodes: set[Node]) -> list[set[Position]]:
    """Positions of a measure after given nodes, by breath."""
    found = [{position for node in nodes for position in deal(rules, node)}]
    while len(found) < rules.breaths:
        found.append({then for position in found[-1] for then in _afters(rules, position) if type(then) is Position})
    return found


def _afters(rules: Any, position: Position) -> Iterator[Successor]:
    for own in reference.legal_actions(rules, position.view):
        for enemy in reference.legal_actions(rules, enemy_view(position)):
            yield from breath(rules, position, own, enemy)


def everything(rules: Any) -> tuple[list[set[Position]], set[Node]]:
    """All reachable positions by breath, and all reachable nodes."""
    nodes = {begin(rules)}
    while True:
        positions = layers(rules, nodes)
        found = {then for position in positions[-1] for then in _afters(rules, position) if type(then) is Node}
        if found <= nodes:
            return positions, found
        nodes |= found
