"""Connect Four for ``games solve`` and ``judge``: positions are solved by search."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.frame.progress import Stages
from punish_fast.cli.games.judge import JudgeOptions
from punish_fast.cli.games.judged_agents import TRAINED, trained_values, unknown_agent
from punish_fast.cli.games.solve import GamesSolveOptions
from punish_fast.games.connect4.game import Connect4, Connect4State
from punish_fast.games.connect4.known_scores import PositionSet, position_sets, search_policy, shares
from punish_fast.games.connect4.solver import Connect4Solver, compile_search, value_of
from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.agent_file import load_as
from punish_fast.games.learn.episodes import Values, first_best_actions
from punish_fast.games.learn.strength import SampledStrength
from punish_fast.games.learn.trainer import NetworkTrainer

_YARDSTICKS = ("random", "search-2", "search-4", "search-8")
# Number of games per seat against the random player, without and with search.
_GAMES, _SEARCHED_GAMES = 2000, 500

# A game, its action values, and True if moves are restricted to legal ones.
_Network = tuple[VectorGame, Values, bool]


def solve(game: Connect4, options: GamesSolveOptions, stages: Stages) -> dict[str, Any]:
    """Return the report of ``games solve`` on a position."""
    position, exact = options.position or "", not options.value_only
    state, solver = game.state_of(position), Connect4Solver()
    with stages("kernels"):
        compile_search()
    with stages("solve"):
        scores, nodes = solver.score_moves(state, exact)
    score, line = _best(scores, solver, state), None
    if exact:
        with stages("line"):
            line = solver.line(state, score)
    return {
        "position": position,
        "score": score if exact else None,
        "value": value_of(score),
        "scores": scores if exact else None,
        "values": [None if each is None else value_of(each) for each in scores],
        "line": None if line is None else "".join(str(column + 1) for column in line),
        "nodes": nodes,
    }


def _best(scores: list[int | None], solver: Connect4Solver, state: Connect4State) -> int:
    """Return the best score of the moves, or the score of the position if the game is over."""
    known = [score for score in scores if score is not None]
    return max(known) if known else solver.solve(state)[0]


def judge(game: Connect4, options: JudgeOptions, stages: Stages) -> dict[str, Any]:
    """Return the report of ``games judge``: shares of good moves in sets of positions, and networks' match results."""
    options.refuse_games(game)
    agents = []
    for name in options.agents or _YARDSTICKS:
        with stages("judge", f"judge: {name}"):
            agents += _judged(game, name)
    return {"agents": agents}


def _judged(game: Connect4, name: str) -> list[dict[str, Any]]:
    """Return the report rows of an agent: one row, or for MuZero one row per number of simulations."""
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
        raise unknown_agent(name, "random, search-N with N from 1 to 99 moves")
    sets = _in_sets(lambda found: search_policy(found, int(depth[1]) if depth else 0))
    return [{"agent": name, "simulations": None} | sets | dict.fromkeys(("games", "first", "second"))]


def _judged_values(name: str, simulations: int | None, network: _Network) -> dict[str, Any]:
    """Return the report of one network, or of MuZero with one number of simulations."""
    games = _SEARCHED_GAMES if simulations else _GAMES
    sets = _in_sets(partial(_choices, network))
    return {"agent": name, "simulations": simulations} | sets | _against_random(network, games)


def _in_sets(policy: Callable[[PositionSet], np.ndarray]) -> dict[str, Any]:
    return {"sets": {each: shares(found, policy(found))._asdict() for each, found in position_sets().items()}}


def _choices(network: _Network, found: PositionSet) -> np.ndarray:
    """Return a network's moves as one-hot rows, restricted to legal moves only if it was trained that way."""
    vector, values, keeps_rules = network
    legal = vector.legal(found.boards)
    moves = first_best_actions(values(found.boards), legal if keeps_rules else np.ones_like(legal))
    return np.asarray(np.eye(legal.shape[1])[moves])


def _against_random(network: _Network, games: int) -> dict[str, Any]:
    """Return a network's outcomes against the random player, as the first and as the second player."""
    vector, values, keeps_rules = network
    measures = SampledStrength(vector, games=2 * games).measure(values, keeps_rules)
    return {"games": games, "first": measures["first"], "second": measures["second"]}
