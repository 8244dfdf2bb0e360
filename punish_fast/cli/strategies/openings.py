"""``punish-fast openings``: show what to play with every opening hand, and the worth of a card in hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import CommonOptions, PlotOption, argument, option, verb
from punish_fast.cli.frame.outputs import check_outputs
from punish_fast.cli.frame.progress import Stages
from punish_fast.cli.frame.report import plain, print_report, print_table, print_text
from punish_fast.punish.rules import CARDS, by_card, load_rules, true_rules

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.arena.players import Player
    from punish_fast.punish.states.openings import Openings
    from punish_fast.punish.states.space import StateSpace


class OpeningsOptions(CommonOptions):
    """Options of ``openings``."""

    agent: str = argument("AGENT", "A built-in agent, or an agent or strategy file.")
    plot: PlotOption = None
    page: Path | None = option(
        "Write a printable page on how to play to this .html file.", "--print", metavar="FILE", writes=True
    )


@verb(
    "punish-fast openings veteran",
    "punish-fast openings naive.h5 --plot openings.png",
    "punish-fast openings veteran --print punish.html",
)
def openings(options: OpeningsOptions) -> None:
    """Show what to play with every opening hand, the value of the hand, and the worth of each card in hand.

    Plays are averaged over the possible revealed cards. Values are read from an agent file; for other players, they are
    the win probabilities of the best choices against the player.
    """
    from punish_fast.arena.players import Player

    player = Player(options.agent)
    if player.file is not None:
        player.file.must_have_information("view")
    check_outputs([options.page], [player.path], "show", options.plot, [".html"])
    stages = Stages(options.quiet)
    with stages("openings", "openings"):
        report = _report(options, player)
    if options.page is not None:
        with stages("self-play", "openings: self-play"):
            _write_page(options.page, player, report)
    options.print(report, _print_openings)


def _report(options: OpeningsOptions, player: Player) -> dict[str, Any]:
    """Return the report, and draw the plot if one is requested."""
    from punish_fast.punish.codes import ACTIONS, action_name, decimals_of
    from punish_fast.punish.states import openings as dealt
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.strategy import table_of_policy
    from punish_fast.study.lessons import by_hands, plays_of_hands

    space = StateSpace(player.rules or load_rules("tabletop"))
    found, policy = dealt.openings(space), player.policy(space)
    value, value_is, is_chance = _values(player, space, found)
    if options.plot is not None:
        from punish_fast.study.openings_plot import draw_openings

        draw_openings(found, value, is_chance, f"Value of openings to {player.name}", options.plot)
    hands, decimals = by_hands(found, value), decimals_of(space, found.row)
    plays = plays_of_hands(found, table_of_policy(space, policy, found.row))
    return {
        "file": options.agent,
        "is_chance": is_chance,
        "value_is": value_is,
        "mean": found.p @ value,
        "in_hand": dealt.worth_of_cards(found.hand, found.p, value),
        "revealed": dealt.worth_of_cards(found.revealed, found.p, value),
        "hands": [
            {
                "hand": by_card(hands.hand[k].tolist()),
                "probability": hands.p[k],
                "value": hands.value[k],
                "plays": {action_name(ACTIONS[c]): plays[k, c] for c in plays[k].nonzero()[0]},
            }
            for k in (-hands.value).argsort(kind="stable")
        ],
        "openings": [
            {
                "state": str(decimals[k]),
                "hand": by_card(found.hand[k].tolist()),
                "revealed": by_card(found.revealed[k].tolist()),
                "probability": found.p[k],
                "value": value[k],
            }
            for k in (-value).argsort(kind="stable")
        ],
        "plot": options.plot,
        "page": options.page,
    }


def _values(player: Player, space: StateSpace, found: Openings) -> tuple[np.ndarray, str, bool]:
    """Return the values of the openings, their description, and True if they are win probabilities."""
    from punish_fast.play.explain.reasons import as_chances
    from punish_fast.play.explain.why import explainer_against

    if player.file is not None and player.file.kind == "agent":
        player.file.must_have_states(space)
        solution, value_is = as_chances(player.file.solution()), "win probability"
    else:
        solution = explainer_against(player, space.rules).solution
        value_is = "win probability of the best choices against it"
    if solution.discount < 1:
        value_is = f"discounted value, discount {solution.discount:g}"
    return solution.v[found.row], value_is, solution.discount == 1


def _write_page(path: Path, player: Player, report: dict[str, Any]) -> None:
    from punish_fast.cli.strategies.openings_page import openings_page
    from punish_fast.duel.graph import Graph
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.runtime.files import write_text
    from punish_fast.study.frequencies import frequencies
    from punish_fast.study.selfplay import self_play

    rules = player.rules or load_rules("tabletop")
    space = StateSpace(true_rules(rules))
    situations = frequencies(self_play(Graph(space), player.policy(space)))
    write_text(path, openings_page(plain(report), rules, player.name, situations))


def _print_openings(report: dict[str, Any]) -> None:
    from punish_fast.cli.strategies.lessons_text import print_worth
    from punish_fast.cli.strategies.openings_page import letters, plays_text

    text = "{:.1%}" if report["is_chance"] else "{:.2f}"
    mean = text.format(report["mean"])
    print_text(f"Openings of {report['file']}: mean value {mean} ({report['value_is']}).")
    for name, where in (("in_hand", "in your first hand"), ("revealed", "among the revealed cards")):
        print(f"\nmean value by number of copies {where}")
        print_worth(report[name], report["is_chance"])
    rows = [
        [letters(each["hand"]), f"{each['probability']:.2%}", text.format(each["value"]), plays_text(each["plays"], 3)]
        for each in report["hands"]
    ]
    print(f"\nhands, the best first ({', '.join(f'{card[0]} {card}' for card in CARDS)}, f feint)")
    print_table([["hand", "dealt", "value", "what to play"], *rows], [True, False, False, True])
    print_report({name: report[name] for name in ("plot", "page")})
