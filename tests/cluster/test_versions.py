from __future__ import annotations

from pathlib import Path

import pytest

import punish_fast
from punish_fast.cluster.versions import differences, digest_of, versions


@pytest.fixture
def folder(tmp_path):
    for name in ("a.py", "below/b.npz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    "alter",
    [
        lambda folder: (folder / "a.py").write_text("a"),
        lambda folder: (folder / "below" / "b.npz").write_text("b"),
        lambda folder: (folder / "c.css").write_text(""),
        lambda folder: (folder / "a.py").unlink(),
        lambda folder: (folder / "a.py").rename(folder / "below" / "a.py"),
    ],
)
def test_every_file_counts(folder, alter):
    before = digest_of(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_text("compiled")
    assert digest_of(folder) == before
    alter(folder)
    assert digest_of(folder) != before


def test_a_process_has_the_versions_of_its_package():
    assert versions()["files of punish-fast with digest"] == digest_of(Path(punish_fast.__file__).parent)
    assert {"punish-fast", "NumPy", "Numba", "SciPy"} < set(versions())
    assert differences(versions(), versions()) == ""
