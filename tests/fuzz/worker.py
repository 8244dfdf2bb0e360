"""Reading damaged files in a process with limits: a damaged file might crash a library, hang it, or fill the memory.

Run as a script, this is the process: it reads names of files from stdin and gives its verdict on each in a line.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import select
import subprocess
import sys
from pathlib import Path

SECONDS = 60.0
MEMORY = 3 << 30
LONGEST = 500
DONE, REFUSED = "read", "refused"


class Worker:
    """A process that reads files one after the other; a new one is started when it dies."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop()

    def verdict(self, path: Path) -> str:
        """`DONE`, `REFUSED`, or what is wrong."""
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(f"{path}\n")
        child.stdin.flush()
        ready, _, _ = select.select([child.stdout], [], [], SECONDS)
        line = child.stdout.readline() if ready else ""
        if line:
            return str(json.loads(line))
        code = self._stop()
        return f"the reader died ({code})" if ready else "the reader hangs"

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, __file__]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._child.stdout is not None
        self._child.stdout.readline()
        return self._child

    def _stop(self) -> int | None:
        child, self._child = self._child, None
        if child is None:
            return None
        with child:
            child.kill()
        return child.returncode


def flaw_of_message(text: str, path: Path) -> str | None:
    """What is wrong with an error message; None if nothing is."""
    if "unexpected" in text:
        return "is unexpected"
    if str(path) not in text and path.name not in text:
        return "does not name the file"
    if len(text) > LONGEST:
        return f"has {len(text)} characters"
    return None if text.isprintable() else "is not printable in one line"


def _verdict(path: Path) -> str:
    before = hashlib.sha256(path.read_bytes()).digest()
    verdict = _read(path)
    if verdict in (DONE, REFUSED) and path.name.startswith("show"):
        verdict = _show(path, verdict)
    return verdict if hashlib.sha256(path.read_bytes()).digest() == before else "the file was changed"


def _read(path: Path) -> str:
    from fuzz.reading import read_everything
    from punish_fast.runtime.files import ReadError

    try:
        read_everything(path)
    except ReadError as error:
        flaw = flaw_of_message(str(error), path)
        return REFUSED if flaw is None else f"the message {flaw}: {str(error)[:LONGEST]!r}"
    except Exception as error:
        return f"unexpected {type(error).__name__}: {str(error)[:LONGEST]}"
    return DONE


def _show(path: Path, verdict: str) -> str:
    """Check ``punish-fast show`` of a file, too."""
    from punish_fast.cli.app import run
    from punish_fast.cli.frame.errors import guarded

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = guarded(lambda: run(["show", str(path)]))
    told = err.getvalue()
    if code == 0:
        return verdict if told == "" else f"show says {told!r}"
    if code != 2 or not told.startswith("error: ") or told.count("\n") != 1:
        return f"show ends with {code}: {told[:LONGEST]!r}"
    flaw = flaw_of_message(told.strip("\n"), path)
    return verdict if flaw is None else f"the message of show {flaw}: {told[:LONGEST]!r}"


def _main() -> None:
    import resource

    from fuzz.reading import warm_up

    warm_up()
    with contextlib.suppress(OSError, ValueError):  # macOS has no limit of memory
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(_verdict(Path(line.rstrip("\n")))), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    _main()
