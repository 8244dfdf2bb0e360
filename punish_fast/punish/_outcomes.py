"""What one breath does to the status, tabulated once for all cards.

A breath moves cards and status independently. The cards: the pick leaves the hand, and a multiset ``A`` of up to three
cards joins the discard pile from out of sight (the own feint's draw, the enemy's pick, the enemy's draw). The status:
a function of the status before and of the two resolved cards. So for every status and every *way* to act (resolve
one of five cards, feint, rest) the successors are listed once as *outcomes*: pairs of ``A`` and a next status, or win,
or loss. Different *plays* (own draw, enemy pick, enemy draw) with the same outcome are merged here and nowhere
else.

Plays are numbered ``31 * (own draw + 1) + enemy play``, 0 standing for no own draw, and enemy plays are 0 for rest,
``1 + pick`` without a feint and ``6 + 5 * pick + draw`` with one. An outcome is possible exactly if the unseen cards
contain its ``A`` (win and loss: one of several).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._clash import LOSS, REST, WIN, next_status
from punish_fast.punish._codes import split_status
from punish_fast.punish._multisets import ADDED_AFTER, N_ADDED, N_KINDS
from punish_fast.runtime._jit import kernel, routine

N_ENEMY_PLAYS = 1 + N_KINDS + N_KINDS * N_KINDS
N_PLAYS = (1 + N_KINDS) * N_ENEMY_PLAYS
EMPTY = 0

# Of each enemy play: the pick, the draw (5 for none), the card resolved, and whether it is a feint.
_no_draw = [(REST, REST)] + [(pick, N_KINDS) for pick in range(N_KINDS)]
_draws = [(pick, draw) for pick in range(N_KINDS) for draw in range(N_KINDS)]
PICK_OF = np.array([pick for pick, _ in _no_draw + _draws])
DRAW_OF = np.array([draw for _, draw in _no_draw + _draws])
RESOLVED_OF = np.where(DRAW_OF == N_KINDS, PICK_OF, DRAW_OF)
FEINTS_OF = (DRAW_OF < N_KINDS).astype(np.int64)

# Ways to act: 0 to 4 resolve that card, 5 rests, 6 feints.
REST_WAY = REST
FEINT = 6
N_WAYS = 7


class Outcomes(NamedTuple):
    """The outcomes of every status and way, in one of the two kinds of breath (last of a measure, or not).

    Attributes:
        ptr: int32 ``[n_statuses * 7 + 1]``, the outcomes of status ``s`` and way ``w`` begin at ``ptr[7 s + w]``.
            They are in the order of their successors' codes; win, then loss come last.
        added: uint8 ``[n]``, the number of the multiset that joins the discard pile; 0 for win and loss.
        status: int32 ``[n]``, the next status, or `WIN`, or `LOSS`.
        mask: int64 ``[n]``, bit mask of the multisets by which the outcome can come about.
        play_ptr: int32 ``[n + 1]``, where the plays of each outcome begin.
        play: uint8 ``[m]``, plays.
        reach: int64 ``[n_statuses * 7]``, bit mask of all multisets by which the game goes on.
    """

    ptr: np.ndarray
    added: np.ndarray
    status: np.ndarray
    mask: np.ndarray
    play_ptr: np.ndarray
    play: np.ndarray
    reach: np.ndarray


@routine
def list_plays(rules, layout, status, way, is_last, keys, plays, added):
    """List the plays of a status and way with a sort key for their outcome; return how many there are."""
    _, _, _, own_feinted, enemy_exhausted, enemy_feinted = split_status(layout, status)
    own_feints = 1 if way == FEINT else 0
    if own_feinted + own_feints > layout.feints:
        return 0
    n = 0
    for own_draw in range(N_KINDS) if way == FEINT else range(N_KINDS, N_KINDS + 1):
        own = own_draw if way == FEINT else way
        offset = N_ENEMY_PLAYS * ((own_draw + 1) % (N_KINDS + 1))
        for play in range(N_ENEMY_PLAYS):
            feints = FEINTS_OF[play]
            if (PICK_OF[play] == REST) != (enemy_exhausted == 1) or enemy_feinted + feints > layout.feints:
                continue
            joined = ADDED_AFTER[ADDED_AFTER[ADDED_AFTER[EMPTY, own_draw], PICK_OF[play]], DRAW_OF[play]]
            after = next_status(rules, layout, status, is_last, own, RESOLVED_OF[play], own_feints, feints)
            n = add_play(layout, after, joined, offset + play, n, keys, plays, added)
    return n


@routine
def add_play(layout, after, joined, play, n, keys, plays, added):
    """Insert one play so that the keys stay sorted; return the new number of plays."""
    if after == WIN:
        key = N_ADDED * layout.n_statuses
    elif after == LOSS:
        key = N_ADDED * layout.n_statuses + 1
    else:
        key = joined * layout.n_statuses + after
    place = n
    while place > 0 and keys[place - 1] > key:
        keys[place] = keys[place - 1]
        plays[place] = plays[place - 1]
        added[place] = added[place - 1]
        place -= 1
    keys[place] = key
    plays[place] = play
    added[place] = joined
    return n + 1


@routine
def merge_plays(layout, n, keys, plays, added, outcomes, n_outcomes, n_plays):
    """Append the outcomes of ``n`` sorted plays; return the new numbers of outcomes and plays and the reach."""
    end = N_ADDED * layout.n_statuses
    reach = 0
    for k in range(n):
        if k == 0 or keys[k] != keys[k - 1]:
            terminal = keys[k] >= end
            outcomes.added[n_outcomes] = 0 if terminal else added[k]
            outcomes.status[n_outcomes] = (WIN if keys[k] == end else LOSS) if terminal else keys[k] % layout.n_statuses
            outcomes.mask[n_outcomes] = 0
            outcomes.play_ptr[n_outcomes] = n_plays
            n_outcomes += 1
        outcomes.mask[n_outcomes - 1] |= 1 << added[k]
        outcomes.play[n_plays] = plays[k]
        n_plays += 1
        if keys[k] < end:
            reach |= 1 << added[k]
    return n_outcomes, n_plays, reach


@kernel
def tabulate_outcomes(rules, layout, is_last, outcomes):
    """Fill ``outcomes``; return the numbers of outcomes and plays written."""
    keys = np.zeros(N_PLAYS, dtype=np.int64)
    plays = np.zeros(N_PLAYS, dtype=np.int64)
    added = np.zeros(N_PLAYS, dtype=np.int64)
    n_outcomes, n_plays = len(keys) - N_PLAYS, len(keys) - N_PLAYS
    for status in range(layout.n_statuses):
        for way in range(N_WAYS):
            index = status * N_WAYS + way
            outcomes.ptr[index] = n_outcomes
            n = list_plays(rules, layout, status, way, is_last, keys, plays, added)
            n_outcomes, n_plays, reach = merge_plays(layout, n, keys, plays, added, outcomes, n_outcomes, n_plays)
            outcomes.reach[index] = reach
    outcomes.ptr[layout.n_statuses * N_WAYS] = n_outcomes
    outcomes.play_ptr[n_outcomes] = n_plays
    return n_outcomes, n_plays
