"""Upper bounds: above every exploiter, and tight where the shown hands do not matter."""

from __future__ import annotations

import duel_twin
import numpy as np
import pytest
from exact import twin_of
from policies import mixed, uniform

from bench import reference
from punish_fast.duel.exact_evaluation import DuelError
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import upper_bound as module
from punish_fast.equilibrium.bayes import bayes_response
from punish_fast.equilibrium.best_response import best_response
from punish_fast.equilibrium.upper_bound import upper_bound
from punish_fast.mdp.policy import PolicyError
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import lift

TINY = PRESETS["tiny"]._replace(redeal="reshuffle")
# Every game ends in its first measure, and a player with a choice has nothing to remember.
BRIEF = TINY._replace(
    copies=(1, 1, 1, 1, 1),
    feints=0,
    damage=(1, 1, 1, 1, 1),
    guard_reduction=0,
    dodge_stops=(0, 0, 0, 0, 0),
    exhausting=(0, 0, 0, 0, 0),
)
# All cards are played in a measure, unless a player who rests keeps one.
LASTING = TINY._replace(copies=(0, 2, 0, 2, 1), reveal_size=0, feints=0, hp=2, healing=1)


def win_with_open_hands(graph, enemy):
    """Best win probability of a player who sees both hands, by sweeps over the exact model."""
    rules, space = graph.space.rules, graph.space
    plays = {}
    for row in range(len(graph.full.ptr) - 1):
        rows = range(*space.state_ptr[row : row + 2])
        plays[twin_of(space.state(row))] = {int(space.action[r]): float(enemy[r]) for r in rows}
    layers, nodes = duel_twin.everything(rules)
    deals = {node: duel_twin.deal(rules, node) for node in nodes | {duel_twin.begin(rules)}}
    laws = {
        position: [
            [
                (then, p * float(q))
                for other, p in plays[duel_twin.enemy_view(position)].items()
                for then, q in duel_twin.breath(rules, position, own, other).items()
            ]
            for own in reference.legal_actions(rules, position.view)
        ]
        for layer in layers
        for position in layer
    }
    value = dict.fromkeys(nodes, 1.0) | {reference.WIN: 1.0, reference.LOSS: 0.0}
    for _ in range(200):
        for layer in reversed(layers):
            for position in layer:
                value[position] = max(sum(p * value[then] for then, p in law) for law in laws[position])
        for node, deal in deals.items():
            value[node] = sum(float(p) * value[position] for position, p in deal.items())
    return value[duel_twin.begin(rules)]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_bound_is_tight_where_the_shown_hands_do_not_matter(seed):
    graph = Graph(StateSpace(BRIEF))
    enemy = mixed(graph.space, seed)
    best = best_response(graph, enemy, "true").win_probability
    bounds = [upper_bound(graph, enemy, depth).win_probability for depth in (0, 1, 2)]
    assert bounds[2] == pytest.approx(best, abs=1e-9)
    assert bounds[0] == pytest.approx(win_with_open_hands(graph, enemy), abs=1e-9)


# Games of 686, 89 and 11 breaths at random.
LONG = {
    "686": TINY._replace(hp=3, healing=1, damage=(0, 0, 0, 1, 1)),
    "89": TINY._replace(hp=4, healing=1, damage=(0, 1, 0, 1, 1)),
    "11": TINY._replace(hp=3, healing=1, damage=(0, 1, 0, 1, 2), feints=0),
}


@pytest.mark.parametrize(
    ("name", "end", "tolerance"), [("686", 0.9984488, 3e-4), ("89", 0.9985776, 1e-4), ("11", 0.7002358, 1e-4)]
)
def test_bounds_of_long_games_are_iterated_to_their_end(name, end, tolerance):
    graph = Graph(StateSpace(LONG[name]))
    found = upper_bound(graph, uniform(graph.space), 0)
    # Of 660, 136 and 86 plain iterations, until nothing fell by 1e-10.
    assert end - 1e-7 <= found.win_probability <= end + tolerance
    assert found.converged
    assert found.bounds == sorted(found.bounds, reverse=True)
    assert len(found.bounds) < 40


def test_a_bound_that_stops_early_says_so(monkeypatch):
    monkeypatch.setattr(module, "_MAX_LEAPS", 2)
    graph = Graph(StateSpace(LONG["11"]))
    assert not upper_bound(graph, uniform(graph.space)).converged


def test_a_measure_of_one_breath_has_a_default_depth():
    graph = Graph(StateSpace(TINY._replace(breaths=1)))
    enemy = uniform(graph.space)
    assert upper_bound(graph, enemy).bounds == upper_bound(graph, enemy, 1).bounds


def test_depth_0_is_the_best_response_with_open_hands():
    graph = Graph(StateSpace(LASTING))
    enemy = mixed(graph.space, 3)
    assert upper_bound(graph, enemy, 0, tolerance=1e-12).win_probability == pytest.approx(
        win_with_open_hands(graph, enemy), abs=1e-9
    )


@pytest.mark.parametrize("rules", [TINY, LASTING], ids=["tiny", "lasting"])
def test_bounds_fall_with_depth_and_stay_above_every_exploiter(rules):
    graph = Graph(StateSpace(rules))
    enemy = mixed(graph.space, 4)
    base = best_response(graph, enemy, "true").duel
    bounds = [upper_bound(graph, enemy, depth, tolerance=1e-9).win_probability for depth in (0, 1, 2)]
    assert (np.diff(bounds) < 1e-8).all()
    assert base.win_probability <= bounds[2] + 1e-9
    found = bayes_response(graph, enemy, base, n_games=200, depth=2)
    assert found.win_probability <= bounds[2] + 4 * found.standard_error + 1e-9
    assert found.win_probability > bounds[2] - 0.02


def test_iterations_lower_the_bound_and_a_deeper_opening_tightens_it():
    graph = Graph(StateSpace(TINY))
    enemy = mixed(graph.space, 5)
    steps = []
    one = upper_bound(graph, enemy, 1, progress=lambda *step: steps.append(step))
    assert one.bounds == sorted(one.bounds, reverse=True)
    assert steps == [("upper bound", k + 1, bound) for k, bound in enumerate(one.bounds)]
    assert ((one.nodes >= 0) & (one.nodes <= 1)).all()
    closer = upper_bound(graph, enemy, 1, opening_depth=2)
    assert closer.bounds[:-1] == one.bounds
    assert upper_bound(graph, enemy, 2).win_probability - 1e-4 <= closer.win_probability < one.win_probability


def test_the_information_model_of_the_graph_does_not_matter():
    coarse, fine = Graph(StateSpace(TINY)), Graph(StateSpace(TINY, "memory"))
    enemy = mixed(coarse.space, 6)
    bounds = [upper_bound(coarse, enemy, 2), upper_bound(fine, lift(fine.space, coarse.space, enemy), 2)]
    assert bounds[0].win_probability == pytest.approx(bounds[1].win_probability, abs=1e-12)
    assert np.allclose(bounds[0].nodes, bounds[1].nodes, atol=1e-12)


def test_invalid_arguments_are_refused():
    graph = Graph(StateSpace(BRIEF))
    policy = mixed(graph.space, 1)
    with pytest.raises(DuelError, match="depth: 3 is not allowed, it must be 0 to 2"):
        upper_bound(graph, policy, 3)
    with pytest.raises(DuelError, match="depth: -1 is not allowed"):
        upper_bound(graph, policy, 1, -1)
    with pytest.raises(PolicyError, match="do not add up to 1"):
        upper_bound(graph, policy * 0.5)


@pytest.mark.slow
@pytest.mark.full
def test_bayes_and_the_bound_bracket_the_best_response_in_the_standard_game(tabletop):
    graph = Graph(tabletop)
    enemy = uniform(tabletop)
    base = best_response(graph, enemy).duel
    found = bayes_response(graph, enemy, base, n_games=300)
    above = upper_bound(graph, enemy, 1, opening_depth=3, tolerance=1e-2)
    assert found.win_probability > base.win_probability
    assert found.win_probability < above.win_probability < found.win_probability + 0.15
