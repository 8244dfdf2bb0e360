"""``punish-fast records review``: judge the choices of a recorded game."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.frame.options import CommonOptions, argument, option, verb
from punish_fast.cli.frame.progress import Progress
from punish_fast.cli.frame.report import print_table, print_text
from punish_fast.cli.playing.table import played_database
from punish_fast.cli.records.selection import PlayedDatabaseOption

if TYPE_CHECKING:
    from punish_fast.play.explain.review import Judge
    from punish_fast.records.logs import RecordedGame


@dataclass(frozen=True, kw_only=True)
class ReviewOptions(CommonOptions):
    """Options of ``records review``."""

    game: Annotated[
        int | None,
        argument("GAME_ID", "Id of a game in the database.  [default: the latest game that a person played]"),
    ] = None
    db: PlayedDatabaseOption = None
    agent: Annotated[
        Path | None,
        option(
            "Agent that judges; its values must be win probabilities.  [default: the best choices against the built-in "
            "player that a person played against, or against veteran]",
            metavar="FILE.h5",
        ),
    ] = None


@verb(
    "punish-fast records review",
    "punish-fast records review 1668053480 --db games.db",
    "punish-fast records review 1668053480 --db games.db --agent win-probability.h5",
)
def review(options: ReviewOptions) -> None:
    """Judge the choices in a recorded game: the win probability in every breath, and the loss of each choice.

    In a game between a person and a built-in player, the choices are by default compared with the best choices against
    the built-in player; in other games, with the best choices against the veteran. With --agent, win probabilities are
    against the enemy against which the agent was solved (by `solve --objective win-probability`).
    """
    from punish_fast.play.explain.review import read_game
    from punish_fast.play.explain.review import review as judge

    game = read_game(played_database(options.db), options.game)
    jury, enemy = _jury(options.agent, game, options.quiet)
    players = [side.report() for side in judge(jury, game)]
    report = {"game": game.id, "agent": options.agent, "enemy": enemy, "players": players}
    options.print(report, _print_report)


def _jury(file: Path | None, game: RecordedGame, quiet: bool) -> tuple[Judge, str]:
    """Return the judge, and a description of the enemy against which it was solved."""
    from punish_fast.arena.veteran import default_opponent
    from punish_fast.play.explain.review import Judge, judge_of, played_opponent
    from punish_fast.punish.rules import load_rules
    from punish_fast.store.reader import load
    from punish_fast.store.schema import enemy_text

    if file is not None:
        agent = load(file)
        return judge_of(agent), enemy_text(agent.enemy)
    from punish_fast.arena.players import Player
    from punish_fast.play.explain.why import explainer_against

    rules = load_rules("tabletop")
    enemy = played_opponent(game) or default_opponent(rules)
    with Progress(quiet).stage("solving"):
        best = explainer_against(Player(enemy), rules)
    return Judge(best.data.space, best.solution, enemy), enemy


def _print_report(report: dict[str, Any]) -> None:
    winner, loser = report["players"]
    judge = "the best choices" if report["agent"] is None else f"{report['agent']}, solved"
    print_text(
        f"game {report['game']}: {winner['name']} won against {loser['name']}; judged by {judge} against "
        f"{report['enemy']}"
    )
    for side in report["players"]:
        _print_side(side)


def _print_side(side: dict[str, Any]) -> None:
    print(f"\n{side['name']}")
    rows = [["breath", "HP", "hand", "played", "best", "best wins", "loses"]]
    for choice in side["choices"]:
        lost = "" if choice["loss"] is None else f"{100 * choice['loss']:.1f}"
        hp, win = "-".join(map(str, choice["hp"])), f"{choice['win_probability']:.1%}"
        best = "" if choice["best"] == choice["name"] else choice["best"]
        rows.append([str(choice["breath"]), hp, choice["hand"], choice["name"], best, win, lost])
    print_table(rows, left=5, indent="  ")
    print_text(f"{side['name']} lost {100 * side['loss']:.1f} points of win probability in all.", indent="  ")
    for choice in side["worst"]:
        print_text(choice["words"], indent="  ")
