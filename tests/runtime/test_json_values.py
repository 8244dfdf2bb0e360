from __future__ import annotations

from punish_fast.runtime.json_values import brief, is_number, is_whole


def test_whole_numbers_have_a_range_and_no_other_type():
    assert is_whole(0, 0, 3)
    assert is_whole(3, 0, 3)
    for value in (-1, 4, 10**400, 1.0, True, "1", None, [1], float("nan")):
        assert not is_whole(value, 0, 3)


def test_numbers_have_a_range_and_no_other_type():
    assert is_number(0, 0, 1)
    assert is_number(0.5, 0, 1)
    for value in (-0.1, 1.1, 10**400, -(10**400), float("inf"), float("nan"), True, "1", None, [0.5]):
        assert not is_number(value, 0, 1)


def test_values_are_shown_in_one_short_line():
    assert brief("a\nb\x1b") == r"'a\nb\x1b'"
    assert len(brief("x" * 10**6)) < 70
    assert len(brief([10**400])) < 70
