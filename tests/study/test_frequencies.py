from collections import defaultdict

import numpy as np
import pytest
from exact import twin_of
from houses import house_rules
from hypothesis import given
from policies import uniform
from positions import nodes_of, positions_of

from punish_fast.punish.codes import ACTIONS, action_name, digits_of
from punish_fast.punish.rules import CARDS, PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.frequencies import PLAY_OF, PLAYS, frequencies, groupings, possible_plays
from punish_fast.study.observations import columns_of_rows, observe
from punish_fast.study.selfplay import self_play

RULES = true_rules(PRESETS["tiny"])


@pytest.fixture(scope="module")
def found(play):
    return frequencies(play)


def test_plays_are_named_by_their_actions():
    for action, play in zip(ACTIONS, PLAY_OF, strict=True):
        if action == 90:
            assert play == -1
        elif action % 10:
            assert PLAYS[play] == "feint"
        else:
            assert PLAYS[play] == action_name(action)


def test_shares_add_up_to_one_and_choices_to_those_of_a_game(play, found):
    space = play.graph.space
    chooses = np.diff(space.state_ptr[: len(play.state_visits) + 1]) > 1
    total = defaultdict(float)
    for situation in found:
        total[situation.grouping] += situation.choices
        assert situation.shares.sum() == pytest.approx(1, abs=1e-12)
        assert (situation.possible <= 1 + 1e-12).all()
        assert situation.shares == pytest.approx(np.nan_to_num(situation.when_possible) * situation.possible, abs=1e-12)
        assert np.nan_to_num(situation.given_up).sum() == pytest.approx(float(situation.shares[5] > 0))
    assert set(total) == {"all", "breath", "hp", "enemy", "hand"}
    for choices in total.values():
        assert choices == pytest.approx(play.state_visits[chooses].sum(), abs=1e-12)
    assert found[0].choices <= play.duel.length


def test_frequencies_are_those_of_a_plain_count(play, found):
    space = play.graph.space
    counted = defaultdict(lambda: np.zeros((2, 6)))
    for row in range(len(play.state_visits)):
        state, rows = space.state(row), range(*space.state_ptr[row : row + 2])
        if len(rows) == 1:
            continue
        unseen = RULES.copies[4] - state.hand[4] - state.discard[4]
        threat = "the enemy must rest" if state.enemy_exhausted else "the enemy holds no punish"
        labels = {
            "always",
            f"breath {state.breath}",
            f"{state.own_hp} HP against {state.enemy_hp}",
            "the enemy may hold a punish" if unseen and not state.enemy_exhausted else threat,
            {0: "no punish in hand", 1: "1 punish in hand"}[state.hand[4]],
        }
        for place in rows:
            name = action_name(int(space.action[place]))
            play_number = PLAYS.index("feint" if "feint" in name else name)
            for label in labels:
                counted[label][0, play_number] += play.state_visits[row] * play.policy[place]
        for number in {PLAYS.index(c) for k, c in enumerate(CARDS) if state.hand[k]} | (
            {5} if state.own_feinted < RULES.feints else set()
        ):
            for label in labels:
                counted[label][1, number] += play.state_visits[row]
    assert {situation.situation for situation in found} == set(counted)
    for situation in found:
        played, possible = counted[situation.situation]
        assert situation.shares == pytest.approx(played / situation.choices, abs=1e-12)
        expected = np.divide(played, possible, out=np.full(6, np.nan), where=possible > 0)
        assert situation.when_possible == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_who_plays_anything_plays_everything(play):
    space = play.graph.space
    for situation in frequencies(self_play(play.graph, uniform(space))):
        assert situation.when_possible[~np.isnan(situation.when_possible)].min() > 0.1


def test_who_remembers_more_but_plays_the_same_has_the_same_frequencies(found, lifted):
    for one, other in zip(found, frequencies(lifted), strict=True):
        assert one[:2] == other[:2]
        for a, b in zip(one[2:], other[2:], strict=True):
            assert a == pytest.approx(b, abs=1e-11, nan_ok=True)


def test_every_state_is_in_one_situation_of_each_sort(play):
    observed = observe(play.graph.space)
    for grouping in groupings(RULES, observed):
        assert grouping.group.min() >= 0
        assert grouping.group.max() < len(grouping.labels)
        assert len(set(grouping.labels)) == len(grouping.labels)
    assert not possible_plays(observed, RULES)[~observed.chooses].any()
    # More copies of a card than there are words for.
    many = groupings(RULES._replace(copies=(1, 2, 1, 2, 4)), observed)[-1]
    assert len(set(many.labels)) == len(many.labels)


@given(house_rules())
def test_observations_are_the_digits_of_the_states(rules):
    space = StateSpace(rules)
    observed = observe(space)
    n_play = int(space.layer_ptr[rules.breaths])
    digits = digits_of(space)[:n_play]
    assert np.array_equal(observed.breath, digits[:, 0])
    assert np.array_equal(observed.hand, digits[:, 1:6])
    assert np.array_equal(observed.gone, digits[:, 13:])
    statuses = (observed.own_hp, observed.own_exhausted, observed.own_feinted, observed.enemy_hp)
    assert np.array_equal(np.stack(statuses, axis=1), digits[:, 6:10])
    assert np.array_equal(observed.enemy_exhausted, digits[:, 11])
    assert np.array_equal(observed.enemy_feinted, digits[:, 12])
    assert np.array_equal(observed.chooses, np.diff(space.state_ptr)[:n_play] > 1)


def test_columns_are_those_of_the_actions(space):
    state, column = columns_of_rows(space)
    assert np.array_equal(np.array(ACTIONS)[column], space.action[: len(state)])
    assert np.array_equal(np.bincount(state), np.diff(space.state_ptr)[: state[-1] + 1])
    assert state[-1] + 1 == space.layer_ptr[PRESETS["tiny"].breaths]


@pytest.mark.slow
def test_visits_and_values_are_those_of_the_slow_model(play, exact):
    for number, position in enumerate(positions_of(play.graph)):
        assert play.visits[number] == pytest.approx(exact.visits[position], abs=1e-10)
        assert play.duel.v[number, 0] == pytest.approx(exact.value[position], abs=1e-9)
    for number, node in enumerate(nodes_of(play.graph)):
        assert play.nodes[number] == pytest.approx(exact.visits[node], abs=1e-10)


def test_action_values_are_those_of_the_slow_model(play, exact):
    space = play.graph.space
    generator = np.random.default_rng(1)
    for row in generator.choice(int(space.layer_ptr[space.rules.breaths]), 60, replace=False):
        view = twin_of(space.state(int(row)))
        for place in range(*space.state_ptr[row : row + 2]):
            expected = exact.seen_value(view, int(space.action[place]))
            assert play.action_values[place] == pytest.approx(expected, abs=1e-9)


def test_all_actions_have_values_where_a_policy_never_leads(graph):
    space = graph.space
    policy = np.zeros(len(space.action))
    policy[space.state_ptr[:-1]] = 1.0
    play = self_play(graph, policy)
    assert (play.visits == 0).any()
    assert (play.action_values >= -1e-12).all()
    assert (play.action_values <= 1 + 1e-12).all()
    assert (np.add.reduceat(play.beliefs, play.graph.full.ptr[:-1]) > 0).mean() > 0.9
