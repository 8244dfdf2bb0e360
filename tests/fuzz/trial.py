"""A folder of files for commands to be tried in, and what must hold whatever they were asked to do."""

import io
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

MOST_SECONDS = 60.0
MOST_BYTES = 6_000_000_000


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def restore(folder: Path, wanted: dict[str, bytes], keep_links: Iterable[str] = ()) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        name = str(path.relative_to(folder))
        if name in wanted or name in keep_links or (path.is_dir() and not path.is_symlink()):
            continue
        path.unlink()
    for name, content in wanted.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(content)


def faults_of_ending(code: int | None, err: str, codes: Iterable[int] = (0, 1, 2, 130)) -> list[str]:
    lines = err.splitlines() if err.isprintable() else err.rstrip("\n").split("\n")
    lines = [line for line in lines if line and not line.startswith("compiling kernels")]
    errors = [line for line in lines if line.startswith("error: ")]
    faults = [] if code in codes else [f"exit code {code}"]
    faults += [word for word in ("Traceback", "error: unexpected ", "Exception ignored") if word in err]
    faults += ["a line too long" for line in lines if len(line) > 500]
    faults += ["a line that is not printable" for line in lines if not line.isprintable()]
    if code in (1, 2) and len(errors) != 1:
        faults.append(f"{len(errors)} errors")
    if code == 0 and errors:
        faults.append("an error with exit code 0")
    return faults


def is_refusal(error: Exception, path: Path) -> bool:
    """Whether an error is one printable line, not too long, that begins with the file it is about."""
    text = str(error)
    return text.startswith(f"{path}: ") and text.isprintable() and len(text) < 400 + len(str(path))


def faults_of_folder(folder: Path, before: dict[str, bytes], fixed: Iterable[str]) -> list[str]:
    """Temporary files, and ``fixed`` files that changed."""
    after = contents(folder)
    faults = [f"left {name}" for name in after if Path(name).name.startswith(".") or ".tmp" in name]
    return faults + [f"changed {name}" for name in fixed if after.get(name) != before[name]]


def attempt(run: Callable[..., Any], arguments: list[str], typed: str = "") -> tuple[Any, list[str]]:
    """Run a command in this process, interrupted after some seconds; return how it ended and what was wrong."""
    stdin, sys.stdin = sys.stdin, io.StringIO(typed)
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 15.0)
    begin = time.perf_counter()
    try:
        done = run(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.stdin = stdin
    faults = faults_of_ending(done.code, done.err)
    if time.perf_counter() - begin > MOST_SECONDS:
        faults.append(f"took {time.perf_counter() - begin:.0f} s")
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_BYTES:
        faults.append("took too much memory")
    return done, faults


def nothing_found(wrong: list[Any]) -> None:
    for each in wrong:
        print(*each, sep=" | ")
    assert len(wrong) == 0, f"{len(wrong)} trials, see what was printed"
