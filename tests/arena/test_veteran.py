"""The player that comes with the package."""

from __future__ import annotations

import pytest

from punish_fast.arena import veteran
from punish_fast.arena.players import Player
from punish_fast.arena.veteran import VeteranError, veteran_policy
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.best_response import Start, best_response
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


def test_other_rules_are_refused():
    with pytest.raises(VeteranError, match="knows the standard rules alone, not tiny; naive plays under any"):
        veteran_policy(StateSpace(PRESETS["tiny"]))
    with pytest.raises(VeteranError, match="not tiny"):
        Player("veteran").must_fit(PRESETS["tiny"])
    Player("veteran").must_fit(PRESETS["notebook"])


def test_it_is_the_opponent_wherever_it_can_be():
    names = {name: veteran.default_opponent(rules) for name, rules in PRESETS.items()}
    assert names == {"notebook": "veteran", "tabletop": "veteran", "tiny": "naive"}


@pytest.mark.full
def test_it_is_as_strong_as_is_said(tabletop):
    graph, policy = Graph(tabletop), veteran_policy(tabletop)
    assert head_to_head(graph, policy, Player("naive").policy(tabletop)).win_probability > 0.52
    exploiter_wins = best_response(graph, policy, "true", starts=[Start(policy)]).duel.win_probability
    assert exploiter_wins == pytest.approx(veteran.EXPLOITER_WINS, abs=0.003)
