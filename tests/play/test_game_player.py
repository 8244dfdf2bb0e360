from __future__ import annotations

import pytest

from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import RetrogradeOracle
from punish_fast.games.gwent.game import Gwent
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.learn.agent_file import save_agent
from punish_fast.games.learn.qlearning import Hyperparameters, new_learner
from punish_fast.games.registry import perfect_play
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.play.games.game_player import file_player, level_players
from punish_fast.play.games.match import GameView
from punish_fast.play.games.policies import LEVELS
from punish_fast.play.session import HumanPlayer, NoAnswerError, PlaySession


@pytest.fixture(scope="module")
def models():
    return dict(zip(LEVELS, level_players(TapnSwap(), RetrogradeOracle(TapnSwap())), strict=True))


def test_each_level_says_how_it_plays(models):
    told = ["plays at random", "plays at random 30% of the time", "has learned by playing against itself"]
    assert [models[level].facts()["about"] for level in LEVELS] == [*told, "plays perfectly"]

    for game, about in ((IncanGold(), "plays by a rule of thumb, and breaks it 10% of the time"), (Gwent(), "a rule")):
        assert about in next(each for each in level_players(game, None) if "rule" in each.name).facts()["about"]


def test_hints_are_those_of_perfect_play(models):
    game = TapnSwap()
    view = GameView(game.state_of("3-1/2-4"), 0, tuple(game.actions(game.state_of("3-1/2-4"))))
    moves = models["random"].hint(view)["moves"]
    found = {move["name"]: (move["outcome"], move["plies"], move["best"]) for move in moves}
    assert found.pop("swap to 4-0") == ("loss", 2, False)
    assert found.pop("tap 3 on 2") == found.pop("swap to 2-2") == ("draw", None, True)
    assert set(found.values()) == {("loss", 18, False)}


def test_levels_and_variants_are_told_apart(models):
    short = level_players(TapnSwap(Variant(limit=4)), RetrogradeOracle(TapnSwap(Variant(limit=4))))[-1]
    assert len({model.digest for model in (*models.values(), short)}) == len(LEVELS) + 1
    assert level_players(TapnSwap(), RetrogradeOracle(TapnSwap()))[-1].digest == models["perfect"].digest
    assert [model.facts()["rules"] for model in (short, models["casual"])] == ["TapnSwap, limit 4", "TapnSwap, limit 5"]
    assert models["casual"].n_states == len(enumerate_positions(TapnSwap()))
    assert models["casual"].is_ready(None)
    with pytest.raises(NoAnswerError, match="casual-tapnswap does not play at 2; it has no temperatures"):
        models["casual"].opponents(2.0)[0]


def test_endless_play_is_a_draw(models):
    # Swaps back and forth, where nobody has to tap.
    session = PlaySession(models["perfect"].match(1), (HumanPlayer("Ann"), HumanPlayer("Ben")))
    session.begin()
    while session.is_on:
        (seat,) = session.waiting
        session.choose(seat, session.legal(seat)[-1])
        session.reveal()
    assert session.winner is None
    assert len(session.events) == 201


def test_the_agent_of_a_file_shares_the_perfect_play_of_its_game(models, tmp_path):
    game = TapnSwap()
    positions = enumerate_positions(game)
    save_agent(tmp_path / "mine.h5", new_learner(positions, Hyperparameters()))
    known = [perfect_play(TicTacToe()), models["perfect"].oracle]
    model = file_player(tmp_path / "mine.h5", "mine", known)
    model.open()
    assert model.oracle is known[1]
    assert (model.facts()["name"], model.facts()["hints"]) == ("mine", True)
    assert model.digest not in {each.digest for each in models.values()}
    assert file_player(tmp_path / "mine.h5", "mine").digest == model.digest
