"""One breath of the two-player game, given both actions and the cards drawn for feints.

A view is the information state of one player, as 18 decimal digits (``codes.py``). After the last breath of a measure,
the view is the state between two measures, before the deal. The results of clashes come from the same tables that the
kernels use.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.punish import codes
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish._codes import Status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.clash import NOTHING, REST, clash_effects, status_tables
from punish_fast.punish.rules import Rules

# Row k contains the counts of a single card of kind k. The last row stands for rest or no card and is zero.
CARD = np.eye(N_KINDS + 1, N_KINDS, dtype=np.int64)


class Breaths(NamedTuple):
    """Results of breaths. In each pair, the player comes before the enemy."""

    result: np.ndarray  # int64 [n], WIN or LOSS of the player (0 if the game continues)
    resolved: np.ndarray  # int64 [n, 2], cards that clash (0 is guard, 5 is rest)
    hp: np.ndarray  # int64 [n, 2], HP after damage and before healing, possibly below 0
    digits: np.ndarray  # int64 [n, 18], the player's next view (meaningless if the game has ended)


def picks_of(actions: np.ndarray) -> np.ndarray:
    """Return the card picked by each two-digit action, from 0 for guard to 5 for rest."""
    return np.where(actions == REST_ACTION, REST, actions // 10 - 1)


def play_breaths(rules: Rules, views: np.ndarray, actions: np.ndarray, drawn: np.ndarray) -> Breaths:
    """Play one breath from each view.

    Args:
        views: ``[n, 18]``, the player's views during a measure, or ``[18]`` if all breaths begin with the same view.
        actions: ``[n, 2]``, two-digit actions of the player and of the enemy.
        drawn: ``[n, 2]``, cards that the player and the enemy draw for feints (0 is guard, 5 for no feint).
    """
    layout, actions, drawn = (
        codes.layout_of(rules),
        np.asarray(actions, dtype=np.int64),
        np.asarray(drawn, dtype=np.int64),
    )
    digits = np.broadcast_to(np.asarray(views, dtype=np.int64), (len(actions), np.shape(views)[-1])).copy()
    picks, feints = picks_of(actions), drawn != NOTHING
    resolved = np.where(feints, drawn, picks)
    is_last = digits[:, codes.BREATH] == rules.breaths
    status = codes.join_statuses(layout, Status(*digits[:, codes.STATUS].T))
    own, enemy = (2 * resolved + feints).T
    after = status_tables(rules)[is_last.astype(np.int64), status, own, enemy]
    hp = digits[:, codes.STATUS[:2]] - clash_effects(rules).taken[resolved, resolved[:, ::-1]]
    result = np.where(after < 0, after, 0).astype(np.int64)
    after = np.maximum(after, 0)
    own_hp, enemy_hp, _ = codes.split_between_statuses(layout, after)
    between = np.stack([own_hp, enemy_hp, *np.zeros((4, len(after)), dtype=np.int64)], axis=1)
    digits[:, codes.STATUS] = np.where(is_last[:, None], between, np.stack(codes.split_statuses(layout, after), axis=1))
    digits[:, codes.BREATH] += 1
    digits[:, codes.HAND] -= CARD[picks[:, 0]]
    digits[:, codes.ENEMY_HAND] -= picks[:, 1] != REST
    digits[:, codes.DISCARD] += (CARD[picks] + CARD[drawn]).sum(axis=1)
    return Breaths(result, resolved, hp, digits)
