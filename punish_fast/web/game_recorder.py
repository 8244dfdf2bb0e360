"""Storage of finished games in the background."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from punish_fast.play.punish.records import Finished
from punish_fast.records.database import LockedError
from punish_fast.web.game_database import GameDatabase
from punish_fast.web.workers import Workers

_LOGGER = logging.getLogger("punish_fast.web")
# Maximum number of attempts to store a game; each waits up to `database.BUSY_SECONDS` for other processes.
_MOST_TRIES = 6

# Callback with the id of a stored game and None, or with None and the reason why the game could not be stored.
Kept = Callable[[int | None, str | None], None]


class GameRecorder:
    """Recorder that stores finished games in a database."""

    def __init__(self, database: GameDatabase, workers: Workers) -> None:
        self.database = database
        self._workers = workers
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, game: Finished, kept: Kept) -> None:
        """Store a game in the background; call ``kept`` when the game has been stored or storing it has failed."""
        task = asyncio.get_running_loop().create_task(self._store(game, kept))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait until every added game has been stored or has failed."""
        await asyncio.gather(*self._tasks)

    async def _store(self, game: Finished, kept: Kept) -> None:
        try:
            kept(await self._workers.write(lambda: self._keep(game)), None)
        except Exception as error:
            _LOGGER.error("a game could not be saved: %s", error)
            kept(None, "the game could not be saved; see the server's log")

    def _keep(self, game: Finished) -> int:
        """Store a game and return its id; retry while another process locks the database."""
        for _ in range(_MOST_TRIES - 1):
            with suppress(LockedError):
                return game.keep(self.database.space, self.database.path)
        return game.keep(self.database.space, self.database.path)
