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


def test_plots_say_what_they_show(tmp_path, found, value):
    draw_openings(found, value, True, "worth to $x_", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
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


@pytest.mark.slow
def test_a_single_opening_is_drawn(tmp_path, found):
    few = Openings(*(array[:1] for array in found))
    draw_openings(few._replace(p=np.ones(1)), np.full(1, 0.5), True, "x", tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000
