from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from punish_fast.mdp.solver import solve
from punish_fast.punish.strategy import uniform_policy
from punish_fast.store import solution_cache
from punish_fast.store.solution_cache import cached_solution


@pytest.fixture
def ask(tiny, tiny_mdp, tmp_path, monkeypatch):
    """Ask the cache for a solution; return it and True if it had to be computed."""
    monkeypatch.setattr(solution_cache, "folder", lambda: tmp_path / "solutions")
    monkeypatch.setattr(solution_cache, "_FEW_STATES", 0)

    def asked(policy=None, settings="wins"):
        calls = []

        def compute():
            calls.append(1)
            return solve(tiny_mdp, objective="win-probability")

        return cached_solution(tiny.state_ptr, policy, settings, compute), bool(calls)

    return asked


def test_a_solution_is_computed_once_for_each_enemy_and_setting(ask, tiny):
    for arguments in ((), (uniform_policy(tiny),), (None, "discount 1")):
        (first, computed), (second, again) = ask(*arguments), ask(*arguments)
        assert (computed, again) == (True, False)
        for name, value in vars(first).items():
            if name != "rows_taken":
                assert np.array_equal(getattr(second, name), value), name
        assert np.array_equal(first.choice, second.choice)
    assert len(solution_cache.files()) == 3
    solution_cache.clear()
    assert ask()[1]


def test_damaged_files_are_replaced_and_the_oldest_are_removed(ask, monkeypatch):
    ask()
    [path] = solution_cache.files()
    content = path.read_bytes()
    for damaged in (content[:-100], content[:1000] + b"?" + content[1001:], b""):
        path.write_bytes(damaged)
        assert ask()[1]
        assert not ask()[1]
    os.utime(path, (1, 1))
    monkeypatch.setattr(solution_cache, "MOST_BYTES", 3 * len(content) // 2)
    ask(settings="other")
    assert path not in solution_cache.files()
    assert len(solution_cache.files()) == 1
    monkeypatch.setattr(solution_cache, "MOST_BYTES", 100)
    solution_cache.clear()
    ask()
    assert not solution_cache.files()


def test_a_cache_that_cannot_be_written_is_read(ask, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(path)

    ask()
    monkeypatch.setattr(Path, "touch", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert not ask()[1]
    solution_cache.clear()
    assert len(solution_cache.files()) == 1


def test_without_a_folder_solutions_are_computed(ask, tmp_path):
    (tmp_path / "solutions").write_text("a file")
    assert ask()[1]
    assert ask()[1]
