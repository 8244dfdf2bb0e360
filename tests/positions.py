"""What the numbers of a graph stand for, in the words of the exact model."""

from __future__ import annotations

import numpy as np
import twin
from duel_twin import Node, Position
from exact import twin_of

from punish_fast.duel.graph import Graph
from punish_fast.punish._codes import decode_cards, split_status


def decks_of(graph: Graph, row: int) -> list[list[int]]:
    """The decks of the full states of an information state, in their order."""
    decks = graph.full.deck[graph.full.ptr[row] : graph.full.ptr[row + 1]]
    return graph.draws.copies[decks].tolist()


def positions_of(graph: Graph) -> list[Position]:
    """What every number of a graph of `StateSpace` stands for."""
    rules = graph.space.rules
    positions = []
    for number in range(rules.breaths):
        for row in range(*graph.space.layer_ptr[number : number + 2]):
            view = twin_of(graph.space.state(row))
            unseen = twin._unseen(rules, view)
            positions += [Position(view, twin._minus(unseen, tuple(deck))) for deck in decks_of(graph, row)]
    return positions


def nodes_of(graph: Graph) -> list[Node]:
    """What every node stands for."""
    redeal, layer, layout = graph.redeal, graph.space.layers[0], graph.space.layout
    nodes = []
    for pair, rank in zip(redeal.node_pair, redeal.node_status, strict=True):
        own, enemy = np.zeros((2, 5), dtype=np.int64)
        decode_cards(layout, redeal.pair[pair], own, enemy)
        status = int(layer.status[rank])
        own_hp, enemy_hp, *_ = split_status(layout, status)
        nodes.append(Node(tuple(own.tolist()), tuple(enemy.tolist()), int(own_hp), int(enemy_hp)))
    return nodes
