import sys

import pytest

from punish_fast.runtime.errors import ExtraError, brief, is_number, is_whole, printable, require


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


def test_a_missing_module_is_named_with_its_extra_and_none_is_imported(monkeypatch):
    sys.modules.pop("this", None)
    require("learn", "json", "this")
    assert "this" not in sys.modules
    for missing in ("no_such_library", "this"):
        monkeypatch.setitem(sys.modules, "this", None)
        with pytest.raises(
            ExtraError, match=rf'^{missing} is missing; install it with: pip install "punish-fast\[learn\]"$'
        ):
            require("learn", "json", missing)
