"""``punish-fast games list``."""

from __future__ import annotations

from punish_fast.games.registry import GAMES, VERBS

ALLOWED = ", ".join(GAMES)


def test_games_are_listed_with_verbs_and_options(run):
    games = {game["name"]: game for game in run("games", "list", "--json").report["games"]}
    assert list(games) == list(GAMES)
    assert games["tapnswap"]["verbs"] == games["tictactoe"]["verbs"] == [verb for verb in VERBS if verb != "decks"]
    assert games["gwent"]["verbs"][-1] == "decks"
    assert games["tictactoe"]["options"] == []
    assert games["gwent"]["options"] == ["decks"]
    assert games["tapnswap"]["options"] == ["limit", "roll_over", "no_emptying", "taps_only"]
    done = run("games", "list")
    assert (done.code, done.err) == (0, "")
    assert "tapnswap" in done.out
    assert "taps_only" in done.out


def test_unknown_games_are_refused_in_one_line(run):
    for verb in ("solve", "train", "play"):
        run("games", verb, "chess").refused(f"game: 'chess' is unknown, allowed: {ALLOWED}")
    for arguments in (["show", "chess", "e4"], ["league", "chess", "x"]):
        run("games", *arguments).refused(f"game: 'chess' is unknown, allowed: {ALLOWED}")


def test_a_verb_that_a_game_does_not_offer_is_refused_in_one_line(run, monkeypatch):
    from punish_fast.games import registry

    monkeypatch.setitem(registry.GAMES, "tapnswap", registry.GAMES["tapnswap"]._replace(verbs=("play",)))
    run("games", "solve", "tapnswap").refused("tapnswap: does not offer 'solve', only play")
    run("games", "league", "tapnswap", "x").refused("tapnswap: does not offer 'league', only play")
