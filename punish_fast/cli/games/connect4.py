"""Connect Four for ``games solve``, ``show`` and ``judge``: positions solved by search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.errors import UsageError
from punish_fast.cli.report import Progress, Stopwatch, in_units, print_table, print_text
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.games.connect4 import Connect4, Connect4State
    from punish_fast.games.connect4_sets import PositionSet
    from punish_fast.games.connect4_solver import Connect4Solver
    from punish_fast.learn.dqn import DqnLearner

_YARDSTICKS = ("random", "search-2", "search-4", "search-8")
# Against the random player, in each seat.
_GAMES = 2000


def solution(game: Connect4, position: str, solver: Connect4Solver, exact: bool, quiet: bool) -> dict[str, Any]:
    """The report of ``games solve`` on a position."""
    from punish_fast.games.connect4_solver import compile_search, value_of

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


def judged(game: Connect4, agents: list[str] | None) -> dict[str, Any]:
    """The report of ``games judge``: the shares of each agent in each set; of networks, also games with random play."""
    clock = Stopwatch()
    with clock("judge"):
        judgements = [_told(game, name) for name in agents or _YARDSTICKS]
    return {"game": game.name, "variant": game.parameters(), "agents": judgements, "seconds": clock.seconds}


def _told(game: Connect4, name: str) -> dict[str, Any]:
    from punish_fast.games.connect4_sets import position_sets, search_policy, shares
    from punish_fast.learn.network_file import load_dqn

    depth = re.fullmatch("search-([1-9][0-9]?)", name, re.ASCII)
    network = None
    if Path(name).suffix == ".h5":
        network = load_dqn(Path(name), game)
    elif name != "random" and not depth:
        allowed = "random, search-N that sees 1 to 99 moves, and files .h5"
        raise UsageError(f"{printable(name)}: is no agent, allowed are {allowed}")

    def policy(found: PositionSet) -> np.ndarray:
        return search_policy(found, int(depth[1]) if depth else 0) if network is None else _choices(network, found)

    sets = {each: shares(found, policy(found))._asdict() for each, found in position_sets().items()}
    return {"agent": name, "sets": sets} | _against_random(network)


def _choices(network: DqnLearner, found: PositionSet) -> np.ndarray:
    """The move of a network in each position: of legal ones alone, if it was kept to them."""
    import numpy as np

    values = network.values_of(network.weights)(found.boards)
    if network.keeps_rules:
        values = np.where(network.vector.legal(found.boards), values, -np.inf)
    policy = np.zeros(values.shape)
    policy[np.arange(len(policy)), values.argmax(axis=1)] = 1
    return policy


def _against_random(network: DqnLearner | None) -> dict[str, Any]:
    """The endings of games against the random player, moving first and second; None if there is no network."""
    from punish_fast.learn.strength import SampledStrength

    if network is None:
        return dict.fromkeys(("first", "second"))
    strength = SampledStrength(network.vector, games=2 * _GAMES)
    measures = strength.measure(network.values_of(network.weights), network.keeps_rules)
    return {seat: measures[seat] for seat in ("first", "second")}


def print_judged(report: dict[str, Any]) -> None:
    """Print a report of `judged`."""
    for key, title in (("keeps_value", "keeps the value"), ("best_score", "finds a best score")):
        names = list(report["agents"][0]["sets"])
        rows = [[each["agent"], *(f"{each['sets'][name][key]:.3f}" for name in names)] for each in report["agents"]]
        print_table([[title, *(name.replace("-", " ") for name in names)], *rows])
        print()
    for each in report["agents"]:
        if each["first"] is not None:
            wins = [f"{each[seat]['win']:.2%} moving {seat}" for seat in ("first", "second")]
            print_text(f"{each['agent']} wins against random play: {', '.join(wins)} ({_GAMES:,} games each)")
