from __future__ import annotations

import numpy as np
import pytest
from exact import random_policy
from houses import house_rules
from hypothesis import given
from hypothesis import strategies as st
from policies import mixed, uniform

from punish_fast.mdp.model import MDP, check, check_arrays
from punish_fast.mdp.policy import PolicyError
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import Refillable, build, build_compact


def same_process(one: MDP, other: MDP) -> bool:
    names = ("state_ptr", "indptr", "indices", "data", "reward", "terminal_reward", "layer_ptr", "action")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_a_new_refillable_tensor_is_against_uniform_play(tiny, tiny_mdp):
    assert same_process(Refillable(tiny).mdp.expanded(), tiny_mdp)


def test_a_refilled_process_equals_a_new_one(tiny):
    game = Refillable(tiny)
    for enemy in (random_policy(tiny, 2), mixed(tiny, 1)):
        mdp = game.fill(enemy)
        check_arrays(mdp)
        assert same_process(check(mdp.expanded()), build(tiny, enemy))
        assert mdp.nonzeros() == build(tiny, enemy).nonzeros()


@pytest.mark.slow
@pytest.mark.compiled
@given(house_rules(), st.integers(0, 2**32 - 1))
def test_random_house_rules_are_refilled(rules, seed):
    space = StateSpace(rules)
    game = Refillable(space)
    for enemy in (random_policy(space, seed), uniform(space), mixed(space, seed)):
        assert same_process(game.fill(enemy).expanded(), build(space, enemy))
        assert same_process(build_compact(space, enemy).expanded(), build(space, enemy))
    solution = solve(game.mdp)
    expected = solve(build(space, mixed(space, seed)))
    assert np.abs(solution.v - expected.v).max() <= solution.error_bound + expected.error_bound


def test_a_policy_of_other_states_is_refused(tiny):
    policy = uniform(StateSpace(PRESETS["tiny"]._replace(hp=1, redeal=tiny.rules.redeal)))
    for act in (Refillable(tiny).fill, lambda policy: build_compact(tiny, policy)):
        with pytest.raises(PolicyError, match=r"^policy: float64 .*, allowed is float64"):
            act(policy)


def test_progress_is_reported_after_each_layer(tiny):
    told = []
    build_compact(tiny, progress=lambda *step: told.append(step))
    assert told == [("tensor", 1, 3), ("tensor", 2, 3), ("tensor", 3, 3)]


@pytest.mark.full
@pytest.mark.parametrize("name", ["notebook", "tabletop"])
def test_whole_game_is_refilled(request, name):
    space = request.getfixturevalue(name)
    game = Refillable(space)
    assert same_process(game.mdp.expanded(), request.getfixturevalue(f"{name}_mdp"))
    enemy = mixed(space, 3)
    assert same_process(game.fill(enemy).expanded(), build(space, enemy))
