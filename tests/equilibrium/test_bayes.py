"""The Bayes exploiter: its beliefs against exact fractions, its gain over the base against simulated wins."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import duel_twin
import numpy as np
import pytest
from exact import twin_of
from policies import mixed, uniform
from positions import positions_of

from bench import reference
from punish_fast.duel.exact_evaluation import DuelError, head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulator import EndlessError
from punish_fast.equilibrium.bayes import BayesExploiter, BayesResult, bayes_response
from punish_fast.equilibrium.best_response import best_response
from punish_fast.mdp.policy import PolicyError
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import lift
from punish_fast.runtime._jit import set_threads

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
NONE = 5


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(TINY))


@pytest.fixture(scope="module")
def enemy(graph):
    return mixed(graph.space, 1)


@pytest.fixture(scope="module")
def base(graph, enemy):
    return best_response(graph, enemy, "true").duel


def normalised(weights):
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items() if weight > 0}


class Exact:
    """Beliefs in fractions."""

    def __init__(self, graph, enemy):
        self.rules, space = graph.space.rules, graph.space
        self.plays = {}
        for row in range(len(graph.full.ptr) - 1):
            rows = range(*space.state_ptr[row : row + 2])
            self.plays[twin_of(space.state(row))] = {int(space.action[r]): Fraction(float(enemy[r])) for r in rows}

    def deal(self, nodes, view):
        """The belief after a deal of ``view`` from nodes with the given weights."""
        belief = defaultdict(Fraction)
        for node, weight in nodes.items():
            for position, p in duel_twin.deal(self.rules, node).items():
                if position.view == view:
                    belief[position] += weight * p
        return normalised(belief)

    def breath(self, belief, actions, draws):
        """The belief after a breath with the given actions and draws."""
        after = defaultdict(Fraction)
        for position, weight in belief.items():
            p = self.plays[duel_twin.enemy_view(position)].get(actions[1], Fraction(0))
            for own, enemy, chance in reference.clashes(*actions, duel_twin.deck_of(self.rules, position)):
                if p and (own.drawn, enemy.drawn) == draws:
                    after[duel_twin.after(self.rules, position, own, enemy)] += weight * p * chance
        return normalised(after)


def test_beliefs_are_the_exact_posterior_in_every_measure(graph, enemy, base):
    belief_trace = BayesExploiter(graph, enemy, base).belief_trace(40, seed=3)
    positions, exact = positions_of(graph), Exact(graph, enemy)
    lengths = np.diff(belief_trace.ptr)
    assert lengths.max() > TINY.breaths
    for game in range(len(lengths)):
        following = {duel_twin.begin(TINY): Fraction(1)}
        for k in range(*belief_trace.ptr[game : game + 2]):
            number = belief_trace.full[k]
            state = np.searchsorted(graph.full.ptr, number, side="right") - 1
            first, last = graph.full.ptr[state : state + 2]
            view = positions[number].view
            belief = exact.deal(following, view) if view.breath == 1 else following
            expected = [float(belief.get(positions[other], 0)) for other in range(first, last)]
            assert belief_trace.beliefs[k, : last - first] == pytest.approx(expected, abs=1e-12)
            assert belief[positions[number]] > 0
            draws = tuple(0 if draw == NONE else int(draw) + 1 for draw in belief_trace.draws[k])
            following = exact.breath(belief, [int(graph.space.action[row]) for row in belief_trace.rows[k]], draws)


@pytest.mark.parametrize("depth", [1, 2])
def test_nothing_is_gained_over_a_base_that_is_a_best_response(depth):
    graph = Graph(StateSpace(BRIEF))
    enemy = mixed(graph.space, 2)
    base = best_response(graph, enemy, "true").duel
    found = bayes_response(graph, enemy, base, n_games=60, depth=depth)
    assert found.win_probability == pytest.approx(base.win_probability, abs=1e-9)
    assert found.standard_error < 1e-9


def test_a_search_of_one_breath_never_loses_against_its_base(graph, enemy, base):
    weak = head_to_head(graph, uniform(graph.space), enemy)
    for duel in (base, weak):
        found = bayes_response(graph, enemy, duel, n_games=100, depth=1)
        assert found.gain.min() > -1e-12
    assert found.win_probability > weak.win_probability + 0.05


@pytest.mark.parametrize("depth", [1, 2])
def test_gains_over_the_base_agree_with_simulated_wins(graph, enemy, base, depth):
    found = bayes_response(graph, enemy, base, n_games=400, depth=depth)
    by_wins = found.won.mean()
    assert abs(by_wins - found.win_probability) < 4 * found.won.std() / 20
    assert found.standard_error < found.won.std() / 40


def test_the_information_model_of_the_graph_does_not_matter(graph, enemy, base):
    policy = best_response(graph, enemy, "true").policy
    fine = Graph(StateSpace(TINY, "memory"))
    own, other = (lift(fine.space, graph.space, weight) for weight in (policy, enemy))
    lifted = head_to_head(fine, own, other)
    one = bayes_response(graph, enemy, base, n_games=60)
    two = bayes_response(fine, other, lifted, n_games=60)
    assert one.win_probability == pytest.approx(two.win_probability, abs=1e-9)


def test_games_do_not_depend_on_threads_or_batches(graph, enemy, base):
    exploiter = BayesExploiter(graph, enemy, base)
    set_threads(1)
    one = exploiter.play(90, seed=5)
    set_threads(2)
    two = exploiter.play(90, seed=5)
    parts = exploiter.play(40, seed=5), exploiter.play(50, seed=5, first_game=40)
    for name in ("gain", "won", "breaths"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
        assert np.array_equal(getattr(one, name), np.concatenate([getattr(part, name) for part in parts]))
    assert not np.array_equal(one.gain, exploiter.play(90, seed=6).gain)


def test_progress_is_reported(graph, enemy, base):
    steps = []
    found = bayes_response(graph, enemy, base, n_games=20, progress=lambda *step: steps.append(step))
    assert steps == [("bayes", 20, found.win_probability)]


def test_the_standard_error_of_one_game_is_infinite():
    one = BayesResult(0.5, np.array([0.1]), np.ones(1, dtype=np.uint8), np.ones(1, dtype=np.int32))
    assert one.win_probability == 0.6
    assert one.standard_error == np.inf


def test_invalid_arguments_are_refused(graph, enemy, base, monkeypatch):
    with pytest.raises(DuelError, match="depth: 3 is not allowed, it must be 1 to 2"):
        BayesExploiter(graph, enemy, base, depth=3)
    with pytest.raises(PolicyError, match="do not add up to 1"):
        BayesExploiter(graph, enemy * 0.5, base)
    other = Graph(StateSpace(BRIEF))
    with pytest.raises(DuelError, match="base: a duel of"):
        BayesExploiter(other, mixed(other.space, 1), base)
    monkeypatch.setattr("punish_fast.equilibrium.bayes._MAX_BREATHS", 1)
    with pytest.raises(EndlessError, match="may never end"):
        bayes_response(graph, enemy, base, n_games=10)
