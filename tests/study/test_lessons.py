from collections import defaultdict
from contextlib import contextmanager

import duel_twin
import numpy as np
import pytest
from lessons_twin import TwinPlay
from policies import mixed, uniform

from punish_fast.duel.evaluation import outcome_distribution
from punish_fast.duel.graph import GameGraph
from punish_fast.punish.rules import CARDS, PRESETS
from punish_fast.punish.states.openings import openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.frequencies import PLAYS
from punish_fast.study.lessons import lessons, study_game
from punish_fast.study.selfplay import self_play

# Measures begin with all pairs of 1 or 2 HP.
RULES = PRESETS["tiny"]._replace(redeal="reshuffle", healing=0)


@pytest.fixture(scope="module")
def play():
    space = StateSpace(RULES)
    return self_play(GameGraph(space), mixed(space, 5))


@pytest.fixture(scope="module")
def found(play):
    return lessons(play)


@pytest.fixture(scope="module")
def exact(play):
    return TwinPlay(play.graph.space, play.policy)


@pytest.mark.slow
def test_hp_are_worth_what_the_slow_model_says(found, exact):
    assert len(found.dealt) == 4
    for (own, enemy), win in found.dealt.items():
        node = duel_twin.begin(RULES)._replace(own_hp=own, enemy_hp=enemy)
        assert win == pytest.approx(exact.node_value(node), abs=1e-9)
    seen, won = defaultdict(float), defaultdict(float)
    for position, p in exact.visits.items():
        if isinstance(position, duel_twin.Position) and position.view.breath > 1:
            pair = position.view.own_hp, position.view.enemy_hp
            seen[pair] += p
            won[pair] += p * exact.value[position]
    assert found.during == pytest.approx({pair: won[pair] / seen[pair] for pair in found.during}, abs=1e-9)
    assert set(found.during) == {pair for pair, p in seen.items() if p > 0}


@pytest.mark.slow
def test_openings_are_those_of_the_states_and_worth_what_the_slow_model_says(play, found, exact):
    expected = openings(play.graph.space)
    assert np.array_equal(found.openings.state, expected.state)
    assert np.array_equal(found.openings.hand, expected.hand)
    assert np.array_equal(found.openings.revealed, expected.revealed)
    assert found.openings.p == pytest.approx(expected.p, abs=1e-12)
    assert found.openings.p @ found.value == pytest.approx(0.5, abs=1e-12)
    dealt, won = defaultdict(float), defaultdict(float)
    for position, p in duel_twin.deal(RULES, duel_twin.begin(RULES)).items():
        dealt[position.view.hand] += float(p)
        won[position.view.hand] += float(p) * exact.value[position]
    for hand, p, value in zip(*found.hands, strict=True):
        assert p == pytest.approx(dealt[tuple(hand.tolist())], abs=1e-12)
        assert value == pytest.approx(won[tuple(hand.tolist())] / p, abs=1e-9)
    assert found.hands.p.sum() == pytest.approx(1, abs=1e-12)


def test_hp_during_a_measure_and_hands_are_means_over_full_states(play, found):
    space, graph, v = play.graph.space, play.graph, play.duel.v[:, 0]
    sums = defaultdict(lambda: np.zeros(2))
    for row in range(int(space.layer_ptr[1]), len(play.state_visits)):
        state, places = space.state(row), slice(*graph.full.ptr[row : row + 2])
        visits = play.visits[places]
        sums[state.own_hp, state.enemy_hp] += visits.sum(), visits @ v[places]
    assert found.during == pytest.approx({pair: won / n for pair, (n, won) in sums.items() if n > 0}, abs=1e-12)
    numbers, p = graph.opening
    for hand, share, value in zip(*found.hands, strict=True):
        of_hand = [
            k
            for k, full in enumerate(numbers)
            if space.state(graph.full.ptr.searchsorted(full, "right") - 1).hand == tuple(hand)
        ]
        assert share == pytest.approx(p[of_hand].sum(), abs=1e-12)
        assert value == pytest.approx(p[of_hand] @ v[numbers[of_hand]] / share, abs=1e-12)


@pytest.mark.compiled
def test_lessons_of_a_larger_house():
    space = StateSpace(PRESETS["tabletop"]._replace(copies=(2, 2, 2, 2, 2), hand_size=3, reveal_size=2))
    play = self_play(GameGraph(space), uniform(space))
    found = lessons(play)
    assert list(found.dealt) == [(3, 3), (3, 2), (2, 3), (2, 2)]
    assert found.dealt[3, 2] + found.dealt[2, 3] == pytest.approx(1, abs=1e-9)
    assert found.dealt[3, 2] > 0.6
    # Three of ten cards, two of each kind.
    assert len(found.hands.p) == 30
    assert play.visits.sum() == pytest.approx(found.length, abs=1e-8)
    # Every kind of card can be kept.
    assert not np.isnan(found.kept.over_other).any()
    assert found.kept.over_other == pytest.approx(-found.kept.over_other.T, abs=1e-12)


def test_a_game_is_studied(graph):
    policy, stages = mixed(graph.space, 3), []

    @contextmanager
    def stage(name):
        stages.append(name)
        yield

    found = study_game(graph, policy, stage)
    assert stages == ["self-play"]
    outcomes = outcome_distribution(graph, policy, policy)
    assert found["first_deal"] == pytest.approx(outcomes[0].sum(), abs=1e-12)
    breaths = outcomes.sum(axis=2).ravel()
    assert found["length"] == pytest.approx(sum(p * k for k, p in enumerate(breaths, 1)), abs=1e-9)
    assert sum(found["plays"].values()) == pytest.approx(1, abs=1e-12)
    assert list(found["in_hand"]) == list(found["kept"]) == list(CARDS)
    assert list(found["plays"]) == list(PLAYS)


def test_what_never_happens_is_unknown():
    rules = RULES._replace(copies=(0, 3, 1, 2, 1))
    graph = GameGraph(StateSpace(rules))
    found = study_game(graph, mixed(graph.space, 3))
    assert (found["in_hand"]["guard"], found["kept"]["guard"], found["plays"]["guard"]) == (None, None, 0.0)
