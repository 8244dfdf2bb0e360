from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given
from policies import mixed

from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.punish.information import InformationError
from punish_fast.punish.information_space import InformationSpace, belongs_to, lift
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.runtime._jit import set_threads


def same_states(one, other, breaths):
    return all(
        np.array_equal(getattr(a, field), getattr(b, field))
        for a, b in zip(one.layers[:breaths], other.layers[:breaths], strict=True)
        for field in ("cards", "first", "rank", "status")
    )


@given(house_rules())
def test_the_view_is_the_state_space(rules):
    view, space = InformationSpace(rules, "view"), StateSpace(rules)
    assert same_states(view, space, rules.breaths)
    assert view.states_by_breath == space.states_by_breath[:-1]
    assert np.array_equal(view.action, space.action[: len(view.action)])
    assert np.array_equal(view.state_ptr, space.state_ptr[: len(view.state_ptr)])


@given(house_rules())
def test_finer_models_have_no_fewer_states_and_every_state_an_enemy(rules):
    spaces = [InformationSpace(rules, name) for name in ("view", "memory", "order")]
    for coarse, fine in pairwise(spaces):
        assert all(a <= b for a, b in zip(coarse.states_by_breath, fine.states_by_breath, strict=True))
    graph = Graph(spaces[2])
    assert (np.diff(graph.full.ptr) > 0).all()
    full_enemy = graph.full.enemy_row
    assert full_enemy.min() >= 0
    assert np.array_equal(np.bincount(full_enemy, minlength=spaces[2].n_states), np.diff(graph.full.ptr))


@pytest.mark.compiled
@given(house_rules(largest_hp=2))
def test_a_lifted_policy_has_the_same_values_and_lengths(rules):
    space = StateSpace(rules)
    coarse = Graph(space)
    ends = np.random.default_rng(1).random((coarse.n_nodes + 2, 2))
    nodes = []
    for graph in (coarse, Graph(InformationSpace(rules, "memory"))):
        own, enemy = (lift(graph.space, space, mixed(space, seed)) for seed in (1, 2))
        v = np.concatenate([np.zeros((graph.n_full, 2)), ends])
        nodes.append(graph.back_up(own, enemy, v))
    assert nodes[1] == pytest.approx(nodes[0], abs=1e-12)


@given(house_rules())
def test_what_was_spent_is_known_in_the_first_breath_alone(rules):
    memory, carried = (InformationSpace(rules, name) for name in ("memory", "carried"))
    times = 2 ** min(2, np.count_nonzero(rules.copies))
    first, *rest = memory.states_by_breath
    assert carried.states_by_breath == [times * first, *rest]
    fine, coarse = Graph(carried), Graph(memory)
    first, *rest = coarse.full_by_breath
    assert fine.full_by_breath == [times * first, *rest]
    # What a game begins with is nothing spent.
    assert (carried.layers[0].rank[:, : memory.layout.n_statuses] == memory.layers[0].rank).all()
    rows, coarse_rows = (np.searchsorted(graph.full.ptr, graph.opening[0], "right") - 1 for graph in (fine, coarse))
    assert (carried.layers[0].status[rows] < memory.layout.n_statuses).all()
    assert belongs_to(carried, memory)[rows].tolist() == coarse_rows.tolist()


def test_statuses_that_16_bits_cannot_hold_are_refused():
    rules = PRESETS["tiny"]._replace(copies=(9, 9, 0, 0, 0), hand_size=1, reveal_size=0, hp=9, feints=7, breaths=1)
    assert InformationSpace(rules, "memory").n_states > 0
    with pytest.raises(InformationError, match="'carried' has 82,944 statuses by these rules, allowed are 65,535"):
        InformationSpace(rules, "carried")


@pytest.mark.compiled
def test_a_lifted_policy_has_the_same_duel():
    space = StateSpace(PRESETS["tiny"])
    own, enemy = mixed(space, 1), mixed(space, 2)
    duel = head_to_head(Graph(space), own, enemy)
    for name in ("memory", "carried", "order"):
        fine = InformationSpace(space.rules, name)
        lifted = head_to_head(Graph(fine), lift(fine, space, own), lift(fine, space, enemy))
        assert lifted.win_probability == pytest.approx(duel.win_probability, abs=1e-12)
        assert lifted.length == pytest.approx(duel.length, abs=1e-11)


def test_a_policy_is_lifted_step_by_step_or_at_once():
    view, memory = (InformationSpace(PRESETS["tiny"], name) for name in ("view", "memory"))
    policy = mixed(view, 3)
    for fine in (InformationSpace(PRESETS["tiny"], name) for name in ("carried", "order")):
        assert np.array_equal(lift(fine, memory, lift(memory, view, policy)), lift(fine, view, policy))
    with pytest.raises(InformationError, match="'view' forgets what 'memory' knows"):
        lift(view, memory, mixed(memory, 3))


def test_one_thread_and_two_give_the_same_states():
    spaces = []
    for threads in (1, 2):
        set_threads(threads)
        spaces.append(InformationSpace(PRESETS["tiny"], "memory"))
    assert same_states(*spaces, PRESETS["tiny"].breaths)


@pytest.mark.full
def test_states_of_the_standard_game(tabletop):
    view, memory = (InformationSpace(tabletop.rules, name) for name in ("view", "memory"))
    assert same_states(view, tabletop, 4)
    assert memory.states_by_breath == [8_600, 1_226_896, 3_246_872, 4_261_533]
    assert memory.n_states == 8_743_901
