"""Answers and reasons in words."""

from __future__ import annotations

import pytest

from punish_fast.play.explain.reasons import Answer, Consequence, Reason, Scale, contrast, likeliest

GUARD, RUSH, STRIKE, FEINT = 10, 20, 40, 41


def answer(action, *cases):
    """An answer with consequences of these words, probabilities and values."""
    return Answer(action, tuple(Consequence((None, None), p, value, None, words) for words, p, value in cases))


def test_a_certain_consequence_is_told_alone():
    found = answer(STRIKE, ("you win", 0.25, 1.0))
    assert (found.words, found.likely) == ("you win", "you win")
    assert (found.probability, found.value) == (0.25, 1.0)


def test_consequences_of_the_same_words_are_told_once_and_the_likeliest_first():
    cases = ("you lose", 0.1, 0.0), ("you win", 0.1, 1.0), ("you win", 0.2, 1.0)
    found = answer(FEINT, *cases)
    assert found.words == "75% you win; 25% you lose"
    assert found.likely == "mostly you win"
    assert found.probability == pytest.approx(0.4)
    assert found.value == pytest.approx(0.75)


def test_unlikely_consequences_are_left_out():
    found = answer(FEINT, *[(f"case {k}", 0.1 * k, 0.0) for k in range(4, 0, -1)])
    assert found.words == "40% case 4; 30% case 3; 20% case 2; ..."


def test_what_decides_is_the_answer_with_the_largest_share_of_the_difference():
    better = Reason(RUSH, 0.7, (answer(GUARD, ("nobody is hurt", 0.6, 0.5)), answer(STRIKE, ("you win", 0.4, 1.0))))
    worse = Reason(GUARD, 0.5, (answer(STRIKE, ("you lose", 0.4, 0.2)), answer(GUARD, ("nobody is hurt", 0.6, 0.7))))
    assert contrast(better, worse, Scale(0, 1, True)) == (
        "What decides it is strike (40% likely). Against it, rush wins at once. Guard loses at once."
    )


def test_what_the_answer_is_worth_is_told_with_it():
    better = Reason(RUSH, 0.7, (answer(FEINT, ("you take 1", 0.25, 0.5), ("you win", 0.75, 1.0)),))
    worse = Reason(GUARD, 0.5, (answer(FEINT, ("nobody is hurt, you have 1 HP", 1.0, 0.25)),))
    assert contrast(better, worse, Scale(-1, 1, False)) == (
        "What decides it is feint with strike (100% likely). Against it, rush is worth +0.8750: mostly you win. "
        "Guard is worth +0.2500: nobody is hurt, you have 1 HP."
    )


def test_rounding_does_not_change_the_order():
    assert list(likeliest({"a": 0.1, "b": 0.2, "c": 0.1 + 1e-12, "d": 0.1 - 1e-12})) == ["b", "a", "c", "d"]
