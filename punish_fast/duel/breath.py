"""One breath of the real game: the views that result from two actions and the cards drawn for feints.

A view is the information state of one player, as 18 decimal digits (``codes.py``). After the last breath of a measure,
the view is the state between two measures, before the deal. Statuses are looked up in the table of clashes that the
kernels use as well.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish._clash import N_RESOLVED, NOTHING, REST, Effects, tabulate_effects, tabulate_statuses
from punish_fast.punish._codes import Status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.codes import (
    BREATH,
    DISCARD,
    ENEMY_HAND,
    HAND,
    STATUS,
    join_statuses,
    layout_of,
    split_between_statuses,
    split_statuses,
)
from punish_fast.punish.rules import Rules

# Row k contains the counts of a single card of kind k; the last row, for rest or no card, is zero.
CARD = np.eye(N_KINDS + 1, N_KINDS, dtype=np.int64)


class Breaths(NamedTuple):
    """Results of breaths; in each pair, the player comes before the enemy."""

    result: np.ndarray  # int64 [n], WIN or LOSS of the player, 0 if the game continues
    resolved: np.ndarray  # int64 [n, 2], cards that clash (0 is guard, 5 is rest)
    hp: np.ndarray  # int64 [n, 2], HP after damage and before healing; may be below 0
    digits: np.ndarray  # int64 [n, 18], next view of the player, if the game continues


@lru_cache(maxsize=8)
def clash_effects(rules: Rules, is_last: bool = False) -> Effects:
    """Return the effects of clashes, int64 ``[6, 6]`` each, by the player's and the enemy's resolved card (5: rest)."""
    table = np.zeros((len(Effects._fields), N_KINDS + 1, N_KINDS + 1), dtype=np.int64)
    tabulate_effects(rules, is_last, table)
    return Effects(*table)


@lru_cache(maxsize=8)
def status_tables(rules: Rules) -> np.ndarray:
    """Return the status after a clash, int32 ``[2, n_statuses, 12, 12]``; index 1 is the last breath of a measure."""
    layout = layout_of(rules)
    tables = np.empty((2, layout.n_statuses, N_RESOLVED, N_RESOLVED), dtype=np.int32)
    for is_last in (False, True):
        tabulate_statuses(rules, layout, is_last, tables[int(is_last)])
    return tables


def picks_of(actions: np.ndarray) -> np.ndarray:
    """Return the card picked by each two-digit action, from 0 for guard to 5 for rest."""
    return np.where(actions == REST_ACTION, REST, actions // 10 - 1)


def play_breaths(rules: Rules, views: np.ndarray, actions: np.ndarray, drawn: np.ndarray) -> Breaths:
    """Play one breath from each view.

    Args:
        views: ``[n, 18]``, or ``[18]`` for the same view in all breaths; the player's views during a measure.
        actions: ``[n, 2]``, two-digit actions of the player and of the enemy.
        drawn: ``[n, 2]``, the card that each of the two draws for a feint (0 is guard); 5 without a feint.
    """
    layout, actions, drawn = layout_of(rules), np.asarray(actions, dtype=np.int64), np.asarray(drawn, dtype=np.int64)
    digits = np.broadcast_to(np.asarray(views, dtype=np.int64), (len(actions), np.shape(views)[-1])).copy()
    picks, feints = picks_of(actions), drawn != NOTHING
    resolved = np.where(feints, drawn, picks)
    is_last = digits[:, BREATH] == rules.breaths
    status = join_statuses(layout, Status(*digits[:, STATUS].T))
    own, enemy = (2 * resolved + feints).T
    after = status_tables(rules)[is_last.astype(np.int64), status, own, enemy]
    hp = digits[:, STATUS[:2]] - clash_effects(rules).taken[resolved, resolved[:, ::-1]]
    result = np.where(after < 0, after, 0).astype(np.int64)
    after = np.maximum(after, 0)
    own_hp, enemy_hp, _ = split_between_statuses(layout, after)
    between = np.stack([own_hp, enemy_hp, *np.zeros((4, len(after)), dtype=np.int64)], axis=1)
    digits[:, STATUS] = np.where(is_last[:, None], between, np.stack(split_statuses(layout, after), axis=1))
    digits[:, BREATH] += 1
    digits[:, HAND] -= CARD[picks[:, 0]]
    digits[:, ENEMY_HAND] -= picks[:, 1] != REST
    digits[:, DISCARD] += (CARD[picks] + CARD[drawn]).sum(axis=1)
    return Breaths(result, resolved, hp, digits)
