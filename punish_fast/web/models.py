"""Routes of the agents: what they are, and what they know of a state."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path

from punish_fast.play.board_model import BoardModel
from punish_fast.play.model import Model
from punish_fast.runtime.files import StoreError
from punish_fast.web.limits import costs
from punish_fast.web.workers import Workers

Hash = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The identity of an agent.")]
StateCode = Annotated[str, Path(pattern="^[0-9]{18}$", description="The decimal code of an information state.")]


class Shelf:
    """The agents of a server, opened one after the other while it runs.

    Attributes:
        models: All of them.
        by_hash: Those that are open, by identity.
        flaws: Why one could not be opened, by name.
    """

    def __init__(self, models: Sequence[Model | BoardModel], workers: Workers) -> None:
        self.models = list(models)
        self.by_hash: dict[str, Model | BoardModel] = {}
        self.flaws: dict[str, str] = {}
        self._workers = workers

    async def open(self) -> None:
        """Open all agents."""
        for model in self.models:
            # Whoever asks for a coach at Punish does not wait for networks to be loaded.
            open_in_thread = self._workers.load if isinstance(model, BoardModel) else self._workers.solve
            try:
                await open_in_thread(model.open)
            except (ValueError, StoreError) as error:
                self.flaws[model.name] = (
                    str(error) if model.file is None else str(error).replace(str(model.file.path), model.name)
                )
            else:
                self.by_hash[model.identity] = model
        # The first to ask a coach does not wait for it to be solved.
        for coached in self.by_hash.values():
            if coached.facts()["coaches"]:
                assert isinstance(coached, Model)
                await self._workers.solve(partial(coached.coach, None))

    def find(self, hash: str) -> Model:
        """The agent of Punish with this identity.

        Raises:
            HTTPException: there is none, or it plays another game.
        """
        model = self.player(hash)
        if isinstance(model, BoardModel):
            raise HTTPException(409, f"model {model.name}: plays {model.face.game}, and knows nothing of Punish")
        return model

    def player(self, hash: str) -> Model | BoardModel:
        """The agent of any game with this identity.

        Raises:
            HTTPException: there is none.
        """
        if hash not in self.by_hash:
            raise HTTPException(404, f"model {hash}: is not served here, or not open yet; see /models")
        return self.by_hash[hash]

    def entries(self) -> list[dict[str, Any]]:
        """All agents, JSON-like; ``hash`` is None for those that are not open yet."""
        hashes = {id(model): hash for hash, model in self.by_hash.items()}
        return [
            {"hash": hashes.get(id(model)), "flaw": self.flaws.get(model.name), **model.facts()}
            for model in self.models
        ]


def model_routes(shelf: Shelf, workers: Workers) -> APIRouter:
    """Routes under ``/models``."""
    routes = APIRouter(prefix="/models", tags=["models"])

    @routes.get("")
    async def list_models() -> list[dict[str, Any]]:
        """All agents. Those that are still being opened have no hash yet."""
        return shelf.entries()

    @routes.get("/{hash}/meta")
    async def model(hash: Hash) -> dict[str, Any]:
        """One agent, with its rules."""
        found = shelf.player(hash)
        return {"hash": hash, **found.facts(), "states": found.n_states, "fields": found.face.rules()}

    @routes.get("/{hash}/q/{state}")
    async def values(hash: Hash, state: StateCode) -> dict[str, Any]:
        """What an agent knows of a state: its value, and value and probability of each legal action."""
        return shelf.find(hash).values(int(state))

    @routes.get("/{hash}/why/{state}", dependencies=[costs(4)])
    async def explain(hash: Hash, state: StateCode) -> dict[str, Any]:
        """A state explained: each action's value and what each answer of the enemy makes of it, and its likely hands.

        For a strategy these are the best choices against it.
        """
        found = shelf.find(hash)
        found.row(int(state))
        return await workers.answer(lambda: found.why(int(state)), found.is_explained)

    return routes


def opening(shelf: Shelf) -> asyncio.Task[None]:
    """Open the agents of a shelf while requests are answered."""
    return asyncio.get_running_loop().create_task(shelf.open())
