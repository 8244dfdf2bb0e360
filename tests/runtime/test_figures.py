"""Figures, messages and limits."""

import math
import os
import re
import struct
import subprocess
import sys
from contextvars import copy_context
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from punish_fast.runtime import limits
from punish_fast.runtime.errors import ExtraError, WriteError, brief, is_number, is_whole, printable, require
from punish_fast.runtime.figures import (
    INK,
    LOOKS,
    FigureError,
    PictureSize,
    add_panels,
    draw_share_map,
    ink_on,
    picture,
    picture_size,
    spread,
)
from punish_fast.runtime.limits import memory_limit, parse_size, require_memory, total_memory, usable_cores

colors = pytest.importorskip("matplotlib.colors")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(b"old")
    return path


def test_the_same_drawing_gives_the_same_file(tmp_path):
    for suffix in ("svg", "png", "pdf"):
        for name in ("a", "b"):
            with picture(tmp_path / f"{name}.{suffix}", "kind") as figure:
                figure.subplots().plot([1, 2])
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_the_size_of_pictures_can_be_chosen(tmp_path):
    def size_of(width, dpi):
        with picture(path := tmp_path / "x.png", "kind") as figure:
            figure.set_size_inches(8, 4)
            picture_size.set(PictureSize(width, dpi))
        return struct.unpack(">II", path.read_bytes()[16:24])

    sizes = copy_context().run(lambda: [size_of(*size) for size in ((None, 150), (4.0, 150), (4.0, 50))])
    assert sizes == [(1200, 600), (600, 300), (200, 100)]
    assert picture_size.get(None) is None


def test_a_width_scales_the_whole_picture(tmp_path):
    def drawn(name, width):
        picture_size.set(PictureSize(width))
        with picture(path := tmp_path / name, "kind") as figure:
            figure.set_size_inches(8, 4)
            figure.subplots().set_title("title")
        return path.read_bytes()

    def both(name):
        return [copy_context().run(drawn, name, width) for width in (None, 4.0)]

    plain, small = both("x.svg")
    assert b'width="576pt" height="288pt" viewBox="0 0 576 288"' in plain
    assert small == plain.replace(b'width="576pt" height="288pt"', b'width="288pt" height="144pt"')
    for image in both("x.png"):
        at = image.index(b"pHYs") + 4
        assert struct.unpack(">II", image[at : at + 8]) == (5906, 5906)  # 150 dots per inch
    for image, size in zip(both("x.pdf"), ("576 288", "288 144"), strict=True):
        assert f"/MediaBox [ 0 0 {size} ]".encode() in image


def test_images_in_wide_pdf_files_keep_their_resolution(tmp_path):
    def pixels(width):
        picture_size.set(PictureSize(width))
        with picture(path := tmp_path / "x.pdf", "kind") as figure:
            figure.subplots().imshow([[0, 1]], aspect="auto")
        return int(re.findall(rb"/Width (\d+)", path.read_bytes())[0])

    narrow, wide = (copy_context().run(pixels, width) for width in (6.0, 12.0))
    assert wide - narrow == pytest.approx(6 * 150, abs=20)


def test_characters_that_the_font_lacks_are_one_warning(path):
    with (
        pytest.warns(UserWarning, match=r"x\.png: Glyph 12398 .*missing from") as told,
        picture(path, "kind") as figure,
    ):
        figure.subplots().set_title("\N{HIRAGANA LETTER NO}\N{HIRAGANA LETTER I}")
    assert len(told) == 1


def test_other_formats_are_refused(tmp_path):
    with (
        pytest.raises(FigureError, match=r"suffix is '\.eps'; it must be \.png, \.svg or \.pdf$"),
        picture(tmp_path / "x.eps", "kind"),
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
    with pytest.raises(ExtraError, match="Install it with: pip install matplotlib"), picture(path, "kind"):
        pass


# Simulation of dichromats in linear RGB (Machado, Oliveira and Fernandes, 2009).
SIGHT = {
    "everyone": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(color, sight):
    """CIE L*a*b* of a color as somebody sees it."""
    c = np.array(colors.to_rgb(color))
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(np.maximum(TO_XYZ @ np.clip(np.array(sight) @ linear, 0, 1), 0.008856) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
def test_colors_differ_for_everyone(sight):
    seen = [lab(look.color, SIGHT[sight]) for look in LOOKS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 20


def test_the_colors_of_cards_differ_in_grey():
    lightness = sorted(lab(look.color, SIGHT["everyone"])[0] for look in LOOKS[:5])
    assert np.diff(lightness).min() > 10


def test_names_stay_apart_and_near_their_curves():
    heights = np.array([9.0, 8.9, 8.8, 3.0, 1.0])
    moved = spread(heights, 1.0)
    assert (np.diff(moved) <= -1.0 + 1e-12).all()
    assert (moved - heights).mean() == pytest.approx(0)
    assert np.array_equal(spread(np.array([5.0, 3.0]), 1.0), [5.0, 3.0])


def test_a_heat_map_is_in_per_cent_and_symmetric_around_a_half():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    image = draw_share_map(axes, np.array([[0.5, 0.72], [np.nan, 0.45]]))
    assert image.get_clim() == (20, 80)
    assert [text.get_text() for text in axes.texts] == ["50.0", "72.0", "45.0"]


def test_ink_is_light_on_dark_colors():
    assert [ink_on(color) for color in ("black", "#00639C", "#F0B400", "white")] == ["white", "white", INK, INK]


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


SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    "text", ["x.h5", "two words", "käse.h5", "", "日本", "\u06cc\u200c\u062e", "👩\u200d🚀 Ada", SCOTLAND]
)
def test_plain_names_stay(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *(
            ("a\nb", r"a\nb"),
            ("\x1b[31m", r"\x1b[31m"),
            ("\udcff", r"\udcff"),
            ("\u202ex", r"\u202ex"),
            ("\0", r"\x00"),
        ),
        *(("a\u200db", r"a\u200db"), ("👩\u200d", r"👩\u200d"), ("x\U000e0067", r"x\U000e0067")),
    ],
)
def test_what_moves_the_cursor_is_escaped(text, line):
    assert printable(text) == line


@pytest.mark.parametrize("text", ["x" * 501, "\n" * 400, "x" * 1_000_000, "é\n" * 300])
def test_long_lines_keep_both_ends(text):
    line = printable("begin" + text + "end", 500)
    assert len(line) == 500
    assert line.isprintable()
    assert line.startswith("begin")
    assert line.endswith("end")
    assert " ... " in line


def test_a_missing_module_is_named_with_the_command_and_none_is_imported(monkeypatch):
    sys.modules.pop("this", None)
    require("json", "this")
    assert "this" not in sys.modules
    for missing in ("no_such_library", "this"):
        monkeypatch.setitem(sys.modules, "this", None)
        with pytest.raises(
            ExtraError, match=rf"^{missing} is not installed\. Install it with: pip install json {missing}$"
        ):
            require("json", missing)


V2, V1 = "0::/a/b\n", "4:memory:/docker/x\n1:cpu,cpuacct:/docker/x\n0::/\n"


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Make control groups of these files, for a process with 64 cores."""
    monkeypatch.setattr(limits, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(limits, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(64)), raising=False)

    def make(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    return make


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "200000 100000"}, 2),
        (V2, {"a/b/cpu.max": "150000 100000", "a/cpu.max": "max 100000"}, 2),
        (V2, {"a/b/cpu.max": "900000 100000", "a/cpu.max": "10000 100000"}, 1),
        (V2, {"a/b/cpu.max": "max 100000"}, 64),
        (V1, {"cpu/docker/x/cpu.cfs_quota_us": "400000", "cpu/docker/x/cpu.cfs_period_us": "100000"}, 4),
        # A container that sees its own group as the root.
        (V1, {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        (V1, {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 64),
        (V2, {"cpu.max": "no numbers"}, 64),
    ],
)
def test_cores_are_those_of_affinity_and_quota(groups, own, files, cores):
    groups(own, files)
    assert usable_cores() == cores


@pytest.mark.parametrize(
    ("own", "files", "n_bytes"),
    [
        ("0::/\n", {"memory.max": "1000000"}, 1_000_000),
        (V2, {"a/b/memory.max": "max", "a/memory.max": "2000000"}, 2_000_000),
        (V1, {"memory/docker/x/memory.limit_in_bytes": "3000000"}, 3_000_000),
        (V1, {"memory/memory.limit_in_bytes": "4000000", "memory.max": "5000000"}, 4_000_000),
        (V2, {"a/b/memory.max": "max"}, math.inf),
    ],
)
def test_memory_is_that_of_the_smallest_group(groups, monkeypatch, own, files, n_bytes):
    groups(own, files)
    assert memory_limit() == n_bytes
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=10**9))
    assert total_memory() == min(n_bytes, 10**9)


def test_systems_without_control_groups_have_no_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_OWN_GROUPS", tmp_path / "none")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert (usable_cores(), memory_limit()) == (1, math.inf)


@pytest.mark.parametrize(("text", "n_bytes"), [("1.5 GB", 1_500_000_000), ("800MB", 8 * 10**8), ("20k", 20_000)])
def test_sizes_have_units_of_a_thousand(text, n_bytes):
    assert parse_size(text) == parse_size(f" {text} ") == n_bytes


@pytest.mark.parametrize("text", ["", "4", "123456", "-4GB", "0.0GB", "4 G B", "4gb", "1e9", "٤GB", "4GiB"])
def test_other_texts_are_no_sizes(text):
    with pytest.raises(ValueError, match="is not a size, such as 4GB or 800MB"):
        parse_size(text)


def test_what_the_machine_does_not_have_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "total_memory", lambda: 10**9)
    require_memory(10**9, "this")
    with pytest.raises(MemoryError, match="this would take 2 GB; this machine has 1 GB"):
        require_memory(2 * 10**9, "this")


PRINT_THREADS = """
import importlib, os, sys
from pathlib import Path
os.sched_getaffinity = lambda _process: {0, 1, 2, 3}
os.environ.pop("NUMBA_NUM_THREADS", None)
from punish_fast.runtime import limits
limits._GROUPS, limits._OWN_GROUPS = Path(sys.argv[1]) / "cgroup", Path(sys.argv[1]) / "own"
from punish_fast.runtime import _jit
print(_jit.threads(), _jit.max_threads())
os.environ["NUMBA_NUM_THREADS"] = "4"
print(importlib.reload(_jit).threads())
"""


def test_threads_are_as_many_as_the_quota_unless_the_user_says_otherwise(groups, tmp_path):
    groups("0::/\n", {"cpu.max": "100000 100000"})
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    command = [sys.executable, "-c", PRINT_THREADS, tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "4", "4"]


def test_panels_are_stacked_in_narrow_pictures(tmp_path):
    def size_of(width):
        with picture(tmp_path / "x.svg", "kind") as figure:
            picture_size.set(PictureSize(width))
            return (len(add_panels(figure, 3, 4, 5, beside=1)), *figure.get_size_inches())

    sizes = copy_context().run(lambda: [size_of(width) for width in (None, 8.0, 4.0)])
    assert sizes == [(3, 13, 5), (3, 13, 5), (3, 5, 15)]
