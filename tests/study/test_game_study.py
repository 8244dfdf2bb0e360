from __future__ import annotations

import pytest
from policies import mixed

from punish_fast.duel.exact_evaluation import outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.punish.rules import CARDS, PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.frequencies import PLAYS
from punish_fast.study.lessons import study_game

RULES = true_rules(PRESETS["tiny"])


def test_a_game_is_studied(graph):
    policy, stages = mixed(graph.space, 3), []

    class Stage:
        def __init__(self, name):
            stages.append(name)

        def __enter__(self):
            pass

        def __exit__(self, *_):
            pass

    found = study_game(graph, policy, Stage)
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
    graph = Graph(StateSpace(rules))
    found = study_game(graph, mixed(graph.space, 3))
    assert (found["in_hand"]["guard"], found["kept"]["guard"], found["plays"]["guard"]) == (None, None, 0.0)
