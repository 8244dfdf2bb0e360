"""Storage of results in a file of JSON lines, and lookup of results by their keys.

A *key* is a JSON object that identifies a result by its rules, enemy, method and versions. A line is appended to the
file when a result is complete::

    {"key": {...}, "result": {...}, "reason": null, "seconds": 1.5, "checksum": "3f0c..."}

An interrupted run therefore loses no finished results, and several runs can share a file. Damaged lines are ignored,
and their results are computed again.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from punish_fast.runtime.errors import OutputError, ReadError
from punish_fast.runtime.files import check_output, explain


@dataclass(frozen=True)
class Outcome:
    """Outcome of a job."""

    result: dict[str, Any] | None  # JSON object, or None if the job failed
    reason: str | None = None  # error message in one line, or None if the job succeeded
    is_final: bool = True  # False if memory or time ran out, so that another run might succeed
    seconds: float = 0.0


class ResultsFile:
    """A file of results, created when the first result is stored."""

    def __init__(self, path: Path) -> None:
        check_output(path)
        self.path = path
        try:
            lines = path.read_bytes().splitlines() if path.exists() else []
        except OSError as error:
            raise ReadError(f"{path}: cannot be read ({error.strerror})") from None
        found = [_read(line) for line in lines]
        self._found = dict(pair for pair in found if pair is not None)
        # Accept a file whose only line was truncated by a crash.
        if lines and not self._found and not lines[0].startswith(b'{"key": '):
            raise OutputError(f"{path}: is not a file of results and will not be extended")
        if damaged := found.count(None):
            warnings.warn(f"{path}: {damaged} damaged lines; their results are computed again", stacklevel=2)

    def find(self, key: Mapping[str, Any]) -> Outcome | None:
        """Return the outcome stored under a key, or None."""
        return self._found.get(address_of(key))

    def keep(self, key: Mapping[str, Any], outcome: Outcome) -> None:
        """Append an outcome if it is final."""
        if not outcome.is_final:
            return
        content = {"key": key} | {name: value for name, value in asdict(outcome).items() if name != "is_final"}
        line = json.dumps(content | {"checksum": address_of(content)}).encode() + b"\n"
        try:
            with self.path.open("a+b") as file:
                size = file.seek(0, os.SEEK_END)
                if size:
                    file.seek(-1, os.SEEK_END)
                    # Begin a new line if a crash truncated the last line.
                    line = line if file.read() == b"\n" else b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise explain(self.path, error) from None
        self._found[address_of(key)] = outcome


def address_of(key: Mapping[str, Any]) -> str:
    """Return the hash of a key: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]


def _read(line: bytes) -> tuple[str, Outcome] | None:
    """Return the address and outcome of a line, or None if the line is damaged."""
    try:
        content = json.loads(line)
        checksum = content.pop("checksum")
        if checksum != address_of(content):
            return None
        key = content.pop("key")
        return address_of(key), Outcome(**content)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
