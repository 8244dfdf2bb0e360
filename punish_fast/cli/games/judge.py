"""``punish-fast games judge``: agents against the random player and perfect play, exactly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import argument, option, verb
from punish_fast.cli.frame.progress import Progress, Stopwatch
from punish_fast.cli.frame.report import print_table
from punish_fast.cli.games.judged_agents import TRAINED, judging, searching
from punish_fast.cli.games.options import GameOptions
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.games.gwent.game import Gwent
    from punish_fast.games.incan_gold.game import IncanGold
    from punish_fast.games.solve.judgement import Judgement
    from punish_fast.games.solve.retrograde import PerfectPlay

_MOST_GAMES = 10_000_000
_BUILT_IN = ("random", "perfect", "best-response", "safe-response")
_SEATS = ("first", "second")


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(GameOptions):
    """Options of ``games judge``."""

    agents: Annotated[
        list[str] | None,
        argument(
            "AGENT...",
            f"Files of agents, trained (the default of games play), or some of {', '.join(_BUILT_IN)} (the default "
            "is these four). Connect Four: files, trained, random, or search-4 for a search of four moves. Incan Gold: "
            "files, trained, random, leave-at-N (with N points), rule-of-thumb, or equilibrium. Gwent Lite: files, "
            "trained, random, or rule-of-thumb.",
        ),
    ] = None
    games: Annotated[
        int | None,
        option("Incan Gold and Gwent Lite: games of a match.  [default: 3000]", metavar="N", min=3, max=_MOST_GAMES),
    ] = None
    seed: Annotated[
        int | None, option("Incan Gold and Gwent Lite: random seed.  [default: 0]", metavar="N", min=0, max=2**63 - 1)
    ] = None


@verb(
    "punish-fast games judge tictactoe",
    "punish-fast games judge tictactoe perfect tictactoe.h5",
    "punish-fast games judge tapnswap:taps_only=true --json",
    "punish-fast games judge connect4 random search-4 search-8",
    "punish-fast games judge incan-gold leave-at-12 rule-of-thumb --games 300",
    "punish-fast games judge gwent:decks=random rule-of-thumb --games 300",
)
def judge(options: JudgeOptions) -> None:
    """Judge agents at a game that always ends: exact scores against the random player, losing lines, mistakes.

    MuZero is judged by its policy alone, and by searches of 25 and 100 simulations.

    In Connect Four, by the share of moves that keep the value and of best moves, in four sets of positions. In Incan
    Gold, by many games against two random players, two who leave at 12 points, two of a rule of thumb, and two in
    equilibrium; and by the rule with one number of points that wins most against two copies of the agent. In Gwent
    Lite, by many games in both seats against random play and a rule of thumb, with the given decks, or with the
    default deck and with random ones.
    """
    from punish_fast.games.connect4.game import Connect4
    from punish_fast.games.gwent.game import Gwent
    from punish_fast.games.incan_gold.game import IncanGold
    from punish_fast.games.solve.judgement import last_first
    from punish_fast.games.solve.positions import enumerate_positions
    from punish_fast.games.solve.retrograde import solve_game

    clock, game = Stopwatch(), options.make("judge")
    if isinstance(game, IncanGold | Gwent):
        _judge_in_games(options, game)
        return
    if (options.games, options.seed) != (None, None):
        raise UsageError(f"{game.name}: is judged without games; --games and --seed are for others")
    if isinstance(game, Connect4):
        from punish_fast.cli.games.connect4 import judged, print_judged

        options.print(judged(game, options.agents, Progress(options.quiet)), print_judged)
        return
    progress = Progress(options.quiet)
    with clock("solve"), progress.stage("solve"):
        # Networks know no symmetries, so each state is a position of its own.
        perfect = solve_game(enumerate_positions(game, is_folded=False))
        last_first(perfect.positions)
    agents = []
    for name in options.agents or _BUILT_IN:
        with clock("judge"), progress.stage(judging(name)):
            agents += _judged(name, perfect)
    progress.clear()
    report = {"game": game.name, "variant": game.parameters(), "agents": agents, "seconds": clock.seconds}
    options.print(report, _print)


def _judge_in_games(options: JudgeOptions, game: IncanGold | Gwent) -> None:
    """Judge agents of a game with chance by many games."""
    from punish_fast.cli.games import gwent, incan_gold_agents, judged_agents
    from punish_fast.games.gwent.game import DEFAULT_DECKS, RANDOM_DECKS, Gwent

    n_games = judged_agents.GAMES if options.games is None else options.games
    settings = options.agents, n_games, options.seed or 0, Progress(options.quiet)
    if isinstance(game, Gwent):
        decks = [DEFAULT_DECKS, RANDOM_DECKS] if options.game == Gwent.name else [game.variant.decks]
        games = [Gwent(game.variant._replace(decks=each)) for each in decks]
        options.print(gwent.judged(games, *settings), gwent.print_judged)
    else:
        options.print(incan_gold_agents.judged(game, *settings), incan_gold_agents.print_judged)


def _judged(name: str, perfect: PerfectPlay) -> list[dict[str, Any]]:
    """Return the report of a built-in agent or a file, in one row, or of MuZero by simulations."""
    from punish_fast.games.learn.agent_file import load_policies
    from punish_fast.games.solve.judgement import judge, unfold_policy
    from punish_fast.play.games.policies import trained_table

    if name in _BUILT_IN:
        return [_told(name, None, judge(perfect, _policy(name, perfect)))]
    positions = perfect.positions
    if name == TRAINED:
        told_apart, policy = trained_table(positions.game)
        return [_told(name, None, judge(perfect, unfold_policy(told_apart, policy, positions)))]
    if Path(name).suffix != ".h5":
        raise UsageError(f"{printable(name)}: is no agent, allowed are {', '.join(_BUILT_IN)}, {TRAINED} and files .h5")
    told_apart, policies = load_policies(Path(name), positions.game)
    return [
        _told(name, simulations, judge(perfect, unfold_policy(told_apart, policy, positions)))
        for simulations, policy in policies.items()
    ]


def _policy(name: str, perfect: PerfectPlay) -> np.ndarray:
    """The policy of a built-in agent."""
    from punish_fast.games.solve.judgement import winning_policy

    positions = perfect.positions
    random = positions.uniform()
    if name == "random":
        return random
    if name == "perfect":
        return perfect.policy()
    return winning_policy(positions, random, perfect.is_safe() if "safe" in name else None)


def _told(name: str, simulations: int | None, judgement: Judgement) -> dict[str, Any]:
    return {
        "agent": name,
        "simulations": simulations,
        **{seat: asdict(getattr(judgement, seat)) for seat in _SEATS},
        "losing_lines": judgement.losing_lines._asdict(),
        "keeps_value": judgement.keeps_value,
        "keeps_choice": judgement.keeps_choice,
    }


def _print(report: dict[str, Any]) -> None:
    print("against the random player, exactly")
    rows = [["agent", "moving", "win", "draw", "loss", "illegal", "losing lines"]]
    for each in report["agents"]:
        for seat in _SEATS:
            shares = [f"{each[seat][name]:.6f}" for name in ("win", "draw", "loss", "illegal")]
            rows.append([searching(each) * (seat == "first"), seat, *shares, f"{each['losing_lines'][seat]:,}"])
    print_table(rows, left=2)
    print()
    print("share of positions in which the value is kept")
    kept = [[searching(each), f"{each['keeps_value']:.3f}", f"{each['keeps_choice']:.3f}"] for each in report["agents"]]
    print_table([["agent", "of all", "where it matters"], *kept])
