"""Outcomes of one breath, tabulated by status and independent of the cards.

Given the picks and draws, a breath changes cards and status independently. The player's pick leaves the hand, and up to
three unseen cards *join* the discard pile: the player's draw for a feint, the enemy's pick and the enemy's draw. The
next status depends on the previous status and the two resolved cards. A *way* to act is to resolve one of five cards,
to feint or to rest. For every status and way, the successors are therefore listed once as *outcomes*: a win, a loss, or
the joining cards and the next status. A *play* consists of the player's draw, the enemy's pick and the enemy's draw.

Joining cards are numbered ``56 * draw + multiset``. Under ``memoryless``, ``draw`` is 0, and the multiset contains all
joining cards. If a model distinguishes the two players' cards, ``draw`` is the kind of the player's draw plus 1 (0 for
no draw), and the multiset contains only the enemy's cards.

Plays are numbered ``31 * d + e``, where ``d`` is the kind of the player's draw plus 1 (0 for no draw). The enemy's play
``e`` is 0 for rest, ``1 + pick`` for a pick without a feint, and ``6 + 5 * pick + draw`` for a feint. An outcome is
possible if and only if the unseen cards contain all cards in one of its plays.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.punish._multisets import ADDED_AFTER, N_ADDED, N_KINDS
from punish_fast.punish.clash import REST, WIN
from punish_fast.punish.codes import Layout, split_statuses

N_ENEMY_PLAYS = 1 + N_KINDS + N_KINDS * N_KINDS
N_PLAYS = (1 + N_KINDS) * N_ENEMY_PLAYS
EMPTY = 0

# Pick, draw (5 for no draw), resolved card and feint flag for each of the enemy's plays.
_no_draw = [(REST, REST)] + [(pick, N_KINDS) for pick in range(N_KINDS)]
_draws = [(pick, draw) for pick in range(N_KINDS) for draw in range(N_KINDS)]
PICK_OF = np.array([pick for pick, _ in _no_draw + _draws])
DRAW_OF = np.array([draw for _, draw in _no_draw + _draws])
RESOLVED_OF = np.where(DRAW_OF == N_KINDS, PICK_OF, DRAW_OF)
FEINTS_OF = (DRAW_OF < N_KINDS).astype(np.int64)

# Ways to act: 0 to 4 resolve a card of this kind without a feint, 5 is rest, and 6 is a feint.
REST_WAY = REST
FEINT = 6
N_WAYS = 7


class BreathOutcomes(NamedTuple):
    """Outcomes of every status and way, for the last breath of a measure or for all other breaths."""

    # int32 [n_statuses * 7 + 1]: the outcomes of status ``s`` and way ``w`` begin at ``ptr[7 s + w]``.
    # Outcomes are in the order of their successors' codes, followed by a win and a loss.
    ptr: np.ndarray
    # uint16 [n], index of the multiset of joining cards, or 0 for a win or loss. If the model distinguishes the cards
    # of the players, it is the index of the enemy's multiset plus 56 times the player's draw (0, or 1 plus the kind).
    joined: np.ndarray
    status: np.ndarray  # int32 [n], next status, `WIN` or `LOSS`
    mask: np.ndarray  # int64 [n], bit mask of joining multisets (including the player's draw) with this outcome
    play_ptr: np.ndarray  # int32 [n + 1], first play of each outcome
    play: np.ndarray  # uint8 [m], plays of all outcomes
    n_draws: int  # 6, or 1 if the model does not distinguish the two players' cards


def tabulate_outcomes(layout: Layout, statuses: np.ndarray, tells_draws: bool) -> BreathOutcomes:
    """Return the outcomes of all statuses and ways.

    Args:
        layout: Radices of the codes.
        statuses: int32 ``[n_statuses, 12, 12]``, a table from `status_tables`.
        tells_draws: True if the information model distinguishes the two players' cards.
    """
    # The player resolves a card or rests, or feints and draws one of five cards.
    way = np.array([*range(REST + 1), *[FEINT] * N_KINDS])
    own_draw = np.array([N_KINDS] * (REST + 1) + [*range(N_KINDS)])
    feints, draw = (way == FEINT).astype(np.int64), (own_draw + 1) % (N_KINDS + 1)
    own = 2 * np.where(way == FEINT, own_draw, way) + feints
    status = split_statuses(layout, np.arange(layout.n_statuses)[:, np.newaxis, np.newaxis])
    is_possible = (status.enemy_exhausted == 1) == (PICK_OF == REST)
    is_possible = is_possible & (status.enemy_feinted + FEINTS_OF <= layout.feints)
    is_possible = is_possible & (status.own_feinted + feints[:, np.newaxis] <= layout.feints)
    code, move, play = np.nonzero(is_possible)
    after = statuses[code, own[move], 2 * RESOLVED_OF[play] + FEINTS_OF[play]]
    cards = ADDED_AFTER[ADDED_AFTER[EMPTY, PICK_OF], DRAW_OF][play]
    multiset = ADDED_AFTER[cards, own_draw[move]]
    joined = np.where(after < 0, 0, draw[move] * N_ADDED + cards if tells_draws else multiset)
    index = code * N_WAYS + way[move]
    # Sort undecided games by cards and status, followed by wins and losses.
    n_keys = (N_KINDS + 1) * N_ADDED * layout.n_statuses
    key = index * (n_keys + 2) + np.where(after < 0, n_keys + WIN - after, joined * layout.n_statuses + after)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    index, after, joined = (array[order[first]] for array in (index, after, joined))
    return BreathOutcomes(
        ptr=np.searchsorted(index, np.arange(layout.n_statuses * N_WAYS + 1)).astype(np.int32),
        joined=joined.astype(np.uint16),
        status=after.astype(np.int32),
        mask=np.bitwise_or.reduceat(1 << multiset[order], first),
        play_ptr=np.append(first, len(order)).astype(np.int32),
        play=(N_ENEMY_PLAYS * draw[move] + play)[order].astype(np.uint8),
        n_draws=N_KINDS + 1 if tells_draws else 1,
    )
