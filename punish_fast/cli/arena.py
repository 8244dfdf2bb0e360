"""``punish-fast arena``: a round-robin tournament; and options that verbs of the real game share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.clusters import Cluster, ClusterOption, check_name, on_cluster
from punish_fast.cli.errors import CheckError, UsageError
from punish_fast.cli.game_lengths import lengths_of_duel, lengths_of_games, print_lengths
from punish_fast.cli.options import (
    ComputeOptions,
    GameRulesOption,
    LineupRulesOption,
    LineupTemperatureOption,
    SeedOption,
    TemperatureOption,
    argument,
    complete_agents,
    option,
    verb,
)
from punish_fast.cli.outputs import check_outputs, rules_files
from punish_fast.cli.report import Progress, Stopwatch, interrupt_note, print_table, print_text

if TYPE_CHECKING:
    from punish_fast.arena.lineup import Lineup
    from punish_fast.arena.match_log import MatchLog
    from punish_fast.arena.matches import SpreadMatches
    from punish_fast.arena.players import Opponent
    from punish_fast.arena.tournament import Tournament
    from punish_fast.duel.graph import Graph

# The length of exact games is followed until they continue with this probability.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, kw_only=True)
class RealGameOptions(ComputeOptions):
    """Options of verbs that play the real game."""

    rules: GameRulesOption = None
    temperature: TemperatureOption = None

    def lineup(self, players: list[str]) -> Lineup:
        """The players and their game."""
        from punish_fast.arena.lineup import Lineup
        from punish_fast.punish.rules import load_rules

        return Lineup(players, None if self.rules is None else load_rules(self.rules), self.temperature)

    def report(self, lineup: Lineup, clock: Stopwatch) -> dict[str, Any]:
        """What every report of these verbs has."""
        from punish_fast.punish.rules import name_of
        from punish_fast.runtime import _jit

        return {
            "rules": name_of(lineup.rules),
            "rules_digest": lineup.rules.digest,
            "temperature": self.temperature,
            "threads": _jit.threads(),
            "seconds": clock.seconds | {"total": clock.total()},
        }


@dataclass(frozen=True, kw_only=True)
class ArenaOptions(RealGameOptions):
    """Options of ``arena``."""

    agents: Annotated[
        list[str],
        argument(
            "AGENT...",
            "random, naive, careful, aggressive, punisher, veteran, or an agent or strategy file; with @T, an agent "
            "plays by softmax at temperature T.",
            complete_agents,
        ),
    ]
    rules: LineupRulesOption = None
    temperature: LineupTemperatureOption = None
    exact: Annotated[bool, option("Compute exact results, without playing games.  [default]")] = False
    games: Annotated[
        int | None, option("Play this many games of every pair: an even number, at least 4.", metavar="N")
    ] = None
    seed: SeedOption = None
    resume: Annotated[
        Path | None,
        option("Resume from this match log, and keep all results in it.", metavar="FILE.json", writes=True),
    ] = None
    record: Annotated[
        Path | None,
        option("Store the games, at most 100,000 in all, in this database.", metavar="DB", writes=True),
    ] = None
    cluster: ClusterOption = None

    def check(self) -> None:
        """Check options that exclude each other, before any work.

        Raises:
            UsageError: options do not go together.
            TournamentError: the number of agents or of games is not allowed.
            DuelError: the seed is out of range.
        """
        from punish_fast.arena.tournament import check_tournament
        from punish_fast.duel.simulated_evaluation import check_numbers

        if self.exact and self.games is not None:
            raise UsageError("--exact and --games exclude each other")
        for name, value in (("--seed", self.seed), ("--record", self.record)):
            if self.games is None and value is not None:
                raise UsageError(f"{name} goes with --games only")
        check_name(self.cluster)
        check_tournament(len(self.agents), self.games)
        if self.games is not None:
            check_numbers(self.games, self.seed or 0, True, 0)


@verb(
    "punish-fast arena random naive careful",
    "punish-fast arena naive.h5 naive.h5@0.2 random --games 100000 --seed 1 --resume arena.json",
    "punish-fast arena one.h5 two.h5 --json",
    "punish-fast arena random naive careful aggressive --cluster local:2",
)
def arena(options: ArenaOptions) -> None:
    """Run a round-robin tournament of the real game and rank the agents."""
    from punish_fast.arena.match_log import MatchLog
    from punish_fast.arena.simulated_records import check_recording
    from punish_fast.arena.tournament import round_robin

    options.check()
    lineup = options.lineup(options.agents)
    sources = [*lineup.files, *rules_files(options.rules)]
    check_outputs([options.resume, options.record], sources, "play")
    log = MatchLog(lineup.rules.digest, options.resume)
    if options.record is not None:
        if lineup.information != "view":
            raise UsageError(f"--record stores games of the view only, a player is of the model {lineup.information!r}")
        check_recording(lineup.names, options.games or 0, options.record)
    seed = None if options.games is None else _seed(options.seed, log)
    clock, progress = Stopwatch(), Progress(options.quiet)
    stages = game_stages(clock, progress)
    with on_cluster(options.cluster, progress, options.quiet) as cluster:
        game, opponents = _seat(lineup, cluster, stages)
        with interrupt_note(progress, options.resume, "the results so far"):
            with progress.stage("arena: matches"), clock("matches"):
                tournament = round_robin(game, opponents, options.games, seed or 0, log, progress.step)
            graph = _graph(game, stages) if len(opponents) == 2 or options.record is not None else None
            lengths = None
            if graph is not None and len(opponents) == 2:
                with progress.stage("arena: lengths of games"), clock("lengths"):
                    lengths = _lengths(graph, opponents, tournament)
            if graph is not None and options.record is not None:
                with progress.stage("arena: recording games"), clock("record"):
                    _record(graph, opponents, options, seed or 0)
        progress.clear()
    report = _report(tournament, seed) | {"game_lengths": lengths} | options.report(lineup, clock)
    report["cluster"] = None if cluster is None else cluster.report
    report |= {name: getattr(options, name) for name in ("resume", "record")}
    options.print(report, _print_report)


def _seat(
    lineup: Lineup, cluster: Cluster | None, stages: Callable[[str], AbstractContextManager[None]]
) -> tuple[Graph | SpreadMatches, list[Opponent]]:
    """The players, and the game or what plays it on a cluster, whose workers build it."""
    from punish_fast.arena.matches import SpreadMatches

    if cluster is None:
        return lineup.seat(stages)
    with stages("agents"):
        space, opponents = lineup.opponents()
    return SpreadMatches(space, cluster), opponents


def _graph(game: Graph | SpreadMatches, stages: Callable[[str], AbstractContextManager[None]]) -> Graph:
    from punish_fast.duel.graph import Graph

    if isinstance(game, Graph):
        return game
    with stages("graph"):
        return Graph(game.space)


def game_stages(clock: Stopwatch, progress: Progress) -> Callable[[str], AbstractContextManager[None]]:
    """Contexts that time and show the stages of `Lineup.seat`."""

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        with progress.stage(f"game: {name} ({('agents', 'graph').index(name) + 1} of 2)"), clock(name):
            yield

    return stage


def _seed(given: int | None, log: MatchLog) -> int:
    """The seed asked for, or that of the match log, whose games continue by no other, or a new one."""
    if given is None:
        given = log.last_seed
    return new_seed() if given is None else given


def new_seed() -> int:
    """A random seed that is short enough to be typed again."""
    import numpy as np

    return int(np.random.SeedSequence().generate_state(1)[0])


def _lengths(graph: Graph, opponents: list[Opponent], tournament: Tournament) -> list[dict[str, Any]]:
    """When the games of two agents end."""
    from punish_fast.duel.exact_evaluation import outcome_distribution

    if tournament.lengths is not None:
        return lengths_of_games(tournament.lengths, graph.space.rules.breaths)
    one, other = (opponent.policy for opponent in opponents)
    return lengths_of_duel(outcome_distribution(graph, one, other, _NEGLIGIBLE))


def _record(graph: Graph, opponents: list[Opponent], options: ArenaOptions, seed: int) -> None:
    from punish_fast.arena.simulated_records import record_tournament

    assert options.record is not None
    assert options.games is not None
    report = record_tournament(graph, opponents, options.games, seed, options.record)
    if report.imported < report.games:
        missing, reason = report.games - report.imported, report.remarks[0].reason
        raise CheckError(f"{options.record}: {missing:,} games were not stored ({reason})")


def _report(tournament: Tournament, seed: int | None) -> dict[str, Any]:
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


def _print_report(report: dict[str, Any]) -> None:
    agents, exact = report["agents"], report["exact"]
    how = "exact" if exact else f"{report['games']:,} games of each pair, seed {report['seed']}"
    print_text(f"rules {report['rules']}, {how}, {report['threads']} threads")
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
            win_rate += " ({:.4f} to {:.4f})".format(*standing["win_rate_interval"])
            rating += f" +- {standing['rating_margin']:.1f}"
        table.append([standing["agent"], win_rate, rating])
    print_table(table)
    intervals = "" if exact else "; intervals have 95 % confidence"
    print(f"ratings add half a win and half a loss to the games of each pair{intervals}")
    if report["game_lengths"] is not None:
        print()
        print_lengths(report["game_lengths"], agents)
    for key in ("resume", "record"):
        if report[key] is not None:
            print(f"wrote {report[key]}")
