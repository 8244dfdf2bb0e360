"""Games at the table, with people who say what the test has them say."""

from __future__ import annotations

import numpy as np
import pytest
from games.small import Nim

from punish_fast.games.positions import enumerate_positions
from punish_fast.games.retrograde import solve
from punish_fast.games.tapnswap import TapnSwap
from punish_fast.play.terminal import Seat, Table


def sit(game, seats, answers):
    positions = enumerate_positions(game)
    said, answers = [], iter(answers)

    def ask(prompt):
        said.append(prompt)
        answer = next(answers, None)
        if answer is None:
            raise EOFError
        return answer

    table = Table(
        positions,
        seats,
        lambda state, viewer: f"{viewer} sees {game.text(state)}",
        ask,
        said.append,
        np.random.default_rng(1),
    )
    return table.play(), said


TWO = Seat("Anna"), Seat("Ben")


def test_two_people_play_to_the_end():
    result, said = sit(Nim(4), TWO, ["1", "take 2", "1"])
    assert (result.winner, result.ended, result.actions) == (0, True, ["take 1", "take 2", "take 1"])
    assert said[-1] == "\nAnna won after 3 moves."
    assert "Ben, your move (1 to 2, q leaves): " in said
    assert "0 sees 4 left, 0 shown, player 1 moves" in said
    assert "1 sees 3 left, 0 shown, player 2 moves" in said


@pytest.mark.parametrize("answer", ["0", "3", "", "take 3", "x", "-1", "1.5"])
def test_whoever_says_what_is_no_move_is_asked_again(answer):
    result, said = sit(Nim(1), TWO, [answer, "1"])
    assert result.winner == 0
    assert f"{answer!r} is no move, type its number, or it in words" in said


@pytest.mark.parametrize("answers", [["1", "q"], ["1", "Quit "], ["1"]])
def test_people_may_leave(answers):
    result, said = sit(Nim(4), TWO, answers)
    assert (result.winner, result.ended, result.actions) == (None, False, ["take 1"])
    assert said[-1] == "The game was left."


@pytest.mark.parametrize("perfect_seat", [0, 1])
def test_perfect_play_beats_whoever_takes_the_first_move_that_comes(perfect_seat):
    game = TapnSwap()
    policy = solve(enumerate_positions(game)).policy()
    seats = [Seat("you"), Seat("you")]
    seats[perfect_seat] = Seat("perfect", policy)
    result, said = sit(game, tuple(seats), ["1"] * 50)
    assert result.winner == perfect_seat
    assert any(f"{1 - perfect_seat} sees" in text for text in said)
    assert not any(f"{perfect_seat} sees" in text for text in said)


def test_policies_play_only_what_they_may():
    positions = enumerate_positions(Nim(9))
    result, _ = sit(Nim(9), (Seat("a", positions.uniform()), Seat("b", positions.uniform())), [])
    assert result.ended
    assert set(result.actions) <= {"take 1", "take 2"}
