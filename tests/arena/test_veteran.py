"""The player that comes with the package."""

from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from punish_fast.arena import veteran
from punish_fast.arena.players import Player
from punish_fast.arena.veteran import VeteranError, thinned, veteran_policy
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.best_response import best_response
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace


def test_other_rules_are_refused():
    with pytest.raises(VeteranError, match="knows the standard rules alone, not tiny; naive plays under any"):
        veteran_policy(StateSpace(PRESETS["tiny"]))
    with pytest.raises(VeteranError, match="not tiny"):
        Player("veteran").must_fit(PRESETS["tiny"])
    Player("veteran").must_fit(PRESETS["notebook"])


def test_a_policy_is_thinned_to_fifteenths(tmp_path, monkeypatch):
    space = StateSpace(PRESETS["tiny"])
    policy = mixed(space, 1)
    covered = np.arange(space.n_states) % 3 > 0
    np.savez_compressed(tmp_path / "thin.npz", **thinned(space, policy, covered))
    monkeypatch.setattr(veteran, "_FILE", tmp_path / "thin.npz")
    monkeypatch.setattr(veteran, "must_be_at_home", lambda _: None)
    found = veteran_policy(space)
    rows = np.repeat(covered, np.diff(space.state_ptr))
    lengths = np.repeat(np.diff(space.state_ptr), np.diff(space.state_ptr))
    assert np.add.reduceat(found, space.state_ptr[:-1]) == pytest.approx(1)
    assert found[~rows] == pytest.approx(1 / lengths[~rows])
    assert np.abs(found - policy)[rows].max() <= 6 / 15 / 2
    assert found[rows] * 15 == pytest.approx(np.rint(found[rows] * 15))


@pytest.mark.full
def test_it_is_as_strong_as_is_said(tabletop):
    graph, policy = Graph(tabletop), veteran_policy(tabletop)
    assert head_to_head(graph, policy, Player("naive").policy(tabletop)).win_probability > 0.52
    exploiter_wins = best_response(graph, policy, "true").duel.win_probability
    assert exploiter_wins == pytest.approx(veteran.EXPLOITER_WINS, abs=0.003)
