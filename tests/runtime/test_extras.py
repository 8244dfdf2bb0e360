from __future__ import annotations

import sys

import pytest

from punish_fast.runtime.extras import ExtraError, are_installed, require


def test_what_is_there_is_required_without_importing_it():
    sys.modules.pop("this", None)
    require("learn", "json", "this")
    assert "this" not in sys.modules


def test_what_is_missing_is_named_with_the_extra_that_brings_it():
    text = r'^no_such_library is missing, install with: pip install "punish-fast\[learn\]"$'
    with pytest.raises(ExtraError, match=text):
        require("learn", "json", "no_such_library")


def test_what_is_installed_is_known_without_importing_it(monkeypatch):
    sys.modules.pop("this", None)
    assert are_installed("json", "this")
    assert "this" not in sys.modules
    assert not are_installed("json", "no_such_library")
    monkeypatch.setitem(sys.modules, "this", None)
    assert not are_installed("this")
