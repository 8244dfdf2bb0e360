"""Options that several verbs of ``punish-fast games`` share: the game and its variant, and hyperparameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.options import CommonOptions, argument, option
from punish_fast.cli.frame.settings import parsed

if TYPE_CHECKING:
    from punish_fast.games.contract import TableGame


def complete_games(incomplete: str) -> list[str]:
    """Return the games that begin with a text."""
    from punish_fast.games.registry import GAMES

    return [name for name in GAMES if name.startswith(incomplete)]


GameArgument = Annotated[
    str,
    argument(
        "GAME",
        "A game of `games list`, with the options of its variant after a colon: tapnswap:limit=6,taps_only=true.",
        complete=complete_games,
    ),
]
GamesOption = Annotated[int, option("Number of games of each session.", metavar="N", min=1)]
SettingsOption = Annotated[
    list[str] | None,
    option("Set a hyperparameter of `games methods`; may be repeated.", "--set", metavar="NAME=VALUE"),
]


@dataclass(frozen=True, kw_only=True)
class GameOptions(CommonOptions):
    """A game and its variant."""

    game: GameArgument

    def make(self, verb: str) -> TableGame:
        """Return the game, which must offer ``verb``."""
        from punish_fast.games.registry import entry_of, make_game

        name, _, variant = self.game.partition(":")
        parameters = inspect.signature(entry_of(name, verb).variant_of).parameters
        given: dict[str, Any] = {}
        for text in variant.split(",") if variant else ():
            key, _, value = text.partition("=")
            given[key] = parsed(key, value, type(parameters[key].default)) if key in parameters else value
        return make_game(name, given, verb)
