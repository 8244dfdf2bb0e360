"""``punish-fast records review``: one recorded game, judged choice by choice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.options import CommonOptions, DatabaseOption, argument, option, verb
from punish_fast.cli.report import print_table, print_text

if TYPE_CHECKING:
    from punish_fast.play.review import ReviewedChoice, ReviewedSide

_MOST_WORST = 3
# Smaller losses are not worth a sentence.
_LEAST_LOSS = 0.01


@dataclass(frozen=True, kw_only=True)
class ReviewOptions(CommonOptions):
    """Options of ``records review``."""

    game: Annotated[int, argument("GAME_ID", "The game, by its id in the database.")]
    database: DatabaseOption
    agent: Annotated[Path, option("The judge: an agent whose values are chances to win.", "--agent", metavar="FILE.h5")]


@verb(
    "punish-fast records review 1668053480 --db games.db --agent win-probability.h5",
    "punish-fast records review 1668053480 --db games.db --agent win-probability.h5 --json",
)
def review(options: ReviewOptions) -> None:
    """Judge the choices of a recorded game: the chance to win in every breath, and what each choice lost of it.

    Chances to win are those against the enemy that the agent was solved for. An agent for this is made by solve
    --objective win-probability.
    """
    from punish_fast.play.review import read_game
    from punish_fast.play.review import review as judge
    from punish_fast.store.notes import enemy_text
    from punish_fast.store.reader import load

    game = read_game(options.database, options.game)
    agent = load(options.agent)
    sides = [_side_report(side) for side in judge(agent, game)]
    report = {"game": options.game, "agent": str(options.agent), "enemy": enemy_text(agent.enemy), "players": sides}
    options.print(report, _print_report)


def _side_report(side: ReviewedSide) -> dict[str, Any]:
    return {
        "name": side.name,
        "won": side.won,
        "loss": side.loss,
        "choices": [_choice_report(choice) for choice in side.choices],
        "worst": [choice.breath for choice in side.worst(_MOST_WORST, _LEAST_LOSS)],
    }


def _choice_report(choice: ReviewedChoice) -> dict[str, Any]:
    from punish_fast.punish.codes import action_name, to_decimal
    from punish_fast.punish.rules import cards_text

    state = choice.state
    return {
        "breath": choice.breath,
        "state": str(to_decimal(state)),
        "hp": [state.own_hp, state.enemy_hp],
        "hand": cards_text(state.hand),
        "action": choice.action,
        "name": "not legal" if choice.loss is None else action_name(choice.action),
        "best": action_name(choice.best),
        "win_probability": choice.win,
        "loss": choice.loss,
    }


def _print_report(report: dict[str, Any]) -> None:
    winner, loser = report["players"]
    print_text(
        f"game {report['game']}: {winner['name']} won against {loser['name']}; judged by {report['agent']}, solved "
        f"against {report['enemy']}"
    )
    for side in report["players"]:
        _print_side(side)


def _print_side(side: dict[str, Any]) -> None:
    print(f"\n{side['name']}")
    rows = [["breath", "HP", "hand", "played", "best", "wins", "loses"]]
    for choice in side["choices"]:
        lost = "" if choice["loss"] is None else f"{100 * choice['loss']:.1f}"
        hp, win = "-".join(map(str, choice["hp"])), f"{choice['win_probability']:.1%}"
        best = "" if choice["best"] == choice["name"] else choice["best"]
        rows.append([str(choice["breath"]), hp, choice["hand"], choice["name"], best, win, lost])
    print_table(rows, left=5, indent="  ")
    print_text(f"{side['name']} lost {100 * side['loss']:.1f} points of win chance in all.", indent="  ")
    by_breath = {choice["breath"]: choice for choice in side["choices"]}
    for breath in side["worst"]:
        choice = by_breath[breath]
        after = choice["win_probability"] - choice["loss"]
        print_text(
            f"In breath {breath}, {choice['best']} would have won {choice['win_probability']:.1%} of games, "
            f"{choice['name']} won {after:.1%}.",
            indent="  ",
        )
