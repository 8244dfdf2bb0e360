"""A command on damaged files in a folder of its own, and what must hold however it ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cli.conftest import Run

_MOST_CHARACTERS = 500
_MOST_SECONDS = 20.0


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder and its folders, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def restore(folder: Path, wanted: dict[str, bytes]) -> None:
    """Put the files of a folder back."""
    for name in contents(folder).keys() - wanted.keys():
        (folder / name).unlink()
    for name, content in wanted.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class Trials:
    """Runs commands and collects what is wrong with how they end.

    Attributes:
        ended: Numbers of commands by exit code.
        wrong: What was wrong, with the number of the trial and the command.
    """

    def __init__(self, run: Run, folder: Path, codes: Iterable[int] = (0, 2)) -> None:
        self._run, self._folder, self._codes = run, folder, set(codes)
        self.ended: Counter[int] = Counter()
        self.wrong: list[str] = []

    def attempt(
        self,
        number: int,
        arguments: list[str],
        writes: Iterable[str] = (),
        ignored: Callable[[str], bool] | None = None,
    ) -> Any:
        """Run a command; only one that is done may change ``writes``, and none other files but those ``ignored``."""
        before, begin = contents(self._folder), time.perf_counter()
        done = self._run(*arguments)
        seconds = time.perf_counter() - begin
        after = contents(self._folder)
        faults = [f"exit code {done.code}"] if done.code not in self._codes else []
        faults += [f"{seconds:.0f} s"] if seconds > _MOST_SECONDS else []
        faults += _faults_of_errors(done.code, done.err)
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        may_change = set(writes) if done.code == 0 else set()
        faults += [f"changed {name}" for name in sorted(changed - may_change) if ignored is None or not ignored(name)]
        self.ended[done.code] += 1
        if faults:
            self.wrong.append(f"{number}: {' '.join(arguments)}: {', '.join(faults)}: {done.err[:300]!r}")
        return done

    def found_nothing(self) -> None:
        """Insist that nothing was wrong."""
        assert not self.wrong, "\n".join([f"{len(self.wrong)} of {sum(self.ended.values())}", *self.wrong[:20]])


def _faults_of_errors(code: int, err: str) -> list[str]:
    lines = err.split("\n")[:-1] if err.endswith("\n") else err.split("\n") if err else []
    errors = [line for line in lines if line.startswith("error: ")]
    faults = [f"{len(errors)} errors"] if len(errors) != (code != 0) else []
    faults += [f"{len(lines)} lines"] if len(lines) != len(errors) else []
    faults += ["a long line"] if any(len(line) > _MOST_CHARACTERS for line in lines) else []
    faults += ["a line that is not printable"] if not all(line.isprintable() for line in lines) else []
    return faults + (["unexpected"] if "unexpected" in err or "Traceback" in err else [])
