"""Gain from keeping a card through the redeal.

After a measure, players keep the cards in their hands and draw up to the hand size. Remove one of the cards that a
player keeps, chosen uniformly at random. Let ``B`` be the remaining situation, distributed as in self-play. If card
``Y`` replaces the removed card, the player wins with probability ``w(B + Y)``. If a random card from the pool replaces
it, the player draws one more card. The order of draws is irrelevant, so the win probability is

    w(B) = sum over Y of P(Y) w(B + Y),        P(Y) in proportion to the copies of Y in the pool.

The gain from keeping ``Y`` instead of a fresh card is ``w(B + Y) - w(B)``. The gain from keeping ``X`` instead of
``Y`` is ``w(B + X) - w(B + Y)``. Both gains are averaged over all ``B`` whose pool contains the compared cards.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.duel.graph import GameGraph, redeal_of
from punish_fast.punish.codes import join_pairs, split_pairs, split_statuses
from punish_fast.punish.rules import CARDS
from punish_fast.study.selfplay import SelfPlay

_N_KINDS = len(CARDS)


class Kept(NamedTuple):
    """Gains from keeping cards, in win probability (NaN if impossible)."""

    # float64 ``[5]``, probability that a player keeps at least one copy of the card after a measure, if both survive.
    share: np.ndarray
    over_fresh: np.ndarray  # float64 ``[5]``, gain from keeping the card instead of a fresh card
    over_other: np.ndarray  # float64 ``[5, 5]``, gain from keeping the row card instead of the column card


class _Gaps(NamedTuple):
    """Kept hands between two measures, after removal of a card from the player's hand."""

    own: np.ndarray  # int64 ``[n, 5]``, the player's remaining cards
    enemy: np.ndarray  # int64 ``[n, 5]``, the enemy's hand
    hps: np.ndarray  # int64 ``[n]``, HP of both players, encoded as ``hp * (own - 1) + enemy - 1``
    weight: np.ndarray  # float64 ``[n]``, expected number of visits per game


def kept_cards(play: SelfPlay) -> Kept:
    """Return the gains from keeping cards in self-play."""
    graph = play.graph
    own, enemy, hps = hands_of_nodes(graph)
    gaps = _open_gaps(graph, _Gaps(own, enemy, hps, play.nodes))
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


def hands_of_nodes(graph: GameGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both players' kept cards, int64 ``[n_nodes, 5]`` each, and the code ``hps`` of `_Gaps`, ``[n_nodes]``."""
    layout, layer, redeal = graph.space.layout, graph.space.layers[0], graph.redeal
    own, enemy = split_pairs(layout, redeal.pair[redeal.node_pair])
    status = split_statuses(layout, layer.status[redeal.node_status])
    return own, enemy, (status.own_hp - 1) * layout.hp + status.enemy_hp - 1


def _open_gaps(graph: GameGraph, nodes: _Gaps) -> _Gaps:
    """Remove one of the player's cards, each with equal probability. Merge nodes that become equal."""
    layout = graph.space.layout
    keys, weights = [], []
    for kind in range(_N_KINDS):
        place = np.flatnonzero((nodes.own[:, kind] > 0) & (nodes.weight > 0))
        left = nodes.own[place].copy()
        weights.append(nodes.weight[place] * left[:, kind] / left.sum(axis=1))
        left[:, kind] -= 1
        keys.append(_keys(graph, left, nodes.enemy[place], nodes.hps[place]))
    merged, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    weight = np.bincount(inverse, weights=np.concatenate(weights), minlength=len(merged))
    cards, hps = np.divmod(merged, layout.hp**2)
    return _Gaps(*split_pairs(layout, cards), hps, weight)


def _keys(graph: GameGraph, own: np.ndarray, enemy: np.ndarray, hps: np.ndarray) -> np.ndarray:
    layout = graph.space.layout
    return np.asarray(join_pairs(layout, own, enemy) * layout.hp**2 + hps)


def _fill_gaps(graph: GameGraph, gaps: _Gaps, left: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the win probability after adding each card to a gap, float64 ``[n, 5]`` (NaN if no copy is left)."""
    value = np.full(left.shape, np.nan)
    gap, kind = np.nonzero(left > 0)
    own = gaps.own[gap]
    own[np.arange(len(gap)), kind] += 1
    keys, inverse = np.unique(_keys(graph, own, gaps.enemy[gap], gaps.hps[gap]), return_inverse=True)
    value[gap, kind] = graph.back_up_nodes(v, redeal_of(graph, keys))[inverse, 0]
    return value


def _mean(weight: np.ndarray, value: np.ndarray) -> float:
    """Return the weighted mean, or NaN if all weights are 0."""
    has = weight > 0
    return float(weight[has] @ value[has] / weight[has].sum()) if has.any() else float("nan")
