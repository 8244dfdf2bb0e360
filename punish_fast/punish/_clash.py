"""Clash of two resolved cards: its effects on both players, and the next status.

A guard reduces the base damage of an attack. Equal cards, and cards stopped by a dodge, do no damage::

    damage to the player of b by a = 0                               if a = b or b = dodge and dodge stops a
                                   = max(0, damage[a] - reduction)   if b = guard
                                   = damage[a]                       otherwise

Kinds are 0 to 4 for guard, rush, dodge, strike, punish, and 5 for rest, which does no damage.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from punish_fast.punish._codes import between_status, play_status, split_status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import kernel, routine

GUARD = 0
DODGE = 2
REST = 5
# Stands for the kind of the drawn card if no card was drawn.
NOTHING = N_KINDS
# Resolved cards (0 to 4, and 5 for rest), each with or without a feint.
N_RESOLVED = 2 * (N_KINDS + 1)

# Status codes of finished games.
WIN = -1
LOSS = -2


class Effects(NamedTuple):
    """The effects of a clash on one player, as scalars or arrays."""

    taken: Any  # damage taken
    healed: Any  # HP regained if the player survives, before capping at `Rules.hp`
    exhausted: Any  # 1 if the player must rest in the next breath


@routine
def damage_taken(rules, attack, defence):
    """Return the damage that the player who resolved ``defence`` takes from ``attack``."""
    if attack in (REST, defence):
        return 0
    if defence == DODGE and rules.dodge_stops[attack]:
        return 0
    damage = rules.damage[attack]
    if defence == GUARD:
        damage = max(0, damage - rules.guard_reduction)
    return damage


@routine
def rank(rules, resolved):
    """Return the priority of a resolved card; rest comes first in `Rules.priority`."""
    return rules.priority[(resolved + 1) % (N_KINDS + 1)]


@routine
def effects_of(rules, is_last, own, enemy):
    """Return the `Effects` on the player who resolved ``own``; a measure's last breath heals and ends exhaustion."""
    taken = damage_taken(rules, enemy, own)
    if is_last:
        return Effects(taken, rules.healing, 0)
    return Effects(taken, 0, 0 if own == REST else rules.exhausting[own])


@routine
def winner(rules, own_hp, enemy_hp, own_resolved, enemy_resolved):
    """Return `WIN`, `LOSS`, or 0 if no player falls. If both fall, the card with the lower priority wins."""
    if own_hp > 0 and enemy_hp > 0:
        return 0
    if own_hp <= 0 and enemy_hp <= 0:
        return WIN if rank(rules, own_resolved) < rank(rules, enemy_resolved) else LOSS
    return WIN if own_hp > 0 else LOSS


@routine
def next_status(rules, layout, status, is_last, own_resolved, enemy_resolved, own_feints, enemy_feints):
    """Return the code of the status after a clash in ``status`` (a `Status`), or `WIN` or `LOSS`.

    ``own_feints`` and ``enemy_feints`` (0 or 1) are the numbers of feints in this breath. After the last breath of a
    measure, the new status is encoded by `between_status`.
    """
    own = effects_of(rules, is_last, own_resolved, enemy_resolved)
    enemy = effects_of(rules, is_last, enemy_resolved, own_resolved)
    own_hp, enemy_hp = status.own_hp - own.taken, status.enemy_hp - enemy.taken
    result = winner(rules, own_hp, enemy_hp, own_resolved, enemy_resolved)
    if result != 0:
        return result
    own_hp, enemy_hp = min(rules.hp, own_hp + own.healed), min(rules.hp, enemy_hp + enemy.healed)
    own_feinted = status.own_feinted + own_feints
    enemy_feinted = status.enemy_feinted + enemy_feints
    if is_last:
        return between_status(layout, own_hp, enemy_hp, own_feinted + enemy_feinted)
    return play_status(layout, own_hp, enemy_hp, own.exhausted, own_feinted, enemy.exhausted, enemy_feinted)


@routine
def resolved(pick, draw):
    """Return the index of a resolved card: ``2 * pick`` if ``draw`` is 5 (no feint), otherwise ``2 * draw + 1``."""
    return 2 * pick if draw == NOTHING else 2 * draw + 1


@kernel
def tabulate_effects(rules, is_last, table):
    """Set ``table[:, own, enemy]`` to the `Effects` on the player who resolved ``own``; 5 stands for rest."""
    for own in range(N_KINDS + 1):
        for enemy in range(N_KINDS + 1):
            effects = effects_of(rules, is_last, own, enemy)
            table[0, own, enemy], table[1, own, enemy], table[2, own, enemy] = effects


@kernel
def tabulate_statuses(rules, layout, is_last, table):
    """Set ``table[status, own, enemy]`` to the status after a clash of two `resolved` cards, or to `WIN` or `LOSS`.

    If a feint would exceed the limit, the entry is `LOSS`.
    """
    for code in range(len(table)):
        status = split_status(layout, code)
        for own in range(N_RESOLVED):
            for enemy in range(N_RESOLVED):
                own_feints, enemy_feints = own % 2, enemy % 2
                table[code, own, enemy] = LOSS
                if status.own_feinted + own_feints <= layout.feints >= status.enemy_feinted + enemy_feints:
                    table[code, own, enemy] = next_status(
                        rules, layout, status, is_last, own // 2, enemy // 2, own_feints, enemy_feints
                    )
