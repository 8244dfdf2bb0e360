"""``punish-fast games grid``: a league of agents, one for each combination of hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from punish_fast.cli.errors import UsageError
from punish_fast.cli.games.options import (
    GamesOption,
    LeagueOptions,
    VariantOptions,
)
from punish_fast.cli.games.rounds import train_round
from punish_fast.cli.options import FixedSeedOption, PlotOption, option, verb
from punish_fast.cli.outputs import check_outputs


@dataclass(frozen=True, kw_only=True)
class GridOptions(LeagueOptions, VariantOptions):
    """Options of ``games grid``."""

    schemes: Annotated[str, option("negamax, author, or both.", metavar="NAME,...")] = "negamax"
    epsilons: Annotated[str, option("Probabilities of a random move.", metavar="E,...")] = (
        "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
    )
    against: Annotated[
        str, option("The opponents of each agent, one for each session, with hyphens between.", metavar="NAMES,...")
    ] = "random,self,random-self,self-random"
    games: GamesOption = 20_000
    seed: FixedSeedOption = 0
    plot: PlotOption = None


@verb(
    "punish-fast games grid tapnswap agents",
    "punish-fast games grid tapnswap agents --schemes negamax,author --epsilons 0.1,0.5 --plot curves.png",
    "punish-fast games grid tapnswap agents --against random,random-self --games 50000",
)
def grid(options: GridOptions) -> None:
    """Train an agent for each combination of hyperparameters; repeat the command to resume."""
    from punish_fast.learn.agent_plans import grid_plans
    from punish_fast.learn.league import League

    game = options.make("grid")
    check_outputs([], options.files(), "train", options.plot)
    try:
        epsilons = [float(word) for word in options.epsilons.split(",")]
    except ValueError:
        raise UsageError(f"--epsilons is {options.epsilons!r}, allowed: numbers with commas between") from None
    schemes, sequences = ([word.strip() for word in text.split(",")] for text in (options.schemes, options.against))
    plans = grid_plans(schemes, epsilons, [tuple(each.split("-")) for each in sequences], options.games)
    league = League(options.folder, game, options.seed)
    league.start_grid(plans)
    train_round(league, 0, options, options.plot)
