"""A measure as an extensive game in Gambit's format, for OpenSpiel and Gambit.

The tree is that of ``sequence_form.py`` without merging equal histories: under the rules of ``duel_twin.py``, from the
deal to the end of a measure that decides the game. In a breath the own side chooses first, unseen by the enemy; a
single legal action is no choice. A win pays 1 and a loss -1::

    EFG 2 R "title" { "own" "enemy" } ""
    c "" number "" { "outcome" chance ... } 0          a chance node
    p "" player set "set" { "action" ... } 0           a choice of a player in an information set
    t "" number "" { 1 -1 }                            an end

The subtrees of a node follow it in the order of its branches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import duel_twin
from duel_twin import Node, Position
from sequence_form import Key, Seen, key_of

from bench import reference

_PAYS = {reference.WIN: 1, reference.LOSS: -1}
Branches = Sequence[Callable[[], Iterator[str]]]


class Point(NamedTuple):
    """A position and what was visible on the way there."""

    position: Position
    seen: Seen


class ExtensiveGame:
    """A game decided in its first measure.

    Attributes:
        sets: The information sets of both players, each with its number, from 1 on.
        text: The game in Gambit's format.
    """

    def __init__(self, rules: Any, model: str, own_hp: int, enemy_hp: int) -> None:
        """Write the tree of the measure.

        Raises:
            ValueError: the measure may leave the game undecided.
        """
        self._rules, self._model = rules, model
        self.sets: tuple[dict[Key, int], dict[Key, int]] = ({}, {})
        self._n_chances = self._n_ends = 0
        deals = duel_twin.deal(rules, Node((0,) * 5, (0,) * 5, own_hp, enemy_hp))
        begin = [(Point(position, Seen(position.view.discard)), p) for position, p in deals.items()]
        lines = ['EFG 2 R "a measure of Punish" { "own" "enemy" } ""']
        lines += self._chance([p for _, p in begin], [self._later(self._own, point) for point, _ in begin])
        self.text = "\n".join(lines) + "\n"

    @staticmethod
    def _later(tree: Callable[..., Iterator[str]], *arguments: Any) -> Callable[[], Iterator[str]]:
        return lambda: tree(*arguments)

    def _chance(self, chances: Sequence[Fraction], behind: Branches) -> Iterator[str]:
        if len(chances) > 1:
            self._n_chances += 1
            branches = " ".join(f'"{k}" {float(p):.17g}' for k, p in enumerate(chances))
            yield f'c "" {self._n_chances} "" {{ {branches} }} 0'
        for branch in behind:
            yield from branch()

    def _choice(self, player: int, key: Key, actions: Sequence[int], behind: Branches) -> Iterator[str]:
        if len(actions) > 1:
            numbers = self.sets[player - 1]
            number = numbers.setdefault(key, len(numbers) + 1)
            branches = " ".join(f'"{action}"' for action in actions)
            yield f'p "" {player} {number} "{player} {number}" {{ {branches} }} 0'
        for branch in behind:
            yield from branch()

    def _own(self, point: Point) -> Iterator[str]:
        view = point.position.view
        actions = reference.legal_actions(self._rules, view)
        behind = [self._later(self._enemy, point, action) for action in actions]
        return self._choice(1, key_of(self._model, view, point.seen), actions, behind)

    def _enemy(self, point: Point, own: int) -> Iterator[str]:
        view = duel_twin.enemy_view(point.position)
        actions = reference.legal_actions(self._rules, view)
        behind = [self._later(self._clash, point, own, action) for action in actions]
        return self._choice(2, key_of(self._model, view, point.seen.mirrored), actions, behind)

    def _clash(self, point: Point, own: int, enemy: int) -> Iterator[str]:
        moves = list(reference.clashes(own, enemy, duel_twin.deck_of(self._rules, point.position)))
        return self._chance([p for *_, p in moves], [self._later(self._after, point, *pair) for *pair, _ in moves])

    def _after(self, point: Point, own: reference.Play, enemy: reference.Play) -> Iterator[str]:
        after = duel_twin.after(self._rules, point.position, own, enemy)
        if isinstance(after, Node):
            raise ValueError(f"the measure does not decide the game: it may leave {after}")
        if isinstance(after, Position):
            yield from self._own(Point(after, point.seen.after(own, enemy)))
            return
        self._n_ends += 1
        pays = _PAYS[after]
        yield f't "" {self._n_ends} "" {{ {pays} {-pays} }}'
