from __future__ import annotations

import sys
import warnings
from xml.etree import ElementTree as ET

import pytest
from matplotlib.image import imread

from punish_fast.records.choices import Selection
from punish_fast.records.database import RecordsError
from punish_fast.records.plots import KINDS, draw
from punish_fast.records.results import read_results
from punish_fast.runtime.figures import FigureError
from punish_fast.runtime.files import OutputError
from records.conftest import run_sql


@pytest.fixture
def results(db):
    return read_results(db)


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_drawn_and_readable_in_grey(tmp_path, results, kind):
    draw(kind, results, tmp_path / "x.png")
    pixels = imread(tmp_path / "x.png")[..., :3]
    assert min(pixels.shape[:2]) > 200
    # Every pixel is a shade of grey, and some are dark and some light.
    assert (pixels.max(axis=-1) == pixels.min(axis=-1)).all()
    assert pixels.min() < 0.3
    assert pixels.max() == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_the_same_every_time(tmp_path, results, kind):
    for name in ("a.svg", "b.svg"):
        draw(kind, results, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    ET.parse(tmp_path / "a.svg")


@pytest.mark.parametrize("kind", KINDS)
def test_few_games_and_odd_names_are_drawn(tmp_path, original, kind):
    run_sql(original, r"UPDATE players SET username = '$\frac_{' || player_id || '}$' WHERE player_id < 3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(kind, read_results(original), tmp_path / "x.svg")


def test_one_players_win_rate_over_time(tmp_path, results):
    draw("over-time", results, tmp_path / "all.svg")
    draw("over-time", results, tmp_path / "ann.svg", player="Ann")
    assert (tmp_path / "ann.svg").stat().st_size < (tmp_path / "all.svg").stat().st_size


def test_what_cannot_be_drawn_is_refused(tmp_path, db, results):
    path = tmp_path / "x.png"
    path.write_bytes(b"old")
    with pytest.raises(RecordsError, match="allowed are durations"):
        draw("pie", results, path)
    with pytest.raises(FigureError, match=r"allowed are \.png and \.svg"):
        draw("durations", results, tmp_path / "x.pdf")
    with pytest.raises(RecordsError, match="nothing to draw"):
        draw("durations", read_results(db, Selection(until=5)), path)
    with pytest.raises(RecordsError, match="no game between a bot and a person"):
        draw("matchups", read_results(db, Selection(humans_only=True)), path)
    with pytest.raises(OutputError):
        draw("durations", results, tmp_path / "none" / "x.png")
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob(".*"))


def test_a_picture_that_fails_leaves_the_old_one(tmp_path, results, monkeypatch):
    path = tmp_path / "x.png"
    path.write_bytes(b"old")

    def fail(*_args, **_options):
        raise OSError("disk on fire")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    with pytest.raises(OSError, match="disk on fire"):
        draw("durations", results, path)
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob(".*"))


def test_without_matplotlib_there_is_an_import_error(tmp_path, results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match="matplotlib"):
        draw("durations", results, tmp_path / "x.png")
