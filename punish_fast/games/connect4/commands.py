"""Reports of ``games solve`` and ``games evaluate`` for Connect Four."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.games.connect4.game import Connect4
from punish_fast.games.connect4.known_scores import PositionSet, position_sets, search_policy, shares
from punish_fast.games.connect4.search import Connect4Solver, compile_search, value_of
from punish_fast.games.contract import Stage, VectorGame
from punish_fast.games.episodes import Values, first_best_actions
from punish_fast.games.evaluated_agents import TRAINED, EvaluationRequest, trained_values, unknown_agent
from punish_fast.games.learn.agent_file import load_as
from punish_fast.games.learn.strength import SampledStrength
from punish_fast.games.learn.trainer import NetworkTrainer

_YARDSTICKS = ("random", "search-2", "search-4", "search-8")
# Number of games per seat against the random player, without and with search.
_GAMES, _SEARCHED_GAMES = 2000, 500


def solve(game: Connect4, position: str, stage: Stage) -> dict[str, Any]:
    """Return the report of ``games solve`` on a position.

    JSON keys of ``punish-fast games solve connect4``:
        *print_stages
        position (string): Columns played so far.
        score (integer): Score of the position for the player to move.
        value (string): Value of the position for the player to move: `win`, `draw` or `loss`.
        scores (list of optional integers): Score of the move in each column. Null for full columns.
        values (list of optional strings): Value of the move in each column: `win`, `draw` or `loss`. Null for full
            columns.
        line (string): Columns of perfect play.
        nodes (integer): Number of positions searched.
    """
    state, solver = game.state_of(position), Connect4Solver()
    with stage("kernels"):
        compile_search()
    with stage("solve"):
        scores, nodes = solver.score_moves(state)
    known = [score for score in scores if score is not None]
    score = max(known) if known else solver.solve(state)[0]
    with stage("line"):
        line = solver.line(state, score)
    return {
        "position": position,
        "score": score,
        "value": value_of(score),
        "scores": scores,
        "values": [None if each is None else value_of(each) for each in scores],
        "line": "".join(str(column + 1) for column in line),
        "nodes": nodes,
    }


def evaluate(game: Connect4, request: EvaluationRequest, stage: Stage) -> dict[str, Any]:
    """Return the report of ``games evaluate``: shares of good moves in sets of positions, and results of matches.

    JSON keys of ``punish-fast games evaluate connect4``:
        *print_stages
        agents (list of objects): Agents.
            agent (string): Name of the agent.
            simulations (integer or null): Number of MuZero's simulations. 0 for play without a search, null for other
                agents.
            sets (object of objects by set): Results in each set of positions with known scores.
                keeps_value (number, from 0 to 1): Share of positions in which the move keeps the outcome.
                best_score (number, from 0 to 1): Share of positions in which the move has the best score.
            games (integer or null): Number of games against random play in each seat. Null for agents that are not
                networks.
            first (object or null): Games as the first player. Null for agents that are not networks.
                *_shares
            second (object or null): Games as the second player. Null for agents that are not networks.
                *_shares
    """
    agents = []
    for name in request.agents or _YARDSTICKS:
        with stage("evaluate", f"evaluate: {name}"):
            agents += _evaluated(game, name)
    return {"agents": agents}


def _evaluated(game: Connect4, name: str) -> list[dict[str, Any]]:
    """Return the report rows of an agent: a single row or, for MuZero, a row for each number of simulations."""
    depth = re.fullmatch("search-([1-9][0-9]?)", name, re.ASCII)
    if name == TRAINED:
        return [_evaluated_network(name, None, *trained_values(game), keeps_rules=True)]
    if Path(name).suffix == ".h5":
        network = load_as(Path(name), NetworkTrainer, game)  # type: ignore[type-abstract]
        return [
            _evaluated_network(name, simulations, network.vector, values, network.keeps_rules)
            for simulations, values in network.value_functions().items()
        ]
    if name != "random" and not depth:
        raise unknown_agent(name, "random, search-N with N from 1 to 99 moves")
    sets = _in_sets(lambda found: search_policy(found, int(depth[1]) if depth else 0))
    return [{"agent": name, "simulations": None} | sets | dict.fromkeys(("games", "first", "second"))]


def _evaluated_network(
    name: str, simulations: int | None, vector: VectorGame, values: Values, keeps_rules: bool
) -> dict[str, Any]:
    """Return the report of one network, or of MuZero with one number of simulations.

    If ``keeps_rules`` is False, the network also chooses illegal moves.
    """

    def policy(found: PositionSet) -> np.ndarray:
        legal = vector.legal(found.boards)
        moves = first_best_actions(values(found.boards), legal if keeps_rules else np.ones_like(legal))
        return np.asarray(np.eye(legal.shape[1])[moves])

    games = _SEARCHED_GAMES if simulations else _GAMES
    measures = SampledStrength(vector, games=2 * games).measure(values, keeps_rules)
    against_random = {"games": games, "first": measures["first"], "second": measures["second"]}
    return {"agent": name, "simulations": simulations} | _in_sets(policy) | against_random


def _in_sets(policy: Callable[[PositionSet], np.ndarray]) -> dict[str, Any]:
    return {"sets": {each: shares(found, policy(found))._asdict() for each, found in position_sets().items()}}
