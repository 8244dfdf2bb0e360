"""A league: a search for the best hyperparameters by a grid of agents, round-robin tournaments and retraining.

A league lives in a folder, from which it resumes after any interruption::

    round-0.json            the game, the random seed, and the plan of every agent
    round-0/NAME.h5         an agent, written when it is trained
    tournament-0.json       the points of every pair, and the ranking
    round-1.json, ...       the agents that are trained further

Plans are written before the work starts, and an agent's file when it is complete, so repeating a step does exactly what
is missing. An agent's random seed is a hash of the league's seed, the round and its name: results depend neither on
interruptions nor on the number of processes.

A name tells how an agent was trained: ``negamax-e0.5-random-self`` has epsilon 0.5 and met the random player, then
itself. In a later round, an agent that meets the opponent it met last keeps its name, and keeps its former self if it
would lose to it. An agent that meets another opponent gets a new name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.games.contract import Game, GameError
from punish_fast.games.positions import Positions, enumerate_positions
from punish_fast.games.registry import describe, game_of
from punish_fast.games.retrograde import PerfectPlay, solve_game
from punish_fast.learn.agent_file import load_checkpoint, save_checkpoint
from punish_fast.learn.agent_plans import AgentPlan, LeagueError, check_opponents, further_plan, plan_of
from punish_fast.learn.process_pool import OnTask, TaskMap, run_all
from punish_fast.learn.qlearning import MAX_GAMES, OPPONENTS, LearnError, QLearner, new_learner
from punish_fast.learn.round_robin import Row, pair_points, rank, score_table
from punish_fast.learn.training import assess, train
from punish_fast.runtime.files import write_text
from punish_fast.runtime.json_values import brief, is_number, is_whole, read_object

_FORMAT = {"format": "punish-fast league", "format_version": 1}
_LAST_SEED = (1 << 63) - 1


class League:
    """A league in a folder.

    Attributes:
        folder: The folder.
        game: The game.
        seed: The random seed.
    """

    def __init__(self, folder: Path, game: Game | None = None, seed: int | None = None) -> None:
        """Open a league, or start one if a game is given.

        Raises:
            LeagueError: The folder holds no league, a damaged one, or one of another game or seed.
        """
        self.folder = folder
        if game is None or (folder / "round-0.json").exists():
            path = folder / "round-0.json"
            if not path.exists():
                raise LeagueError(f"{folder}: holds no league (round-0.json is missing); start one with a grid")
            content = _read(path)
            found_seed = content.get("seed")
            if not is_whole(found_seed, 0, _LAST_SEED):
                raise LeagueError(f"{path}: is damaged (seed {brief(found_seed)})")
            try:
                found = game_of(_dict(content, "game"))
            except GameError as error:
                raise LeagueError(f"{path}: is damaged ({error})") from None
            if (game is not None and describe(game) != describe(found)) or seed not in (None, found_seed):
                raise LeagueError(f"{folder}: holds {describe(found)} with seed {found_seed}, choose another folder")
            game, seed = found, found_seed
        self.game, self.seed = game, seed or 0

    @property
    def last_round(self) -> int:
        """The number of the last round; -1 if there is none."""
        number = -1
        while (self.folder / f"round-{number + 1}.json").exists():
            number += 1
        return number

    def plans(self, number: int) -> list[AgentPlan]:
        """The plans of a round.

        Raises:
            LeagueError: There is no such round, or its file is damaged.
        """
        path = self.folder / f"round-{number}.json"
        try:
            plans = [plan_of(each) for each in _list(_read(path), "plans")]
        except (LeagueError, LearnError) as error:
            raise LeagueError(f"{path}: is damaged ({error})") from None
        if len({plan.name for plan in plans}) < len(plans):
            raise LeagueError(f"{path}: is damaged (two agents have one name)")
        return plans

    def start_round(self, plans: list[AgentPlan], **options: Any) -> int:
        """Write the plans of a new round and return its number.

        Raises:
            LeagueError: The seed or a number of games is out of range, or the folder cannot be made.
            OutputError: The file cannot be written there.
        """
        limits = [("seed", self.seed, 0, _LAST_SEED), *(("games", plan.games, 1, MAX_GAMES) for plan in plans)]
        for name, value, low, high in limits:
            if not low <= value <= high:
                raise LeagueError(f"{name}: {value} is not allowed, it must be from {low} to {high}")
        number = self.last_round + 1
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise LeagueError(f"{self.folder}: is a file, not a folder") from None
        except OSError as error:
            raise LeagueError(f"{self.folder}: cannot be made ({error.strerror})") from None
        content = {"game": describe(self.game), "seed": self.seed, "options": options}
        _write(self.folder / f"round-{number}.json", content | {"plans": [asdict(plan) for plan in plans]})
        return number

    def start_grid(self, plans: list[AgentPlan]) -> None:
        """Start round 0, or check that it has these plans.

        Raises:
            LeagueError: The folder holds another grid.
        """
        if self.last_round < 0:
            self.start_round(plans)
        elif self.plans(0) != plans:
            raise LeagueError(f"{self.folder}: holds another grid, choose another folder")

    def start_retraining(self, share: float, opponents: Sequence[str], games: int) -> int:
        """Start the round after the last tournament, or check that the last round has these options.

        Args:
            share: Agents with at least this share of the top score are trained further.
            opponents: ``"same"`` for the opponent an agent met last, ``"other"`` for the other one, or opponents.
            games: Games of each session.

        Returns:
            The number of the round.

        Raises:
            LeagueError: There was no tournament, or an option is wrong or differs.
        """
        number, options = self.last_round, {"share": share, "opponents": list(opponents), "games": games}
        if number > 0 and self.ranking(number) is None:
            found = _read(self.folder / f"round-{number}.json").get("options")
            if found != options:
                how = f"round {number} was started with {brief(found)}"
                raise LeagueError(f"{self.folder}: {how}; resume it, or hold its tournament first")
            return number
        return self.start_round(self.next_plans(number, share, opponents, games), **options)

    def next_plans(self, number: int, share: float, opponents: Sequence[str], games: int) -> list[AgentPlan]:
        """The plans of the round after round ``number``; the options are those of `start_retraining`."""
        places = self.ranking(number)
        if places is None:
            raise LeagueError(f"{self.folder}: round {number} has no tournament yet, hold it first")
        if not 0 <= share <= 1:
            raise LeagueError(f"share: {share} is not allowed, it must be from 0 to 1")
        check_opponents(opponents, ("same", "other", *OPPONENTS))
        best = {agent for agent, score in places if score >= share * places[0][1]}
        plans = [
            further_plan(plan, self._last_opponent(number, plan), opponent, games, number)
            for plan in self.plans(number)
            if plan.name in best
            for opponent in opponents
        ]
        return list({plan.name: plan for plan in plans}.values())

    def _last_opponent(self, number: int, plan: AgentPlan) -> str:
        sessions = self.learner(number, plan.name).sessions
        return sessions[-1].opponent if sessions else plan.opponents[-1]

    def is_complete(self, number: int) -> bool:
        """Whether all agents of a round are trained."""
        return all(self.path(number, plan.name).exists() for plan in self.plans(number))

    def train(self, number: int, workers: TaskMap | int = 1, on_task: OnTask | None = None) -> list[dict[str, Any]]:
        """Train the agents of a round that are not trained yet, and report on all.

        Args:
            number: The round.
            workers: What trains them, with the same folder, or a number of processes.
            on_task: Called after each agent.

        Returns:
            For each agent its ``name``, the ``games`` played in all, the ``win_share`` against the random player, the
            number of ``mistakes``, its learning ``curve``, and whether it ``is_rejected``: whether its training was
            undone because it would lose to its former self.

        Raises:
            LeagueError: There is no such round, or a file is damaged.
            ReadError: The file of an agent cannot be read.
            WorkerError: A process was killed.
        """
        (self.folder / f"round-{number}").mkdir(exist_ok=True)
        tasks = [(self.folder.absolute(), number, plan) for plan in self.plans(number)]
        return run_all(train_agent, tasks, workers, on_task)

    def path(self, number: int, name: str) -> Path:
        """The file of an agent of a round."""
        return self.folder / f"round-{number}" / f"{name}.h5"

    def learner(self, number: int, name: str) -> QLearner:
        """An agent of a round.

        Raises:
            ReadError: Its file cannot be read.
        """
        return load_checkpoint(self.path(number, name), self.game)[1]

    def tournament(
        self, number: int, workers: TaskMap | int = 1, on_task: OnTask | None = None
    ) -> tuple[list[str], np.ndarray, list[tuple[str, float]]]:
        """Hold the round-robin tournament of a round, as far as it is missing; arguments as in `train`.

        Returns:
            The names of the agents; their points, float64 ``[n, n]``, row against column; the ranking.

        Raises:
            LeagueError: The round is incomplete or has one agent.
            WorkerError: A process was killed.
        """
        if not self.is_complete(number):
            raise LeagueError(f"{self.folder}: round {number} is incomplete, resume it first")
        names = [plan.name for plan in self.plans(number)]
        if len(names) < 2:
            raise LeagueError(f"{self.folder}: a tournament needs two agents, round {number} has {len(names)}")
        known = self._known_rows(number, names)
        folder = self.folder.absolute()
        tasks = [(folder, number, name, names[k:]) for k, name in enumerate(names[:-1], 1) if name not in known]
        # In small parts, so that an interrupt loses little.
        size = max(4 * (workers if isinstance(workers, int) else workers.n_at_once), 16)
        for begin in range(0, len(tasks), size):
            part = tasks[begin : begin + size]
            rows = run_all(points_of_agent, part, workers)
            known |= {name: row for (_, _, name, _), row in zip(part, rows, strict=True)}
            self._write_tournament(number, names, known)
            if on_task is not None:
                on_task(min(begin + size, len(tasks)), len(tasks))
        return names, score_table(names, known), rank(names, known)

    def ranking(self, number: int) -> list[tuple[str, float]] | None:
        """The ranking of a round, best first; None if its tournament is not complete."""
        names = [plan.name for plan in self.plans(number)]
        known = self._known_rows(number, names)
        return rank(names, known) if len(names) > 1 and set(names[:-1]) <= set(known) else None

    def _known_rows(self, number: int, names: list[str]) -> dict[str, Row]:
        path = self.folder / f"tournament-{number}.json"
        if not path.exists():
            return {}
        content = _read(path)
        rows, wanted = _dict(content, "points"), {name: names[k:] for k, name in enumerate(names, 1)}
        sound = (
            content.get("agents") == names and isinstance(content.get("points"), dict) and rows.keys() <= wanted.keys()
        )
        if not sound or not all(_is_row(row, wanted[name]) for name, row in rows.items()):
            raise LeagueError(f"{path}: is damaged, or of other agents")
        return rows

    def _write_tournament(self, number: int, names: list[str], known: dict[str, Row]) -> None:
        content: dict[str, Any] = {"agents": names, "points": known}
        if set(names[:-1]) <= set(known):
            content["ranking"] = [{"agent": agent, "score": score} for agent, score in rank(names, known)]
        _write(self.folder / f"tournament-{number}.json", content)


def _is_row(row: object, names: list[str]) -> bool:
    """Whether these are points against agents of these names."""
    return isinstance(row, dict) and list(row) == names and all(is_number(each, 0, 1) for each in row.values())


def _solved(league: League) -> tuple[Positions, PerfectPlay]:
    """The game of a league, enumerated and solved once in each process."""
    return _solved_game(json.dumps(describe(league.game)))


@lru_cache(maxsize=4)
def _solved_game(description: str) -> tuple[Positions, PerfectPlay]:
    positions = enumerate_positions(game_of(json.loads(description)))
    return positions, solve_game(positions)


def train_agent(folder: Path, number: int, plan: AgentPlan) -> dict[str, Any]:
    """Train an agent unless its file exists; may run in a process of its own."""
    league = League(folder)
    positions, perfect = _solved(league)
    path = league.path(number, plan.name)
    if not path.exists():
        learner, former = (_former_self(league, number, plan, positions) for _ in range(2))
        for opponent in plan.opponents:
            learner.plan(opponent, plan.games)
        train(positions, perfect, [learner])
        policies = [each.policy(positions) for each in (learner, former)]
        is_rejected = plan.is_contest and pair_points(positions, *policies) < 0.5
        winner = former if is_rejected else learner
        save_checkpoint(path, league.game, winner, round=number, is_rejected=is_rejected)
    learner = league.learner(number, plan.name)
    found = assess(positions, perfect, learner.policy(positions))
    is_rejected = plan.former is not None and learner.games == _former_self(league, number, plan, positions).games
    report = {"name": plan.name, "games": learner.games, "win_share": found["win_share"]}
    return report | {"mistakes": int(found["mistakes"]), "is_rejected": is_rejected, "curve": learner.curve}


def _former_self(league: League, number: int, plan: AgentPlan, positions: Positions) -> QLearner:
    """An agent as it enters a round, with a random seed of its own: a rejected one must not repeat its games."""
    digest = hashlib.sha256(f"{league.seed} {number} {plan.name}".encode()).digest()
    seed = int.from_bytes(digest[:7], "big")
    if plan.former is None:
        return new_learner(positions, plan.method, seed)
    learner = load_checkpoint(league.folder / plan.former, league.game)[1]
    learner.seed = seed
    return learner


def points_of_agent(folder: Path, number: int, name: str, others: list[str]) -> Row:
    """The points of an agent against others; may run in a process of its own."""
    league = League(folder)
    positions, _ = _solved(league)
    policy, *policies = (_policy(league, number, each) for each in (name, *others))
    return {other: pair_points(positions, policy, each) for other, each in zip(others, policies, strict=True)}


def _policy(league: League, number: int, name: str) -> np.ndarray:
    """The policy of an agent, read once in each process unless its file is replaced."""
    path = league.path(number, name)
    try:
        status = path.stat()
    except OSError as error:
        raise LeagueError(f"{path}: cannot be read ({error.strerror})") from None
    return _policy_of(path, json.dumps(describe(league.game)), (status.st_ino, status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=1024)
def _policy_of(path: Path, game: str, _status: tuple[int, ...]) -> np.ndarray:
    positions, _ = _solved_game(game)
    return load_checkpoint(path, positions.game)[1].policy(positions)


def _dict(content: dict[str, Any], key: str) -> dict[str, Any]:
    """An entry that is a mapping; empty if it is not."""
    entry = content.get(key)
    return dict(entry) if isinstance(entry, dict) else {}


def _list(content: dict[str, Any], key: str) -> list[Any]:
    """An entry that is a list and not empty."""
    entry = content.get(key)
    if not isinstance(entry, list) or not entry:
        raise LeagueError(f"{key} {brief(entry)}")
    return entry


def _read(path: Path) -> dict[str, Any]:
    try:
        content = read_object(path)
    except OSError as error:
        raise LeagueError(f"{path}: cannot be read ({error.strerror})") from None
    if content is None or any(content.get(key) != value for key, value in _FORMAT.items()):
        raise LeagueError(f"{path}: is not a file of a league")
    return content


def _write(path: Path, content: dict[str, Any]) -> None:
    write_text(path, json.dumps(_FORMAT | content, indent=1) + "\n")
