"""Policies of the players of a duel.

Functions that take a policy also accept an agent's `Solution`, a loaded file or the name of a player. Support for files
and names is registered by the modules ``store/reader.py`` and ``arena/players.py``.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from punish_fast.mdp.policy import PolicyError, check_policy, greedy
from punish_fast.mdp.solution import Solution
from punish_fast.punish.states.space import StateSpace


@singledispatch
def policy_of(player: Any, space: StateSpace) -> np.ndarray:
    """Return the policy of a player, float64 ``[n_rows]``, after checking it.

    ``player`` is a policy, a `Solution` (for its greedy policy), a loaded agent or strategy, or the name of a player or
    a file.
    """
    raise TypeError(
        f"policy: {type(player).__name__} is not allowed; it must be float64 {space.action.shape}, a Solution, "
        "a loaded agent or strategy, or the name of a player or a file"
    )


@policy_of.register
def _(player: np.ndarray, space: StateSpace) -> np.ndarray:
    return check_policy(space.state_ptr, player)


@policy_of.register
def _(player: Solution, space: StateSpace) -> np.ndarray:
    if player.q.shape != space.action.shape:
        raise PolicyError(f"policy: the solution has {len(player.q)} rows, but the game has {len(space.action)}")
    return greedy(space.state_ptr, player.q)
