"""Routes of house rules: the balance of changed rules, and opponents who play under them.

The command ``balance`` runs in a process of its own, one at a time. The process is killed if it exceeds its time or its
client disconnects.
"""

import asyncio
import json
import sys
from asyncio.subprocess import Process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query

from punish_fast.play.session import NoAnswerError
from punish_fast.punish.rules import PRESETS, Rules, from_mapping, to_mapping, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.web.limits import costs
from punish_fast.web.open_sessions import OpenSessions
from punish_fast.web.player_registry import PlayerRegistry
from punish_fast.web.workers import Workers

_COMMAND = (sys.executable, "-m", "punish_fast", "balance")
# The process is killed after its time limit, multiplied by the first number, plus a number of seconds.
_OVERTIME, _GRACE = 1.25, 10.0
# Maximum number of information states of a game. The standard game has 0.7 million states.
_MOST_STATES = 1_500_000
_Five = Annotated[
    str, Query(pattern="^[0-6](,[0-6]){4}$", description="Numbers for guard, rush, dodge, strike, punish.")
]


def house_rules_routes(
    base: Rules, registry: PlayerRegistry, tables: OpenSessions, workers: Workers, running: set[Process]
) -> APIRouter:
    """Return the routes ``/balance`` and ``/house-rules``.

    ``base`` are the rules that users can change. ``running`` receives the process of the command while it runs.
    """
    routes, base = APIRouter(tags=["house rules"]), true_rules(base)
    turn, opening = asyncio.Lock(), asyncio.Lock()

    async def changed_rules(copies: _Five, damage: _Five) -> Rules:
        fields = {name: [*map(int, text.split(","))] for name, text in (("copies", copies), ("damage", damage))}
        rules = from_mapping(fields, base)
        if rules == base == PRESETS["tabletop"]:
            raise HTTPException(422, "rules: these are the standard rules; change the number or damage of a card")
        try:
            await workers.run("adviser", lambda: StateSpace(rules, most_states=_MOST_STATES))
        except MemoryError as error:
            raise HTTPException(422, f"rules: {error}; use fewer cards") from None
        return rules

    changed = Annotated[Rules, Depends(changed_rules)]

    @routes.get("/balance", dependencies=[costs(19)])
    async def balance(rules: changed, seconds: Annotated[int, Query(ge=10, le=60)] = 60) -> dict[str, Any]:
        """Return the report of ``balance`` on changed numbers and damages of cards, after at most about ``seconds``.

        The base rules are the server's rules or, if these are unchanged, the standard rules.
        """
        if turn.locked():
            raise HTTPException(429, "balance: the server studies other rules now; try again in a minute")
        async with turn:
            return await _report(rules, PRESETS["tabletop"] if rules == base else base, seconds, running)

    @routes.get("/house-rules", dependencies=[costs(19)])
    async def open_opponent(rules: changed) -> dict[str, Any]:
        """Open an opponent under changed numbers and damages of cards, and return its entry in ``/models``."""
        async with opening:
            return await registry.open_under(rules, tables.players)

    return routes


async def _report(rules: Rules, base: Rules, seconds: int, running: set[Process]) -> dict[str, Any]:
    """Return the report of the command ``balance``. Raise `NoAnswerError` with its error if it fails."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("rules.toml", "base.toml")]
        for path, each in zip(paths, (rules, base), strict=True):
            path.write_text("".join(f"{key} = {json.dumps(x)}\n" for key, x in to_mapping(each).items()), "utf-8")
        options, pipe = (str(paths[0]), "--base", str(paths[1]), "--time", str(seconds), "--json", "-q"), -1
        process = await asyncio.create_subprocess_exec(*_COMMAND, *options, stdout=pipe, stderr=pipe)
        running.add(process)
        try:
            written, error = await asyncio.wait_for(process.communicate(), _OVERTIME * seconds + _GRACE)
        except TimeoutError:
            raise NoAnswerError("balance: the time was too short, because the server is busy") from None
        finally:
            running.discard(process)
            if process.returncode is None:
                process.kill()
                await process.communicate()
    if process.returncode:
        reason = error.decode(errors="replace").strip().removeprefix("error: ")
        reason = reason.partition("; allow more with --time")[0]  # an option of the command line
        raise NoAnswerError(reason or "balance: the study was ended; try again later")
    return dict(json.loads(written))
