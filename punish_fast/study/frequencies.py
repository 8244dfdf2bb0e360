"""Frequencies of cards and feints under a policy, in situations that players easily recognize.

There are six *plays*: each of the five cards, and a feint with any card. A situation is a set of information states
with more than one legal action. In each situation, a play ``k`` has two frequencies: among all choices, and among those
choices for which ``k`` is possible:

    sum over s of R(s) x(s, k) / sum over s of R(s)        and        ... / sum over s that allow k of R(s)

where ``R(s)`` is the expected number of visits to the state ``s`` in a game, and ``x`` is the policy.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from punish_fast.punish.rules import CARDS, Rules
from punish_fast.study.observations import Observations, columns_of_rows, observe
from punish_fast.study.selfplay import SelfPlay

PLAYS = (*CARDS, "feint")
# Index of the play for each of the actions 10, 11, 20, 21, ..., 51, 90 (-1 for rest).
PLAY_OF = np.array([0, 5, 1, 5, 2, 5, 3, 5, 4, 5, -1])

_N_KINDS = len(CARDS)
_PUNISH = CARDS.index("punish")


class Grouping(NamedTuple):
    """Partition of the information states into situations."""

    name: str  # property that distinguishes the situations
    labels: list[str]  # names of the situations
    # int64 ``[n_states]``, situation of each information state (except between two measures), as an index of `labels`
    group: np.ndarray


class SituationFrequencies(NamedTuple):
    """Frequencies of plays in a situation."""

    grouping: str  # name of the grouping
    situation: str  # name of the situation
    choices: float  # expected number of a player's choices in the situation per game
    shares: np.ndarray  # float64 ``[6]``, frequencies of `PLAYS` among all choices (sum 1)
    possible: np.ndarray  # float64 ``[6]``, share of the choices for which each play is possible
    when_possible: np.ndarray  # float64 ``[6]``, frequency if the play is possible (NaN if never possible)
    given_up: np.ndarray  # float64 ``[5]``, share of feints with each card (NaN if nobody feints)


def groupings(rules: Rules, observed: Observations) -> list[Grouping]:
    """Return the groupings: all states, by breath, by HP, by the threat of a punish, and by punishes in hand."""
    unseen = np.array(rules.copies)[_PUNISH] - observed.hand[:, _PUNISH] - observed.gone[:, _PUNISH]
    threats = ["the enemy may hold a punish", "the enemy holds no punish", "the enemy must rest"]
    threat = np.where(observed.enemy_exhausted > 0, 2, np.where(unseen > 0, 0, 1))
    full = range(rules.hp, 0, -1)
    hps = [f"{own} HP against {enemy}" for own in full for enemy in full]
    hp = (rules.hp - observed.own_hp.astype(np.int64)) * rules.hp + rules.hp - observed.enemy_hp
    punishes = [("no punish", "1 punish", f"{n} punishes")[min(n, 2)] for n in range(rules.copies[_PUNISH] + 1)]
    return [
        Grouping("all", ["always"], np.zeros(len(observed.breath), dtype=np.int64)),
        Grouping("breath", [f"breath {n + 1}" for n in range(rules.breaths)], observed.breath.astype(np.int64) - 1),
        Grouping("hp", hps, hp),
        Grouping("enemy", threats, threat),
        Grouping("hand", [f"{each} in hand" for each in punishes], observed.hand[:, _PUNISH].astype(np.int64)),
    ]


def possible_plays(observed: Observations, rules: Rules) -> np.ndarray:
    """Return a mask of possible plays, bool ``[n_states, 6]``. States with one legal action have no possible plays."""
    feints = observed.own_feinted < rules.feints
    return np.asarray(np.column_stack([observed.hand > 0, feints]) & observed.chooses[:, np.newaxis])


def frequencies(
    play: SelfPlay, observed: Observations | None = None, n_groupings: int | None = None
) -> list[SituationFrequencies]:
    """Return the frequencies of plays in all situations that occur in self-play.

    ``observed`` contains the observations in the information states. If None, they are computed. ``n_groupings`` limits
    the situations to those of the first groupings in `groupings`.
    """
    space = play.graph.space
    observed = observed or observe(space)
    state, column = columns_of_rows(space)
    visits = np.where(observed.chooses, play.state_visits, 0.0)
    weight = visits[state] * play.policy[: len(state)]
    possible = possible_plays(observed, space.rules)
    found: list[SituationFrequencies] = []
    for grouping in groupings(space.rules, observed)[:n_groupings]:
        n = len(grouping.labels)
        # Flat index of situation and action.
        place = grouping.group[state] * len(PLAY_OF) + column
        actions = np.bincount(place, weights=weight, minlength=n * len(PLAY_OF)).reshape(n, len(PLAY_OF))
        choices = np.bincount(grouping.group, weights=visits, minlength=n)
        allowed = [np.bincount(grouping.group, weights=visits * possible[:, k], minlength=n) for k in range(len(PLAYS))]
        found.extend(_of_situations(grouping, choices, actions, np.stack(allowed, axis=1)))
    return found


def _of_situations(
    grouping: Grouping, choices: np.ndarray, actions: np.ndarray, allowed: np.ndarray
) -> Iterator[SituationFrequencies]:
    feints = actions[:, 1 : 2 * _N_KINDS : 2]
    plays = np.column_stack([actions[:, 0 : 2 * _N_KINDS : 2], feints.sum(axis=1)])
    with np.errstate(invalid="ignore"):
        when_possible, given = plays / allowed, feints / feints.sum(axis=1, keepdims=True)
    for k in np.flatnonzero(choices > 0):
        shares, possible = plays[k] / choices[k], allowed[k] / choices[k]
        yield SituationFrequencies(
            grouping.name, grouping.labels[k], float(choices[k]), shares, possible, when_possible[k], given[k]
        )
