from __future__ import annotations

import numpy as np
import pytest
from matplotlib.image import imread

from punish_fast.punish.openings import Openings, openings
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.runtime.figures import FigureError
from punish_fast.study.openings_plot import _apart, draw_openings


@pytest.fixture(scope="module")
def found():
    return openings(StateSpace(PRESETS["tiny"]))


@pytest.fixture(scope="module")
def value(found):
    return np.linspace(0.25, 0.75, len(found.p))


@pytest.mark.parametrize("is_chance", [True, False])
def test_pictures_are_drawn_and_readable_in_grey(tmp_path, found, value, is_chance):
    draw_openings(found, value, is_chance, "x", tmp_path / "x.png")
    pixels = imread(tmp_path / "x.png")[..., :3]
    assert min(pixels.shape[:2]) > 800
    assert (pixels.max(axis=-1) == pixels.min(axis=-1)).all()
    assert pixels.min() < 0.3
    assert pixels.max() == 1.0


def test_pictures_are_the_same_every_time_and_say_what_they_show(tmp_path, found, value):
    for name in ("a.svg", "b.svg"):
        draw_openings(found, value, True, "worth to $x_", tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    mean = 100 * float(found.p @ value)
    labels = [
        "worth to $x_",
        f"all {len(value)} openings",
        f"mean {mean:.1f}",
        "75.0",
        "25.0",
        "chance to win, in per cent",
    ]
    for label in labels:
        assert f"<!-- {label} -->" in text


@pytest.mark.parametrize("n", [1, 2, 7])
def test_few_openings_are_drawn(tmp_path, found, n):
    few = Openings(*(array[:n] for array in found))
    draw_openings(few._replace(p=np.full(n, 1 / n)), np.full(n, 0.5), True, "x", tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_names_stand_apart_and_near_their_curves():
    heights = np.array([9.0, 8.9, 8.8, 3.0, 1.0])
    moved = _apart(heights, 1.0)
    assert (np.diff(moved) <= -1.0 + 1e-12).all()
    assert (moved - heights).mean() == pytest.approx(0)
    assert np.array_equal(_apart(np.array([5.0, 3.0]), 1.0), [5.0, 3.0])


def test_other_formats_are_refused(tmp_path, found, value):
    with pytest.raises(FigureError, match=r"allowed are \.png and \.svg"):
        draw_openings(found, value, True, "x", tmp_path / "x.pdf")
