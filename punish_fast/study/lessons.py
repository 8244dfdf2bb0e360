"""Lessons from a policy that plays both sides of the two-player game, and key figures of the game.

All numbers are computed exactly from the graph of the game: win probabilities by HP before a deal and after the first
breath, values of opening hands, gains from keeping cards (``kept_cards.py``), and frequencies of plays
(``frequencies.py``). A separate module compares recorded games with the policy (``deviations.py``).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.evaluation import outcome_distribution
from punish_fast.duel.graph import GameGraph
from punish_fast.punish._codes import split_status
from punish_fast.punish.rules import CARDS
from punish_fast.punish.states.openings import Openings, worth_of_cards
from punish_fast.study.frequencies import PLAYS, SituationFrequencies, frequencies
from punish_fast.study.kept_cards import Kept, kept_cards
from punish_fast.study.observations import Observations, observe
from punish_fast.study.selfplay import SelfPlay, self_play

# Function that returns a context manager for a stage, given its name.
Stage = Callable[[str], AbstractContextManager[object]]

# A study ignores the visits of games that last longer than all but this share of the games.
_NEGLIGIBLE = 1e-4


class Hands(NamedTuple):
    """Opening hands, their probabilities and their values."""

    hand: np.ndarray  # int64 ``[n, 5]``, copies of each card
    p: np.ndarray  # float64 ``[n]``, probability of each hand
    value: np.ndarray  # float64 ``[n]``, win probability, averaged over the revealed cards


@dataclass(frozen=True)
class Lessons:
    """Lessons from a policy that plays both sides."""

    length: float  # expected length of a game in breaths
    dealt: dict[tuple[int, int], float]  # win probability by own and enemy HP before a deal to empty hands
    # Win probability by own and enemy HP, averaged over all visits to states after the first breath of a measure.
    during: dict[tuple[int, int], float]
    openings: Openings  # all possible opening hands and revealed cards
    value: np.ndarray  # float64 ``[n]``, win probability of each opening
    hands: Hands  # win probabilities of hands, averaged over the revealed cards
    kept: Kept
    frequencies: list[SituationFrequencies]


def lessons(play: SelfPlay) -> Lessons:
    """Compute the lessons from self-play."""
    observed = observe(play.graph.space)
    openings, value = _openings(play, observed)
    return Lessons(
        length=play.duel.length,
        dealt=hp_before_deals(play.graph, play.duel.v),
        during=_hp_during(play, observed),
        openings=openings,
        value=value,
        hands=by_hands(openings, value),
        kept=kept_cards(play),
        frequencies=frequencies(play, observed),
    )


def hp_before_deals(graph: GameGraph, v: np.ndarray) -> dict[tuple[int, int], float]:
    """Return the win probabilities just before a deal to empty hands, by own and enemy HP.

    Args:
        graph: The game.
        v: float64 ``[n_full + n_nodes + 2, k]``, win probabilities in the first column.
    """
    redeal, layer, layout = graph.redeal, graph.space.layers[0], graph.space.layout
    deals, p = redeal.deal[: redeal.ptr[1]], redeal.p[: redeal.ptr[1]]
    found = {}
    for status in reversed(layer.status[: layer.first[1]].tolist()):
        own, enemy = split_status(layout, status)[:2]
        numbers = redeal.first[deals] + int(layer.rank[0, status]) * redeal.stride[deals]
        found[int(own), int(enemy)] = float(p @ v[numbers, 0])
    return found


def _hp_during(play: SelfPlay, observed: Observations) -> dict[tuple[int, int], float]:
    hp = play.graph.space.rules.hp
    won = np.add.reduceat(play.visits * play.duel.v[: len(play.visits), 0], play.graph.full.ptr[:-1])
    later = observed.breath > 1
    place = (observed.own_hp.astype(np.int64) - 1) * hp + observed.enemy_hp - 1
    visits = np.bincount(place[later], weights=play.state_visits[later], minlength=hp**2)
    wins = np.bincount(place[later], weights=won[later], minlength=hp**2)
    return {(k // hp + 1, k % hp + 1): float(wins[k] / visits[k]) for k in reversed(range(hp**2)) if visits[k] > 0}


def _openings(play: SelfPlay, observed: Observations) -> tuple[Openings, np.ndarray]:
    """Return the openings, and their win probabilities averaged over the enemy's possible hands."""
    numbers, p = play.graph.opening
    state, place = np.unique(np.searchsorted(play.graph.full.ptr, numbers, side="right") - 1, return_inverse=True)
    share = np.bincount(place, weights=p)
    value = np.bincount(place, weights=p * play.duel.v[numbers, 0]) / share
    return Openings(state, observed.hand[state].astype(np.int64), observed.gone[state].astype(np.int64), share), value


def by_hands(openings: Openings, value: np.ndarray) -> Hands:
    """Return the opening hands with their values, averaged over the revealed cards."""
    hand, place = np.unique(openings.hand, axis=0, return_inverse=True)
    place = place.ravel()
    p = np.bincount(place, weights=openings.p)
    return Hands(hand, p, np.bincount(place, weights=openings.p * value) / p)


def plays_of_hands(openings: Openings, table: np.ndarray) -> np.ndarray:
    """Return the mean action probabilities for each hand in `by_hands`, float64 ``[n_hands, 11]``.

    ``table``, float64 ``[n, 11]``, contains the action probabilities of the openings.
    """
    return np.stack([by_hands(openings, column).value for column in table.T], axis=1)


def study_game(graph: GameGraph, policy: np.ndarray, stage: Stage = nullcontext) -> dict[str, Any]:
    """Return key figures of self-play by a policy.

    Args:
        graph: The game.
        policy: float64 ``[n_rows]``, the probability of each row's action in its state.
        stage: Function that returns a context manager for the stage ``self-play``, given this name.

    Returns:
        The expected ``length`` of a game in breaths, the probability ``first_deal`` that a game ends before the first
        redeal, and ``plays``, the share of each card and of feints in all choices. For each card, ``in_hand`` is the
        mean gain in win probability from one more copy in the opening hand, and ``kept`` is the gain from keeping the
        card instead of drawing a random card. Values of impossible events are None.

    JSON keys:
        length (number, breaths): Mean length of a game.
        first_deal (number, from 0 to 1): Probability that a game ends before cards are dealt again.
        in_hand (object of optional numbers by card, from -1 to 1): Gain in win probability by one more copy in the
            opening hand.
        kept (object of optional numbers by card, from -1 to 1): Gain in win probability by keeping the card instead of
            drawing another.
        plays (object of optional numbers by play, from 0 to 1): Share of each play in all choices.
    """
    with stage("self-play"):
        play = self_play(graph, policy, _NEGLIGIBLE)
        found = lessons(play)
        # The first measure is sufficient.
        first = outcome_distribution(graph, policy, policy, rest=1.0)[0]
    own = {"length": found.length, "first_deal": float(first.sum()), "kept": _named(CARDS, found.kept.over_fresh)}
    return own | _worth_and_plays(found.openings, found.value, found.frequencies)


def early_figures(play: SelfPlay) -> dict[str, Any]:
    """Return the result of `study_game` with only ``in_hand`` and ``plays``. Other values are None."""
    observed = observe(play.graph.space)
    none = {"length": None, "first_deal": None, "kept": dict.fromkeys(CARDS)}
    return none | _worth_and_plays(*_openings(play, observed), frequencies(play, observed, n_groupings=1))


def _worth_and_plays(
    openings: Openings, value: np.ndarray, found: Sequence[SituationFrequencies]
) -> dict[str, dict[str, float | None]]:
    hands = worth_of_cards(openings.hand, openings.p, value)
    always = found[0].shares if found else np.full(len(PLAYS), np.nan)
    return {"in_hand": _named(CARDS, [each.step for each in hands.values()]), "plays": _named(PLAYS, always)}


def _named(names: Sequence[str], values: Iterable[float]) -> dict[str, float | None]:
    return {name: float(x) if math.isfinite(x) else None for name, x in zip(names, values, strict=True)}
