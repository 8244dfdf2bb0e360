"""Report of ``show --why``: the value of every action, broken down by the enemy's actions."""

from typing import Any

from punish_fast.arena.players import Player, naive_solution, recorded_enemy
from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.report import print_table, print_text
from punish_fast.play.explain.reasons import Scale
from punish_fast.play.explain.why import Explainer, explainer_against, explainer_of
from punish_fast.play.game_data import GameData
from punish_fast.punish.codes import State
from punish_fast.punish.rules import Rules, cards_text
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.reader import SolutionFile
from punish_fast.store.schema import enemy_text

_MOST_HANDS = 6


def explanation_report(file: SolutionFile | Player, rules: Rules, state: State, enemy: str | None) -> dict[str, Any]:
    """Explain a position with an agent's values, or with the values of the best choices against another player.

    The agent plays against the enemy recorded in its file unless `enemy` is given; *naive* plays against *random*.

    JSON keys of ``punish-fast show FILE POSITION --why``:
        file (string): File, or name of a built-in agent.
        enemy (object): Enemy that the values assume.
            *enemy_text
        *report
    """
    if isinstance(file, Player) or file.kind == "strategy":
        player = file if isinstance(file, Player) else Player(str(file.path))
        if enemy is not None:
            kind = "built in" if player.file is None else "a strategy, which is the enemy itself"
            raise UsageError(f"--enemy: {player.argument} is {kind}; --enemy requires an agent file")
        if player.is_naive and player.resolve_temperature(None) is None:
            player, space = Player("random"), StateSpace(rules)
            explainer = Explainer(GameData(space), player.policy(space), naive_solution(space))
        else:
            explainer = explainer_against(player, rules)
    else:
        file.solution()
        player = recorded_enemy(file) if enemy is None else Player(enemy)
        explainer = explainer_of(file, player)
    return {"enemy": player.metadata(), **explainer.explain(state).report()}


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
