from __future__ import annotations

import numpy as np
import pytest

from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.openings import Openings, openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.openings_plot import draw_openings


@pytest.fixture(scope="module")
def found():
    return openings(StateSpace(PRESETS["tiny"]))


@pytest.fixture(scope="module")
def value(found):
    return np.linspace(0.25, 0.75, len(found.p))


def test_plots_are_the_same_every_time_and_say_what_they_show(tmp_path, found, value):
    for name in ("a.svg", "b.svg"):
        draw_openings(found, value, True, "worth to $x_", tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    mean = 100 * float(found.p @ value)
    labels = [
        "worth to $x_",
        f"The {len(value)} openings range from 25.0 to 75.0",
        f"mean {mean:.1f}",
        "75.0",
        "25.0",
        "win probability, in per cent",
    ]
    for label in labels:
        assert f"<!-- {label} -->" in text


@pytest.mark.parametrize("n", [1, 2, 7])
def test_few_openings_are_drawn(tmp_path, found, n):
    few = Openings(*(array[:n] for array in found))
    draw_openings(few._replace(p=np.full(n, 1 / n)), np.full(n, 0.5), True, "x", tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000
