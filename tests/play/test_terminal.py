from __future__ import annotations

import numpy as np
import pytest
from games.small import Nim

from punish_fast.arena.players import PolicyPlayer
from punish_fast.games.connect4.game import Connect4
from punish_fast.games.enumeration.retrograde import RetrogradeOracle
from punish_fast.games.gwent.game import Gwent, GwentVariant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.play.games.match import GameMatch
from punish_fast.play.games.policies import policy_at
from punish_fast.play.games.terminal import TerminalGame
from punish_fast.play.session import HumanPlayer, PlaySession


class TableNim(Nim):
    """Nim with what the terminal needs."""

    def draw(self, state, viewer, _names):
        return f"{viewer} sees {self.text(state)}"

    def rules_text(self):
        return "take one or two"


def play(game, seats, answers, oracle=True):
    said, answers = [], iter(answers)

    def ask(prompt):
        said.append(prompt)
        answer = next(answers, None)
        if answer is None:
            raise EOFError
        return answer

    session = PlaySession(GameMatch(game, np.random.default_rng(1)), seats)
    return TerminalGame(session, game, RetrogradeOracle(game) if oracle else None, ask, said.append).play(), said


TWO = HumanPlayer("Anna"), HumanPlayer("Ben")
SMALL_GWENT = Gwent(GwentVariant(decks="1 2 3 / 4 5 6", min_cards=3, hand_size=3))


@pytest.mark.parametrize(
    ("game", "opening", "offered"),
    [
        (Connect4(), "1111112", {n: n - 1 for n in range(2, 8)}),
        (Connect4(), "3333334", {n: n - 1 for n in (1, 2, 4, 5, 6, 7)}),
        (TicTacToe(), "X../.O./...", {n: n - 1 for n in (2, 3, 4, 6, 7, 8, 9)}),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_moves_have_the_numbers_of_the_board_in_every_turn(game, opening, offered, monkeypatch):
    state = game.state_of(opening)
    monkeypatch.setattr(game, "initial", lambda: state)
    words = {str(n): game.action_text(state, a) for n, a in offered.items()}
    for answer in map(str, range(12)):
        result, said = play(game, TWO, [answer], oracle=False)
        assert result.actions == ([words[answer]] if answer in words else [])
        assert [text for text in said if text.startswith("  ")][: len(words)] == [
            f"  {n}  {w}" for n, w in words.items()
        ]
    numbers = sorted(map(int, words))
    has_gaps = numbers != list(range(numbers[0], numbers[-1] + 1))
    allowed = ", ".join(words) if has_gaps else f"{numbers[0]} to {numbers[-1]}"
    assert any(f", your move ({allowed}, ? for help): " in text for text in said)
    drawn = game.draw(state, game.player(state), ("Anna", "Ben")).split()
    assert game.first_number is None or {number for number in words if number != "0"} <= set(drawn)


def test_cards_are_typed_as_cards(monkeypatch):
    game = SMALL_GWENT
    state = game.state_of("1 2 3 4 5 6 first 2 5")
    monkeypatch.setattr(game, "initial", lambda: state)
    hand = [str(card) for card in state.hands[state.turn]]
    for answer, told in (("p", "pass"), ("pass", "pass"), (hand[-1], f"play {hand[-1]}"), ("0", None)):
        result, said = play(game, TWO, [answer], oracle=False)
        assert result.actions == [told] * (told is not None)
        shown = dict.fromkeys(["p", *hand])
        assert [text for text in said if text.startswith("  ")][: len(shown)] == [
            "  p  pass",
            *(f"  {n}  play {n}" for n in dict.fromkeys(hand)),
        ]
        # A slot would tell the opponent about the hand.
        assert any(f", your move ({', '.join(shown)}, ? for help): " in text for text in said)


def test_two_people_play_to_the_end():
    result, said = play(TableNim(4), TWO, ["1", "take 2", "1"])
    assert (result.winner, result.ended, result.actions) == (0, True, ["take 1", "take 2", "take 1"])
    assert said[-1] == "\nAnna won after 3 moves."
    assert "Ben, your move (1 to 2, ? for help): " in said
    assert "0 sees 4 left, 0 shown, player 1 moves\n" in said
    assert "1 sees 3 left, 0 shown, player 2 moves\n" in said


@pytest.mark.parametrize("answer", ["3", ""])
def test_people_are_asked_again_after_a_wrong_answer(answer):
    result, said = play(TableNim(1), TWO, [answer, "1"])
    assert result.winner == 0
    assert any(text.startswith(f"{answer!r} is not a move. Type the number of a move") for text in said)


@pytest.mark.parametrize("answers", [["1", "Quit "], ["1"]])
def test_people_may_leave(answers):
    result, said = play(TableNim(4), TWO, answers)
    assert (result.winner, result.ended, result.actions) == (None, False, ["take 1"])
    assert said[-1] == "You left the game."


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("?", "Type the number of a move, or the move in words; hint, u to undo, rules, or q to leave."),
        ("HELP", "Type the number of a move, or the move in words; hint, u to undo, rules, or q to leave."),
        ("rules", "take one or two"),
        ("hint", "take 1 (win in 3 with perfect play)"),
        ("undo", "There is no move to undo."),
    ],
)
def test_people_can_ask(answer, reply):
    result, said = play(TableNim(4), TWO, [answer, "1", "1", "2"])
    assert result.actions == ["take 1", "take 1", "take 2"]
    assert reply in said


def test_undo_takes_back_the_reply_of_a_policy():
    perfect = policy_at(TableNim(5), RetrogradeOracle(TableNim(5)), "perfect")
    result, _ = play(TableNim(5), (HumanPlayer("you"), PolicyPlayer("perfect", perfect)), ["1", "u", "2", "1"])
    assert result.actions[0] == "take 2"
