"""What is known of matches so far, in a file that can be gone on with.

A ledger is a JSON object. Matches stand in it by the digests of both policies, the smaller one first, and simulated
ones by their seed as well; so it does not matter in what order, under which names or in which arena two policies
meet, and a match of more games begins where the last one ended::

    {"format": "punish-fast arena", "format_version": 1, "rules_digest": "0123456789abcdef",
     "exact": {"<digest> <digest>": {"win": 0.62, "breaths": 4.5, "error_bound": 3e-13}},
     "sampled": {"<digest> <digest> <seed>": {"games": 1000, "wins": 612, "split": 301, "lengths": [0, 21, 150]}}}

The file is replaced as a whole after every exact match and every piece of a simulated one.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.duel.sampled import Batch
from punish_fast.runtime.files import check_output, explain, replacing

_FORMAT = "punish-fast arena"
_VERSION = 1


class LedgerError(ValueError):
    """A file that is no ledger of this game; the message names it."""


def digest_of(policy: np.ndarray) -> str:
    """A short fingerprint of a policy; equal policies have equal digests."""
    return hashlib.sha256(np.ascontiguousarray(policy, dtype="<f8").tobytes()).hexdigest()[:16]


class Ledger:
    """Matches by the policies that met.

    Attributes:
        path: The file; None if nothing is to be kept.
    """

    def __init__(self, rules_digest: str, path: Path | None = None) -> None:
        """Open a ledger, a new one if there is no file yet.

        Raises:
            LedgerError: the file cannot be read, is no ledger, or belongs to other rules.
            OutputError: it cannot be written there.
        """
        self.path = path
        self._content: dict[str, Any] = {
            "format": _FORMAT,
            "format_version": _VERSION,
            "rules_digest": rules_digest,
            "exact": {},
            "sampled": {},
        }
        if path is not None:
            check_output(path)
            if path.exists():
                self._content = _read(path, rules_digest)

    def exact(self, pair: tuple[str, str]) -> tuple[float, float] | None:
        """How likely the first of a pair of digests wins, and the expected breaths; None if not known."""
        entry = self._content["exact"].get(" ".join(pair))
        return None if entry is None else (entry["win"], entry["breaths"])

    def keep_exact(self, pair: tuple[str, str], win: float, breaths: float, error_bound: float) -> None:
        """Enter an exact match.

        Raises:
            WriteError: the file could not be written.
        """
        entry = {"win": win, "breaths": breaths, "error_bound": error_bound}
        self._content["exact"][" ".join(pair)] = entry
        self._write()

    def sampled(self, pair: tuple[str, str], seed: int) -> Batch | None:
        """The games simulated so far, without their openings; None if there are none."""
        entry = self._content["sampled"].get(f"{' '.join(pair)} {seed}")
        if entry is None:
            return None
        return Batch(
            games=entry["games"],
            wins=entry["wins"],
            split=entry["split"],
            lengths=np.array(entry["lengths"], dtype=np.int64),
            openings=np.zeros((1, 2), dtype=np.int64),
            paired=True,
        )

    @property
    def last_seed(self) -> int | None:
        """The seed of the simulated match that was begun last; None if there is none."""
        key = next(reversed(self._content["sampled"]), "")
        seed = key.rpartition(" ")[2]
        return int(seed) if seed.isdecimal() else None

    def keep_sampled(self, pair: tuple[str, str], seed: int, batch: Batch) -> None:
        """Enter all games simulated so far.

        Raises:
            WriteError: the file could not be written.
        """
        entry = {
            "games": batch.games,
            "wins": batch.wins,
            "split": batch.split,
            "lengths": batch.lengths.tolist(),
        }
        self._content["sampled"][f"{' '.join(pair)} {seed}"] = entry
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        with replacing(self.path) as temporary:
            try:
                temporary.write_text(json.dumps(self._content) + "\n", encoding="utf-8")
            except OSError as error:
                raise explain(self.path, error) from None


def _read(path: Path, rules_digest: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise LedgerError(f"{path}: is no file of an arena's results")
    if content.get("format_version") != _VERSION:
        raise LedgerError(f"{path}: format_version is {content.get('format_version')}, allowed is {_VERSION}")
    if content.get("rules_digest") != rules_digest:
        raise LedgerError(f"{path}: made by rules {content.get('rules_digest')}, but the game's are {rules_digest}")
    for section, is_sound in (("exact", _is_exact), ("sampled", _is_sampled)):
        entries = content.get(section)
        if not isinstance(entries, dict):
            raise LedgerError(f"{path}: {section} is missing")
        for key, entry in entries.items():
            if not isinstance(entry, dict) or not is_sound(entry):
                raise LedgerError(f"{path}: {section}: the match {key[:60]!r} has numbers that cannot be")
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
    won_at_once = wins - split
    # Both games of a pair are won, or one, or none.
    return (
        games > 0
        and games % 2 == won_at_once % 2 == 0
        and 0 <= won_at_once <= games - 2 * split
        and split >= 0
        and min(lengths, default=-1) >= 0
        and sum(lengths) == games
    )
