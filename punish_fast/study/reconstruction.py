"""Reconstruction of the information states of recorded choices.

A record contains the player's view. The view includes the discard pile, but not which side played each card. If the
policy remembers more, the information state of a choice is reconstructed from the earlier breaths of the measure. The
picks of both players are recorded, unless the enemy's choice is missing. The cards drawn for feints are not recorded.
Therefore, the reconstruction tries all possible cards, and keeps the states that agree with the next record. In most
cases, a single state remains. Several states are weighted by the probability that the deals and the enemy lead to them.
If no state remains or a breath is missing, all states with the same view are weighted in this way.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from punish_fast.duel.breath import picks_of, play_breaths
from punish_fast.punish._codes import ENEMY_CARD, OWN_DRAW, OWN_PICK
from punish_fast.punish.clash import NOTHING
from punish_fast.punish.codes import ACTIONS, BREATH, DISCARD, HAND, STATUS, indices_of, split_digits
from punish_fast.punish.states._space import ABSENT
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import belongs_to
from punish_fast.records.games import Choices
from punish_fast.records.validation import view_faults
from punish_fast.study.selfplay import SelfPlay

# Cards that a player remembers, encoded as one digit for each kind of card.
Cards = tuple[int, ...]


class Reconstruction(NamedTuple):
    """Possible information states of recorded choices."""

    choice: np.ndarray  # int64 ``[m]``, index of the choice, ascending
    state: np.ndarray  # int64 ``[m]``, index of the state in the policy's information model
    weight: np.ndarray  # float64 ``[m]``, probability of the state (sum 1 for each choice)
    n_exact: int  # number of choices with a single possible state


def reconstruct(play: SelfPlay, view: StateSpace, row: np.ndarray, choices: Choices) -> Reconstruction:
    """Reconstruct the information states of recorded choices.

    Args:
        play: Self-play of the policy.
        view: Memoryless state space, under the same rules.
        row: int64 ``[n]``, index of each choice's state in ``view``, or -1 to skip the choice.
        choices: Recorded choices.
    """
    space = play.graph.space
    if space.is_memoryless:
        return certain_states(row)
    mass: np.ndarray = np.add.reduceat(play.beliefs, play.graph.full.ptr[:-1])
    candidates = _Reconstructor(space, view, choices).states()
    match = belongs_to(space, view)
    order = np.argsort(match, kind="stable")
    first = np.searchsorted(match[order], np.arange(view.n_states + 1))
    # `np.concatenate` requires at least one array.
    empty = np.zeros(0, dtype=np.int64)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [(empty, empty, np.zeros(0))]
    n_exact = 0
    for choice in np.flatnonzero(row >= 0):
        states = np.array(candidates[choice] or order[first[row[choice]] : first[row[choice] + 1]], dtype=np.int64)
        n_exact += len(states) == 1
        weight = mass[states] if mass[states].sum() > 0 else np.ones(len(states))
        parts.append((np.full(len(states), choice), states, weight / weight.sum()))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Reconstruction(columns[0], columns[1], columns[2], n_exact)


def certain_states(row: np.ndarray) -> Reconstruction:
    """Return the reconstruction for known states. ``row`` is int64 ``[n]``, the state of each choice, or -1 to skip."""
    known = np.flatnonzero(row >= 0)
    return Reconstruction(known, row[known], np.ones(len(known)), len(known))


class _Reconstructor:
    def __init__(self, space: StateSpace, view: StateSpace, choices: Choices) -> None:
        self._space, self._view, self._choices = space, view, choices
        self._places = space.places
        self._digits = split_digits(choices.decimal).astype(np.int64)
        self._index = indices_of(view, choices.decimal)

    def states(self) -> list[list[int]]:
        """Return the states of each choice that agree with earlier breaths. Empty if a breath is missing."""
        breath = self._digits[:, BREATH]
        found: list[list[int]] = []
        for own, enemy in _sides(self._choices):
            known: set[Cards] = set()
            for k, number in enumerate(own):
                if self._index[number] >= 0 and breath[number] == 1:
                    hand, revealed = self._digits[number, HAND], self._digits[number, DISCARD]
                    known = {tuple(self._places.dealt[hand, revealed].tolist())}
                elif self._index[number] < 0 or k == 0 or breath[number] != breath[own[k - 1]] + 1:
                    known = set()
                else:
                    known = self._after(known, own[k - 1], enemy[k - 1] if k <= len(enemy) else None, number)
                found.append(self._rows(known, number))
        return found

    def _after(self, known: set[Cards], before: int, other: int | None, after: int) -> set[Cards]:
        """Return all possible sets of remembered cards in the next breath.

        Args:
            known: Possible sets of remembered cards in this breath.
            before: Index of the player's choice in this breath.
            other: Index of the enemy's choice in this breath, or None if not recorded.
            after: Index of the player's choice in the next breath.
        """
        seen, then, recorded = self._digits[before], self._digits[after], self._choices.action
        action = int(recorded[before])
        if not known or action not in ACTIONS:
            return set()
        enemies: tuple[int, ...] = ACTIONS
        if other is not None and int(recorded[other]) in ACTIONS and self._are_one(before, other):
            enemies = (int(recorded[other]),)
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

    def _are_one(self, own: int, other: int) -> bool:
        """Return True if two records show the same breath from both sides."""
        return not any(mask.any() for mask, _ in view_faults(self._view, self._digits[[own]], self._digits[[other]]))

    def _agrees(self, cards: Cards, seen: np.ndarray) -> bool:
        places, digits = self._places, list(cards)
        return np.array_equal(places.hand[digits], seen[HAND]) and np.array_equal(places.discard[digits], seen[DISCARD])

    def _rows(self, known: set[Cards], number: int) -> list[int]:
        """Return the states with remembered cards in ``known`` and with the statuses recorded for a choice."""
        breath, row = int(self._digits[number, BREATH]), self._index[number]
        if not known or breath > self._space.rules.breaths:
            return []
        layer, seen = self._space.layers[breath - 1], self._view.layers[breath - 1]
        block = np.searchsorted(seen.first, row, side="right") - 1
        status = seen.statuses[seen.kind[block], row - seen.first[block]]
        codes = np.sort(np.array(list(known)) @ self._places.weight)
        blocks = np.minimum(np.searchsorted(layer.cards, codes), len(layer.cards) - 1)
        blocks = blocks[layer.cards[blocks] == codes]
        ranks = layer.rank[layer.kind[blocks], status]
        return [int(row) for row in (layer.first[blocks] + ranks)[ranks != ABSENT]]


def _sides(choices: Choices) -> Iterator[tuple[list[int], list[int]]]:
    """For each side of each game, yield the indices of its choices and of its opponent's choices, in game order."""
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
    """Return the remembered cards after ``moves``, as digits, or None if a move is impossible."""
    digits = list(cards)
    for how, kind in moves:
        if kind < NOTHING:
            digits[kind] = int(move[how, digits[kind]])
            if digits[kind] < 0:
                return None
    return tuple(digits)
