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
            "AGENT",
            "Agents to judge: agent files, `trained` (the default opponent in `games play`), or built-in agents: "
            "random, perfect, best-response (the best response to random play), safe-response (the same, without moves "
            "that let the opponent force a win). Connect Four: random, search-N (searches N moves ahead). Incan Gold: "
            "random, leave-at-N (leaves when it holds N points in the round), rule-of-thumb, equilibrium. "
            "Gwent Lite: random, rule-of-thumb.  [default: built-in agents]",
        ),
    ] = None
    games: Annotated[
        int | None,
        option("Incan Gold and Gwent Lite: games per match.  [default: 3000]", metavar="N", min=3, max=_MOST_GAMES),
    ] = None
    seed: Annotated[
        int | None,
        option("Incan Gold and Gwent Lite: random seed, below 2^63.  [default: 0]", metavar="N", min=0, max=2**63 - 1),
    ] = None

    def refuse_games(self, game: Game) -> None:
        """Raise `UsageError` if a number of games or a seed is given for a game that does not use them."""
        if (self.games, self.seed) != (None, None):
            raise UsageError(f"{game.name}: --games and --seed apply only to incan-gold and gwent")


@verb(
    "punish-fast games judge tictactoe",
    "punish-fast games judge tictactoe perfect tictactoe.h5",
    "punish-fast games judge connect4 random search-4 search-8",
    "punish-fast games judge incan-gold leave-at-12 rule-of-thumb --games 300",
)
def judge(options: JudgeOptions) -> None:
    """Judge agents: exact scores against the random player, losing lines, and mistakes compared with perfect play.

    For Connect Four, the report gives the share of moves that keep the value of a position, and the share of best
    moves, in four sets of positions. For Incan Gold, each agent plays many games against two copies each of random,
    leave-at-12, rule-of-thumb and equilibrium; the report also gives the N for which leave-at-N wins most often against
    two copies of the agent. For Gwent Lite, each agent plays many games in both seats against random and rule-of-thumb,
    with the given decks, or with the default deck and with random decks. MuZero is judged without a search, and with
    searches of 25 and 100 simulations.
    """
    report_on(options.make("judge"), "judge", options)
