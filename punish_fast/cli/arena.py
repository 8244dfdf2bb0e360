"""The command ``arena``: agents meeting agents; and what ``exploit`` shares with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.arena.match_log import MatchLog
from punish_fast.arena.players import Opponent, Player, names_of
from punish_fast.arena.recording import check_recording, record_tournament
from punish_fast.arena.tournament import Tournament, check_tournament, round_robin
from punish_fast.cli.errors import CheckError, UsageError, say
from punish_fast.cli.game_lengths import course_of_chances, course_of_games, print_course
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.plots import drawing, must_draw
from punish_fast.cli.report import Progress, Stopwatch, print_json, print_table
from punish_fast.duel.exact_evaluation import outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.duel.monte_carlo import check_numbers
from punish_fast.mdp.policy import check_temperature
from punish_fast.punish.information import MODELS, digits_within, information_of
from punish_fast.punish.rules import Rules, load_rules, name_of, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.records.importing import ImportReport
from punish_fast.runtime import _jit
from punish_fast.runtime.figures import check_picture

# Exact games are followed until this share of them is left.
_REST = 1e-9


@dataclass(frozen=True)
class Setting:
    """Options that ``arena`` and ``exploit`` share; None where the user said nothing."""

    rules: str | None
    temperature: float | None
    threads: int | None
    quiet: bool


@dataclass(frozen=True)
class Season:
    """How agents are to meet, and what is to be written."""

    exact: bool
    games: int | None
    seed: int | None
    resume: Path | None
    plot: Path | None
    record: Path | None


class Job:
    """One run: its clock, its progress, its game and who plays it."""

    def __init__(self, arguments: list[str], setting: Setting) -> None:
        if setting.threads is not None:
            _jit.set_threads(setting.threads)
        self.clock = Stopwatch()
        self.progress = Progress(setting.quiet)
        self.names = names_of(arguments)
        self._entries = [Player(argument) for argument in arguments]
        self.rules = _rules(self._entries, setting)
        for entry in self._entries:
            entry.must_fit(self.rules)
            self._must_know(entry.information)
        if setting.temperature is not None and not any(entry.has_values for entry in self._entries):
            raise UsageError("--temperature goes with agent files and naive only")
        if setting.temperature is not None:
            check_temperature(setting.temperature)
        self._temperature = setting.temperature

    def _must_know(self, information: str) -> None:
        """Insist that the game is played by a model that knows what another one does."""
        fine, coarse = (information_of(name) for name in (self.information, information))
        digits_within(fine, coarse, self.rules)

    @property
    def files(self) -> list[Path]:
        """The files that agents come from."""
        return [entry.path for entry in self._entries if entry.path is not None]

    @property
    def information(self) -> str:
        """The model of information by which the game is played: one that somebody plays by, and none forgets less."""
        return max((entry.information for entry in self._entries), key=MODELS.index)

    def prepare(self) -> tuple[list[Opponent], Graph]:
        """Everybody who was named, and the graph of the game."""
        self.progress.part("game", "agents", 1, 2)
        with self.clock("agents"):
            space = StateSpace(self.rules, self.information)
            # Before the graph, which takes longer: whoever cannot play is found out soon.
            opponents = [
                entry.opponent(space, self._temperature, name)
                for name, entry in zip(self.names, self._entries, strict=True)
            ]
        self.progress.part("game", "graph", 2, 2)
        with self.clock("graph"):
            return opponents, Graph(space)

    def report(self) -> dict[str, Any]:
        """What is to be told in any case."""
        return {
            "rules": name_of(self.rules),
            "rules_digest": self.rules.digest,
            "temperature": self._temperature,
            "threads": _jit.threads(),
            "seconds": self.clock.seconds | {"total": self.clock.total()},
        }


def _rules(entries: list[Player], setting: Setting) -> Rules:
    """The rules asked for, or those that the first file was made for; always with the true redeal."""
    found = (entry.rules for entry in entries if entry.rules is not None)
    rules = load_rules(setting.rules) if setting.rules is not None else next(found, load_rules("tabletop"))
    return true_rules(rules)


def _check(agents: list[str], season: Season) -> None:
    """Refuse, before any work is done, what cannot be done."""
    if season.exact and season.games is not None:
        raise UsageError("--exact and --games exclude each other")
    if season.games is None and season.seed is not None:
        raise UsageError("--seed goes with --games only")
    check_tournament(len(agents), season.games)
    if season.games is not None:
        check_numbers(season.games, season.seed or 0, True, 0)
    if season.record is not None and season.games is None:
        raise UsageError("--record goes with --games only")
    if season.plot is not None:
        must_draw()
        check_picture(season.plot)


def arena_command(agents: list[str], setting: Setting, season: Season, as_json: bool) -> None:
    """Run ``punish-fast arena``."""
    _check(agents, season)
    job = Job(agents, setting)
    outputs = [path for path in (season.resume, season.plot, season.record) if path is not None]
    check_outputs(outputs, job.files, "play")
    log = MatchLog(job.rules.digest, season.resume)
    if season.record is not None:
        if job.information != "view":
            raise UsageError(f"--record goes with players of the view only, one is of the model {job.information!r}")
        check_recording(job.names, season.games or 0, season.record)
    seed = season.seed
    if season.games is not None and seed is None:
        # Games can be gone on with only by the seed that they began with.
        seed = log.last_seed
    if season.games is not None and seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    opponents, graph = job.prepare()
    job.progress.start()
    with _going_on_later(job, season), job.clock("matches"):
        tournament = round_robin(graph, opponents, season.games, seed or 0, log, job.progress.step)
    job.progress.clear()
    course = None
    if len(opponents) == 2:
        with job.clock("course"):
            course = _course(graph, opponents, tournament)
    if season.record is not None and season.games is not None:
        with _going_on_later(job, season), job.clock("record"):
            recorded = record_tournament(graph, opponents, season.games, seed or 0, season.record)
        _must_be_stored(recorded, season.record)
    if season.plot is not None:
        from punish_fast.arena.tournament_plot import draw_heatmap

        with drawing(season.plot):
            draw_heatmap(tournament, season.plot)
    report = _tournament_report(tournament, seed) | {"course": course} | job.report()
    report |= {"resume": _text(season.resume), "plot": _text(season.plot), "record": _text(season.record)}
    if as_json:
        print_json(report)
    else:
        _print_tournament(report)


def _course(graph: Graph, opponents: list[Opponent], tournament: Tournament) -> list[dict[str, Any]]:
    """When games of two agents end."""
    if tournament.lengths is not None:
        return course_of_games(tournament.lengths, graph.space.rules.breaths)
    one, other = (opponent.policy for opponent in opponents)
    return course_of_chances(outcome_distribution(graph, one, other, _REST))


@contextmanager
def _going_on_later(job: Job, season: Season) -> Iterator[None]:
    """Say, after an interrupt, what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        job.progress.clear()
        if season.resume is None:
            say("matches so far are not kept; with --resume FILE they would be")
        elif season.resume.exists():
            say(f"{season.resume} holds all matches so far; the same command goes on with them")
        raise


def _must_be_stored(report: ImportReport, database: Path) -> None:
    if report.imported < report.games:
        missing, reason = report.games - report.imported, report.remarks[0].reason
        raise CheckError(f"{database}: {missing:,} games were not stored ({reason})")


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _tournament_report(tournament: Tournament, seed: int | None) -> dict[str, Any]:
    return {
        "agents": tournament.agents,
        "exact": tournament.games is None,
        "games": tournament.games,
        "seed": seed,
        "win": tournament.win.tolist(),
        "standard_error": tournament.error.tolist(),
        "breaths": tournament.breaths.tolist(),
        "ranking": [asdict(standing) for standing in tournament.ranking],
    }


def _print_tournament(report: dict[str, Any]) -> None:
    agents, exact = report["agents"], report["exact"]
    how = "exact" if exact else f"{report['games']:,} games a pair, seed {report['seed']}"
    print(f"rules {report['rules']}, {how}, {report['threads']} threads")
    print()
    order = [agents.index(standing["agent"]) for standing in report["ranking"]]
    for title, matrix, digits in (("wins of row", "win", 4), ("breaths", "breaths", 2)):
        rows = [[title, *(agents[j] for j in order)]]
        for i in order:
            cells = ["-" if i == j and matrix == "win" else f"{report[matrix][i][j]:.{digits}f}" for j in order]
            rows.append([agents[i], *cells])
        print_table(rows)
        print()
    table = [["ranking", "win rate", "rating"]]
    for standing in report["ranking"]:
        win_rate, rating = f"{standing['win_rate']:.4f}", f"{standing['rating']:+.1f}"
        if not exact:
            win_rate += f" +- {standing['win_rate_margin']:.4f}"
            rating += f" +- {standing['rating_margin']:.1f}"
        table.append([standing["agent"], win_rate, rating])
    print_table(table)
    if report["course"] is not None:
        print()
        print_course(report["course"], agents)
    for key in ("resume", "plot", "record"):
        if report[key] is not None:
            print(f"wrote {report[key]}")
