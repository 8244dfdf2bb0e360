"""Recorder of finished games; games that end at about the same time share a transaction."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from punish_fast.play.punish.records import Finished, Keeper
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import LockedError
from punish_fast.web.workers import Workers

_LOGGER = logging.getLogger("punish_fast.web")
_MOST_AT_ONCE = 256
# Each try waits up to `database.BUSY_SECONDS` while another process writes.
_MOST_TRIES = 6

# Called with the id of a stored game, or with the reason why it could not be stored.
Kept = Callable[[int | None, str | None], None]


class GameRecorder:
    """Stores finished games in a database."""

    def __init__(self, path: Path, rules: Rules, workers: Workers) -> None:
        self.path, self.rules = path, rules
        self._workers = workers
        self._waiting: list[tuple[Finished, Kept]] = []
        self._writing: asyncio.Task[None] | None = None

    def add(self, game: Finished, kept: Kept) -> None:
        """Schedule a game for storage; ``kept`` is called when it is stored or has failed."""
        self._waiting.append((game, kept))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def close(self) -> None:
        """Store all waiting games."""
        if self._writing is not None:
            await self._writing

    @cached_property
    def _keeper(self) -> Keeper:
        return Keeper(self.space, self.path)

    @cached_property
    def space(self) -> StateSpace:
        """State space of the games; the first access must not be concurrent."""
        return StateSpace(self.rules)

    async def _kept(self, games: list[Finished]) -> list[int]:
        """Store games and return their ids; wait while another process writes."""
        for _ in range(_MOST_TRIES - 1):
            with suppress(LockedError):
                return await self._workers.write(lambda: self._keeper.keep_all(games))
        return await self._workers.write(lambda: self._keeper.keep_all(games))

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            games = [game for game, _ in batch]
            flaw = None
            try:
                ids: list[int | None] = [*await self._kept(games)]
            except Exception as error:
                _LOGGER.error("%d games are not kept: %s", len(games), error)
                ids, flaw = [None] * len(games), "the game could not be kept; the server's log says why"
            for (_, kept), game_id in zip(batch, ids, strict=True):
                kept(game_id, flaw)
