"""A league: a search for the best hyperparameters by a grid of agents, round-robin tournaments and further training.

Round 0 trains an agent for each combination of hyperparameters and opponents. An exact round-robin tournament ranks the
agents of a round: a win counts 1 point, a draw or endless play 1/2; the points of a pair are the mean of both seats,
and the score of an agent is its mean over all others. In the next round, the best agents are trained further against
the opponent that they met last; an agent that would lose to its former self keeps it.

A league lives in a folder, from which it resumes: agents in ``round-0/NAME.h5``, each written when it is complete, and
the points of a tournament in ``round-0.h5``. The random seed of an agent is a hash of the league's seed, the round and
its name, so results depend neither on interruptions nor on the number of processes.

Perfect play never gives away value, but among actions of equal value it does not look for the one on which an opponent
errs. An agent with mistakes may therefore score more than one without any.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import TableGame
from punish_fast.games.learn.agent_file import load_as, positions_of, save_agent
from punish_fast.games.learn.process_pool import OnTask, run_all
from punish_fast.games.learn.qlearning import (
    Hyperparameters,
    QLearner,
    agent_name,
    assess,
    hyperparameters,
    new_learner,
)
from punish_fast.games.learn.trainer import check_games, check_seed, train
from punish_fast.games.matches import exact_score
from punish_fast.games.registry import describe, game_of
from punish_fast.games.solve.positions import Positions
from punish_fast.games.solve.retrograde import PerfectPlay, solve_game
from punish_fast.runtime.errors import PunishFastError
from punish_fast.store.bundles import load_bundle, save_bundle

# The opponent of each session, for each combination of hyperparameters.
SEQUENCES = (("random",), ("self",), ("random", "self"), ("self", "random"))
EPSILONS = tuple(k / 10 for k in range(1, 11))
# The share of the top score with which agents are trained further.
BEST = 0.9
_LAYOUTS = {"league": {"points": ("float64", 2)}}


class LeagueError(PunishFastError, ValueError):
    """A folder that does not fit the league; the message says why."""


class AgentPlan(NamedTuple):
    """The training of an agent in a round."""

    name: str
    method: Hyperparameters
    opponents: tuple[str, ...]  # the opponent of each session
    games: int  # of each session


@dataclass(frozen=True)
class AgentReport:
    """An agent after a round."""

    name: str
    games: int  # played in all
    win_share: float  # of games against the random player
    mistakes: int
    is_rejected: bool  # its training was undone because it would lose to its former self
    score: float  # mean points against all others, 0 to 1
    curve: list[dict[str, Any]]


@dataclass(frozen=True)
class Round:
    """A round after its tournament."""

    round: int
    agents: list[AgentReport]  # best first, equal ones by name
    points: list[list[float]]  # of each agent against each, in the order of `agents`


def grid_plans(grid: Mapping[str, Sequence[Any]], games: int) -> list[AgentPlan]:
    """Return a plan for each combination of hyperparameters and of opponents; ``grid`` has the values by name."""
    names = ("scheme", "epsilon")
    values = {"scheme": ("negamax",), "epsilon": EPSILONS} | dict(grid)
    methods = [hyperparameters(**dict(zip(values, each, strict=True))) for each in product(*values.values())]
    plans = [AgentPlan(agent_name(method, each), method, each, games) for method in methods for each in SEQUENCES]
    if len({plan.name for plan in plans}) < len(plans):
        raise LeagueError(f"set: only {' and '.join(names)} may have several values, each once")
    return plans


def run_league(
    folder: Path,
    game: TableGame,
    plans: Sequence[AgentPlan],
    seed: int = 0,
    n_rounds: int = 0,
    n_processes: int = 1,
    on_task: Callable[[str], OnTask] | None = None,
) -> list[Round]:
    """Run the unfinished tasks of a league, and return all its rounds.

    Args:
        folder: The folder of the league.
        plans: The agents of round 0.
        n_processes: Number of processes that share the work.
        on_task: Returns a function for a stage, which is called with the number of tasks done and of all.
    """
    check_seed(seed)
    for plan in plans:
        check_games(plan.games)
    rounds: list[Round] = []
    for number in range(n_rounds + 1):
        if rounds:
            best = {each.name for each in rounds[-1].agents if each.score >= BEST * rounds[-1].agents[0].score}
            plans = [plan._replace(opponents=plan.opponents[-1:]) for plan in plans if plan.name in best]
        try:
            (folder / f"round-{number}").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LeagueError(f"{folder}: cannot be made ({error.strerror})") from None
        place = folder.absolute(), json.dumps(describe(game)), seed, number
        stage = on_task or (lambda _: lambda *_: None)
        agents = run_all(train_agent, [(*place, plan) for plan in plans], n_processes, stage(f"round {number}: train"))
        names = [plan.name for plan in plans]
        points = _points(place, names, n_processes, stage(f"round {number}: tournament"))
        scores = (points.sum(axis=1) - 0.5) / max(len(names) - 1, 1)
        order = sorted(range(len(names)), key=lambda k: (-scores[k], names[k]))
        reports = [AgentReport(**agents[k], score=float(scores[k])) for k in order]
        rounds.append(Round(number, reports, points[np.ix_(order, order)].tolist()))
    return rounds


# The folder, the description of the game, the seed, and the round.
_Place = tuple[Path, str, int, int]


def _points(place: _Place, names: list[str], n_processes: int, on_task: OnTask) -> np.ndarray:
    """Return the points of the row's agent against the column's, float64 ``[n, n]``, from a file if they are known."""
    path = place[0] / f"round-{place[3]}.h5"
    if path.exists():
        header, arrays = load_bundle(path, _LAYOUTS)
        if header.get("agents") != names or arrays["points"].shape != (len(names), len(names)):
            raise LeagueError(f"{path}: is of other agents; choose another folder")
        return arrays["points"]
    table = np.full((len(names), len(names)), 0.5)
    tasks = [(place, name, names[k:]) for k, name in enumerate(names[:-1], 1)]
    for k, row in enumerate(run_all(points_of_agent, tasks, n_processes, on_task)):
        table[k, k + 1 :], table[k + 1 :, k] = row, 1 - np.array(row)
    save_bundle(path, "league", {"agents": names}, {"points": table})
    return table


@lru_cache(maxsize=4)
def _solved(game: str) -> tuple[Positions, PerfectPlay]:
    """Return a game, enumerated and solved once in each process."""
    positions = positions_of(game_of(json.loads(game)))
    return positions, solve_game(positions)


def train_agent(folder: Path, game: str, seed: int, number: int, plan: AgentPlan) -> dict[str, Any]:
    """Train an agent unless its file exists, and return its report without the score; may run in a process."""
    positions, perfect = _solved(game)
    path = folder / f"round-{number}" / f"{plan.name}.h5"
    learner, former = (_former_self(folder, game, seed, number, plan) for _ in range(2))
    for opponent in plan.opponents:
        learner.plan(opponent, plan.games)
    if path.exists():
        found = load_as(path, QLearner, positions.game)
        if found.seed != learner.seed or found.games not in (learner.games_wanted, former.games):
            raise LeagueError(f"{path}: was trained otherwise; choose another folder")
        learner = found
    else:
        train(learner, perfect)
        if number > 0 and pair_points(positions, learner.policy(), former.policy()) < 0.5:
            learner = former
        save_agent(path, learner, round=number)
    measures = assess(positions, perfect, learner.policy())
    return {
        "name": plan.name,
        "games": learner.games,
        "win_share": measures["win_share"],
        "mistakes": int(measures["mistakes"]),
        "is_rejected": number > 0 and learner.games == former.games,
        "curve": learner.curve,
    }


def _former_self(folder: Path, game: str, seed: int, number: int, plan: AgentPlan) -> QLearner:
    """Return an agent as it enters a round, with a new random seed: a rejected agent must not repeat its games."""
    digest = hashlib.sha256(f"{seed} {number} {plan.name}".encode()).digest()
    own = int.from_bytes(digest[:7], "big")
    positions, _ = _solved(game)
    if number == 0:
        return new_learner(positions, plan.method, own)
    learner = load_as(folder / f"round-{number - 1}" / f"{plan.name}.h5", QLearner, positions.game)
    learner.seed = own
    return learner


def points_of_agent(place: _Place, name: str, others: Iterable[str]) -> list[float]:
    """Return the points of an agent against others; may run in a process."""
    folder, game, _, number = place
    policy, *policies = (_policy(folder / f"round-{number}" / f"{each}.h5", game) for each in (name, *others))
    return [pair_points(_solved(game)[0], policy, each) for each in policies]


@lru_cache(maxsize=1024)
def _policy(path: Path, game: str) -> np.ndarray:
    return load_as(path, QLearner, _solved(game)[0].game).policy()


def pair_points(positions: Positions, own: np.ndarray, other: np.ndarray) -> float:
    """Return the expected points of the policy ``own`` against ``other``, 0 to 1."""
    return (exact_score(positions, own, other).points + 1 - exact_score(positions, other, own).points) / 2
