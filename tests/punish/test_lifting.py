from __future__ import annotations

import numpy as np
import pytest
from houses import few, house_rules
from hypothesis import given
from policies import mixed

from punish_fast.duel.graph import Graph
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import belongs_to, lift


@few
@given(house_rules())
def test_a_state_belongs_to_that_with_the_same_hand_discard_pile_and_status(rules):
    fine, coarse = StateSpace(rules, "memory"), StateSpace(rules)
    match = belongs_to(fine, coarse)
    for layer, other in zip(fine.layers, coarse.layers, strict=False):
        row = match[layer.first[0] : layer.first[-1]]
        block = np.repeat(np.arange(len(layer.cards)), np.diff(layer.first))
        other_block = np.searchsorted(other.first, row, side="right") - 1
        assert np.array_equal(layer.piles[block], other.piles[other_block])
        assert np.array_equal(layer.status, other.status[row - other.first[0]])
    assert set(match.tolist()) == set(range(int(coarse.layer_ptr[rules.breaths])))


@pytest.mark.compiled
@few
@given(house_rules(largest_hp=2))
def test_a_lifted_policy_has_the_same_values_and_lengths(rules):
    space = StateSpace(rules)
    coarse = Graph(space)
    ends = np.random.default_rng(1).random((coarse.n_nodes + 2, 2))
    nodes = []
    for graph in (coarse, Graph(StateSpace(rules, "memory"))):
        own, enemy = (lift(graph.space, space, mixed(space, seed)) for seed in (1, 2))
        v = np.concatenate([np.zeros((graph.n_full, 2)), ends])
        nodes.append(graph.back_up(own, enemy, v))
    assert nodes[1] == pytest.approx(nodes[0], abs=1e-12)


def test_lifting_to_the_same_model_changes_nothing():
    for name in ("view", "memory"):
        space = StateSpace(PRESETS["tiny"], name)
        policy = mixed(space, 3)
        assert np.array_equal(lift(space, space, policy), policy)
