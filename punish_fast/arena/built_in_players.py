"""Descriptions of the built-in players, and score functions of the players that follow a rule of thumb.

A player with a score function chooses uniformly among the actions with the highest score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    """Play the card with the most damage, or feint if no card in hand deals damage."""
    return np.where(actions.feints, 0.5 - actions.attack / 1000, actions.attack)


def _punisher(actions: ActionFeatures) -> np.ndarray:
    """Play the strongest attack if the enemy rests. Otherwise, prefer cards that do not exhaust the player. No feints.

    Play a dodge if the preferred cards include one and an unseen card exhausts its player. Otherwise, play the
    strongest of the preferred cards.
    """
    attack = actions.attack - 100 * actions.exhausts
    wait = np.where(actions.danger > 0, 200.0 * (actions.card == _DODGE) + attack, attack)
    return np.asarray(np.where(actions.enemy_rests, actions.attack, wait) - 1000 * actions.feints)


# Score functions of the players that follow a rule of thumb.
HEURISTICS: dict[str, Callable[[ActionFeatures], np.ndarray]] = {
    "careful": _careful,
    "aggressive": _aggressive,
    "punisher": _punisher,
}
# Win probability of the best response with perfect recall against the veteran, between 57.75 % and 58.43 %.
PERFECT_WINS = 0.58


@dataclass(frozen=True)
class BuiltIn:
    """Description of a built-in player."""

    person: str  # name in the terminal and on the web
    about: str
    wins: float | None  # win probability against the veteran under the standard rules, or None for the veteran
    level: str | None = None  # level on the start page

    @property
    def strength(self) -> str:
        """Description of the player's strength under the standard rules."""
        if self.wins is None:
            return f"even a perfect opponent wins only {100 * PERFECT_WINS:.0f} of 100 games"
        return f"wins {100 * self.wins:.0f} of 100 games against Viktor, the veteran"


# Built-in players by the name used in commands.
BUILT_INS = {
    "random": BuiltIn("Robin", "plays every legal action with equal probability", 0.3127),
    "naive": BuiltIn("Nina", "plays the moves that are best against random cards", 0.4797),
    "careful": BuiltIn("Clara", "guards or dodges if it can, and attacks a resting enemy", 0.2328, "easy"),
    "aggressive": BuiltIn("Axel", "plays its strongest attack, and feints only without one", 0.4248, "medium"),
    "punisher": BuiltIn("Pia", "dodges until the enemy rests, then plays its strongest attack", 0.2677),
    "veteran": BuiltIn("Viktor", "mixes its moves and is hard to predict, but knows only the standard rules", None),
}

# Names that human players cannot use.
RESERVED = (*BUILT_INS, *(each.person for each in BUILT_INS.values()))


def person_of(name: str, is_bot: bool | None = True) -> str:
    """Return the displayed name: replace the name of a built-in player by a first name, and keep other names."""
    known, _, _ = name.partition("@")
    return name.replace(known, BUILT_INS[known].person, 1) if is_bot is not False and known in BUILT_INS else name
