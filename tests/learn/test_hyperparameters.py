"""Checks of hyperparameters: what is refused, word for word."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from punish_fast.learn.hyperparameters import check_choices, check_layers, check_ranges
from punish_fast.learn.qlearning import LearnError


@pytest.mark.parametrize(
    ("check", "value", "allowed", "text"),
    [
        (check_choices, "c", ("a", "b"), "x: 'c' is not allowed, it must be one of a, b"),
        (check_layers, (3, 9), 8, r"x: \(3, 9\) is not allowed, it must be up to 8 numbers from 1 to 8"),
        (check_layers, (1,) * 9, 8, r"x: .* is not allowed, it must be up to 8 numbers from 1 to 8"),
        (check_ranges, 2.0, (1, 3), "x: 2.0 is not allowed, it must be a whole number from 1 to 3"),
        (check_ranges, True, (0.0, 3.0), "x: True is not allowed, it must be a number from 0.0 to 3.0"),
        (check_ranges, float("nan"), (0.0, 3.0), "x: nan is not allowed, it must be a number from 0.0 to 3.0"),
    ],
)
def test_what_is_wrong_is_told(check, value, allowed, text):
    with pytest.raises(LearnError, match=f"^{text}$"):
        check(SimpleNamespace(x=value), {"x": allowed})


def test_what_is_right_passes():
    check_choices(SimpleNamespace(x="a"), {"x": ("a",)})
    check_layers(SimpleNamespace(x=(1, 8)), {"x": 8})
    check_ranges(SimpleNamespace(x=3), {"x": (1, 3)})
