"""A folder of files for commands to be tried in, and what must hold whatever they were asked to do."""

from __future__ import annotations

import io
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOST_OF_LINE = 500
MOST_SECONDS = 60.0
# A command that is still at work then is interrupted.
PATIENCE = 15.0
MOST_BYTES = 6_000_000_000


def contents(folder: Path) -> dict[str, bytes]:
    """Every regular file of a folder by its name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def restore(folder: Path, wanted: dict[str, bytes], keep_links: Iterable[str] = ()) -> None:
    """Put a folder back as it was."""
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
    """What is wrong with how a command ended."""
    lines = err.splitlines() if err.isprintable() else err.rstrip("\n").split("\n")
    lines = [line for line in lines if line and not line.startswith("compiling kernels")]
    faults = [] if code in codes else [f"exit code {code}"]
    faults += [
        f"{word!r} in stderr" for word in ("Traceback", "error: unexpected ", "Exception ignored") if word in err
    ]
    faults += ["a line too long" for line in lines if len(line) > MOST_OF_LINE]
    faults += ["a line that is not printable" for line in lines if not line.isprintable()]
    errors = [line for line in lines if line.startswith("error: ")]
    if code in (1, 2) and len(errors) != 1:
        faults.append(f"{len(errors)} errors")
    if code == 0 and errors:
        faults.append("an error with exit code 0")
    return faults


def is_refusal(error: Exception, path: Path) -> bool:
    """Whether an error is one line, not too long, that begins with the file it is about."""
    text = str(error)
    return text.startswith(f"{path}: ") and "\n" not in text and len(text) < 400 + len(str(path))


def faults_of_folder(folder: Path, before: dict[str, bytes], fixed: Iterable[str]) -> list[str]:
    """Temporary files, and ``fixed`` files that changed."""
    after = contents(folder)
    faults = [f"left {name}" for name in after if Path(name).name.startswith(".") or ".tmp" in name]
    return faults + [f"changed {name}" for name in fixed if after.get(name) != before[name]]


@contextmanager
def patience(seconds: float = PATIENCE) -> Iterator[None]:
    """Interrupt what takes longer than that, as a person would."""

    def interrupt(*_args: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def attempt(run: Callable[..., Any], arguments: list[str], typed: str = "") -> tuple[Any, list[str]]:
    """Run a command in this process; return how it ended and what was wrong with that."""
    stdin, sys.stdin = sys.stdin, io.StringIO(typed)
    begin = time.perf_counter()
    try:
        with patience():
            done = run(*arguments)
    finally:
        sys.stdin = stdin
    faults = faults_of_ending(done.code, done.err)
    if time.perf_counter() - begin > MOST_SECONDS:
        faults.append(f"took {time.perf_counter() - begin:.0f} s")
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_BYTES:
        faults.append("took too much memory")
    return done, faults


class Trials:
    """Runs quiet commands in a folder and collects what is wrong with how they end.

    Attributes:
        ended: Numbers of commands by exit code.
        wrong: What was wrong, with the number of the trial and the command.
    """

    def __init__(self, run: Callable[..., Any], folder: Path) -> None:
        self._run, self._folder = run, folder
        self.ended: Counter[int] = Counter()
        self.wrong: list[tuple[Any, ...]] = []

    def attempt(
        self,
        number: int,
        arguments: list[str],
        writes: Iterable[str] = (),
        ignored: Callable[[str], bool] | None = None,
        codes: Container[int] = (0,),
    ) -> Any:
        """Run a command; only one that ends with one of ``codes`` may change ``writes``, and none other files.

        Changes of files that are ``ignored`` are allowed.
        """
        before = contents(self._folder)
        done, faults = attempt(self._run, arguments)
        after = contents(self._folder)
        faults += [f"exit code {done.code}"] if done.code not in codes and done.code != 2 else []
        faults += ["more in stderr than the error"] if done.err.count("\n") != (done.code != 0) else []
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        may_change = set(writes) if done.code in codes else set()
        faults += [f"changed {name}" for name in sorted(changed - may_change) if ignored is None or not ignored(name)]
        self.ended[done.code] += 1
        if faults:
            self.wrong.append((number, " ".join(arguments), done.err[-300:], faults))
        return done


def nothing_found(wrong: list[Any]) -> None:
    """Insist on that, and print everything that was."""
    for each in wrong:
        print(*each, sep=" | ")
    assert len(wrong) == 0, f"{len(wrong)} trials, see what was printed"


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder with its links."""
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
