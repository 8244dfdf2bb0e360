"""The coach's numbers are those of the one-player model and of the slow model's hands."""

from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from bench import reference
from punish_fast.mdp.solver import solve
from punish_fast.play.explain.coach import Coach, enemy_hands
from punish_fast.play.punish.game_data import GameData
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import HumanPlayer, PlaySession
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.information import InformationError
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def space():
    return StateSpace(RULES)


def views_of(space, seed):
    session = PlaySession(PunishMatch(GameData(space), seed), (HumanPlayer("a"), HumanPlayer("b")))
    session.begin()
    generator = np.random.default_rng(seed)
    while session.is_on:
        yield session.view(0)
        for seat in (0, 1):
            session.choose(seat, int(generator.choice(session.legal(seat))))
        session.reveal()


def test_win_chances_are_those_of_the_one_player_model(space):
    enemy = mixed(space, 3)
    coach = Coach(space, enemy, "enemy")
    q = solve(build(space, enemy), objective="win-probability").q
    for view in views_of(space, 1):
        row = space.row(view.state)
        chances = coach.win_chances(view)
        assert list(chances.values()) == sorted(chances.values(), reverse=True)
        for k, action in enumerate(view.actions):
            assert chances[action] == pytest.approx(q[space.state_ptr[row] + k], abs=1e-3)


def test_expectations_are_means_over_the_slow_models_hands(space):
    enemy = mixed(space, 4)
    coach = Coach(space, enemy, "enemy")
    for view in [view for seed in range(4) for view in views_of(space, seed)]:
        hands = reference.hands(view.unseen, view.state.enemy_hand)
        assert dict(enemy_hands(view)) == pytest.approx({hand: float(p) for hand, p in hands.items()})
        total = {}
        for hand, p in hands.items():
            row = space.row(type(view.state)(*reference.mirror(reference.State(*view.state), hand)))
            for r in range(*space.state_ptr[row : row + 2]):
                action = int(space.action[r])
                total[action] = total.get(action, 0.0) + float(p) * enemy[r]
        assert coach.expected(view) == pytest.approx({action: p for action, p in total.items() if p})


def test_only_the_view_can_be_coached():
    space = StateSpace(RULES, "memory")
    with pytest.raises(InformationError, match="only 'view' is"):
        Coach(space, mixed(space, 1), "enemy")
