"""Players offered by a server, and their routes."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path

from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.play.session import ServedPlayer
from punish_fast.runtime.errors import StoreError
from punish_fast.web.limits import costs
from punish_fast.web.workers import Kind, Workers

Hash = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="Hash of an agent.")]
StateCode = Annotated[str, Path(pattern="^[0-9]{18}$", description="Decimal code of an information state.")]


class PlayerRegistry:
    """Players offered by a server. They are opened one after another while the server runs."""

    def __init__(self, players: Sequence[ServedPlayer], workers: Workers) -> None:
        self.players = list(players)
        self.by_hash: dict[str, ServedPlayer] = {}  # open players, by hash (`identity`)
        self.flaws: dict[str, str] = {}  # reasons why players could not be opened, by player name
        self._workers = workers

    async def open(self) -> None:
        """Open all players and prepare their coaches."""
        for player in self.players:
            # Load networks in a separate worker so that the coach stays responsive.
            kind: Kind = "thinker" if player.is_light else "solver"
            try:
                await self._workers.run(kind, player.open)
            except (ValueError, StoreError) as error:
                self.flaws[player.name] = (
                    str(error) if player.file is None else str(error).replace(str(player.file.path), player.name)
                )
            else:
                self.by_hash[player.identity] = player
        # Prepare coaches before they are requested.
        for player in self.by_hash.values():
            if isinstance(player, PunishPlayer) and player.facts()["coaches"]:
                await self._workers.run("solver", partial(player.coach, None))

    def find(self, hash: str) -> ServedPlayer:
        """Return an open player by hash; raise HTTPException 404 if there is none."""
        if hash not in self.by_hash:
            raise HTTPException(404, f"model {hash}: not served here, or not open yet; see /models")
        return self.by_hash[hash]

    def find_punish(self, hash: str, question: str) -> PunishPlayer:
        """Return an open player of Punish by hash; raise the error of `of_punish` or of `find`."""
        return of_punish(self.find(hash), question)

    def entries(self) -> list[dict[str, Any]]:
        """Return JSON-like descriptions of all players; ``hash`` is None until the player is open."""
        hashes = {id(player): hash for hash, player in self.by_hash.items()}
        return [
            {"hash": hashes.get(id(player)), "flaw": self.flaws.get(player.name), **player.facts()}
            for player in self.players
        ]


def of_punish(player: ServedPlayer, question: str) -> PunishPlayer:
    """Return a player of Punish; raise `NoAnswerError` for others, which do not answer the question."""
    if isinstance(player, PunishPlayer):
        return player
    raise player.refusal(question)


def player_routes(registry: PlayerRegistry, workers: Workers) -> APIRouter:
    """Return the routes under ``/models``."""
    routes = APIRouter(prefix="/models", tags=["models"])

    @routes.get("")
    async def list_models() -> list[dict[str, Any]]:
        """List all agents. The hash of an agent is null until the agent has been opened."""
        return registry.entries()

    @routes.get("/{hash}/meta")
    async def model(hash: Hash) -> dict[str, Any]:
        """Describe an agent and its rules."""
        found = registry.find(hash)
        return {"hash": hash, **found.facts(), "states": found.n_states, "fields": found.presentation.rules()}

    @routes.get("/{hash}/q/{state}")
    async def values(hash: Hash, state: StateCode) -> dict[str, Any]:
        """Return an agent's value of a state, and the value and probability of each legal action."""
        return registry.find_punish(hash, "values").values(int(state))

    @routes.get("/{hash}/why/{state}", dependencies=[costs(4)])
    async def explain(hash: Hash, state: StateCode) -> dict[str, Any]:
        """Explain a state: the value of each action against each enemy action, and the enemy's likely hands.

        For a strategy, these are the values of optimal play against the strategy.
        """
        found = registry.find_punish(hash, "why")
        return await workers.answer(lambda: found.why(int(state)), found.has_explainer)

    return routes
