from __future__ import annotations

import pytest

from punish_fast.play.punish.moves import MoveError, ask_move, moves_text, parse_move

LEGAL = (10, 11, 40, 41, 50, 51)


@pytest.mark.parametrize(
    ("text", "action"), [("g", 10), (" Str ", 40), ("f s", 41), ("fs", 41), ("feint with punish", 51)]
)
def test_cards_are_known_by_their_beginning(text, action):
    assert parse_move(text, LEGAL) == action


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "^Moves: g guard, s strike, p punish; feint: f and a card.$"),
        ("x", "^'x' is not a move. Moves: g guard"),
        ("rest", "is not a move"),
        ("f", "^'f' is not a move. Moves: g guard"),
        ("d", "^You hold no dodge. Moves:"),
        ("f d", "^You hold no dodge"),
        ("\x1b[2J" + "s" * 500, "is not a move"),
    ],
)
def test_other_words_are_answered_in_a_line(text, told):
    with pytest.raises(MoveError, match=told) as found:
        parse_move(text, LEGAL)
    assert str(found.value).isprintable()
    assert len(str(found.value)) < 160


def test_a_feint_that_is_used_up_is_told_from_a_card_that_is_not_held():
    with pytest.raises(MoveError, match="no feint left"):
        parse_move("f g", (10, 40))
    assert "feint" not in moves_text((10, 40))


def test_who_must_rest_can_do_nothing_else_and_may_just_press_enter():
    assert [parse_move(text, (90,)) for text in ("", "r", "rest", "REST")] == [90] * 4
    with pytest.raises(MoveError, match="You can only rest now: press Enter"):
        parse_move("s", (90,))


MOVE, CARD = "  Your move: ", "  Feint with which card? "


@pytest.mark.parametrize(
    ("answers", "legal", "move", "prompted"),
    [
        (["f", "s"], LEGAL, 41, [MOVE, CARD]),
        (["Feint", " g "], LEGAL, 11, [MOVE, CARD]),
        (["f", "f p"], LEGAL, 51, [MOVE, CARD]),
        # Without a card, and without a feint, the moves are listed.
        (["f", "", "g"], LEGAL, 10, [MOVE, CARD, MOVE]),
        (["f", "g"], (10, 40), 10, [MOVE, MOVE]),
        (["?", "f", "?", "g"], LEGAL, 10, [MOVE, MOVE, CARD, MOVE]),
    ],
)
def test_the_card_of_a_feint_may_follow(answers, legal, move, prompted):
    prompts, said, left = [], [], iter(answers)

    def ask(prompt):
        prompts.append(prompt)
        return next(left) + "\n"

    assert ask_move(ask, said.append, MOVE, legal, lambda answer: answer == "?") == move
    assert prompts == prompted
    assert [text.partition("Moves: ")[1] for text in said] == ["Moves: "] * (
        prompts.count(MOVE) - 1 - answers.count("?")
    )
