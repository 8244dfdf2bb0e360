import struct
from hashlib import blake2b

import numpy as np
import pytest
from exact import random_table
from houses import few, house_rules
from hypothesis import given
from hypothesis import strategies as st
from policies import mixed, uniform

from punish_fast.duel.graph import GameGraph
from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.punish.bots import BotView, policy_from_function
from punish_fast.punish.codes import action_name, to_decimal
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.information import InformationError
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import (
    StrategyError,
    belongs_to,
    checked_policy,
    player_digest,
    policy_of_table,
    table_of_policy,
    to_finer_model,
    uniform_policy,
)
from punish_fast.punish.transitions.tensor import build


def test_states_without_an_entry_are_played_uniformly(space):
    assert np.array_equal(uniform_policy(space), uniform(space))
    assert np.array_equal(policy_of_table(space, np.zeros(0, dtype=np.int64), np.zeros((0, 11))), uniform(space))
    state, p = random_table(space, seed=5, support=0.5)
    policy = policy_of_table(space, state, p)
    is_covered = np.repeat(np.isin(np.arange(space.n_states), state), np.diff(space.state_ptr))
    assert np.array_equal(policy[~is_covered], uniform(space)[~is_covered])
    assert not np.array_equal(policy[is_covered], uniform(space)[is_covered])


@few
@given(house_rules(largest_hp=2, most_breaths=2))
def test_the_table_of_a_policy_gives_the_policy(rules):
    space = StateSpace(rules)
    state, p = random_table(space, 1, support=1.0)
    assert state.tolist() == list(range(space.n_states))
    assert np.array_equal(table_of_policy(space, policy_of_table(space, state, p), state), p)


def test_tables_of_other_shapes_or_states_are_refused(space):
    for state, shape in (([0], (1, 10)), ([0], (2, 11)), ([[0]], (1, 11)), ([0], (11,))):
        with pytest.raises(StrategyError, match=r"^strategy: shapes are .*; they must be \(k,\) and \(k, 11\)"):
            policy_of_table(space, np.array(state), np.zeros(shape))
    state, p = random_table(space, 1)
    for wrong in (-1, 558, 0.0):
        with pytest.raises(StrategyError, match=r"^strategy: states must be indices from 0 to 557"):
            policy_of_table(space, np.array([wrong]), p[:1])
    with pytest.raises(StrategyError, match=f"state {to_decimal(space.state(int(state[0])))} is listed twice"):
        policy_of_table(space, state[[0, 1, 0]], p[[0, 1, 0]])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda p: -p, "has a negative or non-finite probability"),
        (lambda _: np.full(11, np.nan), "has a negative or non-finite probability"),
        (lambda _: np.full(11, np.inf), "has a negative or non-finite probability"),
        (lambda p: 0.999 * p, r"has probabilities that add up to 0\.99[89]"),
        (lambda p: 1.001 * p, r"has probabilities that add up to 1\.00[01]"),
        (lambda _: np.eye(11)[10], "plays 90, which is not legal there"),
    ],
)
def test_a_wrong_row_of_a_table_is_named(space, change, told):
    state, p = random_table(space, 1)
    p[1] = change(p[1])
    with pytest.raises(StrategyError, match=f"state {to_decimal(space.state(int(state[1])))} {told}"):
        policy_of_table(space, state, p)


def test_a_policy_of_other_states_is_refused(space):
    for wrong in (np.ones(3), uniform(space).astype(np.float32)):
        with pytest.raises(PolicyError, match=r"^policy: .*; it must be float64 \(\d+,\)"):
            checked_policy(space, wrong)
    other = StateSpace(space.rules._replace(hp=1))
    with pytest.raises(PolicyError, match=r"^policy: .*; it must be float64"):
        build(other, uniform(space))


@pytest.mark.parametrize("factor", [1 - 9e-15, 1.0, 1 + 9e-15])
def test_sums_of_a_checked_policy_are_1_up_to_rounding(space, factor):
    policy = checked_policy(space, factor * mixed(space, 1))
    assert np.abs(np.add.reduceat(policy, space.state_ptr[:-1]) - 1).max() <= 2**-50


def test_a_policy_within_rounding_is_returned_unchanged(space):
    policy = mixed(space, 3)
    assert checked_policy(space, policy) is policy


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
    coarse = GameGraph(space)
    ends = np.random.default_rng(1).random((coarse.n_nodes + 2, 2))
    nodes = []
    for graph in (coarse, GameGraph(StateSpace(rules, "memory"))):
        own, enemy = (to_finer_model(graph.space, space, mixed(space, seed)) for seed in (1, 2))
        v = np.concatenate([np.zeros((graph.n_full, 2)), ends])
        nodes.append(graph.back_up(own, enemy, v))
    assert nodes[1] == pytest.approx(nodes[0], abs=1e-12)


def test_lifting_to_the_same_model_changes_nothing():
    for name in ("memoryless", "memory"):
        space = StateSpace(PRESETS["tiny"], name)
        policy = mixed(space, 3)
        assert np.array_equal(to_finer_model(space, space, policy), policy)


AGENTS = st.dictionaries(
    st.integers(0, 10**18 - 1),
    st.dictionaries(st.integers(0, 99), st.floats(allow_nan=False), min_size=1, max_size=4),
    min_size=1,
    max_size=8,
)


def digest_of(agent, order):
    """The digest of a mapping from states to actions and their values, with states in this order in memory."""
    counts = [len(agent[state]) for state in order]
    pairs = [pair for state in order for pair in sorted(agent[state].items())]
    state_ptr = np.concatenate([[0], np.cumsum(counts)])
    return player_digest(np.array(order), state_ptr, *(np.array(column) for column in zip(*pairs, strict=True)))


@given(agent=AGENTS, generator=st.randoms())
def test_the_digest_is_computed_from_sorted_triples(agent, generator):
    triples = b"".join(
        struct.pack("<qqd", state, action, value or 0.0)
        for state in sorted(agent)
        for action, value in sorted(agent[state].items())
    )
    order = list(agent)
    generator.shuffle(order)
    assert digest_of(agent, order) == blake2b(triples, digest_size=16, key=b"8248").hexdigest()


def test_a_bot_sees_what_the_player_knows_and_is_asked_once_wherever_it_can_choose(space):
    views: list[BotView] = []

    def choose(view):
        views.append(view)
        return dict.fromkeys(view.moves, 0.25)

    assert policy_from_function(space, choose) == pytest.approx(uniform_policy(space), rel=1e-15)
    rows = np.flatnonzero(np.diff(space.state_ptr) > 1)
    assert len(views) == len(set(views)) == len(rows)
    for row, view in zip(rows.tolist(), views, strict=True):
        state = space.state(row)
        assert (view.breath, view.hand, view.discard) == (state.breath, state.hand, state.discard)
        assert (view.hp, view.enemy_hp, view.enemy_cards) == (state.own_hp, state.enemy_hp, state.enemy_hand)
        assert view.enemy_rests == bool(state.enemy_exhausted)
        assert (view.can_feint, view.enemy_can_feint) == (not state.own_feinted, not state.enemy_feinted)
        assert tuple(map(sum, zip(view.hand, view.discard, view.unseen, strict=True))) == space.rules.copies
        legal = space.action[space.state_ptr[row] : space.state_ptr[row + 1]].tolist()
        assert view.moves == tuple(map(action_name, legal))
        assert any(move.startswith("feint with ") for move in view.moves) == view.can_feint


def test_a_move_is_played_always_and_weights_are_normalized(space):
    bot = policy_from_function(
        space, lambda view: view.moves[-1] if view.enemy_rests else {view.moves[0]: 3, view.moves[1]: 1}
    )
    rests = np.array([space.state(row).enemy_exhausted for row in range(space.n_states)], dtype=bool)
    for row in np.flatnonzero(np.diff(space.state_ptr) > 1):
        p = bot[space.state_ptr[row] : space.state_ptr[row + 1]].tolist()
        assert p == ([0.0] * (len(p) - 1) + [1.0] if rests[row] else [0.75, 0.25] + [0.0] * (len(p) - 2))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("rest", r"bot: 'rest' is not a legal move; the legal moves are .*, in state \d{18}"),
        (None, "bot: None is not a legal move or a mapping of weights; the legal moves are "),
        (["rush"], r"bot: \['rush'\] is not a legal move or a mapping of weights; the legal moves are "),
        ({}, r"bot: the weights {} must be finite numbers, not negative and not all 0"),
        ({"rush": None}, "bot: the weights {'rush': None} must be finite numbers"),
        ({"rush": "x"}, "bot: the weights {'rush': 'x'} must be finite numbers"),
        ({"rush": -1.0, "strike": 1}, "bot: the weights"),
        ({"strike": float("nan")}, "bot: the weights"),
    ],
)
def test_a_wrong_answer_of_a_bot_is_named(space, chosen, said):
    def choose(view):
        return chosen if {"rush", "strike"} <= set(view.moves) else view.moves[0]

    with pytest.raises(StrategyError, match=f"^{said}"):
        policy_from_function(space, choose)


def test_bots_see_states_of_the_model_view_only(space):
    with pytest.raises(InformationError, match="memory"):
        policy_from_function(StateSpace(space.rules, "memory"), lambda view: view.moves[0])
