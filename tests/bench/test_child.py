from __future__ import annotations

import os
import time

import pytest

from bench import child
from bench.child import ChildError, ChildTimeoutError, missing_package, run_child


def test_a_child_returns_a_result_and_may_print(own_children, lines):
    result = run_child(own_children, {"task": "echo", "number": 1.5}, lines.append, "echo")
    assert result["request"] == {"task": "echo", "number": 1.5}
    assert lines == []


def test_progress_is_passed_on(own_children, lines):
    run_child(own_children, {"task": "report"}, lines.append, "report")
    assert lines == ["half", "whole"]


def test_peak_memory_is_that_of_the_child_alone(own_children, lines):
    # On Linux, ru_maxrss of a child includes its parent.
    ballast = bytearray(300_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    small = run_child(own_children, {"task": "hold", "bytes": 1}, lines.append, "small")["peak_bytes"]
    large = run_child(own_children, {"task": "hold", "bytes": 100_000_000}, lines.append, "large")["peak_bytes"]
    assert 0 < small < 150_000_000
    assert 80_000_000 < large - small < 150_000_000
    del ballast


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("fail", "it: ValueError: two lines"),
        ("miss", 'it: no_such_package is not installed; install with: pip install "punish-fast[bench]"'),
        ("crash", "it: was ended by signal 11"),
        ("be_killed", "it: was killed, perhaps out of memory or time"),
        ("leave", "it: ended with exit code 0 and no result"),
    ],
)
def test_a_failed_child_is_an_error_of_one_line(own_children, lines, task, text):
    with pytest.raises(ChildError) as error:
        run_child(own_children, {"task": task}, lines.append, "it")
    assert str(error.value) == text


def test_a_missing_module_is_an_error_of_one_line(lines):
    with pytest.raises(ChildError, match="it: no_such_module is not installed"):
        run_child("no_such_module", {}, lines.append, "it")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_interrupt_ends_the_child_and_leaves_no_files(own_children, own_temporaries, tmp_path):
    file = tmp_path / "pid"

    def interrupt(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_child(own_children, {"task": "sleep", "pid": str(file)}, interrupt, "sleep")
    assert not is_alive(int(file.read_text(encoding="ascii")))
    assert list(own_temporaries.iterdir()) == []


def test_a_child_is_killed_after_a_time_limit(own_children, lines, monkeypatch, tmp_path):
    monkeypatch.setattr(child, "MOST_SECONDS", 3.0)
    begin = time.perf_counter()
    with pytest.raises(ChildError, match="was killed"):
        run_child(own_children, {"task": "sleep", "pid": str(tmp_path / "pid")}, lines.append, "sleep")
    assert time.perf_counter() - begin < 60


def test_a_child_ends_when_it_takes_longer_than_it_allowed_itself(own_children, lines):
    with pytest.raises(ChildTimeoutError, match="it: took too long"):
        run_child(own_children, {"task": "dawdle"}, lines.append, "it")


def test_missing_packages_name_their_extra():
    error = ModuleNotFoundError("", name="matplotlib")
    assert missing_package(error, "plot").endswith('install with: pip install "punish-fast[plot]"')
