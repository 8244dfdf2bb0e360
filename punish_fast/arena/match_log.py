"""A match log: results of matches in a JSON file, from which a tournament resumes.

A match is known by the digests of both policies, the smaller one first, and a simulated one by its seed as well. So
neither the order of the policies nor their names matter, and a longer match continues where a shorter one ended::

    {"format": "punish-fast arena", "format_version": 1, "rules_digest": "0123456789abcdef",
     "exact": {"<digest> <digest>": {"win": 0.62, "breaths": 4.5, "error_bound": 3e-13}},
     "sampled": {"<digest> <digest> <seed>": {"games": 1000, "wins": 612, "split": 301, "lengths": [0, 21, 150]}}}

The file is replaced as a whole after every exact match and every batch of simulated games. Before that, what another
process has added is taken over, so several tournaments may share a file.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.duel.simulated_evaluation import Batch
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.files import check_output, write_text
from punish_fast.runtime.folder_lock import folder_lock
from punish_fast.runtime.json_values import brief, is_number, is_whole, read_object

_FORMAT = "punish-fast arena"
_VERSION = 1
_MAX_GAMES = 1 << 53
_SEED_DIGITS = 20


class MatchLogError(PunishFastError, ValueError):
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
            MatchLogError: the file was replaced by another one.
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
        is_seed = seed.isascii() and seed.isdecimal() and len(seed) <= _SEED_DIGITS and int(seed) < 1 << 64
        return int(seed) if is_seed else None

    def put_sampled(self, pair: tuple[str, str], seed: int, batch: Batch) -> None:
        """Replace a simulated match by ``batch``, all its games so far.

        Raises:
            MatchLogError: the file was replaced by another one.
            WriteError: the file could not be written.
        """
        entry = {"games": batch.games, "wins": batch.wins, "split": batch.split, "lengths": batch.lengths.tolist()}
        key, sampled = f"{' '.join(pair)} {seed}", self._content["sampled"]
        # The latest match is the last one.
        sampled.pop(key, None)
        sampled[key] = entry
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        with folder_lock(self.path.parent):
            if self.path.exists():
                _take_over(self._content, _read(self.path, self._content["rules_digest"]))
            write_text(self.path, json.dumps(self._content) + "\n")


def _take_over(content: dict[str, Any], added: dict[str, Any]) -> None:
    """Add the matches that only ``added`` has, and those of which it has more games."""
    content["exact"] = added["exact"] | content["exact"]
    sampled = dict(added["sampled"])
    for key, entry in content["sampled"].items():
        known = sampled.pop(key, entry)
        # The latest match stays the last one.
        sampled[key] = max(entry, known, key=lambda each: int(each["games"]))
    content["sampled"] = sampled


def _read(path: Path, rules_digest: str) -> dict[str, Any]:
    try:
        content = read_object(path)
    except OSError as error:
        raise MatchLogError(f"{path}: cannot be read ({error.strerror})") from None
    if content is None or content.get("format") != _FORMAT:
        raise MatchLogError(f"{path}: not a match log of the arena")
    version, made = content.get("format_version"), content.get("rules_digest")
    if not is_whole(version, _VERSION, _VERSION):
        raise MatchLogError(f"{path}: format_version is {brief(version)}, allowed is {_VERSION}")
    if made != rules_digest:
        raise MatchLogError(f"{path}: made under rules {brief(made)}, but this game's rules are '{rules_digest}'")
    for section, is_sound in (("exact", _is_exact), ("sampled", _is_sampled)):
        entries = content.get(section)
        if not isinstance(entries, dict):
            raise MatchLogError(f"{path}: {section} is missing")
        for key, entry in entries.items():
            if not isinstance(entry, dict) or not is_sound(entry):
                raise MatchLogError(f"{path}: {section}: match {brief(key)} has impossible numbers")
    return content


def _is_exact(entry: dict[str, Any]) -> bool:
    ranges = (("win", 0, 1), ("breaths", 1, 1e9))
    error = entry.get("error_bound", 0)
    return all(is_number(entry.get(field), *ends) for field, *ends in ranges) and is_number(error, 0, 1)


def _is_sampled(entry: dict[str, Any]) -> bool:
    numbers, lengths = [entry.get(field) for field in ("games", "wins", "split")], entry.get("lengths")
    if not isinstance(lengths, list) or not all(is_whole(n, 0, _MAX_GAMES) for n in (*numbers, *lengths)):
        return False
    games, wins, split = (int(n or 0) for n in numbers)
    # Of a pair of games, one side wins both, or each side wins one.
    won_twice = wins - split
    return (
        games > 0 and games % 2 == won_twice % 2 == 0 and 0 <= won_twice <= games - 2 * split and sum(lengths) == games
    )
