"""Report of ``show --why``: the value of every action, broken down by the enemy's actions."""

from typing import Any

from punish_fast.arena.players import Player, recorded_enemy
from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.report import print_table, print_text
from punish_fast.play.explain.reasons import Scale
from punish_fast.play.explain.why import explainer_against, explainer_of
from punish_fast.punish.codes import State
from punish_fast.punish.rules import cards_text
from punish_fast.store.reader import Artefact
from punish_fast.store.schema import enemy_text

_MOST_HANDS = 6


def explanation_report(file: Artefact, state: State, enemy: str | None) -> dict[str, Any]:
    """Explain a position with an agent's values, or with the values of the best choices against a strategy.

    The agent plays against the enemy recorded in its file unless `enemy` is given.
    """
    if file.kind == "strategy":
        if enemy is not None:
            raise UsageError(f"--enemy: {file.path} is a strategy, which is the enemy itself")
        player = Player(str(file.path))
        explainer = explainer_against(player, file.rules)
    else:
        file.solution()
        player = recorded_enemy(file) if enemy is None else Player(enemy)
        explainer = explainer_of(file, player)
    return {"file": file.path, "enemy": player.note(), **explainer.explain(state).report()}


def print_explanation(report: dict[str, Any]) -> None:
    """Print the result of `explanation_report` as text."""
    scale = Scale(report["worst"], report["best"], report["unit"] == "win")
    print_text(report["words"])
    print()
    listed = ", ".join(f"{each['name']} {each['probability']:.1%}" for each in report["answers"])
    print_text(f"{enemy_text(report['enemy'])} may play: {listed}.")
    print_text(f"It may hold: {_hands_text(report['hands'])}.")
    for action in report["actions"]:
        print(f"\n{action['name']}: {scale.sentence(action['value'])}")
        rows = [
            [each["name"], f"{each['probability']:.1%}", scale.text(each["value"]), each["words"]]
            for each in action["against"]
        ]
        if rows:
            print_table([["against", "likely", "then", ""], *rows], left=4, indent="  ")
    if len(report["actions"]) > 1:
        best, second = report["actions"][:2]
        print()
        print_text(f"{best['name']} or {second['name']}? {best['contrast']}")


def _hands_text(hands: list[dict[str, Any]]) -> str:

    listed = [f"{cards_text(each['hand'])} ({each['probability']:.1%})" for each in hands[:_MOST_HANDS]]
    more = len(hands) - len(listed)
    return "; ".join(listed) + (f"; {more} other hands" if more else "")
