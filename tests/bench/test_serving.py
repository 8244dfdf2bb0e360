from __future__ import annotations

import copy

import pytest

from bench import serving
from bench.serving import ServingError, check, leaks, load_of, main, server


def test_some_games_at_once_are_those_of_sessions(own_temporaries, capsys, monkeypatch):
    plays = []
    monkeypatch.setattr(serving, "check", lambda play, model: plays.append((play, model)) or check(play, model))
    assert main(["--rules", "tiny", "--games", "20", "--look-ups", "100", "--runs", "1"]) == 0
    assert "| games in the database | 20 | 20 |" in " ".join(capsys.readouterr().out.split())
    assert list(own_temporaries.iterdir()) == []
    # What would be wrong is found.
    play, model = plays[0]
    for change in (
        lambda play: play.messages[-1].update(winner=1 - play.messages[-1]["winner"]),
        lambda play: play.messages[0]["view"].update(deck=9),
        lambda play: play.messages[-1]["events"].pop(),
        lambda play: play.faults.append("status 500"),
    ):
        other = copy.deepcopy(play)
        change(other)
        assert check(other, model)


def test_a_hand_in_a_message_is_a_leak():
    message = {"view": {"hand": [0, 1, 2, 0, 0]}, "events": [{"kind": "deal", "hand": [0, 1, 2, 0, 0]}]}
    assert not leaks(message, [0, 1, 2, 0, 0])
    assert leaks(message | {"enemy": {"cards": 3, "held": [0, 1, 2, 0, 0]}}, [0, 1, 2, 0, 0])
    assert leaks(message | {"hands": [[0, 1, 2, 0, 0], None]}, [0, 1, 2, 0, 0])


def test_games_that_are_lost_fail_the_run(monkeypatch, own_temporaries):
    monkeypatch.setattr(serving, "read_results", lambda _: [])
    found = load_of("tiny", 2, 10, 1)
    assert (found.faults, found.kept, found.ok) == ([], 0, False)
    assert found.look_ups > 0
    assert list(own_temporaries.iterdir()) == []


def test_a_server_that_does_not_start_is_an_error(tmp_path):
    with pytest.raises(ServingError, match="did not start"), server("nonsense", 1, tmp_path / "games.db"):
        pass
