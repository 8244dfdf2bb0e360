"""Names from anywhere, in one printable line."""

from __future__ import annotations

import pytest

from punish_fast.runtime.printable import printable


@pytest.mark.parametrize("text", ["x.h5", "two words", "käse.h5", "", "日本"])
def test_plain_names_stay(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb", r"a\nb"), ("\x1b[31m", r"\x1b[31m"), ("\udcff", r"\udcff"), ("\u202ex", r"\u202ex"), ("\0", r"\x00")],
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
