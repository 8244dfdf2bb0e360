"""The picture of a model."""

from __future__ import annotations

import pytest

from punish_fast.learn.muzero.model_errors import SearchedNodes, UnrolledErrors
from punish_fast.learn.muzero.model_plot import draw_model


def _errors(actions, states, value, past_value):
    nan = float("nan")
    return UnrolledErrors(actions, states, value, 0.02, 0.1, 0.9, 0.95, 0.05, 0.5, past_value, nan)


@pytest.mark.parametrize("trained", [3, 20])
def test_means_of_few_states_are_no_headline(tmp_path, trained):
    pytest.importorskip("matplotlib")
    few = [_errors(0, 2, 0.4, float("nan")), _errors(1, 1, 0.7, 0.1)]
    many = [_errors(0, 90, 0.4, float("nan")), _errors(1, 19, 0.7, 0.1)]
    for unrolled in (few, many):
        draw_model(unrolled, [SearchedNodes(1, 20, 0.0, 0.0)], trained, tmp_path / "x.svg")
        assert "After 0 moves in the model, the value is off by 0.40 (" in (tmp_path / "x.svg").read_text()


def test_a_model_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    nan = float("nan")
    unrolled = [_errors(k, 90 - k, 0.1 * k, nan if k == 0 else 0.1) for k in range(5)]
    unrolled.append(_errors(5, 3, 0.99, 0.1))
    draw_model(unrolled, [SearchedNodes(1, 20, 0.0, 0.0), SearchedNodes(2, 30, 0.1, 0.3)], 3, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert "After 3 moves in the model, the value is off by 0.30 (0.02 if it sees the board)" in text
    assert "past the end" in text
