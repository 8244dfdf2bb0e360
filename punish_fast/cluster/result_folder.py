"""Results in a folder, addressed by what they depend on.

A *key* is a JSON object that says what a result depends on: rules, enemy, method, versions. The file of the result is
named by the hash of its key, so the same work is never done twice, whoever asks for it::

    3f0c...json      key, result or reason, seconds, and a checksum of these

Files are written whole or not at all, and checked when they are read; a damaged one counts as missing. While a process
works on a result it holds a lock that ends with it, so that two processes with one folder do different work.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from punish_fast.runtime.files import OutputError, ReadError, write_text
from punish_fast.runtime.folder_lock import file_lock
from punish_fast.runtime.json_values import read_object

_FORMAT = {"format": "punish-fast result", "format_version": 1}
_CONTENT = ("key", "result", "reason", "is_final", "seconds")


@dataclass(frozen=True)
class Outcome:
    """What some work led to.

    Attributes:
        result: What was found, JSON-like; None if the work cannot be done.
        reason: Why not, in a line; None with a result.
        is_final: Whether any machine would find the same; False for a lack of memory.
        seconds: How long it took.
    """

    result: dict[str, Any] | None
    reason: str | None = None
    is_final: bool = True
    seconds: float = 0.0


class ResultFolder:
    """A folder of results.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        """Open a folder, which is made if it is missing.

        Raises:
            OutputError: it cannot be made.
        """
        self.path = path
        self._told: set[Path] = set()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise OutputError(f"{path}: is a file, not a folder for results") from None
        except OSError as error:
            raise OutputError(f"{path}: cannot be made ({error.strerror})") from None

    def __repr__(self) -> str:
        return f"ResultFolder({str(self.path)!r})"

    def path_of(self, key: Mapping[str, Any]) -> Path:
        """The file of a result."""
        return self.path / f"{address_of(key)}.json"

    def find(self, key: Mapping[str, Any]) -> Outcome | None:
        """A result that is there; None if it is missing, damaged (with a warning), or not final.

        Raises:
            ReadError: the file cannot be read.
        """
        path = self.path_of(key)
        try:
            content = read_object(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ReadError(f"{path}: cannot be read ({error.strerror})") from None
        if not _is_sound(content, key):
            if path not in self._told:
                warnings.warn(f"{path}: is damaged, its result is computed again", stacklevel=2)
                self._told.add(path)
            return None
        assert content is not None
        found = Outcome(content["result"], content["reason"], content["is_final"], float(content["seconds"]))
        return found if found.is_final else None

    def keep(self, key: Mapping[str, Any], outcome: Outcome) -> None:
        """Write a result.

        Raises:
            OutputError: nothing can be written there.
            WriteError: it could not be written to its end.
        """
        content: dict[str, Any] = {"key": key} | asdict(outcome)
        write_text(self.path_of(key), json.dumps(_FORMAT | content | {"checksum": _checksum(content)}, indent=1) + "\n")

    def claim(self, key: Mapping[str, Any]) -> AbstractContextManager[bool]:
        """Hold a result until the block ends, which receives False if another process holds it.

        In folders that support no locks, several processes may hold it; they find the same.
        """
        return file_lock(self.path / f".{address_of(key)}.lock", seconds=0)


def address_of(key: Mapping[str, Any]) -> str:
    """The hash that names the result of a key: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]


def _checksum(content: Mapping[str, Any]) -> str:
    text = json.dumps({name: content[name] for name in _CONTENT}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_sound(content: dict[str, Any] | None, key: Mapping[str, Any]) -> bool:
    """Whether a file holds a whole result of this key."""
    if content is None or any(content.get(name) != value for name, value in _FORMAT.items()):
        return False
    if any(name not in content for name in _CONTENT) or content["key"] != key:
        return False
    return bool(content.get("checksum") == _checksum(content))
