"""Whether a breath can follow from the one before, given both hands and both actions.

Only the cards drawn by feints are unknown, so every draw that the deck allows is tried, and a breath is legal if one of
them leads to it. Between measures both players keep their remaining cards; what they draw and what is revealed comes
from the pool of the redeal.
"""

from __future__ import annotations

from punish_fast.punish._actions import split_action
from punish_fast.punish._clash import LOSS, WIN, next_status
from punish_fast.punish._codes import Status, join_status, play_status, split_between_status
from punish_fast.punish._multisets import N_KINDS
from punish_fast.runtime._jit import kernel, routine

# Verdicts from worst to best; the best of all draws counts.
NO_DRAW, OVER, NOT_OVER, LOST, OTHER_BREATH, OTHER_HAND, OTHER_CARDS, OTHER_STATUS, FITS = range(9)

# Columns of the decimal digits.
HAND = 1
OWN_HP, OWN_EXHAUSTED, OWN_FEINTED, ENEMY_HP, ENEMY_HAND, ENEMY_EXHAUSTED, ENEMY_FEINTED = range(6, 13)
DISCARD = 13


@routine
def status_of(view):
    """The `Status` of a view given by its decimal digits."""
    return Status(
        view[OWN_HP],
        view[ENEMY_HP],
        view[OWN_EXHAUSTED],
        view[OWN_FEINTED],
        view[ENEMY_EXHAUSTED],
        view[ENEMY_FEINTED],
    )


@routine
def resolve(pick, feints, draw):
    """The card that a pick resolves to."""
    return draw if feints else pick


@routine
def judge_cards(layout, reshuffles, is_last, views, after, picks, draws):
    """Whether these picks and draws lead to the hands and the discard pile of the next breath."""
    own, enemy = views
    for kind in range(N_KINDS):
        picked = (1 if picks[0] == kind else 0) + (1 if picks[1] == kind else 0)
        drawn = (1 if draws[0] == kind else 0) + (1 if draws[1] == kind else 0)
        own_kept = own[HAND + kind] - (1 if picks[0] == kind else 0)
        enemy_kept = enemy[HAND + kind] - (1 if picks[1] == kind else 0)
        own_more = after[0][HAND + kind] - own_kept
        enemy_more = after[1][HAND + kind] - enemy_kept
        if own_more < 0 or enemy_more < 0 or (not is_last and own_more + enemy_more > 0):
            return OTHER_HAND
        gone = own[DISCARD + kind] + picked + drawn
        if is_last:
            pool = layout.copies[kind] - own_kept - enemy_kept if reshuffles else gone
            if own_more + enemy_more + after[0][DISCARD + kind] > pool:
                return OTHER_CARDS
        elif after[0][DISCARD + kind] != gone:
            return OTHER_CARDS
    return FITS


@routine
def judge_draws(rules, layout, reshuffles, ends, views, after, picks, feints, draws):
    """The verdict on a breath when feints draw ``draws``."""
    own = views[0]
    is_last = own[0] == layout.breaths
    resolved = resolve(picks[0], feints[0], draws[0]), resolve(picks[1], feints[1], draws[1])
    status = next_status(rules, layout, status_of(own), is_last, resolved[0], resolved[1], feints[0], feints[1])
    if status in (WIN, LOSS):
        if not ends:
            return OVER
        return FITS if status == WIN else LOST
    if ends:
        return NOT_OVER
    if after[0][0] != (1 if is_last else own[0] + 1):
        return OTHER_BREATH
    cards = judge_cards(layout, reshuffles, is_last, views, after, picks, draws)
    if cards != FITS:
        return cards
    if is_last:
        own_hp, enemy_hp, _ = split_between_status(layout, status)
        status = play_status(layout, own_hp, enemy_hp, 0, 0, 0, 0)
    return FITS if join_status(layout, status_of(after[0])) == status else OTHER_STATUS


@kernel
def judge_breaths(rules, layout, reshuffles, own, enemy, actions, after, verdicts):
    """Judge breaths by their successors.

    ``own`` and ``enemy`` (int64 ``[n, 18]``) are the views of the winner and of the loser, ``actions`` (int64
    ``[n, 2]``) their actions, and ``after`` the index of the next breath, or -1 where the winner won.
    """
    for k in range(len(own)):
        views = own[k], enemy[k]
        following = own[max(after[k], 0)], enemy[max(after[k], 0)]
        own_pick, own_feints = split_action(actions[k, 0])
        enemy_pick, enemy_feints = split_action(actions[k, 1])
        best = NO_DRAW
        for own_draw in range(0 if own_feints else N_KINDS, N_KINDS if own_feints else N_KINDS + 1):
            for enemy_draw in range(0 if enemy_feints else N_KINDS, N_KINDS if enemy_feints else N_KINDS + 1):
                possible = True
                for kind in range(N_KINDS):
                    drawn = (1 if own_draw == kind else 0) + (1 if enemy_draw == kind else 0)
                    held = views[0][HAND + kind] + views[1][HAND + kind] + views[0][DISCARD + kind]
                    possible &= drawn == 0 or held + drawn <= layout.copies[kind]
                if possible:
                    best = max(
                        best,
                        judge_draws(
                            rules,
                            layout,
                            reshuffles,
                            after[k] < 0,
                            views,
                            following,
                            (own_pick, enemy_pick),
                            (own_feints, enemy_feints),
                            (own_draw, enemy_draw),
                        ),
                    )
        verdicts[k] = best
