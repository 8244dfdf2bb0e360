"""``punish-fast games retrain``: the best agents of a tournament, trained further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from punish_fast.cli.games.options import GamesOption, LeagueOptions
from punish_fast.cli.games.rounds import train_round
from punish_fast.cli.options import PlotOption, option, verb
from punish_fast.cli.outputs import check_outputs


@dataclass(frozen=True, kw_only=True)
class RetrainOptions(LeagueOptions):
    """Options of ``games retrain``."""

    best: Annotated[float, option("Train agents with this share of the top score; 0 takes all.", metavar="S")] = 0.9
    against: Annotated[
        str,
        option(
            "same or other (than the last opponent), random or self; several train an agent in several ways.",
            metavar="NAME,...",
        ),
    ] = "same"
    games: GamesOption = 20_000
    plot: PlotOption = None


@verb(
    "punish-fast games retrain tapnswap agents",
    "punish-fast games retrain tapnswap agents --best 0.9 --against same,other --plot curves.png",
)
def retrain(options: RetrainOptions) -> None:
    """Train the best agents of a tournament further; one that would lose to its former self is rejected.

    Repeat the command to resume. After the next tournament, it starts the next round.
    """
    league = options.open("retrain")
    check_outputs([], options.files(), "train", options.plot)
    opponents = [word.strip() for word in options.against.split(",")]
    number = league.start_retraining(options.best, opponents, options.games)
    train_round(league, number, options, options.plot)
