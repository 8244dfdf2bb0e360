"""The picture of a model."""

from __future__ import annotations

import pytest

from punish_fast.learn.muzero.model_errors import SearchedNodes, UnrolledErrors
from punish_fast.learn.muzero.model_plot import draw_model


def test_a_model_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    nan = float("nan")
    unrolled = [UnrolledErrors(k, 9 - k, 0.1 * k, 0.1, 0.9, 0.05, 0.5, nan if k == 0 else 0.1, nan) for k in range(5)]
    unrolled.append(UnrolledErrors(5, 0, nan, nan, nan, nan, nan, 0.1, 0.1))
    draw_model(unrolled, [SearchedNodes(1, 20, 0.0, 0.0), SearchedNodes(2, 30, 0.1, 0.3)], 3, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert "After 3 actions the model is wrong about values by 0.30 of 1" in text
    assert "past the end" in text
