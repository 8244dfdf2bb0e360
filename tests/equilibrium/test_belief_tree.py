"""Searches over beliefs, against a full recursion in exact fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import duel_twin
import numpy as np
import pytest
from exact import twin_of
from policies import mixed
from positions import nodes_of, positions_of

from bench import reference
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import _belief_tree
from punish_fast.equilibrium.belief_tree import BeliefTrees
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.parallel import for_each

TINY = PRESETS["tiny"]


class Exact:
    """The same search in fractions, over positions instead of the graph's numbers."""

    def __init__(self, graph, enemy, v):
        self.rules, space = graph.space.rules, graph.space
        self.positions = positions_of(graph)
        self.v = dict(zip([*self.positions, *nodes_of(graph)], map(Fraction, v.tolist()), strict=False))
        self.plays = {}
        for row in range(len(graph.full.ptr) - 1):
            rows = range(*space.state_ptr[row : row + 2])
            chosen = {int(space.action[r]): Fraction(float(enemy[r])) for r in rows if enemy[r] > 0}
            self.plays[twin_of(space.state(row))] = chosen

    def worth(self, belief, depth):
        """The value of each action under a belief: weights of positions with one view."""
        view = next(iter(belief)).view
        return [self.outcome(belief, own, depth) for own in reference.legal_actions(self.rules, view)]

    def outcome(self, belief, own, depth):
        total, seen = Fraction(0), defaultdict(lambda: defaultdict(Fraction))
        for position, weight in belief.items():
            deck = duel_twin.deck_of(self.rules, position)
            for enemy, p in self.plays[duel_twin.enemy_view(position)].items():
                for own_move, enemy_move, chance in reference.clashes(own, enemy, deck):
                    then = duel_twin.after(self.rules, position, own_move, enemy_move)
                    share = weight * p * chance
                    if then == reference.WIN:
                        total += share
                    elif then != reference.LOSS and depth == 1:
                        total += share * self.v[then]
                    elif then != reference.LOSS:
                        seen[own_move, enemy_move][then] += share
        return total + sum((max(self.worth(after, depth - 1)) for after in seen.values()), Fraction(0))


def random_values(graph, seed):
    """Random values that are exact as fractions."""
    generator = np.random.default_rng(seed)
    v = generator.integers(0, 65, graph.n_full + graph.n_nodes + 2) / 64
    v[-2:] = 1.0, 0.0
    return v


@pytest.mark.parametrize("feints", [0, 1])
def test_beliefs_have_the_values_of_the_exact_recursion(feints):
    rules = TINY._replace(feints=feints)
    graph = Graph(StateSpace(rules))
    enemy = mixed(graph.space, 1)
    v = random_values(graph, 2)
    exact = Exact(graph, enemy, v)
    generator = np.random.default_rng(3)
    tried = generator.choice(int(graph.space.layer_ptr[1]), 12, replace=False)
    beliefs = generator.integers(0, 3, (len(tried), graph.most_decks)).astype(np.float64)
    beliefs[:, 0] += 1
    for depth in (1, 2):
        tree = BeliefTrees(graph, enemy).tree(v, range(depth - 1, depth))
        value, choice = np.empty(len(tried)), np.empty(len(tried), dtype=np.int64)
        for_each(_belief_tree.value_beliefs, len(tried), tree, depth, tried, np.arange(12), beliefs, value, choice)
        for k, row in enumerate(tried):
            numbers = range(*graph.full.ptr[row : row + 2])
            weights = {exact.positions[number]: Fraction(beliefs[k, i]) for i, number in enumerate(numbers)}
            expected = exact.worth(weights, depth)
            assert value[k] == pytest.approx(float(max(expected)), abs=1e-12)
            assert float(expected[choice[k]]) == pytest.approx(float(max(expected)), abs=1e-12)
