"""A search for the best way to learn: a grid of agents, tournaments, and rounds in which the best are trained on.

All of it lives in a folder, and goes on from there after whatever has stopped it::

    round-0.json            what the grid is: game, seed, and the agents with all that they do
    round-0/NAME.h5         its agents, each written when it is trained
    tournament-0.json       points of every pair, added row by row
    round-1.json, ...       which agents are trained on, how, and from which files
    curves.png              if asked for

A file says what is to be done before it is done, and an agent's file is there when it is whole, so whoever starts the
same command again does just what is missing. An agent's random numbers follow from the seed, the round and its name, so
neither interruptions nor the number of processes show in any result.

Names tell how an agent was trained: ``negamax-e0.5-random-self`` explores half of the time, against random play and
then against itself. In a round, an agent that is trained against what it met last keeps its name, and its former
self if it would lose to it; one that changes the opponent gets another name, and both go on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.games.positions import Positions, enumerate_positions
from punish_fast.games.registry import describe, game_of
from punish_fast.games.retrograde import Outcomes, solve
from punish_fast.learn.files import fetch_for, keep
from punish_fast.learn.processes import OnTask, run_all
from punish_fast.learn.qlearning import OPPONENTS, RATES, Learner, Method, new_learner
from punish_fast.learn.tournament import Place, points, rank, table_of
from punish_fast.learn.training import assess, train
from punish_fast.runtime.files import explain, replacing

_FORMAT = "punish-fast championship"
_VERSION = 1


class ChampionshipError(ValueError):
    """What cannot be done with a folder, or not now; the message says why."""


@dataclass(frozen=True)
class Entry:
    """An agent of a round.

    Attributes:
        name: Its name.
        method: How it learns.
        opponents: Whom it meets, one session after the other.
        games: How many games a session has.
        former: The file it begins with, in the folder; None if it has learned nothing yet.
        is_contest: Whether it must not lose to its former self.
    """

    name: str
    method: Method
    opponents: tuple[str, ...]
    games: int
    former: str | None = None
    is_contest: bool = False


@dataclass(frozen=True)
class Report:
    """What became of an agent in a round.

    Attributes:
        name: Its name.
        games: Games it has learned from.
        win_share: Of games with random play.
        mistakes: Positions in which it gives something away.
        is_rejected: Whether it was trained in vain, since it lost to its former self.
        curve: What it was worth on the way.
    """

    name: str
    games: int
    win_share: float
    mistakes: int
    is_rejected: bool
    curve: list[dict[str, float]]


def grid_entries(
    schemes: Sequence[str],
    epsilons: Sequence[float],
    sequences: Sequence[tuple[str, ...]],
    games: int,
) -> list[Entry]:
    """One agent for each scheme, epsilon and sequence of opponents.

    Args:
        schemes: Of ``qlearning.SCHEMES``.
        epsilons: Shares of actions chosen at random.
        sequences: Opponents of one session after the other.
        games: How many games a session has.

    Raises:
        ChampionshipError: an agent is asked for twice, or there is none.
        LearnError: an option is out of range.
    """
    entries = []
    for scheme, epsilon, opponents in product(schemes, epsilons, sequences):
        wrong = [opponent for opponent in opponents if opponent not in OPPONENTS]
        if wrong or not opponents:
            raise ChampionshipError(f"opponents: {wrong} are not allowed, they must be of {', '.join(OPPONENTS)}")
        method = Method(scheme, epsilon, *RATES.get(scheme, (None, 1.0)))
        entries.append(Entry(f"{scheme}-e{epsilon:g}-{'-'.join(opponents)}", method, tuple(opponents), games))
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names) or not names:
        raise ChampionshipError(f"grid: {len(names)} agents with {len(set(names))} names, each may be there once")
    return entries


class Championship:
    """A folder with the rounds of a search.

    Attributes:
        folder: The folder.
        game: What is learned.
        seed: What everything random follows from.
    """

    def __init__(self, folder: Path, game: Game | None = None, seed: int | None = None) -> None:
        """Open a folder, or make one if a game is given.

        Raises:
            ChampionshipError: there is none, it is damaged, or belongs to another game or seed.
        """
        self.folder = folder
        if game is None or (folder / "round-0.json").exists():
            content = _read(folder / "round-0.json")
            try:
                found, found_seed = game_of(content["game"]), int(content["seed"])
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ChampionshipError(f"{folder / 'round-0.json'}: is damaged ({error})") from None
            if (game is not None and describe(game) != describe(found)) or seed not in (None, found_seed):
                raise ChampionshipError(
                    f"{folder}: holds {describe(found)} with seed {found_seed}, choose another folder"
                )
            game, seed = found, found_seed
        self.game, self.seed = game, seed or 0

    @property
    def last_round(self) -> int:
        """The number of the last round that was begun; -1 if there is none."""
        number = -1
        while (self.folder / f"round-{number + 1}.json").exists():
            number += 1
        return number

    def entries(self, number: int) -> list[Entry]:
        """The agents of a round.

        Raises:
            ChampionshipError: there is no such round, or its file is damaged.
        """
        path = self.folder / f"round-{number}.json"
        try:
            return [
                Entry(**(each | {"method": Method(**each["method"]), "opponents": tuple(each["opponents"])}))
                for each in _read(path)["entries"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise ChampionshipError(f"{path}: is damaged ({error})") from None

    def begin_round(self, entries: list[Entry], **options: Any) -> int:
        """Write down a new round.

        Raises:
            ChampionshipError: there can be no such folder.
            OutputError: nothing can be written there.
        """
        number = self.last_round + 1
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ChampionshipError(f"{self.folder}: cannot be made ({error.strerror})") from None
        content = {"game": describe(self.game), "seed": self.seed, "options": options}
        _write(self.folder / f"round-{number}.json", content | {"entries": [asdict(entry) for entry in entries]})
        return number

    def begin_grid(self, entries: list[Entry]) -> None:
        """Begin with a grid, or insist that it is the one that was begun.

        Raises:
            ChampionshipError: the folder holds another grid.
        """
        if self.last_round < 0:
            self.begin_round(entries)
        elif self.entries(0) != entries:
            raise ChampionshipError(f"{self.folder}: holds another grid, choose another folder")

    def must_have_options(self, number: int, options: dict[str, Any]) -> None:
        """Insist that a round was begun with these options.

        Raises:
            ChampionshipError: it was begun with others.
        """
        found = _read(self.folder / f"round-{number}.json").get("options")
        if found != options:
            raise ChampionshipError(
                f"{self.folder}: round {number} was begun with {found}; go on with it, or hold a tournament first"
            )

    def is_complete(self, number: int) -> bool:
        """Whether all agents of a round are trained."""
        return all(self._path(number, entry.name).exists() for entry in self.entries(number))

    def train(self, number: int, n_processes: int = 1, on_task: OnTask | None = None) -> list[Report]:
        """Train the agents of a round that are not trained yet; report on all.

        Raises:
            ChampionshipError: there is no such round, or a file is damaged.
            ReadError: a file of an agent cannot be read.
            WorkerError: a process was killed.
        """
        (self.folder / f"round-{number}").mkdir(exist_ok=True)
        tasks = [(self.folder, number, entry) for entry in self.entries(number)]
        return run_all(train_entry, tasks, n_processes, on_task)

    def learner(self, number: int, name: str) -> Learner:
        """An agent of a round.

        Raises:
            ReadError: it is not there, or its file cannot be read.
        """
        return fetch_for(self._path(number, name), self.game)

    def tournament(
        self, number: int, n_processes: int = 1, on_task: OnTask | None = None
    ) -> tuple[list[str], np.ndarray, list[Place]]:
        """Let the agents of a round meet, as far as they have not yet.

        Returns:
            Names, points of the row against the column, and the ranking.

        Raises:
            ChampionshipError: the round is not complete, or has but one agent.
            WorkerError: a process was killed.
        """
        if not self.is_complete(number):
            raise ChampionshipError(f"{self.folder}: round {number} is not complete, go on with it first")
        names = [entry.name for entry in self.entries(number)]
        if len(names) < 2:
            raise ChampionshipError(f"{self.folder}: {len(names)} agent cannot hold a tournament")
        known = self._known_points(number)
        missing = [name for name in names[:-1] if name not in known]
        tasks = [(self.folder, number, name, names[names.index(name) + 1 :]) for name in missing]
        # A few at a time, so that little is lost with an interrupt.
        at_once = max(4 * n_processes, 16)
        for begin in range(0, len(tasks), at_once):
            part = tasks[begin : begin + at_once]
            for task, row in zip(part, run_all(points_of_row, part, n_processes), strict=True):
                known[task[2]] = row
            self._keep_points(number, names, known)
            if on_task is not None:
                on_task(min(begin + at_once, len(tasks)), len(tasks))
        self._keep_points(number, names, known)
        table = table_of(names, known)
        return names, table, rank(names, table)

    def ranking(self, number: int) -> list[Place] | None:
        """The ranking of a round, None if there was no whole tournament yet."""
        known, names = self._known_points(number), [entry.name for entry in self.entries(number)]
        return rank(names, table_of(names, known)) if set(names[:-1]) <= set(known) else None

    def next_entries(self, number: int, share: float, opponents: Sequence[str], games: int) -> list[Entry]:
        """Who is trained on after a round.

        Args:
            number: The round.
            share: Agents with at least this share of the top score stay.
            opponents: ``"same"`` for whom an agent met last, ``"other"`` for the other one, or names of opponents.
            games: How many games a session has.

        Raises:
            ChampionshipError: there was no tournament, or an option is out of range.
        """
        places = self.ranking(number)
        if places is None:
            raise ChampionshipError(f"{self.folder}: round {number} has had no tournament, hold one first")
        if not 0 <= share <= 1:
            raise ChampionshipError(f"share: {share} is not allowed, it must be from 0 to 1")
        wrong = [each for each in opponents if each not in ("same", "other", *OPPONENTS)]
        if wrong or not opponents:
            raise ChampionshipError(f"opponents: {wrong} are not allowed, they must be same, other, random or self")
        kept = {place.agent for place in places if place.score >= share * places[0].score}
        entries: dict[str, Entry] = {}
        for entry in self.entries(number):
            if entry.name in kept:
                learner = self.learner(number, entry.name)
                for each in opponents:
                    later = _trained_on(entry, learner.sessions[-1].opponent, each, games, number)
                    entries[later.name] = later
        return list(entries.values())

    def _path(self, number: int, name: str) -> Path:
        return self.folder / f"round-{number}" / f"{name}.h5"

    def _known_points(self, number: int) -> dict[str, dict[str, float]]:
        path = self.folder / f"tournament-{number}.json"
        if not path.exists():
            return {}
        content = _read(path)
        names = [entry.name for entry in self.entries(number)]
        found: dict[str, dict[str, float]] = content.get("points", {})
        sound = content.get("agents") == names and all(
            name in names and set(row) == set(names[names.index(name) + 1 :]) for name, row in found.items()
        )
        if not sound:
            raise ChampionshipError(f"{path}: is damaged, or of other agents")
        return found

    def _keep_points(self, number: int, names: list[str], known: dict[str, dict[str, float]]) -> None:
        content: dict[str, Any] = {"agents": names, "points": known}
        if set(names[:-1]) <= set(known):
            content["ranking"] = [asdict(place) for place in rank(names, table_of(names, known))]
        _write(self.folder / f"tournament-{number}.json", content)


def _trained_on(entry: Entry, last: str, opponent: str, games: int, number: int) -> Entry:
    meets = {"same": last, "other": OPPONENTS[1 - OPPONENTS.index(last)]}.get(opponent, opponent)
    former = f"round-{number}/{entry.name}.h5"
    if meets == last:
        return Entry(entry.name, entry.method, (meets,), games, former, is_contest=True)
    return Entry(f"{entry.name}-{meets}", entry.method, (meets,), games, former)


@lru_cache(maxsize=4)
def _solved(folder: Path) -> tuple[Positions, Outcomes]:
    """The game of a folder, once for each process."""
    positions = enumerate_positions(Championship(folder).game)
    return positions, solve(positions)


def train_entry(folder: Path, number: int, entry: Entry) -> Report:
    """Train an agent, unless its file is there; in a process of its own."""
    positions, outcomes = _solved(folder)
    game, path = positions.game, folder / f"round-{number}" / f"{entry.name}.h5"
    if not path.exists():
        learner, former = (_first_self(folder, number, entry, positions) for _ in range(2))
        for opponent in entry.opponents:
            learner.plan(opponent, entry.games)
        train(positions, outcomes, [learner])
        policies = [each.policy(positions) for each in (learner, former)]
        is_rejected = entry.is_contest and points(positions, *policies) < 0.5
        keep(path, game, former if is_rejected else learner, round=number, is_rejected=is_rejected)
    learner = fetch_for(path, game)
    found = assess(positions, outcomes, learner.policy(positions))
    is_rejected = (
        entry.former is not None and learner.games == _games_of(folder / entry.former, game) and entry.games > 0
    )
    return Report(entry.name, learner.games, found["win_share"], int(found["mistakes"]), is_rejected, learner.curve)


def _games_of(path: Path, game: Game) -> int:
    return fetch_for(path, game).games


def _first_self(folder: Path, number: int, entry: Entry, positions: Positions) -> Learner:
    """What an agent begins with in a round."""
    digest = hashlib.sha256(f"{Championship(folder).seed} {number} {entry.name}".encode()).digest()
    seed = int.from_bytes(digest[:7], "big")
    if entry.former is None:
        return new_learner(positions, entry.method, seed)
    learner = fetch_for(folder / entry.former, positions.game)
    # Otherwise one that was rejected would play the very same games again.
    learner.seed = seed
    return learner


def points_of_row(folder: Path, number: int, name: str, others: list[str]) -> dict[str, float]:
    """The points of an agent against others; in a process of its own."""
    positions, _ = _solved(folder)
    policy = _policy(folder, number, name)
    return {other: points(positions, policy, _policy(folder, number, other)) for other in others}


@lru_cache(maxsize=1024)
def _policy(folder: Path, number: int, name: str) -> np.ndarray:
    """What an agent plays, read once for each process."""
    positions, _ = _solved(folder)
    return fetch_for(folder / f"round-{number}" / f"{name}.h5", positions.game).policy(positions)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ChampionshipError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT or content.get("format_version") != _VERSION:
        raise ChampionshipError(f"{path}: is no file of a championship")
    return content


def _write(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as temporary:
        try:
            text = json.dumps({"format": _FORMAT, "format_version": _VERSION} | content, indent=1)
            temporary.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise explain(path, error) from None
