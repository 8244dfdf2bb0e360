"""Reconstruction of the information states in which recorded choices were made.

A record contains only the view, which includes the discard pile but not which side played which card. For a policy that
remembers more, the information state of a choice is reconstructed from the earlier breaths of the measure. The player's
pick is recorded, and so is the enemy's pick unless the enemy's choice is missing; the cards drawn for feints are not
recorded. Therefore, all possibilities are tried, and those that lead to the cards and statuses of the next record are
kept. In most cases, a single state is left. If several states are left, they are weighted by the probability that
the deals and the enemy lead to them. If no state is left or a breath is missing, all states with the same view are used
and weighted in the same way.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from punish_fast.duel.breath import picks_of, play_breaths
from punish_fast.punish._clash import NOTHING
from punish_fast.punish._codes import ENEMY_CARD, OWN_DRAW, OWN_PICK, play_status
from punish_fast.punish.codes import ACTIONS, DISCARD, ENEMY_HAND, HAND, STATUS, split_digits
from punish_fast.punish.states._space import ABSENT
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import belongs_to
from punish_fast.records.games import Choices
from punish_fast.study.selfplay import SelfPlay

# Indices of the player's and the enemy's statuses among the digits of a state.
_OWN, _ENEMY = [6, 7, 8], [9, 11, 12]
# Cards that a player remembers, as one digit for each kind of card.
Cards = tuple[int, ...]


class Reconstruction(NamedTuple):
    """Possible information states of recorded choices."""

    choice: np.ndarray  # int64 ``[m]``, index of the choice, ascending
    state: np.ndarray  # int64 ``[m]``, row of the state in the policy's information model
    weight: np.ndarray  # float64 ``[m]``, probability of the state; sums to 1 for each choice
    n_exact: int  # number of choices with a single possible state


def reconstruct(play: SelfPlay, view: StateSpace, row: np.ndarray, choices: Choices) -> Reconstruction:
    """Reconstruct the information states of recorded choices.

    Args:
        play: Self-play of the policy.
        view: State space of the view, under the same rules.
        row: int64 ``[n]``, row of each choice's state in ``view``, or -1 to skip the choice.
        choices: The recorded choices.
    """
    space = play.graph.space
    known = np.flatnonzero(row >= 0)
    if space.is_view:
        return Reconstruction(known, row[known], np.ones(len(known)), len(known))
    mass: np.ndarray = np.add.reduceat(play.beliefs, play.graph.full.ptr[:-1])
    candidates = _Reconstructor(space).states_of(choices)
    match = belongs_to(space, view)
    order = np.argsort(match, kind="stable")
    first = np.searchsorted(match[order], np.arange(view.n_states + 1))
    # Begin with empty arrays, since `np.concatenate` needs at least one array.
    empty = np.zeros(0, dtype=np.int64)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [(empty, empty, np.zeros(0))]
    n_exact = 0
    for choice in known:
        found = [state for state in candidates[choice] if match[state] == row[choice]]
        states = np.array(found or order[first[row[choice]] : first[row[choice] + 1]], dtype=np.int64)
        n_exact += len(states) == 1
        weight = mass[states] if mass[states].sum() > 0 else np.ones(len(states))
        parts.append((np.full(len(states), choice), states, weight / weight.sum()))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Reconstruction(columns[0], columns[1], columns[2], n_exact)


class _Reconstructor:
    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._places = space.places
        self._weight = self._places.weight.tolist()

    def states_of(self, choices: Choices) -> list[list[int]]:
        """Return, for each choice, the states that agree with the earlier breaths; none if a breath is missing."""
        digits = split_digits(choices.decimal).astype(np.int64)
        found: list[list[int]] = []
        for own, enemy in _sides(choices):
            known: set[Cards] = set()
            for k, number in enumerate(own):
                if digits[number, 0] == 1:
                    known = self._begin(digits[number])
                elif k == 0 or digits[number, 0] != digits[own[k - 1], 0] + 1:
                    known = set()
                else:
                    known = self._after(known, own[k - 1], enemy[k - 1] if k <= len(enemy) else None, number, choices)
                found.append(self._rows(known, digits[number]))
        return found

    def _begin(self, seen: np.ndarray) -> set[Cards]:
        hand, revealed = seen[HAND], seen[DISCARD]
        if max(hand.max(), revealed.max()) >= len(self._places.dealt):
            return set()
        digits = tuple(self._places.dealt[hand, revealed].tolist())
        return set() if -1 in digits else {digits}

    def _after(self, known: set[Cards], before: int, other: int | None, after: int, choices: Choices) -> set[Cards]:
        """Return the remembered cards that are possible in the next breath.

        Args:
            known: Remembered cards that are possible in this breath.
            before: Index of the player's choice in this breath.
            other: Index of the enemy's choice in this breath; None if it is not recorded.
            after: Index of the player's choice in the next breath.
            choices: The recorded choices.
        """
        seen, then = split_digits(choices.decimal[[before, after]]).astype(np.int64)
        action = int(choices.action[before])
        if self._status(seen) is None or self._status(then) is None or action not in ACTIONS:
            return set()
        enemies: tuple[int, ...] = ACTIONS
        if other is not None and int(choices.action[other]) in ACTIONS and self._are_one(before, other, choices):
            enemies = (int(choices.action[other]),)
        plays = [(enemy, *draws) for enemy in enemies for draws in product(_draws(action), _draws(enemy))]
        actions = np.array([(action, enemy) for enemy, *_ in plays])
        played = play_breaths(self._space.rules, seen, actions, np.array([draws for _, *draws in plays]))
        leads_there = (played.result == 0) & (played.digits[:, STATUS] == then[STATUS]).all(axis=1)
        found = set()
        for k in np.flatnonzero(leads_there):
            (own_pick, enemy_pick), (_, own_draw, enemy_draw) = picks_of(actions[k]), plays[k]
            moves = (OWN_PICK, own_pick), (OWN_DRAW, own_draw), (ENEMY_CARD, enemy_pick), (ENEMY_CARD, enemy_draw)
            found |= {moved for cards in known if (moved := _moved(self._places.move, cards, moves)) is not None}
        return {cards for cards in found if self._agrees(cards, then)}

    @staticmethod
    def _are_one(own: int, other: int, choices: Choices) -> bool:
        """Return True if two records show the same breath from both sides."""
        seen, there = split_digits(choices.decimal[[own, other]]).astype(np.int64)
        return bool(
            seen[0] == there[0]
            and seen[_OWN].tolist() == there[_ENEMY].tolist()
            and seen[_ENEMY].tolist() == there[_OWN].tolist()
            and seen[ENEMY_HAND] == there[HAND].sum()
            and there[ENEMY_HAND] == seen[HAND].sum()
            and np.array_equal(seen[DISCARD], there[DISCARD])
        )

    def _agrees(self, cards: Cards, seen: np.ndarray) -> bool:
        places, digits = self._places, list(cards)
        return np.array_equal(places.hand[digits], seen[HAND]) and np.array_equal(places.discard[digits], seen[DISCARD])

    def _status(self, seen: np.ndarray) -> int | None:
        """Return the code of the statuses in a record, or None if they are impossible."""
        own_hp, enemy_hp, *rest = seen[STATUS].tolist()
        layout = self._space.layout
        limits = (1, layout.feints, 1, layout.feints)
        if not (1 <= own_hp <= layout.hp and 1 <= enemy_hp <= layout.hp):
            return None
        if any(value > limit for value, limit in zip(rest, limits, strict=True)):
            return None
        return int(play_status(layout, own_hp, enemy_hp, *rest))

    def _rows(self, known: set[Cards], seen: np.ndarray) -> list[int]:
        status = self._status(seen)
        if status is None or not known or seen[0] > self._space.rules.breaths:
            return []
        layer = self._space.layers[int(seen[0]) - 1]
        codes = np.array(
            sorted(sum(w * d for w, d in zip(self._weight, cards, strict=True)) for cards in known), dtype=np.int64
        )
        blocks = np.minimum(np.searchsorted(layer.cards, codes), len(layer.cards) - 1)
        blocks = blocks[layer.cards[blocks] == codes]
        return [int(layer.first[b]) + int(layer.rank[b, status]) for b in blocks if layer.rank[b, status] != ABSENT]


def _sides(choices: Choices) -> Iterator[tuple[list[int], list[int]]]:
    """For each side of each game, yield the indices of its choices and of its opponent's choices, both in order."""
    is_new = np.ones(len(choices), dtype=np.bool_)
    is_new[1:] = (np.diff(choices.game) != 0) | (choices.won[1:] != choices.won[:-1])
    begins = np.flatnonzero(is_new).tolist()
    sides = {
        (int(choices.game[begin]), bool(choices.won[begin])): list(range(begin, end))
        for begin, end in zip(begins, [*begins[1:], len(choices)], strict=True)
    }
    for (game, won), side in sides.items():
        yield side, sides.get((game, not won), [])


def _draws(action: int) -> Sequence[int]:
    return range(NOTHING) if action % 10 else (NOTHING,)


def _moved(move: np.ndarray, cards: Cards, moves: tuple[tuple[int, int], ...]) -> Cards | None:
    """Return the digits of the remembered cards after ``moves``, or None if a move is impossible."""
    digits = list(cards)
    for how, kind in moves:
        if kind < NOTHING:
            digits[kind] = int(move[how, digits[kind]])
            if digits[kind] < 0:
                return None
    return tuple(digits)
