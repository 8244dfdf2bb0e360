"""Players of Gwent Lite that need no learning, in many states at once; movers as `contract.Mover` describes them."""

from __future__ import annotations

import numpy as np

from punish_fast.games import _vector_gwent
from punish_fast.games.contract import Mover
from punish_fast.games.packed_states import signed
from punish_fast.games.random_play import random_mover


def rule_player(states: np.ndarray, _legal: np.ndarray, _generator: np.random.Generator) -> np.ndarray:
    """What `gwent_rule_of_thumb.rule_of_thumb` does."""
    actions = np.empty(len(states), dtype=np.int64)
    _vector_gwent.choose_by_gwent_rule(signed(states), actions)
    return actions


PLAYERS: dict[str, Mover] = {"random": random_mover, "rule-of-thumb": rule_player}
