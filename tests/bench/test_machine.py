from __future__ import annotations

import json
import subprocess

import pytest

from bench import machine
from bench.machine import commit, cpu_model, provenance, versions


@pytest.fixture
def repository(monkeypatch, tmp_path):
    """An empty repository with one commit."""
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    for arguments in (["init", "-q"], ["add", "."]):
        (tmp_path / "file").write_text("1", encoding="ascii")
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "commit", "-q", "-m", "First"], cwd=tmp_path, check=True)
    return tmp_path


def test_changed_sources_make_the_commit_dirty(repository):
    clean = commit()
    assert len(clean) == 12
    (repository / "file").write_text("2", encoding="ascii")
    assert commit() == f"{clean}+dirty"


def test_results_and_page_do_not_make_the_commit_dirty(repository):
    clean = commit()
    (repository / "bench").mkdir()
    (repository / "bench" / "results.jsonl").touch()
    assert commit() == clean


def test_without_git_the_commit_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit() == "unknown"


def test_versions_and_processor_are_found():
    assert {"python", "numpy", "numba"} <= set(versions())
    assert cpu_model()


def test_provenance_can_be_written_as_json():
    assert set(json.loads(json.dumps(provenance()))) == {"date", "commit", "machine", "versions"}
