"""Experience replay: training samples from the latest games.

A sample consists of a state, an action, and the target of its value,

    value + sign discount max over b of Q(after, b)

where ``sign`` is -1 if the turn passed, 1 if the mover kept it, and 0 if the target is ``value`` only.

*td* (temporal difference). Every action is a sample. ``value`` is the return of the mover if the action ended the game,
else 0. The target assumes a zero-sum game of two players, in which the mover's gain is the opponent's loss.

*mc* (Monte Carlo). ``value`` is the return of the mover at the end of the game, discounted once for each later action
of the same player, and ``sign`` is 0. This form also supports general-sum games, more than two players and chance: each
player of a game has a separate trajectory.

Chance events are not samples. An illegal action ends the game and has the value -1. Under *mc* it is the only sample
of its game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import CHANCE, VectorGame
from punish_fast.games.learn.episodes import NONE, retrace

MC, TD = "mc", "td"
TARGETS = (MC, TD)
# Value of an illegal action.
_ILLEGAL = -1.0


class Samples(NamedTuple):
    """Training samples of games."""

    state: np.ndarray  # uint64 [k, n_words]
    action: np.ndarray  # int16 [k]
    value: np.ndarray  # float32 [k]
    sign: np.ndarray  # int8 [k]
    after: np.ndarray  # uint64 [k, n_words], state after the action; [k, 0] under *mc*


def samples_of(vector: VectorGame, action: np.ndarray, target: str, discount: float) -> Samples:
    """Return the training samples of games.

    Args:
        action: int16 ``[n, n_plies]``, actions of the games, as in ``episodes.py``.
        target: ``"mc"`` or ``"td"``.
        discount: Discount per action of the mover.
    """
    played = retrace(vector, action)
    n_games, n_plies = action.shape
    is_move = (action != NONE) & (played.player != CHANCE)
    illegal = is_move & ~played.is_legal
    # Return of the mover at the end of the game.
    result = np.take_along_axis(played.returns, played.player.astype(np.int64), axis=1)
    before, after = played.state[:, :-1], played.state[:, 1:]
    if target == MC:
        taken = illegal | (is_move & ~illegal.any(axis=1, keepdims=True))
        sign, after = np.zeros_like(played.player), after[..., :0]
        value = result * np.float32(discount) ** _own_moves_left(played.player, is_move, vector.game.n_players)
    else:
        taken = is_move
        is_last = np.arange(n_plies) == is_move.sum(axis=1, keepdims=True) - 1
        mover_after = vector.player(after.reshape(-1, vector.n_words)).reshape(n_games, n_plies)
        is_end = illegal | (is_last & played.is_over[:, np.newaxis])
        sign = np.where(is_end, 0, np.where(mover_after == played.player, 1, -1)).astype(np.int8)
        value = np.where(is_last, result, 0)
    value = np.where(illegal, _ILLEGAL, value).astype(np.float32)
    return Samples(before[taken], action[taken], value[taken], sign[taken], after[taken])


def drawn_samples(parts: Sequence[Samples], drawn: np.ndarray) -> Samples:
    """Return the samples with indices ``drawn`` into the concatenation of ``parts``, without concatenating them."""
    ends = np.cumsum([len(part.state) for part in parts])
    owner = np.searchsorted(ends, drawn, side="right")
    found = Samples(*(np.empty((len(drawn), *field.shape[1:]), field.dtype) for field in parts[0]))
    for number, part in enumerate(parts):
        places = np.flatnonzero(owner == number)
        rows = drawn[places] - (ends[number] - len(part.state))
        for into, field in zip(found, part, strict=True):
            into[places] = field[rows]
    return found


def _own_moves_left(player: np.ndarray, is_move: np.ndarray, n_players: int) -> np.ndarray:
    """Return the number of later moves by the player of each move, int64 ``[n, n_plies]``."""
    left = np.zeros(player.shape, dtype=np.int64)
    for each in range(n_players):
        own = is_move & (player == each)
        left += own * (own[:, ::-1].cumsum(axis=1)[:, ::-1] - 1)
    return left
