from __future__ import annotations

from importlib.util import find_spec

import pytest

from punish_fast.games.learn.agent_file import save_agent
from punish_fast.games.learn.dqn import DqnLearner, DqnMethod
from punish_fast.games.registry import make_game, vector_game
from punish_fast.play.games import policies as game_policies
from punish_fast.runtime.errors import are_installed

PLAY = ("games", "play", "tapnswap")


def test_people_play_through_a_pipe(run, say, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    say("?", "hint", *["1"] * 20)
    done = run(*PLAY, "--level", "perfect")
    assert done.code == 0
    assert "A hand that reaches 5 fingers dies" in done.out
    assert "Type the number of a move, or the move in words; hint, u to undo, rules, or q to leave." in done.out
    assert "tap 1 on 1 (loss in 26 with perfect play)" in done.out
    assert "you, your move (1 to 2, ? for help): 1\nyou: tap 1 on 1\n" in done.out
    assert "perfect won after" in done.out


def test_two_people_play_each_other(run, say):
    say("1", "2", "q")
    done = run(*PLAY, "--players", "2")
    assert (done.code, done.err) == (0, "")
    assert "player 1: tap 1 on 1" in done.out
    assert "player 2: " in done.out
    assert done.out.endswith("You left the game.\n")


@pytest.mark.compiled
@pytest.mark.parametrize("level", ["casual", "trained", "perfect"])
def test_tic_tac_toe_is_played_at_every_level(run, say, level):
    say("hint", "center", "undo", *"123456789")
    done = run("games", "play", "tictactoe", "--level", level, "--seed", "2", "--json")
    result = done.report
    assert (result["game"], result["players"], result["ended"]) == ("tictactoe", ["you", level], True)
    assert 5 <= len(result["actions"]) == len(set(result["actions"])) <= 9
    # The board goes to stderr.
    assert "(draw with perfect play)" in done.err
    assert level != "perfect" or result["winner"] != "you"


def test_a_perfect_player_sees_every_board_as_it_lies(run, say):
    # X has two corners of one side; O must take the edge between them, wherever that is.
    for first, second, between in (("top left", "top right", "top"), ("top right", "bottom right", "right")):
        say(first, second, "q")
        assert f"perfect: {between}\n" in run("games", "play", "tictactoe", "--level", "perfect").out


@pytest.mark.compiled
def test_a_perfect_player_of_connect_four_wins_and_gives_hints(run, say):
    say("hint", *"123456" * 7)
    done = run("games", "play", "connect4", "--level", "perfect", "--second", "--json")
    result = done.report
    assert (result["players"], result["winner"], result["ended"]) == (["perfect", "you"], "perfect", True)
    assert result["actions"][0] == "column 4"
    assert "column 4 (loss in 40 with perfect play)" in done.err
    assert "1 2 3 4 5 6 7\n" in done.err


@pytest.mark.compiled
def test_a_trained_network_is_the_default_of_connect_four_and_else_a_casual_player(run, say, monkeypatch):
    say("4", "q")
    with monkeypatch.context() as patch:
        patch.setattr(game_policies, "are_installed", lambda *_: False)
        assert "casual: column " in run("games", "play", "connect4", "--seed", "1").out
    if are_installed("jax", "optax"):
        say("4", "q")
        assert "trained: column " in run("games", "play", "connect4").out


@pytest.mark.compiled
def test_trained_agents_play(run, say):
    say("1", "q")
    assert "trained: " in run(*PLAY).out
    run("games", "train", "tapnswap", "--games", "300", "--quiet")
    say("1", "q")
    assert "trained: " in run(*PLAY, "--agent", "tapnswap.h5").out
    run("games", "play", "tapnswap:limit=4", "--agent", "tapnswap.h5").refused("tapnswap.h5: its game is", "limit 5")


@pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")
@pytest.mark.parametrize(
    ("game", "agents", "answer"),
    [("incan-gold", ["trained 1", "trained 2"], "1"), ("gwent", ["trained"], "pass")],
    ids=["incan-gold", "gwent"],
)
def test_a_network_of_a_file_plays_card_games(run, say, tmp_path, game, agents, answer):
    network = DqnLearner.new(vector_game(make_game(game, {})), DqnMethod(hidden=(8,), temperature=0.1), seed=3)
    save_agent(tmp_path / "mine.h5", network)
    say(*[answer] * 40)
    options = ("--agent", str(tmp_path / "mine.h5"), "--seed", "4", "--json")
    results = [run("games", "play", game, *options).report for _ in range(2)]
    assert results[0] == results[1]
    assert (results[0]["players"], results[0]["ended"]) == (["you", *agents], True)
    assert all(any(words.startswith(name) for words in results[0]["story"]) for name in agents)


def test_one_person_plays_incan_gold_against_two(run, say):
    say("hint", "?", "rules", "3", "stay", "undo", *["leave"] * 80)
    options = ("--level", "rule-of-thumb,random", "--seed", "3", "--json")
    done = run("games", "play", "incan-gold:artifact_value=taken", *options)
    result = done.report
    assert result["players"] == ["you", "rule-of-thumb", "random"]
    assert result["variant"] == {"artifact_value": "taken"}
    assert result["ended"]
    assert result["story"][:2] == ["Round 1 begins.", "Treasure 3: 1 for each of 3 players inside."]
    assert {"Round 5 begins.", "You leave.", "rule-of-thumb stays."} <= set(result["story"])
    assert [words.split(" end")[0] for words in result["story"][-3:]] == ["You", "rule-of-thumb", "random"]
    for words in (
        "There are no hints for this game, because its perfect play is not known.",
        "Type the number of a move, or the move in words; rules, or q to leave.",
        "'3' is not a move.",
        "Moves cannot be undone in a game with hidden information.",
        "  1  leave\n  2  stay\n",
    ):
        assert words in done.err


def test_gwent_is_played_with_hidden_hands(run, say, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    say("rules", "99", "5", "2", "p", *["pass"] * 9)
    done = run("games", "play", "gwent:decks=random", "--level", "rule-of-thumb", "--seed", "3", "--json")
    result = done.report
    assert (result["players"], result["variant"]["decks"], result["ended"]) == (
        ["you", "rule-of-thumb"],
        "random",
        True,
    )
    decks = [words.rsplit(" deck ", 1)[1].rstrip(".").split() for words in result["story"][:2]]
    assert [(len(deck), sum(map(int, deck))) for deck in decks] == [(25, 100)] * 2
    assert result["story"][2].startswith("You draw ")
    assert result["story"][3] == "rule-of-thumb draws 10 cards."
    assert "rule-of-thumb: 9 in hand, 15 to draw, total" in done.err
    # Equal cards are one move, whose key is the card. Two answers are no moves.
    assert done.err.count("  2  play 2\n") + 2 == done.err.count("you, your move (p, 1, 2, ") == 6
    assert "'99' is not a move. Type the number of a move, or the move in words; rules, or q to leave." in done.err
    assert [words for words in result["story"] if words.startswith("You play ")] == ["You play 5.", "You play 2."]


@pytest.mark.parametrize(
    ("game", "options", "text"),
    [
        ("tapnswap", "--level hard", "--level: 'hard' is unknown in tapnswap; use random, casual, tr"),
        ("tapnswap", "--level random,casual", "--level: tapnswap needs one, not 2"),
        ("tapnswap", "--agent no.h5", "no.h5: no such file"),
        ("tapnswap", "--agent no.h5 --players 2", "--agent requires --level trained and one person"),
        ("tapnswap", "--agent x.h5 --level random", "--agent requires --level trained"),
        ("tapnswap", "--players 2 --level random", "--level and --second require one person"),
        ("tapnswap", "--players 2 --second", "--level and --second require one person"),
        ("incan-gold", "--level random,random,random", "--level: incan-gold needs one or two, not 3"),
        ("incan-gold", "--players 2", "--players 2: incan-gold has hidden information"),
        ("incan-gold", "--second", "--second: nobody chooses who begins in incan-gold"),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, game, options, text):
    run("games", "play", game, *options.split()).refused(text)
    assert list(folder.iterdir()) == []
