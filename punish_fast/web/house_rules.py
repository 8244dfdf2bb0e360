"""Routes of house rules: the balance of changed rules, and opponents who play under them.

The command ``balance`` runs in a process of its own, one at a time. The process is killed if it exceeds its time, or if
no client has asked for its result for a few seconds.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from punish_fast.punish.rules import Rules, from_mapping, to_mapping, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.web.limits import costs
from punish_fast.web.open_sessions import OpenSessions
from punish_fast.web.player_registry import PlayerRegistry
from punish_fast.web.workers import Workers

_COMMAND = (sys.executable, "-m", "punish_fast", "balance")
# Time limit of the command in seconds, and time after which the process is killed.
_SECONDS = 60
_KILLED = 1.25 * _SECONDS + 10
# Seconds after the latest request for the result at which the computation is abandoned.
_PATIENCE = 10.0
# Maximum number of stored results, and of information states of a game. The standard game has 0.7 million states.
_MOST_RESULTS, _MOST_STATES = 100, 1_500_000
_Five = Annotated[list[Annotated[int, Field(ge=0, le=6)]], Field(min_length=5, max_length=5)]


class HouseRules(BaseModel):
    """Changed rules."""

    model_config = ConfigDict(extra="forbid", strict=True)
    copies: _Five = Field(description="Number of copies of each card: guard, rush, dodge, strike, punish.")
    damage: _Five = Field(description="Damage of each card.")


class BalanceRunner:
    """Computation of the balance of changed rules, one at a time, with stored results."""

    def __init__(self, base: Rules) -> None:
        self.base = true_rules(base)
        self._found: dict[Rules, dict[str, Any]] = {}
        self._running: Rules | None = None
        self._task: asyncio.Task[None] | None = None
        self._asked = 0.0
        self._line = ""

    def look(self, rules: Rules) -> dict[str, Any]:
        """Return the result if it is known. Otherwise, begin or continue the computation, and return its progress.

        Raise HTTPException 429 while another client waits for the balance of other rules.
        """
        if rules not in self._found:
            now = time.monotonic()
            if self._running not in (None, rules) and now - self._asked < _PATIENCE:
                raise HTTPException(429, "balance: the server studies other rules now; try again in a minute")
            self._asked = now
            if self._running != rules:
                before = self._stop()
                self._running, self._line = rules, "starting"
                self._task = asyncio.get_running_loop().create_task(self._study(rules, before))
        return {"progress": self._line, "result": None, "error": None} | self._found.get(rules, {})

    async def close(self) -> None:
        """Kill the process and wait for its end."""
        await _end_of(self._stop())

    def _stop(self) -> asyncio.Task[None] | None:
        task, self._running, self._task = self._task, None, None
        if task is not None:
            task.cancel()
        return task

    async def _study(self, rules: Rules, before: asyncio.Task[None] | None) -> None:
        await _end_of(before)
        result: dict[str, Any] | None = None
        error: str | None = "the time was too short, because the server is busy"
        with TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{name}.toml" for name in ("rules", "base")]
            for path, each in zip(paths, (rules, self.base), strict=True):
                fields = [f"{name} = {json.dumps(value)}\n" for name, value in to_mapping(each).items()]
                path.write_text("".join(fields), encoding="utf-8")
            options = (str(paths[0]), "--base", str(paths[1]), "--time", str(_SECONDS), "--json")
            pipe = asyncio.subprocess.PIPE
            process = await asyncio.create_subprocess_exec(*_COMMAND, *options, stdout=pipe, stderr=pipe)
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_KILLED):
                        result, error = await self._follow(process)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.communicate()
        if result is not None or error:
            while len(self._found) >= _MOST_RESULTS:
                self._found.pop(next(iter(self._found)))
            self._found[rules] = {"result": result, "error": error}
        self._running = self._task = None

    async def _follow(self, process: asyncio.subprocess.Process) -> tuple[dict[str, Any] | None, str | None]:
        """Return the report of the process, or the reason why there is none. Both are None if nobody waits."""
        assert process.stdout is not None
        assert process.stderr is not None
        reading = asyncio.ensure_future(process.stdout.read())
        try:
            while line := await self._next_line(process.stderr.readline):
                self._line = line.strip()
            if line is None:
                return None, None
            written = await reading
        finally:
            reading.cancel()
        if await process.wait() == 0:
            return json.loads(written), None
        return None, self._line.removeprefix("error: ")

    async def _next_line(self, read: Callable[[], Any]) -> str | None:
        """Return the next line, which is empty at the end, or None if nobody has asked for some time."""
        reading = asyncio.ensure_future(read())
        try:
            while not reading.done():
                if time.monotonic() - self._asked > _PATIENCE:
                    return None
                await asyncio.wait((reading,), timeout=1.0)
            return str(reading.result().decode(errors="replace"))
        finally:
            reading.cancel()


async def _end_of(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        await asyncio.wait((task,))


def house_rules_routes(
    runner: BalanceRunner, registry: PlayerRegistry, tables: OpenSessions, workers: Workers
) -> APIRouter:
    """Return the routes ``/balance`` and ``/house-rules``."""
    routes = APIRouter(tags=["house rules"])

    async def checked(wanted: HouseRules) -> Rules:
        rules = from_mapping({"copies": wanted.copies, "damage": wanted.damage}, runner.base)
        if rules == runner.base:
            raise HTTPException(422, "rules: these are the rules of this server; change the number or damage of a card")
        try:
            await workers.run("solver", lambda: StateSpace(rules, most_states=_MOST_STATES))
        except MemoryError as error:
            raise HTTPException(422, f"rules: {error}; use fewer cards") from None
        return rules

    @routes.post("/balance", dependencies=[costs(4)])
    async def balance(wanted: HouseRules) -> dict[str, Any]:
        """Return the report of ``balance`` on changed rules as ``result``, or the ``progress`` of its computation.

        Repeat the request every few seconds until ``result`` or ``error`` is not null.
        """
        return runner.look(await checked(wanted))

    @routes.post("/house-rules", status_code=201, dependencies=[costs(19)])
    async def open_opponent(wanted: HouseRules) -> dict[str, Any]:
        """Open an opponent under changed rules and return its entry in ``/models``."""
        return await registry.open_under(await checked(wanted), tables.players)

    return routes
