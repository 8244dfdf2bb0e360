"""Heuristic players: they score every action and play the best ones with equal probability.

* *careful* plays guard, then dodge, and attacks only a resting enemy, with cards that do not exhaust.
* *aggressive* plays the card with the most damage, and feints only without an attack.
* *punisher* hits a resting enemy as hard as possible. Otherwise, as long as the enemy may hold a card that exhausts, it
  dodges to make that card miss; if not, it attacks without exhausting itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.codes import FIELDS, digits_of
from punish_fast.punish.states.space import StateSpace

_HAND, _DISCARD = FIELDS.index("hand_guard"), FIELDS.index("discard_guard")
_N_KINDS = 5
_GUARD, _DODGE = 0, 2


class Views:
    """Features of the rows of a state space, for scoring actions.

    Attributes:
        attack: float64 ``[n_rows]``, base damage of the card picked; 0 for rest.
        card: int64 ``[n_rows]``, the card picked; 5 for rest.
        feints: bool ``[n_rows]``, True for feints.
        exhausts: bool ``[n_rows]``, True if the card picked exhausts its player.
        enemy_rests: bool ``[n_rows]``, True if the enemy is exhausted.
        danger: int64 ``[n_rows]``, number of unseen cards that exhaust.
    """

    def __init__(self, space: StateSpace) -> None:
        """Compute the features of all rows of ``space``."""
        rules = space.rules
        digits = digits_of(space).astype(np.int64)
        lengths = np.diff(space.state_ptr)
        action = space.action.astype(np.int64)
        self.card = np.where(action == REST_ACTION, _N_KINDS, action // 10 - 1)
        self.attack = np.array([*rules.damage, 0], dtype=np.float64)[self.card]
        self.feints = (action % 10 == 1) & (action != REST_ACTION)
        self.exhausts = np.array([*rules.exhausting, 0], dtype=np.bool_)[self.card]
        self.enemy_rests = np.repeat(digits[:, FIELDS.index("enemy_exhausted")] == 1, lengths)
        seen = digits[:, _HAND : _HAND + _N_KINDS] + digits[:, _DISCARD : _DISCARD + _N_KINDS]
        unseen = (np.array(rules.copies) - seen) @ np.array(rules.exhausting)
        self.danger = np.repeat(unseen, lengths)


def _careful(views: Views) -> np.ndarray:
    """Defend, and attack only an enemy that must rest."""
    cover = 2.0 * (views.card == _GUARD) + 1.0 * (views.card == _DODGE) - views.attack
    hit = views.attack - 100 * views.exhausts
    return np.asarray(np.where(views.enemy_rests, hit, cover) - 1000 * views.feints)


def _aggressive(views: Views) -> np.ndarray:
    """Choose the most damage; a feint is better than a card without damage."""
    return np.where(views.feints, 0.5 - views.attack / 1000, views.attack)


def _punisher(views: Views) -> np.ndarray:
    attack = views.attack - 100 * views.exhausts
    wait = np.where(views.danger > 0, 200.0 * (views.card == _DODGE) + attack, attack)
    return np.asarray(np.where(views.enemy_rests, views.attack, wait) - 1000 * views.feints)


HEURISTICS: dict[str, Callable[[Views], np.ndarray]] = {
    "careful": _careful,
    "aggressive": _aggressive,
    "punisher": _punisher,
}


def heuristic(space: StateSpace, name: str) -> np.ndarray:
    """Return the policy of a heuristic, float64 ``[n_rows]``: uniform over the actions with the best score."""
    score = HEURISTICS[name](Views(space))
    begins, lengths = space.state_ptr[:-1], np.diff(space.state_ptr)
    best = (score == np.repeat(np.maximum.reduceat(score, begins), lengths)).astype(np.float64)
    return np.asarray(best / np.repeat(np.add.reduceat(best, begins), lengths))
