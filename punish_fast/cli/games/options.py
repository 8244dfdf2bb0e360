"""Define options shared by verbs of ``punish-fast games``: the game and its variant, and hyperparameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import AsText, CommonOptions, FixedSeedOption, argument, option
from punish_fast.cli.frame.report import UsageError, print_report
from punish_fast.cli.frame.settings import parsed

if TYPE_CHECKING:
    from punish_fast.games.contract import Game


def complete_games(incomplete: str) -> list[str]:
    """Complete the names of games."""
    from punish_fast.games.registry import GAMES

    return [name for name in GAMES if name.startswith(incomplete)]


class GameOptions(CommonOptions):
    """Options that specify a game and its variant."""

    game: str = argument(
        "GAME",
        "A game from `games list`. Options of a variant follow a colon, such as tapnswap:limit=6,taps_only=true.",
        complete=complete_games,
    )

    def make(self, verb: str, decks: Path | None = None) -> Game:
        """Return the game, with decks from a file if given. Raise `GameError` if the game does not support ``verb``."""
        from punish_fast.games.gwent.decks import decks_of_file
        from punish_fast.games.registry import entry_of, make_game

        name, _, variant = self.game.partition(":")
        defaults = entry_of(name, verb).options
        given: dict[str, Any] = {}
        for text in variant.split(",") if variant else ():
            key, _, value = text.partition("=")
            given[key] = parsed(key, value, type(defaults[key])) if key in defaults else value
        if decks is not None:
            if "decks" in given:
                raise UsageError(f"--decks cannot be combined with decks={given['decks']}, an option of the variant")
            given["decks"] = decks_of_file(str(decks))
        return make_game(name, given, verb)

    def print_stages(
        self, game: Game, report: dict[str, Any], as_text: AsText = print_report, result: str = "", *then: Any
    ) -> None:
        """Print a report on a game, with the duration of each stage in seconds.

        Suggest the command ``then`` for the game, such as ``("play", "--agent", "c4.h5")``, by default ``play``.

        JSON keys:
            game (string): Name of the game.
            variant (object): Options of the variant, with their values.
            seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
        """
        report = {"game": game.name, "variant": game.parameters(), **report}
        report |= {"seconds": self.stages.clock.seconds_in_all()}
        verb, *words = then or ("play",)
        self.print(report, as_text, result=result, then=("games", verb, self.game, *words))


class LearningOptions(GameOptions):
    """Options that specify a game, hyperparameters and a random seed for training."""

    settings: list[str] | None = option(
        "Change one hyperparameter (see `games methods`). Can be repeated.", "--set", metavar="NAME=VALUE"
    )
    seed: FixedSeedOption = 0
