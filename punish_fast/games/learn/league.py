"""Leagues: hyperparameter search with a grid of agents, round-robin tournaments and further training.

Round 0 trains an agent for each combination of hyperparameters and opponents. An exact round-robin tournament ranks the
agents of a round. A win counts 1 point, and a draw or an endless game counts 1/2. The points of each pair are averaged
over both seats, and an agent's score is the mean of its points against all other agents. In the next round, the best
agents are trained further against their last opponent. Training is undone if the trained agent scores less than 1/2
against its former self.

A league is stored in a folder, from which it can resume. For round 0, agents are stored in ``round-0/NAME.h5`` when
their training is complete, and the points of the tournament are stored in ``round-0.h5``. The random seed of an agent
is a hash of the league's seed, the round and the agent's name, so results depend neither on interruptions nor on the
number of threads.

Perfect play never gives away value. Among actions of equal value, however, it does not prefer actions that provoke the
opponent's errors. An agent that makes mistakes may therefore score higher than an agent that does not.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.enumeration.matches import pair_points
from punish_fast.games.enumeration.retrograde import PerfectPlay, solve_game
from punish_fast.games.learn import qlearning
from punish_fast.games.learn.agent_file import load_as, positions_of, save_agent, train
from punish_fast.games.learn.trainer import check_games, check_seed
from punish_fast.runtime.errors import PunishFastError
from punish_fast.store.bundles import load_bundle, save_bundle

# Opponents of successive training sessions. Each sequence is combined with all hyperparameters.
SEQUENCES = (("random",), ("self",), ("random", "self"), ("self", "random"))
# Agents with at least this share of the top score are trained further.
BEST = 0.9
# Callback for progress: takes the number of finished tasks and the total number of tasks.
OnTask = Callable[[int, int], None]
# Dtype and number of dimensions of each array in the file of a round.
LAYOUTS = {"league": {"points": ("float64", 2)}}


class LeagueError(PunishFastError, ValueError):
    """Raised if a folder cannot be created or does not match the league, or a grid is invalid."""


class AgentPlan(NamedTuple):
    """Training plan of an agent in a round."""

    name: str
    method: qlearning.Hyperparameters
    opponents: tuple[str, ...]  # opponent of each session
    games: int  # number of games per session


@dataclass(frozen=True)
class AgentReport:
    """Results of an agent in a round."""

    name: str
    games: int  # total number of games played
    win_share: float  # share of games won against the random player
    mistakes: int  # number of positions where the agent gives away a win or a draw
    is_rejected: bool  # True if training was undone because the trained agent lost to its former self
    score: float  # mean points against all other agents, from 0 to 1
    curve: list[dict[str, Any]]  # learning curve


@dataclass(frozen=True)
class Round:
    """Results of a round."""

    round: int
    agents: list[AgentReport]  # in descending order of score, then by name
    points: list[list[float]]  # points of the row's agent against the column's agent, in the order of `agents`


def grid_plans(grid: Mapping[str, Sequence[Any]], games: int) -> list[AgentPlan]:
    """Return a plan for each combination of hyperparameters and opponents, with ``games`` games per session.

    ``grid`` maps names of hyperparameters to lists of values. Raise `LeagueError` if two agents would have the same
    name.
    """
    values = {"scheme": ("negamax",), "epsilon": [k / 10 for k in range(1, 11)]} | dict(grid)
    methods = [qlearning.hyperparameters(**dict(zip(values, each, strict=True))) for each in product(*values.values())]
    plans = [
        AgentPlan(qlearning.agent_name(method, each), method, each, games) for method in methods for each in SEQUENCES
    ]
    if len({plan.name for plan in plans}) < len(plans):
        raise LeagueError("set: only scheme and epsilon may have several different values")
    return plans


def run_league(
    folder: Path,
    game: Game,
    plans: Sequence[AgentPlan],
    seed: int = 0,
    n_rounds: int = 0,
    n_threads: int = 1,
    on_task: Callable[[str], OnTask] | None = None,
) -> list[Round]:
    """Run the unfinished tasks of a league, and return the results of all rounds.

    Args:
        folder: Folder of the league. It is created if it does not exist.
        game: Game that the agents learn.
        plans: Training plans of round 0.
        seed: Random seed of the league.
        n_rounds: Number of rounds after round 0.
        n_threads: Number of threads that train agents and compute points.
        on_task: Called with the name of each stage. It returns the progress callback of the stage.
    """
    check_seed(seed)
    for plan in plans:
        check_games(plan.games)
    league = _League(folder, solve_game(positions_of(game)), seed)
    stage = on_task or (lambda _: lambda *_: None)
    rounds: list[Round] = []
    for number in range(n_rounds + 1):
        if rounds:
            best = {each.name for each in rounds[-1].agents if each.score >= BEST * rounds[-1].agents[0].score}
            plans = [plan._replace(opponents=plan.opponents[-1:]) for plan in plans if plan.name in best]
        try:
            (folder / f"round-{number}").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LeagueError(f"{folder}: cannot be created ({error.strerror})") from None
        train_one, names = partial(league.trained, number), [plan.name for plan in plans]
        agents = _run_all(train_one, plans, n_threads, stage(f"round {number}: train"))
        points = league.points(number, names, n_threads, stage(f"round {number}: tournament"))
        scores = (points.sum(axis=1) - 0.5) / max(len(names) - 1, 1)
        order = sorted(range(len(names)), key=lambda k: (-scores[k], names[k]))
        reports = [AgentReport(**agents[k], score=float(scores[k])) for k in order]
        rounds.append(Round(number, reports, points[np.ix_(order, order)].tolist()))
    return rounds


def _run_all(function: Callable[[Event, Any], Any], tasks: Sequence[Any], n_threads: int, on_task: OnTask) -> list[Any]:
    """Call ``function(stopped, task)`` for all tasks in threads, and return the results in the order of tasks.

    If a call raises an exception, ``stopped`` is set and calls that have not started are canceled.
    """
    results, stopped = [], Event()
    pool = ThreadPoolExecutor(n_threads)
    try:
        for done, result in enumerate(pool.map(partial(function, stopped), tasks), 1):
            results.append(result)
            on_task(done, len(tasks))
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)
    return results


def _check(stopped: Event) -> None:
    if stopped.is_set():
        raise CancelledError


class _League(NamedTuple):
    folder: Path
    perfect: PerfectPlay
    seed: int

    def points(self, number: int, names: list[str], n_threads: int, on_task: OnTask) -> np.ndarray:
        """Return the points of row agents against column agents, float64 ``[n, n]``.

        The points are read from the file of the round or, if there is no file, computed and saved.
        """
        path = self.folder / f"round-{number}.h5"
        if path.exists():
            header, arrays = load_bundle(path, LAYOUTS)
            if header.get("agents") != names or arrays["points"].shape != (len(names), len(names)):
                raise LeagueError(f"{path}: belongs to different agents; choose another folder")
            return arrays["points"]
        positions, table = self.perfect.positions, np.full((len(names), len(names)), 0.5)
        policies = [self._load(number, name).policy() for name in names]

        def points_of(_stopped: Event, k: int) -> list[float]:
            return [pair_points(positions, policies[k], other) for other in policies[k + 1 :]]

        for k, row in enumerate(_run_all(points_of, range(len(names) - 1), n_threads, on_task)):
            table[k, k + 1 :], table[k + 1 :, k] = row, 1 - np.array(row)
        save_bundle(path, "league", {"agents": names}, {"points": table})
        return table

    def trained(self, number: int, stopped: Event, plan: AgentPlan) -> dict[str, Any]:
        """Train and save an agent unless the file exists, and return the fields of `AgentReport` except ``score``."""
        path = self._path(number, plan.name)
        learner, former = (self._former_self(number, plan) for _ in range(2))
        for opponent in plan.opponents:
            learner.plan(opponent, plan.games)
        if path.exists():
            found = self._load(number, plan.name)
            if found.seed != learner.seed or found.games not in (learner.games_wanted, former.games):
                raise LeagueError(f"{path}: was trained differently; choose another folder")
            learner = found
        else:
            train(learner, self.perfect, partial(_check, stopped))
            if number > 0 and pair_points(self.perfect.positions, learner.policy(), former.policy()) < 0.5:
                learner = former
            save_agent(path, learner, round=number)
        measures = qlearning.assess(self.perfect, learner.policy())
        return {
            "name": plan.name,
            "games": learner.games,
            "win_share": measures["win_share"],
            "mistakes": int(measures["mistakes"]),
            "is_rejected": number > 0 and learner.games == former.games,
            "curve": learner.curve,
        }

    def _former_self(self, number: int, plan: AgentPlan) -> qlearning.QLearner:
        """Return the agent of a plan as it was before training in a round.

        The agent's seed depends on the round, so an agent whose training was undone plays new games.
        """
        digest = hashlib.sha256(f"{self.seed} {number} {plan.name}".encode()).digest()
        own = int.from_bytes(digest[:7], "big")
        if number == 0:
            return qlearning.new_learner(self.perfect.positions, plan.method, own)
        learner = self._load(number - 1, plan.name)
        learner.seed = own
        return learner

    def _load(self, number: int, name: str) -> qlearning.QLearner:
        return load_as(self._path(number, name), qlearning.QLearner, self.perfect.positions.game)

    def _path(self, number: int, name: str) -> Path:
        return self.folder / f"round-{number}" / f"{name}.h5"
