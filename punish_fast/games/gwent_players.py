"""Players of Gwent Lite that need no learning, in many states at once; movers as `contract.Mover` describes them."""

from __future__ import annotations

import numpy as np

from punish_fast.games import _vector_gwent
from punish_fast.games.contract import GameError, Mover
from punish_fast.games.vector_gwent import kernel_words
from punish_fast.runtime.printable import printable


def random_player(_states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Every legal action with the same probability; these are the first ones."""
    return np.asarray(generator.random(len(legal)) * legal.sum(axis=1)).astype(np.int64)


def rule_player(states: np.ndarray, _legal: np.ndarray, _generator: np.random.Generator) -> np.ndarray:
    """What `gwent_rule_of_thumb.rule_of_thumb` does."""
    actions = np.empty(len(states), dtype=np.int64)
    _vector_gwent.choose_by_gwent_rule(kernel_words(states), actions)
    return actions


PLAYERS: dict[str, Mover] = {"random": random_player, "rule-of-thumb": rule_player}


def gwent_player(name: str) -> Mover:
    """A player by its name, one of `PLAYERS`.

    Raises:
        GameError: There is no such player.
    """
    if name not in PLAYERS:
        raise GameError(f"player: {printable(name)} is unknown, allowed: {', '.join(PLAYERS)}")
    return PLAYERS[name]
