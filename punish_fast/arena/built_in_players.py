"""Built-in players: descriptions of all, and scores of the players that follow a rule of thumb.

Players with scores play each of the actions with the highest score with equal probability.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from punish_fast.arena.action_features import ActionFeatures

_GUARD, _DODGE = 0, 2


def _careful(actions: ActionFeatures) -> np.ndarray:
    """Prefer guard, then dodge, then weak attacks; if the enemy rests, prefer strong attacks that do not exhaust.

    Feints are never played.
    """
    cover = 2.0 * (actions.card == _GUARD) + 1.0 * (actions.card == _DODGE) - actions.attack
    hit = actions.attack - 100 * actions.exhausts
    return np.asarray(np.where(actions.enemy_rests, hit, cover) - 1000 * actions.feints)


def _aggressive(actions: ActionFeatures) -> np.ndarray:
    """Play the card with the most damage; feint if no card in hand deals damage."""
    return np.where(actions.feints, 0.5 - actions.attack / 1000, actions.attack)


def _punisher(actions: ActionFeatures) -> np.ndarray:
    """Play the strongest attack if the enemy rests; otherwise prefer cards that do not exhaust.

    Among these, prefer dodge while a card that exhausts its player is unseen, and then the strongest attack. Feints are
    never played.
    """
    attack = actions.attack - 100 * actions.exhausts
    wait = np.where(actions.danger > 0, 200.0 * (actions.card == _DODGE) + attack, attack)
    return np.asarray(np.where(actions.enemy_rests, actions.attack, wait) - 1000 * actions.feints)


# Description and score function of each player that follows a rule of thumb.
HEURISTICS: dict[str, tuple[str, Callable[[ActionFeatures], np.ndarray]]] = {
    "careful": ("guards or dodges, and attacks only a resting enemy", _careful),
    "aggressive": ("plays its strongest attack, and feints only without one", _aggressive),
    "punisher": ("dodges until the enemy rests, then plays its strongest attack", _punisher),
}
# Descriptions of all built-in players.
DESCRIPTIONS = {
    "random": "plays every legal action with equal probability",
    "naive": "plays the best response to random, under the true redeal",
    **{name: description for name, (description, _) in HEURISTICS.items()},
    "veteran": "plays close to an equilibrium, but only under the standard rules",
}
