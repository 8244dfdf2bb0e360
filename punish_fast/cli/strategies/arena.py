"""``punish-fast arena``: run a round-robin tournament.

JSON keys:
    agents (list of strings): Names of the agents. Matrices have a row and a column for each agent, in this order.
    games (integer or null): Number of games per pair. Null if results are exact.
    win (list of lists of numbers, from 0 to 1): Probability that the row agent beats the column agent.
    standard_error (list of lists of numbers, from 0 to 1): Standard errors of `win`.
    breaths (list of lists of optional numbers, breaths): Mean length of a game. Null for games of an agent with
        `@resolve` against itself, which are not played.
    exact (boolean): True if results are exact, false if they are sampled.
    seed (integer or null): Random seed of the games. Null if results are exact.
    ranking (list of objects): Agents, the best first.
        agent (string): Name of the agent.
        win_rate (number, from 0 to 1): Share of games won.
        rating (number, rating points): Rating.
        win_rate_margin (number, from 0 to 1): Half the width of the 95% interval of the win rate.
        rating_margin (number, rating points): Half the width of the 95% interval of the rating.
        win_rate_interval (list of numbers, from 0 to 1): Lower and upper end of the 95% interval of the win rate.
    game_lengths (list of objects or null): Game lengths by measure in a tournament of two agents. Null for more agents.
        measure (integer): Number of the measure, counted from 1.
        ended (list of numbers, from 0 to 1): Share of games that end in each breath of the measure.
        going_on (number, from 0 to 1): Share of games that continue after the measure.
        wins (list of numbers or null, from 0 to 1): Share of games that each agent wins in the measure. Null if results
            are sampled.
    database (string or null): Database where the games were stored.
    plot (string or null): Plot file.
    *rules_report
    *work_report
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from punish_fast.cli.frame.options import PictureOptions, PlotOption, SeedOption, argument, game_rules, option, verb
from punish_fast.cli.frame.report import CheckError, Column, UsageError, count, print_rows, print_table, print_text
from punish_fast.cli.playing.table import seed_of
from punish_fast.cli.strategies.exploit import RealGameOptions
from punish_fast.punish.rules import PRESETS, rules_report

# Exact distributions of game lengths end when the probability that a game continues is below this limit.
_NEGLIGIBLE = 1e-9
# Minimum share of games that reach a printed measure.
_LEAST = 5e-4


class ArenaOptions(PictureOptions, RealGameOptions):
    """Options of ``arena``."""

    agents: list[str] = argument(
        "AGENT",
        "A built-in agent (see `agents`), or an agent or strategy file. Append @T for softmax play at temperature T. "
        "With --games, append @resolve to solve each measure again.",
    )
    games: int | None = option("Number of games per pair, even and at least 4.  [default: compute exact results]")
    rules: str | None = game_rules("the rules of the first file, or tabletop")
    seed: SeedOption = None
    db: Path | None = option("Store the games in this database, at most 100,000 in all.", metavar="DB", writes=True)
    plot: PlotOption = None

    def check(self) -> None:
        """Check the options before the computation."""
        from punish_fast.arena.tournament import check_tournament
        from punish_fast.duel.evaluation import check_numbers

        for name, value in (("--seed", self.seed), ("--db", self.db)):
            if self.games is None and value is not None:
                raise UsageError(f"{name} requires --games")
        check_tournament(len(self.agents), self.games)
        if self.games is not None:
            check_numbers(self.games, self.seed or 0)


@verb(
    "punish-fast arena random naive careful --plot arena.png",
    "punish-fast arena naive.h5 naive.h5@0.2 random --games 30000 --seed 1 --db arena.db",
    "punish-fast arena one.h5 two.h5 --json",
)
def arena(options: ArenaOptions) -> None:
    """Run a round-robin tournament of the two-player game and rank the agents."""
    from punish_fast.arena.players import is_built_in
    from punish_fast.arena.simulated_records import check_recording, record_tournament
    from punish_fast.arena.tournament import lengths_of_duel, lengths_of_games, round_robin
    from punish_fast.duel.evaluation import EVALUATION, outcome_distribution, simulate
    from punish_fast.duel.simulator import SIMULATION

    options.check()
    lineup = options.lineup(options.agents, resolves=options.games is not None and options.db is None)
    options.check_outputs(options.db, sources=lineup.files)
    if options.db is not None:
        if lineup.information != "memoryless":
            raise UsageError(f"--db requires memoryless players; one uses the model {lineup.information!r}")
        check_recording(lineup.names, options.games or 0, options.db)
    seed = None if options.games is None else seed_of(options.seed)
    kernels = [SIMULATION if options.games is not None else EVALUATION]
    play: Any = simulate
    if lineup.resolving:
        from punish_fast.play.punish.match import MATCH, play_games

        kernels, play = [*kernels, *MATCH], play_games
    graph, opponents = lineup.with_graph(options.stages.of_game, kernels, remembers=True)
    with options.stages("matches", "arena: matches"):
        tournament = round_robin(graph, opponents, options.games, seed or 0, options.stages.progress.step, play)
    lengths = None
    if len(opponents) == 2:
        with options.stages("lengths", "arena: lengths of games"):
            if tournament.lengths is None:
                one, other = (opponent.policy for opponent in opponents)
                lengths = lengths_of_duel(outcome_distribution(graph, one, other, _NEGLIGIBLE))
            else:
                lengths = lengths_of_games(tournament.lengths, lineup.rules.breaths)
    if options.db is not None:
        with options.stages("record", "arena: recording games"):
            stored = record_tournament(graph, opponents, options.games or 0, seed or 0, options.db)
        if stored.imported < stored.games:
            missing, reason = stored.games - stored.imported, stored.remarks[0].reason
            raise CheckError(f"{options.db}: {missing:,} games were not stored ({reason})")
    if options.plot is not None:
        from punish_fast.arena.tournament_plot import draw_tournament

        draw_tournament(tournament, options.plot)
    report = {
        **{name: getattr(tournament, name) for name in ("agents", "games", "win", "standard_error", "breaths")},
        "exact": tournament.games is None,
        "seed": seed,
        "ranking": tournament.ranking,
        "game_lengths": lengths,
        "database": options.db,
        "plot": options.plot,
    }
    best = tournament.ranking[0]
    result = f"{best.agent} ranks first: it wins {best.win_rate:.1%} of its games."
    # Suggest the next command for the user's own player if there is one.
    own = next((k for k, agent in enumerate(options.agents) if not is_built_in(agent)), lineup.names.index(best.agent))
    source = "--rules", options.rules
    then: tuple[object, ...] = ()
    if options.db is not None and (options.rules or lineup.rules == PRESETS["tabletop"]):
        then = ("improve", "--player", lineup.names[own], "--db", options.db, *source)
    elif options.agents[own] not in lineup.resolving:
        then = ("exploit", options.agents[own], *source)
    options.print(report | rules_report(lineup.rules) | options.work_report(), _print_report, result=result, then=then)


def _print_report(report: dict[str, Any]) -> None:
    agents, exact = report["agents"], report["exact"]
    how = "exact" if exact else f"{report['games']:,} games of each pair, seed {report['seed']}"
    print_text(f"rules {report['rules']}, {how}, {count(report['threads'], 'thread')}")
    print()
    order = [agents.index(standing["agent"]) for standing in report["ranking"]]
    for title, matrix, form in (("wins of row", "win", ".1%"), ("breaths", "breaths", ".2f")):
        rows = [[title, *(agents[j] for j in order)]]
        for i in order:
            found = report[matrix][i]
            cells = ["-" if found[j] is None or (i == j and matrix == "win") else f"{found[j]:{form}}" for j in order]
            rows.append([agents[i], *cells])
        print_table(rows)
        print()
    interval = {} if exact else {"95% interval": "{win_rate_interval[0]:.1%}-{win_rate_interval[1]:.1%}"}
    columns = {"ranking": "{agent}", "win rate": "{win_rate:.1%}", **interval, "rating": "{rating:+.1f}"}
    print_rows(report["ranking"], columns if exact else columns | {"+-": "{rating_margin:.1f}"})
    print_text("ratings add half a win and half a loss to the games of each pair")
    if report["game_lengths"] is not None:
        print()
        print_lengths(report["game_lengths"], agents)
    for file in (report["database"], report["plot"]):
        if file is not None:
            print(f"wrote {file}")


def print_lengths(entries: list[dict[str, Any]], agents: list[str]) -> None:
    """Print one row for each measure that a share of at least `_LEAST` of the games reaches."""
    columns: dict[str, Column] = {"measure": "{measure}", "ended": lambda entry: f"{sum(entry['ended']):.1%}"}
    if entries[0]["wins"] is not None:
        columns = {"measure": "{measure}", **{f"{agent} wins": f"{{wins[{k}]:.1%}}" for k, agent in enumerate(agents)}}
    columns["continue"] = "{going_on:.1%}"
    columns |= {f"breath {k + 1}": f"{{ended[{k}]:.1%}}" for k in range(len(entries[0]["ended"]))}
    reached = [1.0, *(entry["going_on"] for entry in entries)]
    print_rows([entry for entry, share in zip(entries, reached, strict=False) if share >= _LEAST], columns)
