"""Built-in players: descriptions, and score functions of the players that follow a rule of thumb.

A player with a score function chooses uniformly among the actions with the highest score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from punish_fast.arena.action_features import ActionFeatures

_GUARD, _DODGE = 0, 2


def _careful(actions: ActionFeatures) -> np.ndarray:
    """Prefer guard, then dodge, then the weakest attack, and never feint.

    If the enemy rests, prefer the strongest attack that does not exhaust the player.
    """
    cover = 2.0 * (actions.card == _GUARD) + 1.0 * (actions.card == _DODGE) - actions.attack
    hit = actions.attack - 100 * actions.exhausts
    return np.asarray(np.where(actions.enemy_rests, hit, cover) - 1000 * actions.feints)


def _aggressive(actions: ActionFeatures) -> np.ndarray:
    """Play the card with the most damage; feint if no card in hand deals damage."""
    return np.where(actions.feints, 0.5 - actions.attack / 1000, actions.attack)


def _punisher(actions: ActionFeatures) -> np.ndarray:
    """Play the strongest attack if the enemy rests; otherwise prefer cards that do not exhaust the player. Never feint.

    Among these, prefer dodge if any unseen card exhausts its player, and then the strongest attack.
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
