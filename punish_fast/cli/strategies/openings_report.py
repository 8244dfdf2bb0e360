"""Report of ``openings``, and the printable one-page guide to playing of ``openings --print``."""

from collections.abc import Iterable, Sequence
from html import escape
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.arena.players import Player
from punish_fast.cli.frame.report import Column, plain, print_report, print_rows, print_text
from punish_fast.cli.strategies.lessons_text import print_worth
from punish_fast.duel.graph import GameGraph
from punish_fast.play.explain.guide import in_short
from punish_fast.play.explain.reasons import as_chances
from punish_fast.play.explain.why import explainer_against
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.codes import ACTIONS, action_name, decimals_of
from punish_fast.punish.rules import CARDS, Rules, by_card, true_rules
from punish_fast.punish.states import openings as dealt
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import table_of_policy
from punish_fast.runtime.files import write_text
from punish_fast.store.reader import require_states
from punish_fast.study.frequencies import PLAYS, SituationFrequencies, frequencies
from punish_fast.study.lessons import by_hands, plays_of_hands
from punish_fast.study.selfplay import self_play

# Minimum share of a listed play.
_LEAST_SHARE = 0.005
_STYLE = """
@page { size: A4; margin: 9mm } table { border-collapse: collapse; white-space: nowrap }
body { font: 9.6px/1.3 Arial, sans-serif; color: #000; background: #fff; max-width: 192mm; margin: auto }
h1 { font-size: 22px; margin: 0 } h2 { font-size: 13px; margin: 8px 0 2px } p { margin: 2px 0 }
th, td { border: 1px solid #999; padding: 0 5px; text-align: right } th:first-child { text-align: left }
.row { display: flex; gap: 24px; align-items: start } .hands { columns: 3 }
.hands div { display: flex; break-inside: avoid; border-bottom: 1px solid #ccc } .hands b { flex: 0 0 8ch }
"""


def openings_report(agent: str, player: Player, rules: Rules, plot: Path | None) -> dict[str, Any]:
    """Return the report, and draw the plot if one is requested."""
    space = StateSpace(rules)
    found, policy = dealt.openings(space), player.policy(space)
    value, value_is, is_chance = _values(player, space, found)
    if plot is not None:
        from punish_fast.study.openings_plot import draw_openings

        draw_openings(found, value, is_chance, f"Value of openings to {player.name}", plot)
    hands, decimals = by_hands(found, value), decimals_of(space, found.state)
    plays = plays_of_hands(found, table_of_policy(space, policy, found.state))
    return {
        "file": agent,
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
        "plot": plot,
    }


def _values(player: Player, space: StateSpace, found: dealt.Openings) -> tuple[np.ndarray, str, bool]:
    """Return the values of the openings, their description, and True if they are win probabilities."""
    if player.file is not None and player.file.kind == "agent":
        require_states(player.file, space)
        solution, value_is = as_chances(player.file.solution()), "win probability"
    else:
        solution = explainer_against(player, space.rules).solution
        value_is = "win probability of the best choices against it"
    if solution.discount < 1:
        value_is = f"discounted value, discount {solution.discount:g}"
    return solution.v[found.state], value_is, solution.discount == 1


def write_page(path: Path, player: Player, rules: Rules, report: dict[str, Any]) -> None:
    """Write the printable page."""
    space = StateSpace(true_rules(rules))
    situations = frequencies(self_play(GameGraph(space), player.policy(space)))
    write_text(path, _page(plain(report), rules, player.name, situations))


def print_openings(report: dict[str, Any]) -> None:
    """Print the report: worth of cards and hands, and what to play."""
    print_text(f"openings of {report['file']}: {report['value_is']}")
    for name, where in (("in_hand", "in your first hand"), ("revealed", "among the revealed cards")):
        print_worth(f"mean value by number of copies {where}", report[name], report["is_chance"])
    columns: dict[str, Column] = {"hand": lambda each: letters(each["hand"]), "dealt": "{probability:.2%}"}
    form = ".1%" if report["is_chance"] else ".2f"
    columns |= {"value": f"{{value:{form}}}", "what to play": lambda each: plays_text(each["plays"], 3)}
    title = f"hands, the best first ({', '.join(f'{card[0]} {card}' for card in CARDS)}, f feint)"
    print_rows(report["hands"], columns, left=[True, False, False, True], title=title)
    print_report({name: report[name] for name in ("plot", "page")})
    print_text(f"The mean value of the openings is {report['mean']:{form}}.", first="\n")


def _page(report: dict[str, Any], rules: Rules, player: str, situations: Sequence[SituationFrequencies]) -> str:
    """Return the page as HTML.

    Args:
        report: Report of ``openings``, including its ``hands``.
        rules: Rules of the game.
        player: Name of the player.
        situations: The player's frequencies of plays in self-play, by situation.
    """
    taken = clash_effects(rules).taken.T
    clashes = [[card, *taken[k]] for k, card in enumerate(CARDS) if rules.copies[k]]
    worth = [[card, "" if of["step"] is None else f"{100 * of['step']:+.1f}"] for card, of in report["in_hand"].items()]
    often = [[row.situation, *("" if isnan(x) else f"{100 * x:.0f}" for x in row.when_possible)] for row in situations]
    hands = sorted(report["hands"], key=lambda each: tuple(each["hand"].values()), reverse=True)
    points = f"<h2>One more in your first hand (points of {report['value_is']})</h2>{_table(['card', 'points'], worth)}"
    listed = "".join(f"<div><b>{letters(each['hand'])}</b> {plays_text(each['plays'], 3)}</div>" for each in hands)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>How to play Punish well</title><style>{_STYLE}</style></head><body>
<h1>How to play Punish well</h1>
<p>{escape(" ".join(in_short(rules)))}</p>
<p>Numbers are percentages of {escape(player)}'s choices. "When you can" counts only choices where the play is possible.
</p>
<div class="row"><div><h2>Damage of your card (row) to the other card</h2>{_table(["", *CARDS, "rest"], clashes)}
{points if report["is_chance"] else ""}</div>
<div><h2>How often to play each card when you can</h2>{_table(["situation", *PLAYS], often)}</div></div>
<h2>What to play first, by hand ({", ".join(map("{0[0]} {0}".format, CARDS))}, f guard: feint with guard)</h2>
<div class="hands">{listed}</div></body></html>
"""


def letters(hand: dict[str, int]) -> str:
    """Format a hand by the initials of its cards, such as ``rrspp``."""
    return "".join(card[0] * n for card, n in hand.items())


def plays_text(plays: dict[str, float], most: int) -> str:
    """Format up to ``most`` of the most frequent plays: ``rush 60%, f guard 40%`` for rush and a feint with guard."""
    ranked = sorted(plays.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name.replace('feint with', 'f')} {p:.0%}" for name, p in ranked[:most] if p >= _LEAST_SHARE)


def _table(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """Return an HTML table. The first cell of each row is its header."""
    lines = ["".join(f"<th>{escape(str(cell))}</th>" for cell in head)]
    lines += [f"<th>{escape(str(name))}</th>" + "".join(f"<td>{cell}</td>" for cell in cells) for name, *cells in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
