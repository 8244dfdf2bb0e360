"""Agents of Incan Gold for ``games judge``: many games against others, and the opponent that exploits them most."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.errors import UsageError
from punish_fast.cli.report import Progress, Stopwatch, print_table
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from punish_fast.games.contract import Mover
    from punish_fast.games.incan_gold import IncanGold
    from punish_fast.learn.incan_gold_matches import TempleMatch

# Of a match, by default.
GAMES = 3000
# Two of each sit against every agent; these are judged by default, too.
_OPPONENTS = ("random", "leave-at-12", "rule-of-thumb", "equilibrium")


def judged(
    game: IncanGold, agents: list[str] | None, n_games: int, temperature: float, seed: int, progress: Progress
) -> dict[str, Any]:
    """The report of ``games judge``.

    Raises:
        UsageError: The temperature is none, or a name is that of no player.
        ReadError: A file is not readable, or no network of this game.
    """
    from punish_fast.games.incan_gold_players import player_named
    from punish_fast.games.registry import vectorise
    from punish_fast.learn.incan_gold_matches import best_responder, play_match

    if not 0 < temperature < math.inf:
        raise UsageError(f"--temperature: {temperature:g} is not allowed, it must be above 0")
    clock, vector, reports = Stopwatch(), vectorise(game), []
    with clock("agents"), progress.stage("agents"):
        players = [each for name in agents or _OPPONENTS for each in _players(game, name, temperature)]
        opponents = {name: player_named(name) for name in _OPPONENTS}
    for number, (about, player) in enumerate(players, 1):
        with clock("matches"), progress.stage(f"matches of player {number} of {len(players)}"):
            matches = {name: _told(play_match(vector, player, two, n_games, seed)) for name, two in opponents.items()}
        with clock("responders"), progress.stage(f"responders to player {number} of {len(players)}"):
            found = best_responder(vector, player, n_games, seed)
        responder = {"leave_at": found.leave_at, "match": _told(found.match), "tried": list(found.tried)}
        reports.append(about | {"matches": matches, "responder": responder})
    return {
        "game": game.name,
        "variant": game.parameters(),
        "seed": seed,
        "agents": reports,
        "seconds": clock.seconds | {"total": clock.total()},
    }


def _players(game: IncanGold, name: str, temperature: float) -> list[tuple[dict[str, Any], Mover]]:
    """The players of an agent: one of a name; of a network a greedy one and one that mixes."""
    from punish_fast.games.contract import GameError
    from punish_fast.games.incan_gold_players import NAMES, player_named
    from punish_fast.learn.dqn import values_of
    from punish_fast.learn.movers import GreedyMover, MixedMover
    from punish_fast.learn.network_file import load_dqn

    if Path(name).suffix != ".h5":
        try:
            return [({"agent": name, "play": "built-in", "temperature": None}, player_named(name))]
        except GameError:
            allowed = f"{', '.join(NAMES)} with N from 1 to 99, and files .h5"
            raise UsageError(f"{printable(name)}: is no agent, allowed are {allowed}") from None
    network = load_dqn(Path(name), game)
    values = values_of(network.vector, network.architecture, network.weights)
    return [
        ({"agent": name, "play": "greedy", "temperature": None}, GreedyMover(values, 0.0, network.keeps_rules)),
        ({"agent": name, "play": "mixed", "temperature": temperature}, MixedMover(values, temperature)),
    ]


def _told(match: TempleMatch) -> dict[str, Any]:
    """A match as JSON values, each share with its standard error."""
    names = ("win", "tie", "loss", "first")
    errors = {f"{name}_error": error for name, error in zip(names, match.errors, strict=True)}
    return {"games": match.games} | {name: getattr(match, name) for name in names} | errors


def print_judged(report: dict[str, Any]) -> None:
    """Print a report of `judged`."""
    agents = [(_name(each), each["matches"], each["responder"]) for each in report["agents"]]
    n_games = agents[0][2]["match"]["games"]
    print(f"an agent against two equal opponents, {n_games:,} games each")
    rows = [["agent", "opponents", "alone first", "shared first", "not first"]]
    for name, matches, _ in agents:
        for number, (opponent, match) in enumerate(matches.items()):
            rows.append([name * (number == 0), opponent, *_cells(match)])
    print_table(rows, left=2)
    print()
    print("the rule that exploits two copies of an agent best, by its share of first places (even: 0.333)")
    rows = [["agent", "responder", "share of first places", "alone first", "shared first", "not first"]]
    for name, _, responder in agents:
        match = responder["match"]
        first = f"{match['first']:.3f} ± {match['first_error']:.3f}"
        rows.append([name, f"leave-at-{responder['leave_at']}", first, *_cells(match)])
    print_table(rows, left=2)


def _name(agent: dict[str, Any]) -> str:
    """The agent and how it plays."""
    if agent["play"] == "built-in":
        return str(agent["agent"])
    mixed = f", temperature {agent['temperature']:g}" if agent["temperature"] is not None else ""
    return f"{agent['agent']} ({agent['play']}{mixed})"


def _cells(match: dict[str, Any]) -> list[str]:
    return [f"{match[name]:.3f} ± {match[f'{name}_error']:.3f}" for name in ("win", "tie", "loss")]
