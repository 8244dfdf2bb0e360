from __future__ import annotations

import sys

import pytest

from punish_fast.runtime.errors import ExtraError, require


def test_a_missing_module_is_named_with_its_extra_and_none_is_imported(monkeypatch):
    sys.modules.pop("this", None)
    require("learn", "json", "this")
    assert "this" not in sys.modules
    for missing in ("no_such_library", "this"):
        monkeypatch.setitem(sys.modules, "this", None)
        with pytest.raises(
            ExtraError, match=rf'^{missing} is missing, install with: pip install "punish-fast\[learn\]"$'
        ):
            require("learn", "json", missing)
