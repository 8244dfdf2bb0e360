"""The pools of a search over decks, generation by generation, in files.

The description of the search is a JSON object that this module does not interpret. A file is whole or absent, and a
changed one is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punish_fast.store import schema
from punish_fast.store.sealed_file import SealedFile
from punish_fast.store.writer import sealed_file


class PoolFile(NamedTuple):
    """The content of a file.

    Attributes:
        search: The description of the search, a JSON object.
        deck: int8 ``[n_generations, n_decks, n_cards]``.
        points: int64 ``[n_generations, n_decks]``, wins less losses in the tournament of the generation.
        decided: int64 ``[n_generations]``, its games that were no ties.
        pair_squares: int64 ``[n_generations]``, over its pairs of decks the squares of wins less losses.
        wins: int64 ``[n_generations]``, games that the survivors won against random decks.
        losses: int64 ``[n_generations]``, games that they lost.
        games: int64 ``[n_generations]``, all of them.
    """

    search: dict[str, Any]
    deck: np.ndarray
    points: np.ndarray
    decided: np.ndarray
    pair_squares: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    games: np.ndarray


_GROUPS = {
    name: "fresh" if name in ("wins", "losses", "games") else "pool" for name in PoolFile._fields if name != "search"
}


def save_pools(path: str | Path, content: PoolFile) -> None:
    """Write the pools of a search.

    Args:
        path: The file, replaced when the new one is whole.
        content: What to write.

    Raises:
        OutputError: The file cannot be written there.
        WriteError: Writing failed.
    """
    with sealed_file(Path(path), schema.POOL, search=json.dumps(content.search)) as out:
        for name, group in _GROUPS.items():
            out.array(f"/{group}/{name}", getattr(content, name))


def load_pools(path: str | Path) -> PoolFile:
    """Read the pools of a search.

    Raises:
        ReadError: The file is not readable, has changed, or has no pools; the message names the field.
    """
    file = SealedFile(path)
    if file.kind != schema.POOL:
        raise file.error("kind", f"{file.kind!r}, must be a pool")
    file.check_shapes()
    arrays = [file.array(f"/{group}/{name}") for name, group in _GROUPS.items()]
    return PoolFile(file.attributes["search"], *arrays)
