"""Checks of hyperparameters, with one line that says what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from punish_fast.learn.qlearning import LearnError
from punish_fast.runtime.json_values import brief, is_number, is_whole

# Layers of a kind.
_MAX_LAYERS = 8


def check_choices(method: Any, choices: Mapping[str, Sequence[str]]) -> None:
    """Check that attributes are among what is allowed.

    Raises:
        LearnError: One is not.
    """
    for name, allowed in choices.items():
        if getattr(method, name) not in allowed:
            problem = f"{brief(getattr(method, name))} is not allowed"
            raise LearnError(f"{name}: {problem}, it must be one of {', '.join(allowed)}")


def check_layers(method: Any, largest: Mapping[str, int]) -> None:
    """Check that attributes are units of layers, each at most so large.

    Raises:
        LearnError: One is not.
    """
    for name, most in largest.items():
        layers = getattr(method, name)
        if not (len(layers) <= _MAX_LAYERS and all(is_whole(n, 1, most) for n in layers)):
            raise LearnError(
                f"{name}: {brief(layers)} is not allowed, it must be up to {_MAX_LAYERS} numbers from 1 to {most}"
            )


def check_ranges(method: Any, ranges: Mapping[str, tuple[Any, Any]]) -> None:
    """Check that attributes are in their ranges, whole numbers between whole ones.

    Raises:
        LearnError: One is not.
    """
    for name, (low, high) in ranges.items():
        number = getattr(method, name)
        is_right = is_whole if isinstance(low, int) else is_number
        if not is_right(number, low, high):
            kind = "a whole number" if isinstance(low, int) else "a number"
            raise LearnError(f"{name}: {brief(number)} is not allowed, it must be {kind} from {low} to {high}")
