"""A match log: results of matches in a JSON file, from which a tournament resumes.

A match is known by the digests of both policies, the smaller one first, and a simulated one by its seed as well. So
neither the order of the policies nor their names matter, and a longer match continues where a shorter one ended::

    {"format": "punish-fast arena", "format_version": 1, "rules_digest": "0123456789abcdef",
     "exact": {"<digest> <digest>": {"win": 0.62, "breaths": 4.5, "error_bound": 3e-13}},
     "sampled": {"<digest> <digest> <seed>": {"games": 1000, "wins": 612, "split": 301, "lengths": [0, 21, 150]}}}

The file is replaced as a whole after every exact match and every batch of simulated games.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.duel.simulated_evaluation import Batch
from punish_fast.runtime.files import check_output, write_text

_FORMAT = "punish-fast arena"
_VERSION = 1


class MatchLogError(ValueError):
    """A file that is not a match log of this game; the message names it."""


def digest_of(policy: np.ndarray) -> str:
    """A short fingerprint of a policy; equal policies have equal digests."""
    return hashlib.sha256(np.ascontiguousarray(policy, dtype="<f8").tobytes()).hexdigest()[:16]


class MatchLog:
    """Results of matches, by the digests of the two policies.

    Attributes:
        path: The file; None keeps results in memory only.
    """

    def __init__(self, rules_digest: str, path: Path | None = None) -> None:
        """Open a match log; one without a file is empty.

        Raises:
            MatchLogError: the file is unreadable, is not a match log, or belongs to other rules.
            OutputError: the file cannot be written.
        """
        self.path = path
        header = {"format": _FORMAT, "format_version": _VERSION, "rules_digest": rules_digest}
        self._content: dict[str, Any] = header | {"exact": {}, "sampled": {}}
        if path is not None:
            check_output(path)
            if path.exists():
                self._content = _read(path, rules_digest)

    def exact(self, pair: tuple[str, str]) -> tuple[float, float] | None:
        """The first policy's win probability and the expected breaths of a game; None for an unknown match."""
        entry = self._content["exact"].get(" ".join(pair))
        return None if entry is None else (entry["win"], entry["breaths"])

    def add_exact(self, pair: tuple[str, str], win: float, breaths: float, error_bound: float) -> None:
        """Add an exact match.

        Raises:
            WriteError: the file could not be written.
        """
        self._content["exact"][" ".join(pair)] = {"win": win, "breaths": breaths, "error_bound": error_bound}
        self._write()

    def sampled(self, pair: tuple[str, str], seed: int) -> Batch | None:
        """The games simulated so far, without their openings; None for an unknown match."""
        entry = self._content["sampled"].get(f"{' '.join(pair)} {seed}")
        if entry is None:
            return None
        lengths, openings = np.array(entry["lengths"], dtype=np.int64), np.zeros((1, 2), dtype=np.int64)
        return Batch(entry["games"], entry["wins"], entry["split"], lengths, openings, paired=True)

    @property
    def last_seed(self) -> int | None:
        """The seed of the latest simulated match; None if there is none."""
        key = next(reversed(self._content["sampled"]), "")
        seed = key.rpartition(" ")[2]
        return int(seed) if seed.isdecimal() else None

    def put_sampled(self, pair: tuple[str, str], seed: int, batch: Batch) -> None:
        """Replace a simulated match by ``batch``, all its games so far.

        Raises:
            WriteError: the file could not be written.
        """
        entry = {"games": batch.games, "wins": batch.wins, "split": batch.split, "lengths": batch.lengths.tolist()}
        key, sampled = f"{' '.join(pair)} {seed}", self._content["sampled"]
        # The latest match is the last one.
        sampled.pop(key, None)
        sampled[key] = entry
        self._write()

    def _write(self) -> None:
        if self.path is not None:
            write_text(self.path, json.dumps(self._content) + "\n")


def _read(path: Path, rules_digest: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MatchLogError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise MatchLogError(f"{path}: not a match log of the arena")
    if content.get("format_version") != _VERSION:
        raise MatchLogError(f"{path}: format_version is {content.get('format_version')}, allowed is {_VERSION}")
    if content.get("rules_digest") != rules_digest:
        made = content.get("rules_digest")
        raise MatchLogError(f"{path}: made under rules {made}, but this game's rules are {rules_digest}")
    for section, is_sound in (("exact", _is_exact), ("sampled", _is_sampled)):
        entries = content.get(section)
        if not isinstance(entries, dict):
            raise MatchLogError(f"{path}: {section} is missing")
        for key, entry in entries.items():
            if not isinstance(entry, dict) or not is_sound(entry):
                raise MatchLogError(f"{path}: {section}: match {key[:60]!r} has impossible numbers")
    return content


def _is_number(value: Any, low: float, high: float) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and low <= value <= high


def _is_exact(entry: dict[str, Any]) -> bool:
    return _is_number(entry.get("win"), 0, 1) and _is_number(entry.get("breaths"), 1, 1e9)


def _is_sampled(entry: dict[str, Any]) -> bool:
    numbers, lengths = [entry.get(field) for field in ("games", "wins", "split")], entry.get("lengths")
    if not isinstance(lengths, list) or not all(type(n) is int for n in (*numbers, *lengths)):
        return False
    games, wins, split = (int(n or 0) for n in numbers)
    # Of a pair of games, one side wins both, or each side wins one.
    won_twice = wins - split
    return (
        games > 0
        and games % 2 == won_twice % 2 == 0
        and 0 <= won_twice <= games - 2 * split
        and split >= 0
        and min(lengths, default=-1) >= 0
        and sum(lengths) == games
    )
