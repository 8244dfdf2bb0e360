"""Gwent Lite for ``games judge``: many games against random play and the rule of thumb, in both seats."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.errors import UsageError
from punish_fast.cli.report import Progress, Stopwatch, print_table
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from punish_fast.games.contract import Mover
    from punish_fast.games.gwent import Gwent
    from punish_fast.learn.gwent_matches import DuelMatch, SeatMatches

# Of a match, by default.
GAMES = 3000
_SHARES = ("win", "tie", "loss")


def judged(
    games: Sequence[Gwent], agents: list[str] | None, n_games: int, temperature: float, seed: int, progress: Progress
) -> dict[str, Any]:
    """The report of ``games judge``.

    Args:
        games: The same rules with different decks.
        agents: Names of players, or files; None for all players that have a name.
        n_games: Games of each match.
        temperature: Of networks that mix.
        seed: Random seed.
        progress: What tells how far it has come.

    Raises:
        UsageError: The temperature is none, or an agent is none of this game.
        ReadError: A file is not readable, or no network.
    """
    from punish_fast.games.gwent_players import PLAYERS
    from punish_fast.games.registry import vectorise
    from punish_fast.learn.gwent_matches import play_duels

    if not 0 < temperature < math.inf:
        raise UsageError(f"--temperature: {temperature:g} is not allowed, it must be above 0")
    clock, reports = Stopwatch(), []
    with clock("agents"), progress.stage("agents"):
        players = [each for name in agents or PLAYERS for each in _players(name, temperature)]
    for number, (about, player) in enumerate(players, 1):
        with clock("matches"), progress.stage(f"matches of player {number} of {len(players)}"):
            matches = {
                game.variant.decks: {
                    opponent: _both_seats(play_duels(vectorise(game), player, other, n_games, seed))
                    for opponent, other in PLAYERS.items()
                }
                for game in games
            }
        reports.append(about | {"matches": matches})
    return {
        "game": games[0].name,
        "variants": [game.parameters() for game in games],
        "seed": seed,
        "agents": reports,
        "seconds": clock.seconds | {"total": clock.total()},
    }


def _players(name: str, temperature: float) -> list[tuple[dict[str, Any], Mover]]:
    """The players of an agent: one of a name; of a network a greedy one and one that mixes."""
    from punish_fast.games.gwent_players import PLAYERS
    from punish_fast.learn.dqn import values_of
    from punish_fast.learn.movers import GreedyMover, MixedMover
    from punish_fast.learn.network_file import load_dqn

    if Path(name).suffix != ".h5":
        if name not in PLAYERS:
            raise UsageError(f"{printable(name)}: is no agent, allowed are {', '.join(PLAYERS)}, and files .h5")
        return [({"agent": name, "play": "built-in", "temperature": None}, PLAYERS[name])]
    network = load_dqn(Path(name))
    found = network.vector.game.name
    if found != "gwent":
        raise UsageError(f"{printable(name)}: its game is {found}, not gwent")
    # Features are the same with all decks.
    values = values_of(network.vector, network.architecture, network.weights)
    return [
        ({"agent": name, "play": "greedy", "temperature": None}, GreedyMover(values, 0.0, network.keeps_rules)),
        ({"agent": name, "play": "mixed", "temperature": temperature}, MixedMover(values, temperature)),
    ]


def _both_seats(matches: SeatMatches) -> dict[str, Any]:
    return {seat: _told(match) for seat, match in matches._asdict().items()}


def _told(match: DuelMatch) -> dict[str, Any]:
    """A match as JSON values, each share with its standard error."""
    errors = {f"{name}_error": error for name, error in zip(_SHARES, match.errors, strict=True)}
    return {"games": match.games} | {name: getattr(match, name) for name in _SHARES} | errors


def print_judged(report: dict[str, Any]) -> None:
    """Print a report of `judged`, both seats together."""
    rows = [["agent", "decks", "opponent", "wins", "ties", "losses"]]
    n_games = 0
    for agent in report["agents"]:
        name = _name(agent)
        for decks, matches in agent["matches"].items():
            for opponent, seats in matches.items():
                match, n_games = seats["both"], seats["both"]["games"]
                cells = [f"{match[share]:.3f} ± {match[f'{share}_error']:.3f}" for share in _SHARES]
                rows.append([name, "given" if "/" in decks else decks, opponent, *cells])
                name = ""
    print(f"{n_games:,} games each, half of them in each seat; shares ± standard errors")
    print_table(rows, left=3)


def _name(agent: dict[str, Any]) -> str:
    """The agent and how it plays."""
    if agent["play"] == "built-in":
        return str(agent["agent"])
    mixed = f", temperature {agent['temperature']:g}" if agent["temperature"] is not None else ""
    return f"{agent['agent']} ({agent['play']}{mixed})"
