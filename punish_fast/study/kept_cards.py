"""What it is worth to keep a card over the redeal.

After a measure the cards still held stay in hand, and the hands are filled up. Take one of the cards that a player
keeps away, every one of them alike, and let ``B`` be what is left, as games of a policy with itself have it. With the
card ``Y`` in its place, everything else as it came, the player wins with probability ``w(B + Y)``; and with a card
drawn from the pool instead, since drawing one card more is drawing that one first,

    w(B) = sum over Y of P(Y) w(B + Y),        P(Y) in proportion to the copies of Y in the pool.

So ``w(B + Y) - w(B)`` is what keeping ``Y`` is worth more than an unknown card, and ``w(B + X) - w(B + Y)`` what
keeping ``X`` rather than ``Y`` is worth, averaged over all ``B`` for which the pool has the cards that are compared.
If players bear in mind what was spent in the measure, that stays as it came, too, but that a card which is kept is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.duel.graph import Graph
from punish_fast.punish._codes import split_status
from punish_fast.punish.decimal_codes import join_cards, split_cards
from punish_fast.punish.information import watched_kinds
from punish_fast.punish.rules import CARDS
from punish_fast.study.selfplay import SelfPlay

_N_KINDS = len(CARDS)


class Kept(NamedTuple):
    """What kept cards are worth, as differences of chances to win; NaN for what never happens.

    Attributes:
        share: float64 ``[5]``, how likely a player keeps at least one copy, after a measure that both survive.
        over_fresh: float64 ``[5]``, what keeping the card is worth more than a card drawn in its place.
        over_other: float64 ``[5, 5]``, what keeping the card of the row is worth more than that of the column.
    """

    share: np.ndarray
    over_fresh: np.ndarray
    over_other: np.ndarray


class _Gaps(NamedTuple):
    """Hands between two measures, of which one card is taken away.

    Attributes:
        own: int64 ``[n, 5]``, what is left of the own hand.
        enemy: int64 ``[n, 5]``, the enemy's.
        rest: int64 ``[n, 2]``, what is spent, and own and enemy's HP in one number.
        weight: float64 ``[n]``, how often each comes up.
    """

    own: np.ndarray
    enemy: np.ndarray
    rest: np.ndarray
    weight: np.ndarray


def kept_cards(play: SelfPlay) -> Kept:
    """What kept cards are worth to a policy that plays both sides."""
    graph = play.graph
    own, enemy, rest = hands_of_nodes(graph)
    gaps = _open_gaps(graph, _Gaps(own, enemy, rest, play.nodes))
    left = graph.space.layout.copies - gaps.own - gaps.enemy
    value = _fill_gaps(graph, gaps, left, play.duel.v)
    has, drawn = left > 0, left / np.maximum(left.sum(axis=1, keepdims=True), 1)
    fresh = np.einsum("nk,nk->n", drawn, np.where(has, value, 0.0))
    over_fresh = np.array([_mean(gaps.weight * has[:, k], value[:, k] - fresh) for k in range(_N_KINDS)])
    over_other = np.full((_N_KINDS, _N_KINDS), np.nan)
    for x, y in np.ndindex(over_other.shape):
        over_other[x, y] = _mean(gaps.weight * (has[:, x] & has[:, y]), value[:, x] - value[:, y])
    share = np.array([_mean(play.nodes, (own[:, k] > 0).astype(np.float64)) for k in range(_N_KINDS)])
    return Kept(share, over_fresh, over_other)


def hands_of_nodes(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Own and enemy's kept hands, int64 ``[n_nodes, 5]`` each, and ``[n_nodes, 2]``: what is spent, and both HP.

    These are in one number, ``hp (own - 1) + enemy - 1``.
    """
    layout, layer, redeal = graph.space.layout, graph.space.layers[0], graph.redeal
    own, enemy = split_cards(layout, redeal.pair[redeal.node_pair])
    status = layer.status[layer.first[0] + redeal.node_status.astype(np.int64)]
    hps = [split_status(layout, s)[:2] for s in status]
    in_one = np.array([(a - 1) * layout.hp + b - 1 for a, b in hps], dtype=np.int64)
    return own, enemy, np.column_stack([status // layout.n_statuses, in_one])


def _open_gaps(graph: Graph, nodes: _Gaps) -> _Gaps:
    """Take each kept card away, every copy alike; hands that become equal are one."""
    layout = graph.space.layout
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for kind in range(_N_KINDS):
        place = np.flatnonzero((nodes.own[:, kind] > 0) & (nodes.weight > 0))
        left = nodes.own[place].copy()
        share = left[:, kind] / left.sum(axis=1)
        left[:, kind] -= 1
        keys = _keys(graph, left, nodes.enemy[place], nodes.rest[place])
        parts.append((keys, nodes.weight[place] * share))
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    weight = np.bincount(inverse, weights=np.concatenate([weight for _, weight in parts]), minlength=len(keys))
    cards, hps = np.divmod(keys, layout.hp**2)
    spent, cards = np.divmod(cards, layout.n_cards_codes)
    own, enemy = split_cards(layout, cards)
    return _Gaps(own, enemy, np.column_stack([spent, hps]), weight)


def _keys(graph: Graph, own: np.ndarray, enemy: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Keys as `Graph.redeal_of` takes them."""
    layout = graph.space.layout
    spent, hps = rest.T
    return np.asarray((spent * layout.n_cards_codes + join_cards(layout, own, enemy)) * layout.hp**2 + hps)


def _fill_gaps(graph: Graph, gaps: _Gaps, left: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Chances to win with each card in the gap, float64 ``[n, 5]``; NaN where there is none left."""
    value = np.full(left.shape, np.nan)
    gap, kind = np.nonzero(left > 0)
    own = gaps.own[gap]
    own[np.arange(len(gap)), kind] += 1
    rest = gaps.rest[gap]
    rest[:, 0] &= ~watched_kinds(graph.space.information, graph.space.rules)[kind]
    keys, inverse = np.unique(_keys(graph, own, gaps.enemy[gap], rest), return_inverse=True)
    value[gap, kind] = graph.back_up_nodes(v, graph.redeal_of(keys))[inverse, 0]
    return value


def _mean(weight: np.ndarray, value: np.ndarray) -> float:
    """A weighted mean over what has weight; NaN if nothing has."""
    has = weight > 0
    return float(weight[has] @ value[has] / weight[has].sum()) if has.any() else float("nan")
