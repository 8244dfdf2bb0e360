"""The games there are, by name: for files that say which one they belong to."""

from __future__ import annotations

from typing import Any

from punish_fast.games.contract import Game, GameError
from punish_fast.games.tapnswap import TapnSwap, Variant


def describe(game: Game) -> dict[str, Any]:
    """What `game_of` makes the game of, JSON-like."""
    return {"name": game.name, "parameters": game.parameters()}


def game_of(description: dict[str, Any]) -> Game:
    """The game of a description.

    Raises:
        GameError: there is none.
    """
    name, parameters = description.get("name"), description.get("parameters")
    if name != TapnSwap.name:
        raise GameError(f"game: {name!r} is not known, allowed is {TapnSwap.name}")
    fields = {"limit": int, "rolls_over": bool, "may_empty": bool, "swaps": bool}
    if not isinstance(parameters, dict) or {key: type(value) for key, value in parameters.items()} != fields:
        raise GameError(f"game: {name} with parameters {parameters} is not known")
    return TapnSwap(Variant(**parameters))
