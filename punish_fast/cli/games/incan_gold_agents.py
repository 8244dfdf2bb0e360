"""Agents of Incan Gold for ``games judge``: many games against others, and the opponent that exploits them most."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.progress import Progress, Stopwatch
from punish_fast.cli.frame.report import print_table
from punish_fast.cli.games.judged_agents import TRAINED, agents_of, name_of, share_text, told_match
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from punish_fast.games.contract import Mover
    from punish_fast.games.incan_gold.game import IncanGold

# Two of each sit against every agent; these are judged by default, too.
_OPPONENTS = ("random", "leave-at-12", "rule-of-thumb", "equilibrium")
_SHARES = ("win", "tie", "loss", "first")


def judged(game: IncanGold, agents: list[str] | None, n_games: int, seed: int, progress: Progress) -> dict[str, Any]:
    """Return the report of ``games judge``."""
    from punish_fast.games.incan_gold.matches import best_responder, play_match
    from punish_fast.games.incan_gold.players import player_named
    from punish_fast.games.learn.agent_file import load_as
    from punish_fast.games.learn.dqn import DqnLearner
    from punish_fast.games.registry import vectorise

    clock, vector, reports = Stopwatch(), vectorise(game), []
    with clock("agents"), progress.stage("agents"):
        load = partial(load_as, wanted=DqnLearner, game=game)
        players = [each for name in agents or _OPPONENTS for each in agents_of(name, game, _built_in, load)]
        opponents = {name: player_named(name) for name in _OPPONENTS}
    for number, player in enumerate(players, 1):
        with clock("matches"), progress.stage(f"matches of player {number} of {len(players)}"):
            matches = {
                name: told_match(play_match(vector, player.mover, two, n_games, seed), _SHARES)
                for name, two in opponents.items()
            }
        with clock("responders"), progress.stage(f"responders to player {number} of {len(players)}"):
            found = best_responder(vector, player.mover, n_games, seed)
        match = told_match(found.match, _SHARES)
        responder = {"leave_at": found.leave_at, "match": match, "tried": list(found.tried)}
        reports.append(player.told() | {"matches": matches, "responder": responder})
    return {
        "game": game.name,
        "variant": game.parameters(),
        "seed": seed,
        "agents": reports,
        "seconds": clock.seconds | {"total": clock.total()},
    }


def _built_in(name: str) -> Mover:
    from punish_fast.games.contract import GameError
    from punish_fast.games.incan_gold.players import NAMES, player_named

    try:
        return player_named(name)
    except GameError:
        allowed = f"{', '.join(NAMES)} with N from 1 to 99, {TRAINED}, and files .h5"
        raise UsageError(f"{printable(name)}: is no agent, allowed are {allowed}") from None


def print_judged(report: dict[str, Any]) -> None:
    """Print a report of `judged`."""
    agents = [(name_of(each), each["matches"], each["responder"]) for each in report["agents"]]
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
        first = share_text(match, "first")
        rows.append([name, f"leave-at-{responder['leave_at']}", first, *_cells(match)])
    print_table(rows, left=2)


def _cells(match: dict[str, Any]) -> list[str]:
    return [share_text(match, name) for name in ("win", "tie", "loss")]
