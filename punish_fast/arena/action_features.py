"""Policies that play the actions with the highest scores, given features of the actions."""

from collections.abc import Callable

import numpy as np

from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.codes import FIELDS, digits_of
from punish_fast.punish.states.space import StateSpace

_HAND, _DISCARD = FIELDS.index("hand_guard"), FIELDS.index("discard_guard")
_N_KINDS = 5


class ActionFeatures:
    """Features of the actions in all states, from which built-in players compute scores.

    Attributes:
        attack: float64 ``[n_rows]``, base damage of the picked card, or 0 for rest.
        card: int64 ``[n_rows]``, index of the picked card, or 5 for rest.
        feints: bool ``[n_rows]``, True for feints.
        exhausts: bool ``[n_rows]``, True if the picked card exhausts its player.
        enemy_rests: bool ``[n_rows]``, True if the enemy is exhausted and must rest.
        danger: int64 ``[n_rows]``, number of unseen cards that exhaust the player who plays them.
    """

    def __init__(self, space: StateSpace) -> None:
        """Compute the features of all actions in ``space``."""
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


def best_scored(space: StateSpace, scores: Callable[[ActionFeatures], np.ndarray]) -> np.ndarray:
    """Return the policy that chooses uniformly among the actions with the highest score, float64 ``[n_rows]``."""
    score = scores(ActionFeatures(space))
    begins, lengths = space.state_ptr[:-1], np.diff(space.state_ptr)
    best = (score == np.repeat(np.maximum.reduceat(score, begins), lengths)).astype(np.float64)
    return np.asarray(best / np.repeat(np.add.reduceat(best, begins), lengths))
