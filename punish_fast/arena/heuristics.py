"""Score functions of the built-in players that follow a rule of thumb.

A player chooses uniformly among the actions with the highest score.
"""

from collections.abc import Callable

import numpy as np

from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.clash import DODGE, GUARD, REST
from punish_fast.punish.codes import DISCARD, FIELDS, HAND, digits_of
from punish_fast.punish.states.space import StateSpace


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
        self.card = np.where(action == REST_ACTION, REST, action // 10 - 1)
        self.attack = np.array([*rules.damage, 0], dtype=np.float64)[self.card]
        self.feints = (action % 10 == 1) & (action != REST_ACTION)
        self.exhausts = np.array([*rules.exhausting, 0], dtype=np.bool_)[self.card]
        self.enemy_rests = np.repeat(digits[:, FIELDS.index("enemy_exhausted")] == 1, lengths)
        unseen = (rules.copies - digits[:, HAND] - digits[:, DISCARD]) @ np.array(rules.exhausting)
        self.danger = np.repeat(unseen, lengths)


def _careful(actions: ActionFeatures) -> np.ndarray:
    """Prefer guard, then dodge, then the weakest attack, and never feint.

    If the enemy rests, prefer the strongest attack that does not exhaust the player.
    """
    cover = 2.0 * (actions.card == GUARD) + 1.0 * (actions.card == DODGE) - actions.attack
    hit = actions.attack - 100 * actions.exhausts
    return np.asarray(np.where(actions.enemy_rests, hit, cover) - 1000 * actions.feints)


def _aggressive(actions: ActionFeatures) -> np.ndarray:
    """Play the card with the most damage, or feint if no card in hand deals damage."""
    return np.where(actions.feints, 0.5 - actions.attack / 1000, actions.attack)


def _punisher(actions: ActionFeatures) -> np.ndarray:
    """Play the strongest attack if the enemy rests. Otherwise, prefer cards that do not exhaust the player. No feints.

    If several cards are preferred, play dodge if an unseen card exhausts its player, otherwise the strongest attack.
    """
    attack = actions.attack - 100 * actions.exhausts
    wait = np.where(actions.danger > 0, 200.0 * (actions.card == DODGE) + attack, attack)
    return np.asarray(np.where(actions.enemy_rests, actions.attack, wait) - 1000 * actions.feints)


# Score functions of the players that follow a rule of thumb.
HEURISTICS: dict[str, Callable[[ActionFeatures], np.ndarray]] = {
    "careful": _careful,
    "aggressive": _aggressive,
    "punisher": _punisher,
}


def best_scored(space: StateSpace, scores: Callable[[ActionFeatures], np.ndarray]) -> np.ndarray:
    """Return the policy that chooses uniformly among the actions with the highest score, float64 ``[n_rows]``."""
    score = scores(ActionFeatures(space))
    begins, lengths = space.state_ptr[:-1], np.diff(space.state_ptr)
    best = (score == np.repeat(np.maximum.reduceat(score, begins), lengths)).astype(np.float64)
    return np.asarray(best / np.repeat(np.add.reduceat(best, begins), lengths))
