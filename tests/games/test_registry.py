"""The registry of games: options, verbs, and descriptions in files."""

import json

import pytest

from games.laws import check_game
from punish_fast.games import registry
from punish_fast.games.contract import GameError
from punish_fast.games.registry import GAMES, describe, entry_of, game_of, make_game
from punish_fast.games.tapnswap import Variant


@pytest.mark.parametrize("name", GAMES)
def test_every_game_obeys_the_laws_and_describes_itself(name):
    game = make_game(name, {})
    # Games with hidden cards are large and slow.
    assert check_game(game, *((60, 2) if not game.is_open else (1000, 10))) > 1
    assert describe(game_of(describe(game))) == describe(game)
    assert game.name == name
    for state in (game.initial(), game.state_of(GAMES[name].example)):
        for viewer in range(game.n_players):
            assert game.draw(state, viewer, ("one", "two", "three")[: game.n_players])
            assert json.dumps(game.board(state, viewer))
    assert game.rules_text()
    assert game.variant_text()
    assert all(count > 0 for count in game.counts().values())
    entry = GAMES[name]
    assert set(entry.verbs) <= set(registry.VERBS)
    assert "play" not in entry.verbs or entry.oracle is not None or entry.rule_of_thumb is not None


def test_options_make_variants():
    assert make_game("tapnswap", {}).parameters() == Variant()._asdict()
    game = make_game("tapnswap", {"limit": 6, "roll_over": True, "no_emptying": True, "taps_only": True})
    assert game.parameters() == Variant(6, True, False, False)._asdict()
    assert GAMES["tapnswap"].options == ("limit", "roll_over", "no_emptying", "taps_only")


def test_unknown_games_and_wrong_parameters_are_refused():
    for name in ("chess", None, 3, []):
        with pytest.raises(GameError, match=rf"^game: .* is unknown; use {', '.join(GAMES)}$"):
            entry_of(name)
    message = r"^game: invalid parameters .*; tapnswap has limit, rolls_over, may_empty, swaps$"
    for parameters in (None, {}, {"limit": "5"}, Variant(limit=True)._asdict()):
        with pytest.raises(GameError, match=message):
            game_of({"name": "tapnswap", "parameters": parameters})


def test_verbs_and_options_that_a_game_does_not_offer_are_refused(monkeypatch):
    with pytest.raises(GameError, match=r"^tapnswap: unknown option 'size'; use limit, roll_over, no_emptying, taps"):
        make_game("tapnswap", {"size": 3})
    with pytest.raises(GameError, match=r"^tictactoe: unknown option 'limit'; the game has no options$"):
        make_game("tictactoe", {"limit": 3})
    monkeypatch.setitem(registry.GAMES, "tapnswap", GAMES["tapnswap"]._replace(verbs=("solve", "play")))
    assert entry_of("tapnswap", "play").name == "tapnswap"
    with pytest.raises(GameError, match=r"^tapnswap: does not offer 'train', only solve, play$"):
        make_game("tapnswap", {}, "train")
