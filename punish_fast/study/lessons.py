"""What a policy teaches who plays it on both sides of the real game.

All numbers come from the exact graph of the game: what HP are worth before the cards are dealt, what a hand is worth
that a game begins with, what it is worth to keep a card over the redeal (``kept.py``), and how often to play what
(``frequencies.py``). Where people play otherwise is told by ``deviations.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punish_fast.duel.graph import Graph
from punish_fast.punish._codes import split_status
from punish_fast.punish.openings import Openings
from punish_fast.punish.space import opening_statuses
from punish_fast.study.frequencies import Habit, habits
from punish_fast.study.kept_cards import Kept, kept_cards
from punish_fast.study.observations import Sights, sights_of
from punish_fast.study.selfplay import SelfPlay


class Hands(NamedTuple):
    """The hands that a game can begin with.

    Attributes:
        hand: int64 ``[n, 5]``, copies of each card.
        p: float64 ``[n]``, how likely they are dealt.
        value: float64 ``[n]``, chances to win with them, whatever is revealed.
    """

    hand: np.ndarray
    p: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Lessons:
    """What a policy teaches.

    Attributes:
        length: Expected number of breaths of a game.
        dealt: Chances to win by own and enemy's HP, before the cards of a measure are dealt.
        during: Chances to win by own and enemy's HP, as games come to them after the first breath of a measure.
        openings: All deals of a hand and revealed cards that a game can begin with; rows are information states.
        value: float64 ``[n]``, chances to win with them.
        hands: The same by hands alone.
        kept: What kept cards are worth.
        habits: How often to play what.
    """

    length: float
    dealt: dict[tuple[int, int], float]
    during: dict[tuple[int, int], float]
    openings: Openings
    value: np.ndarray
    hands: Hands
    kept: Kept
    habits: list[Habit]


def lessons(play: SelfPlay) -> Lessons:
    """What a policy teaches that plays both sides."""
    sights = sights_of(play.graph.space)
    openings, value = _openings(play, sights)
    return Lessons(
        length=play.duel.length,
        dealt=hp_before_deals(play.graph, play.duel.v),
        during=_hp_during(play, sights),
        openings=openings,
        value=value,
        hands=_by_hands(openings, value),
        kept=kept_cards(play),
        habits=habits(play, sights),
    )


def hp_before_deals(graph: Graph, v: np.ndarray) -> dict[tuple[int, int], float]:
    """Chances to win by own and enemy's HP, before all cards are dealt anew and while nothing is spent.

    Args:
        graph: The game.
        v: float64 ``[n_full + n_nodes + 2, k]``, chances to win in the first column.
    """
    redeal, layer, layout = graph.redeal, graph.space.layers[0], graph.space.layout
    deals, p = redeal.deal[: redeal.ptr[1]], redeal.p[: redeal.ptr[1]]
    found = {}
    for status in reversed(opening_statuses(graph.space.rules, layout)):
        own, enemy = split_status(layout, status)[:2]
        numbers = redeal.first[deals] + int(layer.rank[0, status]) * redeal.stride[deals]
        found[int(own), int(enemy)] = float(p @ v[numbers, 0])
    return found


def _hp_during(play: SelfPlay, sights: Sights) -> dict[tuple[int, int], float]:
    hp = play.graph.space.rules.hp
    full_ptr = play.graph.full.ptr
    won = np.add.reduceat(play.visits * play.duel.v[: len(play.visits), 0], full_ptr[:-1])
    later = sights.breath > 1
    place = (sights.own_hp.astype(np.int64) - 1) * hp + sights.enemy_hp - 1
    seen = np.bincount(place[later], weights=play.seen[later], minlength=hp**2)
    wins = np.bincount(place[later], weights=won[later], minlength=hp**2)
    return {
        (own, enemy): float(wins[k] / seen[k])
        for own in range(hp, 0, -1)
        for enemy in range(hp, 0, -1)
        if seen[k := (own - 1) * hp + enemy - 1] > 0
    }


def _openings(play: SelfPlay, sights: Sights) -> tuple[Openings, np.ndarray]:
    """The beginnings of a game, and what they are worth against all hands that the enemy may have been dealt."""
    numbers, p = play.graph.opening
    row, place = np.unique(np.searchsorted(play.graph.full.ptr, numbers, side="right") - 1, return_inverse=True)
    share = np.bincount(place, weights=p)
    value = np.bincount(place, weights=p * play.duel.v[numbers, 0]) / share
    return Openings(row, sights.hand[row].astype(np.int64), sights.gone[row].astype(np.int64), share), value


def _by_hands(openings: Openings, value: np.ndarray) -> Hands:
    hand, place = np.unique(openings.hand, axis=0, return_inverse=True)
    place = place.ravel()
    p = np.bincount(place, weights=openings.p)
    return Hands(hand, p, np.bincount(place, weights=openings.p * value) / p)
