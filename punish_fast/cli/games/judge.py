"""``punish-fast games judge``: compare agents with random and perfect play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import argument, option, verb
from punish_fast.cli.games.options import GameOptions, report_on

if TYPE_CHECKING:
    from punish_fast.games.contract import Game

_MOST_GAMES = 10_000_000


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(GameOptions):
    """Options of ``games judge``."""

    agents: Annotated[
        list[str] | None,
        argument(
            "AGENT...",
            "Files of agents, trained (the default of games play), or some of random, perfect, best-response, "
            "safe-response (the default is these four). Connect Four: files, trained, random, or search-4 for a search "
            "of four moves. Incan Gold: files, trained, random, leave-at-N (with N points), rule-of-thumb, or "
            "equilibrium. Gwent Lite: files, trained, random, or rule-of-thumb.",
        ),
    ] = None
    games: Annotated[
        int | None,
        option("Incan Gold and Gwent Lite: games of a match.  [default: 3000]", metavar="N", min=3, max=_MOST_GAMES),
    ] = None
    seed: Annotated[
        int | None, option("Incan Gold and Gwent Lite: random seed.  [default: 0]", metavar="N", min=0, max=2**63 - 1)
    ] = None

    def refuse_games(self, game: Game) -> None:
        """Raise `UsageError` if a number of games or a seed is given for a game that does not use them."""
        if (self.games, self.seed) != (None, None):
            raise UsageError(f"{game.name}: is judged without games; --games and --seed are for others")


@verb(
    "punish-fast games judge tictactoe",
    "punish-fast games judge tictactoe perfect tictactoe.h5",
    "punish-fast games judge connect4 random search-4 search-8",
    "punish-fast games judge incan-gold leave-at-12 rule-of-thumb --games 300",
)
def judge(options: JudgeOptions) -> None:
    """Judge agents at a game that always ends: exact scores against the random player, losing lines, mistakes.

    MuZero is judged without a search, and by searches of 25 and 100 simulations.

    In Connect Four, by the share of moves that keep the value and of best moves, in four sets of positions. In Incan
    Gold, by many games against two random players, two who leave at 12 points, two of a rule of thumb, and two in
    equilibrium; and by the rule with one number of points that wins most against two copies of the agent. In Gwent
    Lite, by many games in both seats against random play and a rule of thumb, with the given decks, or with the
    default deck and with random ones.
    """
    report_on(options.make("judge"), "judge", options)
