"""Outcomes of one breath, tabulated by status for use with all cards.

A breath changes cards and status independently. The player's pick leaves the hand, and up to three unseen cards *join*
the discard pile: the player's draw for a feint, the enemy's pick and the enemy's draw. The next status depends on the
previous status and the two resolved cards. For every status and every *way* to act (resolve one of five cards, feint or
rest), the successors are therefore listed once as *outcomes*: a win, a loss, or the joining cards and the next status.
*Plays* (player's draw, enemy's pick, enemy's draw) with the same outcome are merged here and nowhere else.

Joining cards are numbered ``56 * draw + multiset``. Under ``view``, ``draw`` is 0 and the multiset contains all joining
cards. If a model distinguishes the two players' cards, ``draw`` is the kind of the player's draw plus 1 (0 for none),
and the multiset contains only the enemy's cards.

Plays are numbered ``31 * d + e``, where ``d`` is the kind of the player's draw plus 1 (0 for none). The enemy's play
``e`` is 0 for rest, ``1 + pick`` for a pick without a feint and ``6 + 5 * pick + draw`` for a feint. An outcome is
possible if and only if the unseen cards contain the cards of one of its plays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.punish._clash import REST, WIN, next_status
from punish_fast.punish._codes import split_status
from punish_fast.punish._multisets import ADDED_AFTER, N_ADDED, N_KINDS
from punish_fast.runtime._jit import kernel, routine

N_ENEMY_PLAYS = 1 + N_KINDS + N_KINDS * N_KINDS
N_PLAYS = (1 + N_KINDS) * N_ENEMY_PLAYS
EMPTY = 0

# Pick, draw (5 for none), resolved card and feint flag of each enemy play.
_no_draw = [(REST, REST)] + [(pick, N_KINDS) for pick in range(N_KINDS)]
_draws = [(pick, draw) for pick in range(N_KINDS) for draw in range(N_KINDS)]
PICK_OF = np.array([pick for pick, _ in _no_draw + _draws])
DRAW_OF = np.array([draw for _, draw in _no_draw + _draws])
RESOLVED_OF = np.where(DRAW_OF == N_KINDS, PICK_OF, DRAW_OF)
FEINTS_OF = (DRAW_OF < N_KINDS).astype(np.int64)

# Ways to act: 0 to 4 resolve a card of that kind without a feint, 5 is rest, and 6 is a feint.
REST_WAY = REST
FEINT = 6
N_WAYS = 7


class BreathOutcomes(NamedTuple):
    """The outcomes of every status and way, for the last breath of a measure or for all other breaths."""

    # int32 [n_statuses * 7 + 1]: the outcomes of status ``s`` and way ``w`` begin at ``ptr[7 s + w]``. They are in the
    # order of their successors' codes, followed by a win and a loss.
    ptr: np.ndarray
    joined: np.ndarray  # uint16 [n], number of the joining cards; 0 for win and loss
    status: np.ndarray  # int32 [n], next status, or `WIN`, or `LOSS`
    mask: np.ndarray  # int64 [n], bit mask of the multisets of joining cards (player's draw included) with this outcome
    play_ptr: np.ndarray  # int32 [n + 1], first play of each outcome
    play: np.ndarray  # uint8 [m], plays of all outcomes
    # int64 [n_statuses * 7, n_draws], bit masks of all multisets that do not end the game, by the player's draw;
    # n_draws is 6, or 1 if the model does not distinguish the two players' cards
    reach: np.ndarray


class PlayList(NamedTuple):
    """Plays of a status and way, sorted by key: undecided games, then wins, then losses. Arrays are int64 ``[186]``."""

    key: np.ndarray  # ``joined * n_statuses + next status``; `end_key` for a win, and `end_key` + 1 for a loss
    play: np.ndarray
    multiset: np.ndarray  # all joining cards, including the player's draw


@routine
def list_plays(rules, layout, status, way, is_last, tells_draws, plays):
    """Write the plays of a status and way to ``plays`` and return their number."""
    own_feints = 1 if way == FEINT else 0
    if status.own_feinted + own_feints > layout.feints:
        return 0
    n = 0
    for own_draw in range(N_KINDS) if way == FEINT else range(N_KINDS, N_KINDS + 1):
        own = own_draw if way == FEINT else way
        draw = (own_draw + 1) % (N_KINDS + 1)
        for play in range(N_ENEMY_PLAYS):
            feints = FEINTS_OF[play]
            if (PICK_OF[play] == REST) != (status.enemy_exhausted == 1):
                continue
            if status.enemy_feinted + feints > layout.feints:
                continue
            cards = ADDED_AFTER[ADDED_AFTER[EMPTY, PICK_OF[play]], DRAW_OF[play]]
            multiset = ADDED_AFTER[cards, own_draw]
            joined = draw * N_ADDED + cards if tells_draws else multiset
            after = next_status(rules, layout, status, is_last, own, RESOLVED_OF[play], own_feints, feints)
            key = end_key(layout) + WIN - after if after < 0 else joined * layout.n_statuses + after
            add_play(key, N_ENEMY_PLAYS * draw + play, multiset, n, plays)
            n += 1
    return n


@routine
def end_key(layout):
    """Return the key of a win, which is greater than all keys of undecided games; the key of a loss is one greater."""
    return (N_KINDS + 1) * N_ADDED * layout.n_statuses


@routine
def add_play(key, play, multiset, n, plays):
    """Insert a play into the first ``n`` plays, keeping the keys sorted."""
    place = n
    while place > 0 and plays.key[place - 1] > key:
        plays.key[place] = plays.key[place - 1]
        plays.play[place] = plays.play[place - 1]
        plays.multiset[place] = plays.multiset[place - 1]
        place -= 1
    plays.key[place] = key
    plays.play[place] = play
    plays.multiset[place] = multiset


@routine
def merge_plays(layout, n, plays, outcomes, reach, n_outcomes, n_plays):
    """Append the outcomes of ``n`` sorted plays to ``outcomes``; return the new numbers of outcomes and plays."""
    win = end_key(layout)
    for k in range(n):
        key = plays.key[k]
        joined = key // layout.n_statuses if key < win else 0
        if k == 0 or key != plays.key[k - 1]:
            outcomes.joined[n_outcomes] = joined
            outcomes.status[n_outcomes] = key % layout.n_statuses if key < win else WIN + win - key
            outcomes.mask[n_outcomes] = 0
            outcomes.play_ptr[n_outcomes] = n_plays
            n_outcomes += 1
        outcomes.mask[n_outcomes - 1] |= 1 << plays.multiset[k]
        outcomes.play[n_plays] = plays.play[k]
        n_plays += 1
        if key < win:
            reach[joined // N_ADDED] |= 1 << (joined % N_ADDED)
    return n_outcomes, n_plays


@kernel
def tabulate_outcomes(rules, layout, is_last, outcomes):
    """Fill ``outcomes``, whose ``reach`` must be 0 on entry, and return the numbers of outcomes and plays."""
    plays = PlayList(
        key=np.zeros(N_PLAYS, dtype=np.int64),
        play=np.zeros(N_PLAYS, dtype=np.int64),
        multiset=np.zeros(N_PLAYS, dtype=np.int64),
    )
    tells_draws = outcomes.reach.shape[1] > 1
    n_outcomes, n_plays = len(plays.key) - N_PLAYS, len(plays.key) - N_PLAYS
    for code in range(layout.n_statuses):
        status = split_status(layout, code)
        for way in range(N_WAYS):
            index = code * N_WAYS + way
            outcomes.ptr[index] = n_outcomes
            n = list_plays(rules, layout, status, way, is_last, tells_draws, plays)
            n_outcomes, n_plays = merge_plays(layout, n, plays, outcomes, outcomes.reach[index], n_outcomes, n_plays)
    outcomes.ptr[layout.n_statuses * N_WAYS] = n_outcomes
    outcomes.play_ptr[n_outcomes] = n_plays
    return n_outcomes, n_plays
