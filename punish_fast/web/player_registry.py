"""Players offered by a server, and the routes that describe them."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path

from punish_fast.arena.veteran import default_opponent
from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.play.session import ServedPlayer
from punish_fast.punish.rules import Rules
from punish_fast.runtime.errors import StoreError
from punish_fast.web.limits import costs
from punish_fast.web.workers import Kind, Workers

Digest = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="Digest of an agent.")]
StateCode = Annotated[str, Path(pattern="^[0-9]{18}$", description="Decimal code of an information state.")]


# Maximum number of sets of house rules whose opponents stay open.
_MOST_HOUSE_RULES = 3


class PlayerRegistry:
    """Players offered by a server. A background task opens them one after another."""

    def __init__(self, players: Sequence[ServedPlayer], workers: Workers) -> None:
        self.players = list(players)
        self.by_digest: dict[str, ServedPlayer] = {}  # open players, by `digest`
        self.flaws: dict[str, str] = {}  # reasons why players could not be opened, by player name
        self._workers = workers
        self._judges: dict[Rules, PunishPlayer] = {}
        self._house: dict[Rules, PunishPlayer] = {}  # open players under house rules that users have chosen

    async def open(self) -> None:
        """Open all players and prepare their coaches."""
        for player in self.players:
            # Load networks in a separate worker to keep the coach responsive.
            kind: Kind = "thinker" if player.is_light else "solver"
            try:
                await self._workers.run(kind, player.open)
            except (ValueError, StoreError) as error:
                self.flaws[player.name] = (
                    str(error) if player.file is None else str(error).replace(str(player.file.path), player.name)
                )
            else:
                self.by_digest[player.digest] = player
        # Prepare coaches before they are requested.
        for player in list(self.by_digest.values()):
            if isinstance(player, PunishPlayer) and player.facts()["coaches"]:
                await self._workers.run("solver", partial(player.coach, None))

    async def open_under(self, rules: Rules, used: Sequence[ServedPlayer]) -> dict[str, Any]:
        """Open the strongest built-in player under house rules, and return its entry.

        If too many are open, close the oldest that is not among the ``used``. Raise HTTPException 429 if all are used.
        Calls must not overlap.
        """
        if rules not in self._house:
            free = [key for key, each in self._house.items() if each not in used]
            if len(self._house) >= _MOST_HOUSE_RULES:
                if not free:
                    raise HTTPException(
                        429, "house rules: too many games are played under house rules; try again later"
                    )
                closed = self._house.pop(free[0])
                self.by_digest = {digest: each for digest, each in self.by_digest.items() if each is not closed}
            player = PunishPlayer(default_opponent(rules), rules)
            await self._workers.run("solver", player.open)
            self._house[rules] = self.by_digest[player.digest] = player
        player = self._house[rules]
        return {"digest": player.digest, "flaw": None, "is_house": True, **player.facts()}

    def find(self, digest: str) -> ServedPlayer:
        """Return an open player by digest. Raise HTTPException 404 for unknown digests."""
        if digest not in self.by_digest:
            raise HTTPException(404, f"model {digest}: not served here, or not open yet; see /models")
        return self.by_digest[digest]

    def find_punish(self, digest: str, question: str) -> PunishPlayer:
        """Return an open player of Punish by digest. Raise the same errors as `find` and `of_punish`."""
        return of_punish(self.find(digest), question)

    def find_judge(self, digest: str | None, question: str, rules: Rules) -> PunishPlayer:
        """Return the player from `find_punish` or, if ``digest`` is None, the judge under ``rules``."""
        return self.judge(rules) if digest is None else self.find_punish(digest, question)

    def judge(self, rules: Rules) -> PunishPlayer:
        """Return the judge of choices, which is the strongest built-in player under ``rules``."""
        name = default_opponent(rules)
        players = (player for player in self.players if isinstance(player, PunishPlayer) and player.rules == rules)
        served = (player for player in players if player.argument == name)
        return next(served, None) or self._house.get(rules) or self._judges.setdefault(rules, PunishPlayer(name, rules))

    def entries(self) -> list[dict[str, Any]]:
        """Return JSON-like descriptions of all players.

        ``digest`` is None until the player is open. ``is_house`` is True for players opened by `open_under`.
        """
        digests = {id(player): digest for digest, player in self.by_digest.items()}
        return [
            {"digest": digests.get(id(each)), "flaw": self.flaws.get(each.name), "is_house": is_house, **each.facts()}
            for is_house, players in ((False, self.players), (True, self._house.values()))
            for each in players
        ]


def of_punish(player: ServedPlayer, question: str) -> PunishPlayer:
    """Return ``player`` if it plays Punish. Raise `NoAnswerError` for other players, which cannot answer a question."""
    if isinstance(player, PunishPlayer):
        return player
    raise player.refusal(question)


def player_routes(registry: PlayerRegistry, workers: Workers) -> APIRouter:
    """Return the routes under ``/models``."""
    routes = APIRouter(prefix="/models", tags=["models"])

    @routes.get("")
    async def list_models() -> list[dict[str, Any]]:
        """List all agents. The digest of an agent is null until the agent is open."""
        return registry.entries()

    @routes.get("/{digest}/meta")
    async def model(digest: Digest) -> dict[str, Any]:
        """Describe an agent and its rules."""
        found = registry.find(digest)
        return {"digest": digest, **found.facts(), "states": found.n_states, "fields": found.presentation.rules()}

    @routes.get("/{digest}/q/{state}")
    async def values(digest: Digest, state: StateCode) -> dict[str, Any]:
        """Return an agent's value of a state, and the value and probability of each legal action."""
        return registry.find_punish(digest, "values").values(int(state))

    @routes.get("/{digest}/why/{state}", dependencies=[costs(4)])
    async def explain(digest: Digest, state: StateCode) -> dict[str, Any]:
        """Explain a state: the value of each action against each enemy action, and the enemy's likely hands.

        If the agent is a strategy or a built-in player, the values assume optimal play against this agent.
        """
        found = registry.find_punish(digest, "why")
        return await workers.answer(lambda: found.why(int(state)), found.has_explainer)

    return routes
