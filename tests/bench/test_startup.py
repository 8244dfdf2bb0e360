from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.benchmark import BenchmarkError, Options
from bench.startup import COLD, HELP, NUMBA, SOLVE, TYPER, commands, run, start
from punish_fast.runtime._jit import cache_folder

NOTHING = [sys.executable, "-c", "pass"]


def test_a_command_runs_to_its_end_with_its_own_cache_and_bytecode(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    seen = "os.environ['NUMBA_CACHE_DIR'] + ' ' + str(sys.dont_write_bytecode)"
    code = f"import os, pathlib, sys; pathlib.Path('out').write_text({seen}); bytearray(10**8)[::64]"
    ended = start([sys.executable, "-c", code], tmp_path, tmp_path / "cache")
    assert (tmp_path / "out").read_text(encoding="utf-8") == f"{tmp_path / 'cache'} False"
    assert ended.seconds > 0
    assert ended.peak_bytes > 10**6


def test_a_failed_command_is_an_error_of_one_line(tmp_path):
    command = [sys.executable, "-c", "import sys; sys.exit('too bad')"]
    with pytest.raises(BenchmarkError, match=r"ended with 1: too bad$"):
        start(command, tmp_path, tmp_path / "cache")


def test_an_interrupt_ends_the_command(tmp_path, monkeypatch):
    from bench import startup

    ended = []
    monkeypatch.setattr(startup, "end", lambda process: ended.append(process) or process.kill() or process.wait())

    def interrupted(_pid: int, _options: int):
        raise KeyboardInterrupt

    monkeypatch.setattr(startup.os, "wait4", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, tmp_path)
    assert len(ended) == 1


def test_commands_are_measured_in_turn(own_temporaries, lines):
    started = dict.fromkeys((SOLVE, NUMBA, HELP, TYPER), NOTHING)
    report = run(Options(runs=4, rules="tiny", say=lines.append), started)
    assert [(m.name, len(m.seconds)) for m in report.measurements] == [
        (SOLVE, 4),
        (NUMBA, 4),
        (HELP, 4),
        (TYPER, 4),
        (COLD, 3),
    ]
    assert [target.name for target in report.targets] == [
        f"{SOLVE} / {NUMBA}",
        f"{HELP} / {TYPER}",
        f"{COLD}, seconds",
        "peak memory of solve --no-tensor, MB",
    ]
    assert lines[-1] == "startup: run 4 of 4"
    assert list(own_temporaries.iterdir()) == []


@pytest.mark.full
def test_the_commands_run(tmp_path):
    # With the cache of these tests, since all kernels take long to compile.
    cache = Path(cache_folder).parent
    for command in commands("tiny", 1).values():
        start(command, tmp_path, cache)
    assert (tmp_path / "startup.h5").is_file()
