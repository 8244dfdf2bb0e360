"""Numbers of a graph in the form of the exact model."""

from duel_twin import Node, Position
from exact import twin_of

from bench import reference
from punish_fast.duel.graph import GameGraph
from punish_fast.punish.codes import split_pairs, split_statuses


def decks_of(graph: GameGraph, row: int) -> list[list[int]]:
    """The decks of the full states of an information state, in their order."""
    decks = graph.full.deck[graph.full.ptr[row] : graph.full.ptr[row + 1]]
    return graph.draws.copies[decks].tolist()


def positions_of(graph: GameGraph) -> list[Position]:
    """The position of every full state of a graph."""
    rules = graph.space.rules
    positions = []
    for number in range(rules.breaths):
        for row in range(*graph.space.layer_ptr[number : number + 2]):
            view = twin_of(graph.space.state(row))
            unseen = reference.unseen_cards(rules, view)
            positions += [Position(view, reference.minus(unseen, tuple(deck))) for deck in decks_of(graph, row)]
    return positions


def nodes_of(graph: GameGraph) -> list[Node]:
    """The `Node` of every node of a graph."""
    redeal, layer, layout = graph.redeal, graph.space.layers[0], graph.space.layout
    own, enemy = split_pairs(layout, redeal.pair[redeal.node_pair])
    status = split_statuses(layout, layer.status[redeal.node_status])
    hands = (map(tuple, hand.tolist()) for hand in (own, enemy))
    return [Node(*node) for node in zip(*hands, status.own_hp.tolist(), status.enemy_hp.tolist(), strict=True)]
