"""Functions that solve each game and evaluate its agents, for the commands ``games solve`` and ``games evaluate``.

Connect Four and the card games have their own functions in their folders. The functions in this file are for games
whose positions can be enumerated.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.connect4 import commands as connect4
from punish_fast.games.contract import Game, Stage
from punish_fast.games.enumeration.evaluation import evaluate_policy, last_first, unfold_policy, winning_policy
from punish_fast.games.enumeration.matches import best_response, both_scores
from punish_fast.games.enumeration.positions import Positions, enumerate_positions
from punish_fast.games.enumeration.retrograde import OUTCOMES, PerfectPlay, check_perfect_play, solve_game
from punish_fast.games.evaluated_agents import TRAINED, EvaluationRequest, unknown_agent
from punish_fast.games.gwent import commands as gwent
from punish_fast.games.incan_gold import commands as incan_gold
from punish_fast.games.learn.agent_file import load_policies
from punish_fast.games.learn.qlearning import trained_table

_BUILT_IN = ("random", "perfect", "best-response", "safe-response")
_SEATS = ("first", "second")


class GameCommands(NamedTuple):
    """Functions that solve a game and evaluate its agents. Both return a report as JSON values."""

    # Evaluates the agents in an `EvaluationRequest`.
    evaluate: Callable[[Any, EvaluationRequest, Stage], dict[str, Any]]
    # Solves the game from a position (second argument, "" for the initial state), or None if this is not possible.
    # Games other than Connect Four ignore the position.
    solve: Callable[[Any, str, Stage], dict[str, Any]] | None


def _solve(game: Game, _position: str, stage: Stage) -> dict[str, Any]:
    """Solve a game whose positions can be enumerated."""
    with stage("positions"):
        positions, counts = enumerate_positions(game), game.counts()
    with stage("solve"):
        perfect = solve_game(positions)
    with stage("certificate"):
        check_perfect_play(perfect)
    with stage("random"):
        # A player that loses even with perfect play has no safe response.
        may_be_safe = (perfect.value[0] >= 0, perfect.value[0] <= 0)
        best = _response(positions, None, (True, True))
        safe = _response(positions, perfect.is_safe(), may_be_safe)
        random = positions.uniform()
        even = both_scores(positions, random, random)[0]
    values = perfect.value[positions.live].tolist()
    value, distance = int(perfect.value[0]), int(perfect.distance[0])
    return {
        "states": len(positions),
        "terminals": len(positions) - len(positions.live),
        "moves": positions.n_rows,
        "wins": values.count(1),
        "losses": values.count(-1),
        "draws": values.count(0),
        **counts,
        "value": OUTCOMES[value],
        "start": OUTCOMES[value],
        "plies": None if distance < 0 else distance,
        "longest": int(perfect.distance.max()),
        "certified": True,
        "best_response_vs_random": best,
        "safe_best_response_vs_random": safe,
        "random_vs_random": even.win,
        "line": perfect.line_text(),
    }


def _response(positions: Positions, allowed: np.ndarray | None, seats: tuple[bool, bool]) -> dict[str, Any]:
    """Return the best response's win probability against random play in each seat that is True in ``seats``.

    JSON keys:
        first (number or null, from 0 to 1): Win probability if the best response moves first. Null if it is not safe.
        second (number or null, from 0 to 1): Win probability if the best response moves second. Null if it is not safe.
        error_bound (number): Proven bound on the error of both probabilities.
    """
    response = best_response(positions, positions.uniform(), allowed)
    wins = zip(_SEATS, (response.first, response.second), seats, strict=True)
    return {name: win if is_there else None for name, win, is_there in wins} | {"error_bound": response.error_bound}


def _evaluate(game: Game, request: EvaluationRequest, stage: Stage) -> dict[str, Any]:
    """Evaluate agents exactly in a game whose positions can be enumerated."""
    with stage("solve"):
        # Networks do not use symmetries, so symmetric states are separate positions.
        perfect = solve_game(enumerate_positions(game, is_folded=False))
        last_first(perfect.positions)
    agents = []
    for name in request.agents or _BUILT_IN:
        with stage("evaluate", f"evaluate: {name}"):
            agents += _evaluated(name, perfect)
    return {"agents": agents}


def _evaluated(name: str, perfect: PerfectPlay) -> list[dict[str, Any]]:
    """Return the report rows of an agent: a single row or, for MuZero, a row for each number of simulations."""
    positions = perfect.positions
    policies: dict[int | None, np.ndarray]
    if name in _BUILT_IN:
        told_apart, policies = positions, {None: _policy(name, perfect)}
    elif name == TRAINED:
        told_apart, table = trained_table(positions.game)
        policies = {None: table}
    elif Path(name).suffix == ".h5":
        told_apart, policies = load_policies(Path(name), positions.game)
    else:
        raise unknown_agent(name, ", ".join(_BUILT_IN))
    return [
        {"agent": name, "simulations": simulations}
        | asdict(evaluate_policy(perfect, unfold_policy(told_apart, policy, positions)))
        for simulations, policy in policies.items()
    ]


def _policy(name: str, perfect: PerfectPlay) -> np.ndarray:
    random = perfect.positions.uniform()
    if name == "random":
        return random
    if name == "perfect":
        return perfect.policy()
    return winning_policy(perfect.positions, random, perfect.is_safe() if "safe" in name else None)


_COMMANDS = {
    "connect4": GameCommands(connect4.evaluate, connect4.solve),
    "incan-gold": GameCommands(incan_gold.evaluate, incan_gold.solve),
    "gwent": GameCommands(gwent.evaluate, None),
}
_ENUMERATED = GameCommands(_evaluate, _solve)


def commands_of(game: Game) -> GameCommands:
    """Return the functions of a game, by default the functions for games whose positions can be enumerated."""
    return _COMMANDS.get(game.name, _ENUMERATED)
