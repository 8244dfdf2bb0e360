from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from punish_fast.arena.players import PlayerError, PlayerGroup
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.policies import save_policy

RULES = true_rules(PRESETS["tiny"])


@pytest.fixture(scope="module")
def remembering(tmp_path_factory):
    """The file of a strategy with a memory."""
    path = tmp_path_factory.mktemp("strategy") / "memory.h5"
    space = StateSpace(RULES, "memory")
    save_policy(path, space, mixed(space, 1))
    return str(path)


def test_players_of_the_view_play_on_its_graph():
    lineup = PlayerGroup(["random", "careful"], RULES)
    assert (lineup.names, lineup.rules, lineup.information, lineup.files) == (["random", "careful"], RULES, "view", [])
    graph, (one, other) = lineup.with_graph()
    assert graph.space.information.name == "view"
    assert (one.name, other.name) == ("random", "careful")
    assert 0 < head_to_head(graph, one.policy, other.policy).win_probability < 1


def test_the_rules_are_those_of_the_first_file_with_the_true_redeal(remembering):
    assert PlayerGroup(["random", remembering]).rules == RULES
    assert PlayerGroup(["random"]).rules == PRESETS["tabletop"]
    assert PlayerGroup(["random"], PRESETS["tiny"]).rules == RULES


def test_players_are_lifted_to_the_finest_model_and_play_as_before(remembering):
    graph, opponents = PlayerGroup(["random", "careful", remembering]).with_graph()
    assert graph.space.information.name == "memory"
    view, alone = PlayerGroup(["random", "careful"], RULES).with_graph()
    lifted = head_to_head(graph, opponents[0].policy, opponents[1].policy).win_probability
    expected = head_to_head(view, alone[0].policy, alone[1].policy).win_probability
    assert lifted == pytest.approx(expected, abs=1e-10)
    assert np.isfinite(opponents[2].policy).all()


def test_what_cannot_play_is_refused(remembering):
    with pytest.raises(PlayerError, match="random"):
        PlayerGroup(["random", "random"])
    with pytest.raises(Exception, match="rules"):
        PlayerGroup([remembering], PRESETS["tabletop"])
