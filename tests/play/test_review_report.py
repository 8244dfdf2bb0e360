"""Reviews as JSON."""

from __future__ import annotations

import json

import pytest
from playing import RULES, some_games

from punish_fast.arena.players import Player
from punish_fast.play.explain.review import Judge, review
from punish_fast.play.explain.why import explainer_against
from punish_fast.play.punish.player import PunishPlayer
from punish_fast.punish.rules import cards_text


@pytest.fixture(scope="module")
def explainer():
    return explainer_against(Player("random"), RULES)


@pytest.fixture(scope="module")
def game():
    return max(some_games(20), key=lambda game: len(game.winner.states))


@pytest.fixture(scope="module")
def sides(explainer, game):
    return review(Judge(explainer.data.space, explainer.solution, "random"), game)


def test_every_choice_is_reported(sides):
    report = [side.report() for side in sides]
    assert json.loads(json.dumps(report)) == report
    for side, player in zip(sides, report, strict=True):
        assert (player["name"], player["won"], player["loss"]) == (side.name, side.won, side.loss)
        for choice, shown in zip(side.choices, player["choices"], strict=True):
            assert shown["hand"] == cards_text(choice.state.hand)
            assert shown["hp"] == [choice.state.own_hp, choice.state.enemy_hp]
            assert (shown["win_probability"], shown["loss"], shown["words"]) == (choice.win, choice.loss, choice.words)
        worst = [each["breath"] for each in player["worst"]]
        losses = {choice["breath"]: choice["loss"] for choice in player["choices"]}
        assert worst == sorted(worst, key=lambda breath: -losses[breath])
        assert len(worst) == min(3, sum(loss >= 0.01 for loss in losses.values()))


def test_a_page_gets_the_positions_as_well(sides, game):
    player = PunishPlayer("random", {}, RULES)
    report = player.review(game)
    assert report["rules"] == player.presentation.rules()
    for side, shown in zip(sides, report["players"], strict=True):
        positions = [player.presentation.state(choice.state) for choice in side.choices]
        assert [choice["view"] for choice in shown["choices"]] == positions
