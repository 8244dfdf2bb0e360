"""``punish-fast games league``: search for the best hyperparameters by tournaments.

JSON keys:
    game (string): Name of the game.
    folder (string): Folder of the agents.
    rounds (list of objects): Rounds of the league.
        round (integer): Number of the round, counted from 0.
        agents (list of objects): Agents, the best first.
            name (string): Name of the agent.
            games (integer): Number of training games.
            win_share (number, from 0 to 1): Share of games won against random play.
            mistakes (integer): Number of positions where the agent gives away a win or a draw.
            is_rejected (boolean): True if training was undone because the trained agent lost to its earlier version.
            score (number, from 0 to 1): Mean points against the other agents.
            curve (list of objects): Learning curve.
                games (number): Number of games played.
                win_share (number, from 0 to 1): Share of games won against random play.
                draw_share (number, from 0 to 1): Share of games drawn against random play.
                mistakes (integer): Number of positions where the agent gives away a win or a draw.
                perfect (number, from 0 to 1): Share of positions without a mistake.
        points (list of lists of numbers, from 0 to 1): Points of the row agent against the column agent.
    seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
"""

from pathlib import Path
from typing import Any

from punish_fast.cli.frame.options import argument, option, verb
from punish_fast.cli.frame.progress import interrupt_note
from punish_fast.cli.frame.report import print_report, print_text
from punish_fast.cli.frame.settings import changes_of
from punish_fast.cli.games.options import LearningOptions
from punish_fast.runtime.limits import usable_cores

_SCORE = (
    "score: exact mean points per game against all others, in both seats; a win is 1 point, a draw 1/2. Perfect play "
    "does not exploit mistakes, so an agent that makes some can score higher."
)


class LeagueOptions(LearningOptions):
    """Options of ``games league``."""

    folder: Path = argument("FOLDER", "Folder of the agents.")
    settings: list[str] | None = option(
        "Values of one hyperparameter (see `games methods`), separated by commas. Can be repeated.",
        "--set",
        metavar="NAME=VALUE,...",
    )
    games: int = option("Number of games per training session.", min=1, default=20_000)
    rounds: int = option("Number of rounds of further training.", min=0, max=1000, default=1)


@verb(
    "punish-fast games league tapnswap agents",
    "punish-fast games league tapnswap grid --set scheme=negamax,author --set epsilon=0.1,0.5 --games 2000",
    "punish-fast games league tapnswap agents --rounds 3",
)
def league(options: LeagueOptions) -> None:
    """Train a grid of agents, rank them in an exact tournament, and train the best agents further, in rounds.

    The default grid has the scheme negamax, epsilon from 0.1 to 1, and four sequences of opponents. To resume an
    interrupted league, repeat the command. To continue a complete league, repeat the command with a larger --rounds.
    """
    from punish_fast.games.learn.league import grid_plans, run_league
    from punish_fast.games.learn.qlearning import Hyperparameters

    game = options.make("league")
    grid: dict[str, list[Any]] = {}
    for text in options.settings or ():
        name, _, values = text.partition("=")
        grid[name] = [changes_of(Hyperparameters, [f"{name}={value}"])[name] for value in values.split(",")]
    clock, progress = options.stages.clock, options.stages.progress

    with clock("league"), progress.stage("league"), interrupt_note(options.folder, "all finished work"):
        plans = grid_plans(grid, options.games)
        rounds = run_league(options.folder, game, plans, options.seed, options.rounds, usable_cores(), progress.steps)
    report = {"game": game.name, "folder": options.folder, "rounds": rounds, "seconds": clock.seconds_in_all()}
    best = rounds[-1].agents[0]
    path = options.folder / f"round-{rounds[-1].round}" / f"{best.name}.h5"
    result = f"{path} is the best agent: it wins {best.win_share:.1%} of its games against random play."
    options.print(report, _print_rounds, result=result, then=("games", "play", options.game, "--agent", path))


def _print_rounds(report: dict[str, Any]) -> None:
    columns = ("name", "games", "win_share", "mistakes", "score", "is_rejected")
    for each in report["rounds"]:
        agents = [{column: agent[column] for column in columns} for agent in each["agents"]]
        print_report({f"round {each['round']}": agents})
        print()
    print_text(_SCORE)
