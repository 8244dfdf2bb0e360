"""How often a policy plays each card, and feints, in the situations that a player can tell at a glance.

A *play* is one of six: a card as it is, or a feint with whatever card. In a situation, which is a set of information
states in which there is something to choose, a play ``k`` has two frequencies: of all choices, and of those in which it
is possible,

    sum over s of R(s) x(s, k) / sum over s of R(s)        and        ... / sum over s that allow k of R(s)

where ``R(s)`` is how often a game comes to the state ``s`` and ``x`` the policy. Both players are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from punish_fast.punish.rules import CARDS, Rules
from punish_fast.study.observations import Sights, columns_of_rows, sights_of
from punish_fast.study.selfplay import SelfPlay

PLAYS = (*CARDS, "feint")
# The play of each of the actions 10, 11, 20, 21, ..., 51, 90; resting is none.
PLAY_OF = np.array([0, 5, 1, 5, 2, 5, 3, 5, 4, 5, -1])

_N_KINDS = len(CARDS)
_PUNISH = CARDS.index("punish")


class Grouping(NamedTuple):
    """Situations of one sort, none of which overlaps another.

    Attributes:
        name: What they differ in.
        labels: What each is called.
        group: int64 ``[n_states]``, the situation of each information state.
    """

    name: str
    labels: list[str]
    group: np.ndarray


class Habit(NamedTuple):
    """What is played in a situation.

    Attributes:
        grouping: The sort of situation.
        label: The situation.
        choices: How often a player is expected to choose there, in a game.
        shares: float64 ``[6]``, of all choices, by `PLAYS`; they sum to 1.
        possible: float64 ``[6]``, in what part of the choices each play is possible.
        when_possible: float64 ``[6]``, shares among these; NaN where it never is.
        given: float64 ``[5]``, the card that is given up, of all feints; NaN if there are none.
    """

    grouping: str
    label: str
    choices: float
    shares: np.ndarray
    possible: np.ndarray
    when_possible: np.ndarray
    given: np.ndarray


def groupings(rules: Rules, sights: Sights) -> list[Grouping]:
    """The sorts of situations: all, by breath, by HP, by what the enemy can do, and by the own hand."""
    unseen = np.array(rules.copies)[_PUNISH] - sights.hand[:, _PUNISH] - sights.gone[:, _PUNISH]
    threats = ["the enemy may hold a punish", "the enemy holds no punish", "the enemy must rest"]
    threat = np.where(sights.enemy_exhausted > 0, 2, np.where(unseen > 0, 0, 1))
    hps = [f"{own} HP against {enemy}" for own, enemy in _hp_pairs(rules)]
    hp = (rules.hp - sights.own_hp.astype(np.int64)) * rules.hp + rules.hp - sights.enemy_hp
    most = rules.copies[_PUNISH]
    holds = [("no punish", "1 punish", f"{n} punishes")[min(n, 2)] for n in range(most + 1)]
    return [
        Grouping("all", ["always"], np.zeros(len(sights.breath), dtype=np.int64)),
        Grouping("breath", [f"breath {n + 1}" for n in range(rules.breaths)], sights.breath.astype(np.int64) - 1),
        Grouping("hp", hps, hp),
        Grouping("enemy", threats, threat),
        Grouping("hand", [f"{each} in hand" for each in holds], sights.hand[:, _PUNISH].astype(np.int64)),
    ]


def _hp_pairs(rules: Rules) -> list[tuple[int, int]]:
    """Own and enemy's HP, from full ones down."""
    return [(own, enemy) for own in range(rules.hp, 0, -1) for enemy in range(rules.hp, 0, -1)]


def possible_plays(sights: Sights, rules: Rules) -> np.ndarray:
    """Which plays are possible where there is something to choose, bool ``[n_states, 6]``."""
    possible = np.empty((len(sights.breath), len(PLAYS)), dtype=np.bool_)
    possible[:, :_N_KINDS] = sights.hand > 0
    possible[:, _N_KINDS] = sights.own_feinted < rules.feints
    possible &= sights.chooses[:, np.newaxis]
    return possible


def habits(play: SelfPlay, sights: Sights | None = None) -> list[Habit]:
    """What a policy plays, in all situations that come up in its games with itself.

    Args:
        play: The policy against itself.
        sights: What is seen in the information states, if it is known.
    """
    space = play.graph.space
    sights = sights or sights_of(space)
    state, column = columns_of_rows(space)
    seen = np.where(sights.chooses, play.seen, 0.0)
    weight = seen[state] * play.policy[: len(state)]
    possible = possible_plays(sights, space.rules)
    found: list[Habit] = []
    for grouping in groupings(space.rules, sights):
        n = len(grouping.labels)
        # Rows by situation and action.
        place = grouping.group[state] * len(PLAY_OF) + column
        actions = np.bincount(place, weights=weight, minlength=n * len(PLAY_OF)).reshape(n, len(PLAY_OF))
        choices = np.bincount(grouping.group, weights=seen, minlength=n)
        allowed = [np.bincount(grouping.group, weights=seen * possible[:, k], minlength=n) for k in range(len(PLAYS))]
        found.extend(_of_situations(grouping, choices, actions, np.stack(allowed, axis=1)))
    return found


def _of_situations(
    grouping: Grouping, choices: np.ndarray, actions: np.ndarray, allowed: np.ndarray
) -> Iterator[Habit]:
    feints = actions[:, 1 : 2 * _N_KINDS : 2]
    plays = np.column_stack([actions[:, 0 : 2 * _N_KINDS : 2], feints.sum(axis=1)])
    for k in np.flatnonzero(choices > 0):
        yield Habit(
            grouping.name,
            grouping.labels[k],
            float(choices[k]),
            plays[k] / choices[k],
            allowed[k] / choices[k],
            _quotient(plays[k], allowed[k]),
            _quotient(feints[k], np.full(_N_KINDS, feints[k].sum())),
        )


def _quotient(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Shares; NaN of nothing."""
    share = np.full(len(part), np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share
