"""Best responses, and players of a duel as policies."""

import numpy as np
import pytest
from houses import few, house_rules
from hypothesis import given
from policies import uniform

import punish_fast as pf
from punish_fast.duel.graph import GameGraph
from punish_fast.mdp.arrays.policy import PolicyError, greedy
from punish_fast.punish import strategy
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

pytestmark = pytest.mark.kernels


def setting(space, seed=1):
    """A graph, an enemy, weights of all full states, and values of nodes, win and loss."""
    graph, generator = GameGraph(space), np.random.default_rng(seed)
    policy = generator.random(len(space.action))
    policy /= np.repeat(np.add.reduceat(policy, space.state_ptr[:-1]), np.diff(space.state_ptr))
    v = np.zeros((graph.n_full + graph.n_nodes + 2, 2))
    v[graph.n_full :, 0] = generator.random(graph.n_nodes + 2)
    return graph, policy, generator.random(graph.n_full), v


def policy_of(space, choice):
    policy = np.zeros(len(space.action))
    policy[choice] = 1.0
    return policy


@few
@given(house_rules())
def test_values_are_those_of_the_chosen_policy(rules):
    space = StateSpace(rules)
    graph, enemy, belief, v = setting(space)
    choice = space.state_ptr[:-1].copy()
    backed_up = v.copy()
    graph.respond(enemy, belief, v, choice)
    assert (choice >= space.state_ptr[:-1]).all()
    assert (choice < space.state_ptr[1:]).all()
    graph.back_up(policy_of(space, choice), enemy, backed_up)
    assert v[:, 0] == pytest.approx(backed_up[:, 0], abs=1e-12)


def test_a_choice_stays_without_weight_or_gain():
    space = StateSpace(PRESETS["tiny"])
    graph, enemy, belief, v = setting(space, 3)
    before = space.state_ptr[1:] - 1
    choice = before.copy()
    graph.respond(enemy, belief * 0, v, choice)
    assert np.array_equal(choice, before)
    # The former choice also stays among equal ones.
    v[graph.n_full :, 0] = 0.5
    graph.respond(enemy, belief, v, choice)
    assert np.array_equal(choice, before)


def test_the_largest_action_value_is_that_of_the_response():
    space = StateSpace(PRESETS["tiny"])
    graph, enemy, belief, v = setting(space, 4)
    choice = space.state_ptr[:-1].copy()
    graph.respond(enemy, belief, v, choice)
    values = graph.action_values(enemy, belief, v)
    n_play = int(space.layer_ptr[space.rules.breaths])
    assert len(values) == space.state_ptr[n_play]
    best = np.maximum.reduceat(values, space.state_ptr[:n_play])
    assert values[choice[:n_play]] == pytest.approx(best, abs=1e-12)
    ptr = graph.full.ptr
    mass = np.add.reduceat(belief, ptr[:-1])
    mean = np.add.reduceat(belief * v[: graph.n_full, 0], ptr[:-1]) / mass
    assert best == pytest.approx(mean, abs=1e-12)


def test_without_beliefs_all_hands_count_equally():
    space = StateSpace(PRESETS["tiny"])
    graph, enemy, _, v = setting(space, 5)
    graph.respond(enemy, np.ones(graph.n_full), v, space.state_ptr[:-1].copy())
    alike, unknown = (
        graph.action_values(enemy, belief, v) for belief in (np.ones(graph.n_full), np.zeros(graph.n_full))
    )
    assert unknown == pytest.approx(alike, abs=1e-12)


def test_full_states_below_the_least_belief_are_skipped():
    space = StateSpace(PRESETS["tiny"])
    graph, enemy, belief, v = setting(space, 7)
    passed, generator = belief < 0.4, np.random.default_rng(8)
    before = v.copy()
    before[: graph.n_full, 0] = generator.random(graph.n_full)
    first = space.state_ptr[: len(graph.full.ptr) - 1].copy()
    found, choice = before.copy(), first.copy()
    graph.respond(enemy, belief, found, choice, 0.4)
    assert np.array_equal(found[: graph.n_full][passed], before[: graph.n_full][passed])
    # In the last breath the response is as if only the others existed.
    last = int(space.layer_ptr[space.rules.breaths - 1])
    numbers = np.arange(graph.full.ptr[last], graph.n_full)
    alone, expected = before.copy(), first.copy()
    graph.respond(enemy, np.where(passed, 0.0, belief), alone, expected)
    assert np.array_equal(choice[last:], expected[last:])
    there = numbers[~passed[numbers]]
    assert np.array_equal(found[there], alone[there])
    assert 0 < len(there) < len(numbers)


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle"))


@pytest.fixture(scope="module")
def solution(space):
    return pf.solve(pf.build(space))


@pytest.mark.compiled
def test_duels_take_names_files_and_solutions(space, solution, tmp_path):
    graph = pf.GameGraph(space)
    path = tmp_path / "agent.h5"
    pf.save(path, space, pf.build(space), solution)
    policy = greedy(space.state_ptr, solution.q)
    expected = pf.head_to_head(graph, policy, uniform(space)).win_probability
    for player in (solution, pf.load(path), path, str(path), pf.Player(str(path))):
        assert pf.head_to_head(graph, player, "random").win_probability == expected
        wins = pf.simulate(graph, policy, uniform(space), 10).wins
        assert pf.simulate(graph, player, "random", 10).wins == wins
    assert pf.best_response(graph, "random").win_probability >= expected - 1e-9


def test_players_of_another_game_are_refused(space, solution):
    other = StateSpace(space.rules._replace(hp=1))
    for player in (solution, uniform(space)):
        with pytest.raises(PolicyError, match=r"^policy: "):
            strategy.policy_of(player, other)


def test_a_wrong_type_of_player_is_named(space):
    with pytest.raises(TypeError, match=r"^policy: list is not allowed; it must be"):
        strategy.policy_of([0.5, 0.5], space)
