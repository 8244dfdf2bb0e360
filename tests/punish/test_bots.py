"""Bots: policies written as a function of what the player sees."""

import numpy as np
import pytest

from punish_fast.punish.bots import BotView, policy
from punish_fast.punish.codes import action_name
from punish_fast.punish.states.information import InformationError
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import StrategyError, uniform_policy


def test_a_bot_sees_what_the_player_knows_and_is_asked_once_wherever_it_can_choose(space):
    views: list[BotView] = []

    def choose(view):
        views.append(view)
        return dict.fromkeys(view.moves, 0.25)

    assert policy(space, choose) == pytest.approx(uniform_policy(space), rel=1e-15)
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
    bot = policy(space, lambda view: view.moves[-1] if view.enemy_rests else {view.moves[0]: 3, view.moves[1]: 1})
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
        policy(space, choose)


def test_bots_see_states_of_the_model_view_only(space):
    with pytest.raises(InformationError, match="memory"):
        policy(StateSpace(space.rules, "memory"), lambda view: view.moves[0])
