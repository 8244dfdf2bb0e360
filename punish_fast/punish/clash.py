"""Clash of two resolved cards: its effects on both players, and the next status.

A guard reduces the base damage of an attack. Equal cards do no damage, and neither do cards that a dodge stops::

    damage to the player of b by a = 0                               if a = b or b = dodge and dodge stops a
                                   = max(0, damage[a] - reduction)   if b = guard
                                   = damage[a]                       otherwise

The kinds 0 to 4 are guard, rush, dodge, strike and punish. Kind 5 is rest, which does no damage.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from punish_fast.punish._codes import Status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.codes import join_between_statuses, join_statuses, layout_of, split_statuses
from punish_fast.punish.rules import Rules

GUARD = 0
DODGE = 2
REST = 5
# Kind of the drawn card if no card was drawn.
NOTHING = N_KINDS
# Resolved cards (0 to 4, and 5 for rest), each with or without a feint.
N_RESOLVED = 2 * (N_KINDS + 1)

# Status codes of finished games.
WIN = -1
LOSS = -2


class Effects(NamedTuple):
    """Effects of clashes on the player, int64 ``[6, 6]`` each.

    The indices are the player's and the enemy's resolved cards (0 is guard, 5 is rest).
    """

    taken: np.ndarray  # damage taken
    healed: np.ndarray  # HP regained if the player survives, before capping at `Rules.hp`
    exhausted: np.ndarray  # 1 if the player must rest in the next breath


@lru_cache(maxsize=8)
def clash_effects(rules: Rules, is_last: bool = False) -> Effects:
    """Return the effects of clashes. In the last breath of a measure, players heal and exhaustion ends."""
    taken = np.tile([*rules.damage, 0], (N_KINDS + 1, 1))
    taken[GUARD] = np.maximum(0, taken[GUARD] - rules.guard_reduction)
    taken[DODGE, :N_KINDS] *= 1 - np.array(rules.dodge_stops)
    np.fill_diagonal(taken, 0)
    healed = np.full_like(taken, rules.healing if is_last else 0)
    exhausted = np.zeros_like(taken)
    exhausted[:N_KINDS] = 0 if is_last else np.array(rules.exhausting)[:, np.newaxis]
    return Effects(taken, healed, exhausted)


@lru_cache(maxsize=8)
def status_tables(rules: Rules) -> np.ndarray:
    """Return the statuses after clashes, int32 ``[2, n_statuses, 12, 12]``.

    The first index is 1 for the last breath of a measure, and 0 for all other breaths. After the last breath, statuses
    are codes between two measures. The other indices are the status code and the resolved cards of the player and the
    enemy: ``2 * card`` without a feint, and ``2 * card + 1`` with a feint. An entry can also be `WIN` or `LOSS`. If a
    feint would exceed the limit, the entry is `LOSS`.
    """
    layout = layout_of(rules)
    status = split_statuses(layout, np.arange(layout.n_statuses)[:, np.newaxis, np.newaxis])
    card, feints = np.divmod(np.arange(N_RESOLVED), 2)
    own_feinted, enemy_feinted = status.own_feinted + feints[:, np.newaxis], status.enemy_feinted + feints
    # If both players fall, the card with the lower rank wins. `Rules.priority` begins with the rank of rest.
    rank = np.array(rules.priority)[(card + 1) % (N_KINDS + 1)]
    tables = np.empty((2, layout.n_statuses, N_RESOLVED, N_RESOLVED), dtype=np.int32)
    for is_last, table in zip((False, True), tables, strict=True):
        taken, healed, exhausted = (effect[np.ix_(card, card)] for effect in clash_effects(rules, is_last))
        own_hp, enemy_hp = status.own_hp - taken, status.enemy_hp - taken.T
        own_falls, enemy_falls = own_hp <= 0, enemy_hp <= 0
        wins = np.where(own_falls & enemy_falls, rank[:, np.newaxis] < rank, enemy_falls)
        own_hp, enemy_hp = (np.minimum(rules.hp, hp + heal) for hp, heal in ((own_hp, healed), (enemy_hp, healed.T)))
        if is_last:
            after = join_between_statuses(layout, own_hp, enemy_hp, own_feinted + enemy_feinted)
        else:
            after = join_statuses(layout, Status(own_hp, enemy_hp, exhausted, own_feinted, exhausted.T, enemy_feinted))
        table[:] = np.where(own_falls | enemy_falls, np.where(wins, WIN, LOSS), after)
        table[np.maximum(own_feinted, enemy_feinted) > layout.feints] = LOSS
    return tables
