"""Gwent Lite for ``games judge``: many games against random play and the rule of thumb, in both seats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.progress import Progress, Stopwatch
from punish_fast.cli.frame.report import print_table
from punish_fast.cli.games.judged_agents import TRAINED, agents_of, name_of, share_text, told_match
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from punish_fast.games.contract import Mover
    from punish_fast.games.gwent.game import Gwent
    from punish_fast.games.learn.dqn import DqnLearner
    from punish_fast.games.learn.episodes import MatchResult

_SHARES = ("win", "tie", "loss")


def judged(
    games: Sequence[Gwent], agents: list[str] | None, n_games: int, seed: int, progress: Progress
) -> dict[str, Any]:
    """The report of ``games judge``.

    Args:
        games: The same rules with different decks.
        agents: Names of players, or files; None for all players that have a name.
        progress: What tells how far it has come.
    """
    from punish_fast.games.gwent.matches import play_duels
    from punish_fast.games.gwent.players import PLAYERS
    from punish_fast.games.registry import vectorise

    clock, reports = Stopwatch(), []
    with clock("agents"), progress.stage("agents"):
        players = [each for name in agents or PLAYERS for each in agents_of(name, games[0], _built_in, _load)]
    for number, player in enumerate(players, 1):
        with clock("matches"), progress.stage(f"matches of player {number} of {len(players)}"):
            matches = {
                game.variant.decks: {
                    opponent: _both_seats(play_duels(vectorise(game), player.mover, other, n_games, seed))
                    for opponent, other in PLAYERS.items()
                }
                for game in games
            }
        reports.append(player.told() | {"matches": matches})
    return {
        "game": games[0].name,
        "variants": [game.parameters() for game in games],
        "seed": seed,
        "agents": reports,
        "seconds": clock.seconds | {"total": clock.total()},
    }


def _built_in(name: str) -> Mover:
    from punish_fast.games.gwent.players import PLAYERS

    if name not in PLAYERS:
        allowed = f"{', '.join(PLAYERS)}, {TRAINED}, and files .h5"
        raise UsageError(f"{printable(name)}: is no agent, allowed are {allowed}")
    return PLAYERS[name]


def _load(path: Path) -> DqnLearner:
    """A network, whatever decks it has learned with, since features are the same with all."""
    from punish_fast.games.learn.agent_file import load_as
    from punish_fast.games.learn.dqn import DqnLearner

    network = load_as(path, DqnLearner)
    if network.game.name != "gwent":
        raise UsageError(f"{printable(str(path))}: its game is {network.game.name}, not gwent")
    return network


def _both_seats(matches: dict[str, MatchResult]) -> dict[str, Any]:
    return {seat: told_match(match, _SHARES) for seat, match in matches.items()}


def print_judged(report: dict[str, Any]) -> None:
    """Print a report of `judged`, both seats together."""
    rows = [["agent", "decks", "opponent", "wins", "ties", "losses"]]
    n_games = 0
    for agent in report["agents"]:
        name = name_of(agent)
        for decks, matches in agent["matches"].items():
            for opponent, seats in matches.items():
                match, n_games = seats["both"], seats["both"]["games"]
                cells = [share_text(match, share) for share in _SHARES]
                rows.append([name, "given" if "/" in decks else decks, opponent, *cells])
                name = ""
    print(f"{n_games:,} games each, half of them in each seat; shares ± standard errors")
    print_table(rows, left=3)
