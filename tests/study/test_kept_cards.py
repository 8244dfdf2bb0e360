"""What kept cards are worth, against the same in dictionaries."""

import numpy as np
import pytest
from lessons_twin import TwinPlay
from policies import mixed
from positions import nodes_of

from bench import reference
from punish_fast.duel.graph import GameGraph, redeal_of
from punish_fast.punish.rules import CARDS, PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.study import kept_cards as kept_module
from punish_fast.study.kept_cards import hands_of_nodes, kept_cards
from punish_fast.study.selfplay import self_play

# A breath leaves two cards of three.
RULES = PRESETS["tiny"]._replace(redeal="reshuffle", hand_size=3, reveal_size=0, copies=(2, 2, 1, 2, 1), breaths=1)


@pytest.fixture(scope="module")
def play():
    space = StateSpace(RULES)
    return self_play(GameGraph(space), mixed(space, 4))


@pytest.fixture(scope="module")
def kept(play):
    return kept_cards(play)


@pytest.fixture(scope="module")
def exact(play):
    return TwinPlay(play.graph.space, play.policy)


def one(kind):
    return tuple(int(each == kind) for each in range(5))


def test_kept_cards_are_worth_what_the_slow_model_says(play, kept, exact):
    over_fresh, over_other = ({key: [0.0, 0.0] for key in np.ndindex(*shape)} for shape in ((5,), (5, 5)))
    for node in nodes_of(play.graph):
        for taken in [kind for kind in range(5) for _ in range(node.own[kind])]:
            weight = exact.visits[node] / sum(node.own)
            gap = node._replace(own=reference.minus(node.own, one(taken)))
            pool = reference.minus(reference.minus(RULES.copies, gap.own), gap.enemy)
            wins = {
                kind: exact.node_value(gap._replace(own=reference.plus(gap.own, one(kind))))
                for kind in range(5)
                if pool[kind] > 0
            }
            # The hand is filled up with one card more.
            fresh = exact.node_value(gap)
            for x, win in wins.items():
                add(over_fresh[x,], weight, win - fresh)
                for y, other in wins.items():
                    add(over_other[x, y], weight, win - other)
    for (x,), (weight, total) in over_fresh.items():
        assert kept.over_fresh[x] == pytest.approx(total / weight, abs=1e-8)
    for pair, (weight, total) in over_other.items():
        assert kept.over_other[pair] == pytest.approx(total / weight if weight else np.nan, abs=1e-8, nan_ok=True)


def add(cell, weight, gain):
    cell[0] += weight
    cell[1] += weight * gain


def test_hands_of_nodes_are_those_of_the_slow_model(play):
    own, enemy, hps = hands_of_nodes(play.graph)
    for number, node in enumerate(nodes_of(play.graph)):
        assert (tuple(own[number]), tuple(enemy[number])) == (node.own, node.enemy)
        assert hps[number] == RULES.hp * (node.own_hp - 1) + node.enemy_hp - 1


def test_shares_are_those_of_the_nodes(play, kept):
    nodes = nodes_of(play.graph)
    for kind in range(len(CARDS)):
        share = sum(w for node, w in zip(nodes, play.nodes, strict=True) if node.own[kind]) / play.nodes.sum()
        assert kept.share[kind] == pytest.approx(share)


def test_what_is_never_kept_has_no_worth():
    space = StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle", copies=(0, 2, 1, 2, 2)))
    found = kept_cards(self_play(GameGraph(space), mixed(space, 1)))
    assert np.isnan(found.over_fresh[0])
    assert np.isnan(found.over_other[0]).all()
    assert found.share[0] == 0
    assert not np.isnan(found.over_fresh[1])


@pytest.mark.parametrize("name", ["memoryless", "memory"])
def test_nodes_are_found_again_by_their_hands(play, name):
    graph = play.graph if name == "memoryless" else GameGraph(StateSpace(RULES, name))
    again = redeal_of(graph, kept_module._keys(graph, *hands_of_nodes(graph)))
    assert again.pair[again.node_pair].tolist() == graph.redeal.pair[graph.redeal.node_pair].tolist()
    assert again.node_status.tolist() == graph.redeal.node_status.tolist()
