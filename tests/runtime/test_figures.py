from __future__ import annotations

import sys

import pytest

from punish_fast.runtime.extras import ExtraError
from punish_fast.runtime.figures import FigureError, picture
from punish_fast.runtime.files import WriteError

pytest.importorskip("matplotlib")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(b"old")
    return path


def test_the_same_drawing_gives_the_same_file(tmp_path):
    for name in ("a.svg", "b.svg", "a.png", "b.png"):
        with picture(tmp_path / name, "kind") as figure:
            figure.subplots().plot([1, 2])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_characters_that_the_font_lacks_are_one_warning(path):
    with (
        pytest.warns(UserWarning, match=r"x\.png: the font lacks some characters") as told,
        picture(path, "kind") as figure,
    ):
        figure.subplots().set_title("\N{HIRAGANA LETTER NO}\N{HIRAGANA LETTER I}")
    assert len(told) == 1


def test_other_formats_are_refused(tmp_path):
    with (
        pytest.raises(FigureError, match=r"suffix is '\.pdf', allowed are \.png and \.svg$"),
        picture(tmp_path / "x.pdf", "kind"),
    ):
        pass


def test_a_plot_that_cannot_be_written_leaves_the_old_one(path, monkeypatch):
    def fail(*_args, **_options):
        raise OSError("disk on fire")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    with pytest.raises(WriteError, match="disk on fire"), picture(path, "kind"):
        pass
    assert path.read_bytes() == b"old"
    assert not list(path.parent.glob(".*"))


def test_without_matplotlib_the_extra_is_named(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ExtraError, match=r'install with: pip install "punish-fast\[plot\]"'), picture(path, "kind"):
        pass
