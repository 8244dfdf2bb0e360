from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def lines() -> list[str]:
    """Lines of progress, for options and children to append to."""
    return []


@pytest.fixture
def own_children(monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of this folder's children, made importable for them."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    return "children"


@pytest.fixture
def own_temporaries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for all temporary files, so that what is left can be seen."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder
