"""Connect Four for ``games solve``, ``show`` and ``judge``: positions solved by search."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.progress import Progress, Stopwatch
from punish_fast.cli.frame.report import in_units, print_table, print_text
from punish_fast.cli.games.judged_agents import TRAINED, judging, searching, trained_values
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from punish_fast.games.connect4.game import Connect4, Connect4State
    from punish_fast.games.connect4.known_scores import PositionSet
    from punish_fast.games.connect4.solver import Connect4Solver
    from punish_fast.games.contract import VectorGame
    from punish_fast.games.learn.movers import Values

_YARDSTICKS = ("random", "search-2", "search-4", "search-8")
# Against the random player, in each seat; fewer by searches.
_GAMES, _SEARCHED_GAMES = 2000, 500


def solution(game: Connect4, position: str, solver: Connect4Solver, exact: bool, quiet: bool) -> dict[str, Any]:
    """The report of ``games solve`` on a position."""
    from punish_fast.games.connect4.solver import compile_search, value_of

    clock, state = Stopwatch(), game.state_of(position)
    with clock("kernels"), Progress(quiet).stage("kernels"):
        compile_search()
    with clock("solve"), Progress(quiet).stage("solve"):
        scores, nodes = solver.score_moves(state, exact)
    score = _best(scores, solver, state)
    line = None
    if exact:
        with clock("line"), Progress(quiet).stage("line"):
            line = solver.line(state, score)
    return {
        "game": game.name,
        "variant": game.parameters(),
        "position": position,
        "score": score if exact else None,
        "value": value_of(score),
        "scores": scores if exact else None,
        "values": [None if each is None else value_of(each) for each in scores],
        "line": None if line is None else "".join(str(column + 1) for column in line),
        "nodes": nodes,
        "seconds": clock.seconds | {"total": clock.total()},
    }


def print_solution(report: dict[str, Any], board: str, plies: int | None) -> None:
    """Print a report of `solution`, with a drawing of the position and the moves to the end."""
    print(board)
    print()
    numbers = [str(column) for column in range(1, len(report["values"]) + 1)]
    known = report["values"] if report["scores"] is None else report["scores"]
    print_table([["column", *numbers], ["score", *("-" if each is None else str(each) for each in known)]])
    print()
    ending = "" if plies is None else f" in {plies} (score {report['score']})"
    print(f"the player to move: {report['value']}{ending}")
    if report["line"]:
        print_text("perfect play: " + " ".join(report["line"]))
    seconds = max(report["seconds"]["solve"], 1e-9)
    print(f"{report['nodes']:,} nodes in {seconds:.1f} s ({in_units(report['nodes'] / seconds)} nodes/s)")


def _best(scores: list[int | None], solver: Connect4Solver, state: Connect4State) -> int:
    """The score of a position with these scores of moves; after the end there are none."""
    known = [score for score in scores if score is not None]
    return max(known) if known else solver.solve(state)[0]


def judged(game: Connect4, agents: list[str] | None, progress: Progress) -> dict[str, Any]:
    """The report of ``games judge``: the shares of each agent in each set; of networks, also games with random play."""
    clock, judgements = Stopwatch(), []
    for name in agents or _YARDSTICKS:
        with clock("judge"), progress.stage(judging(name)):
            judgements += _told(game, name)
    progress.clear()
    return {"game": game.name, "variant": game.parameters(), "agents": judgements, "seconds": clock.seconds}


def _told(game: Connect4, name: str) -> list[dict[str, Any]]:
    """Return the report of an agent in one row, or of MuZero in a row for each number of simulations."""
    from punish_fast.games.connect4.known_scores import search_policy
    from punish_fast.games.learn.agent_file import load_as
    from punish_fast.games.learn.trainer import NetworkTrainer

    depth = re.fullmatch("search-([1-9][0-9]?)", name, re.ASCII)
    if name == TRAINED:
        vector, values = trained_values(game)
        return [_judged_values(name, None, (vector, values, True))]
    if Path(name).suffix == ".h5":
        network = load_as(Path(name), NetworkTrainer, game)  # type: ignore[type-abstract]
        return [
            _judged_values(name, simulations, (network.vector, values, network.keeps_rules))
            for simulations, values in network.judged().items()
        ]
    if name != "random" and not depth:
        allowed = f"random, search-N that sees 1 to 99 moves, {TRAINED}, and files .h5"
        raise UsageError(f"{printable(name)}: is no agent, allowed are {allowed}")
    sets = _in_sets(lambda found: search_policy(found, int(depth[1]) if depth else 0))
    return [{"agent": name, "simulations": None} | sets | dict.fromkeys(("games", "first", "second"))]


# A game, the values of its actions, and whether the moves are legal by themselves.
_Network = tuple["VectorGame", "Values", bool]


def _judged_values(name: str, simulations: int | None, network: _Network) -> dict[str, Any]:
    """Return the report of one network, or of one number of simulations of MuZero."""
    games = _SEARCHED_GAMES if simulations else _GAMES
    sets = _in_sets(partial(_choices, network))
    return {"agent": name, "simulations": simulations} | sets | _against_random(network, games)


def _in_sets(policy: Callable[[PositionSet], np.ndarray]) -> dict[str, Any]:
    """The shares of a policy in each set."""
    from punish_fast.games.connect4.known_scores import position_sets, shares

    return {"sets": {each: shares(found, policy(found))._asdict() for each, found in position_sets().items()}}


def _choices(network: _Network, found: PositionSet) -> np.ndarray:
    """The move of a network in each position: of legal ones alone, if it was kept to them."""
    import numpy as np

    from punish_fast.games.learn.movers import first_best_actions

    vector, values, keeps_rules = network
    legal = vector.legal(found.boards)
    moves = first_best_actions(values(found.boards), legal if keeps_rules else np.ones_like(legal))
    return np.asarray(np.eye(legal.shape[1])[moves])


def _against_random(network: _Network, games: int) -> dict[str, Any]:
    """The endings of games against the random player, moving first and second."""
    from punish_fast.games.learn.strength import SampledStrength

    vector, values, keeps_rules = network
    measures = SampledStrength(vector, games=2 * games).measure(values, keeps_rules)
    return {"games": games, "first": measures["first"], "second": measures["second"]}


def print_judged(report: dict[str, Any]) -> None:
    """Print a report of `judged`."""
    for key, title in (("keeps_value", "keeps the value"), ("best_score", "finds a best score")):
        names = list(report["agents"][0]["sets"])
        rows = [[searching(each), *(f"{each['sets'][name][key]:.3f}" for name in names)] for each in report["agents"]]
        print_table([[title, *(name.replace("-", " ") for name in names)], *rows])
        print()
    for each in report["agents"]:
        if each["first"] is not None:
            wins = [f"{each[seat]['win']:.2%} moving {seat}" for seat in ("first", "second")]
            print_text(f"{searching(each)} wins against random play: {', '.join(wins)} ({each['games']:,} games each)")
