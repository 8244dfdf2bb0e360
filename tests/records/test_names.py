# ruff: noqa: RUF001 - characters that look like others are the subject

import unicodedata
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.arena.players import NAMES as BUILT_IN
from punish_fast.records.logs import BOTS
from punish_fast.records.names import (
    MAX_NAME,
    PlayerNameError,
    checked_name,
    clean_name,
    is_name,
    looks_like,
    numbered_names,
)

AGENTS = (*BOTS, *BUILT_IN)


@pytest.mark.parametrize(
    "name",
    [
        *("Ann Lee", "José", "می\u200cخواهم", "ক্\u200dষ", "👩\u200d🚀 Ada", "❤️\u200d🔥", "Łukasz O'Neill-Müller"),
        *("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "Иван", "陳大文", "x" * MAX_NAME),
    ],
)
def test_ordinary_names_are_stored_as_they_are(name):
    assert checked_name(name, AGENTS) == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        (unicodedata.normalize("NFD", "José"), "José"),
        ("  Ann \u3000 Lee\t", "Ann Lee"),
        ("Ann\u00a0Lee", "Ann Lee"),
        ("An\u200dn\u200b", "Ann"),
        ("\ufeff\u202aAnn\u202c\u200e", "Ann"),
        ("می\u200c\u200cخواهم\u200c", "می\u200cخواهم"),
        ("Ann\u3164", "Ann"),
        ("a \u200c b", "a b"),
        ("\u0627\u3164\u200c\u0627", "\u0627 \u0627"),
        ("a\u200d\u0301\u200c\u0301b", "\u00e1\u0301b"),
    ],
)
def test_spellings_that_look_the_same_are_one_name(spelling, name):
    assert checked_name(spelling) == name


PARTS = st.sampled_from(
    "ab e\u200c\u200d\u200b\u00a0\u3164\u2800\u0301\u0308\u0345\u0646\u094d\u0928\u1100\u1161\u0958😀🚀"
)


@given(st.text(max_size=80) | st.text(PARTS, max_size=9))
def test_a_stored_name_has_one_spelling(text):
    name = clean_name(text)
    assert clean_name(name) == name
    assert clean_name(f" {unicodedata.normalize('NFD', name)}\u00a0") == name


@pytest.mark.parametrize(
    "name",
    [*("", " \u00a0", "\u3164", "\u0301", "a\nb", "\x1b[2J", "\ud800", "\x00", "x" * 61, "e\u0301" * 10**5)],
)
def test_names_without_ink_or_with_control_characters_are_refused(name):
    with pytest.raises(PlayerNameError, match="use names of 1 to 60 printable characters"):
        checked_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("Veteran", "veteran ", "VETERAN", "veteran@0.1", "vet eran", "Vétéran"),
        *("ＶＥＴＥＲＡＮ", "ｖeteran＠0.5", "𝓋𝑒𝓉𝑒𝓇𝒶𝓃", "🅥eteran", "🆅🅴🆃🅴🆁🅰🅽", "🇻🇪🇹🇪🇷🇦🇳", "ᴠᴇᴛᴇʀᴀɴ", "(v)eteran"),
        *("vеtеrаn", "Ѵeteran", "veтeгan", "vεtεrαn", "Ꮩeteran", "ⴸeteran", "νeteran"),
        *("naіve", "nalve", "na|ve", "na1ve", "naıve", "ΝΑΙVΕ", "Ｎａïve", "паivе"),
        *("cɑreful", "\U0001033daive", "na\U00010339v\U00010334", "v\U000118aeteran"),
        *("randorn", "Rand0m", "carefuI", "general parless", "General-Parless", "GENERAL_PARLESS"),
    ],
)
def test_names_that_look_like_an_agent_are_refused(name):
    with pytest.raises(PlayerNameError, match=r"looks like .*, the name of a bot"):
        checked_name(name, AGENTS)


def test_other_names_are_free():
    for name in ("Vera", "veterans", "Navin", "Nairn", "陳aive", "ნაივე", "нафве", "Randolph", "Карина", "general"):
        assert is_name(checked_name(name, AGENTS))
    for name in ("@", "1", "𝓐nn"):
        assert is_name(checked_name(name, AGENTS))
    assert list(islice(numbered_names("x" * MAX_NAME), 3)) == ["x" * 60, "x" * 56 + " (2)", "x" * 56 + " (3)"]
    assert looks_like("Joe", "joe@0.5")
    assert not looks_like("Joe 05", "joe@0.5")
