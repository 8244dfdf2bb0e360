"""The tables of a clash are those of the slow model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import mixed

from bench import reference
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulator import Simulator
from punish_fast.play.table import Table
from punish_fast.punish._clash import LOSS, WIN
from punish_fast.punish._codes import Status
from punish_fast.punish.codes import join_statuses, split_between_statuses, split_statuses
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace

# Cards that both may resolve, from 0 for guard; 5 for rest.
RESOLVED = range(6)


@given(rules=house_rules())
@settings(max_examples=15)
def test_damage_is_the_slow_models(rules):
    table = Table(StateSpace(rules))
    for attack, defence in product(RESOLVED, RESOLVED):
        slow = reference.damage(rules, (attack + 1) % 6, (defence + 1) % 6)
        assert table.damage[attack, defence] == slow


@given(rules=house_rules(), data=st.data())
@settings(max_examples=15)
def test_statuses_after_a_clash_are_the_slow_models(rules, data):
    space = StateSpace(rules)
    table = Table(space)
    for _ in range(20):
        row = data.draw(st.integers(0, int(space.layer_ptr[-2]) - 1))
        state = reference.State(*space.state(row))
        own, enemy = (
            data.draw(st.sampled_from(reference.legal_actions(rules, seen)))
            for seen in (state, data.draw(st.sampled_from(mirrors(rules, state))))
        )
        deck = [card for card in reference.CARDS if reference.unseen_cards(rules, state)[card - 1]]
        plays = [
            reference.plays_of(action, data.draw(st.sampled_from(deck)) if reference.is_feint(action) else 0)
            for action in (own, enemy)
        ]
        status = Status(state.own_hp, state.enemy_hp, *state[3:5], *state[7:9])
        resolved = tuple((play.resolved - 1) % 6 for play in plays)
        feints = reference.is_feint(own), reference.is_feint(enemy)
        code = table.status_after(int(join_statuses(space.layout, status)), state.breath, resolved, feints)
        after = reference.play(rules, state, *plays)
        if isinstance(after, str):
            assert code == (WIN if after == reference.WIN else LOSS)
        elif after.breath <= rules.breaths:
            found = split_statuses(space.layout, np.array(code))
            assert tuple(map(int, found)) == (after.own_hp, after.enemy_hp, *after[3:5], *after[7:9])
        else:
            own_hp, enemy_hp, _ = split_between_statuses(space.layout, np.array(code))
            assert (own_hp, enemy_hp) == (after.own_hp, after.enemy_hp)


def mirrors(rules, state):
    """What the enemy may see."""
    hands = reference.hands(reference.unseen_cards(rules, state), state.enemy_hand)
    return [reference.mirror(state, hand) for hand in hands]


def test_agents_have_the_thresholds_of_the_simulator():
    space = StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle"))
    policy = mixed(space, 2)
    assert np.array_equal(Table(space).thresholds(policy), Simulator(Graph(space)).thresholds(policy))


@pytest.mark.parametrize("information", ["view", "memory"])
def test_a_table_knows_its_decks(information):
    table = Table(StateSpace(PRESETS["tiny"], information))
    n_decks = len(table.draws.copies)
    assert table.until.shape[0] == n_decks
    last = np.take_along_axis(table.until, np.maximum(table.draws.n - 1, 0)[..., None], axis=2)[..., 0]
    assert last[table.draws.n > 0] == pytest.approx(1)
