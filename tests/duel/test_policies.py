"""Players of a duel as policies."""

import pytest
from policies import uniform

import punish_fast as pf
from punish_fast.duel.policies import policy_of
from punish_fast.mdp.policy import PolicyError, greedy
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def space() -> StateSpace:
    return StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle"))


@pytest.fixture(scope="module")
def solution(space):
    return pf.solve(pf.build(space))


@pytest.mark.compiled
def test_duels_take_names_files_and_solutions(space, solution, tmp_path):
    graph = pf.Graph(space)
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
            policy_of(player, other)


def test_a_wrong_type_of_player_is_named(space):
    with pytest.raises(TypeError, match=r"^policy: list is not allowed; it must be"):
        policy_of([0.5, 0.5], space)
