"""Printable page of ``openings --print``: how to play, on one sheet of paper."""

from collections.abc import Iterable, Sequence
from html import escape
from math import isnan
from typing import Any

from punish_fast.play.explain.guide import in_short
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.rules import CARDS, Rules
from punish_fast.study.frequencies import PLAYS, SituationFrequencies

# Minimum share for a play to be listed.
_LEAST_SHARE = 0.005
_STYLE = """
@page { size: A4; margin: 9mm } table { border-collapse: collapse; white-space: nowrap }
body { font: 9.6px/1.3 Arial, sans-serif; color: #000; background: #fff; max-width: 192mm; margin: auto }
h1 { font-size: 22px; margin: 0 } h2 { font-size: 13px; margin: 8px 0 2px } p { margin: 2px 0 }
th, td { border: 1px solid #999; padding: 0 5px; text-align: right } th:first-child { text-align: left }
.row { display: flex; gap: 24px; align-items: start } .hands { columns: 3 }
.hands div { display: flex; break-inside: avoid; border-bottom: 1px solid #ccc } .hands b { flex: 0 0 8ch }
"""


def openings_page(report: dict[str, Any], rules: Rules, player: str, situations: Sequence[SituationFrequencies]) -> str:
    """Return the page as HTML.

    Args:
        report: Report of ``openings``, including its ``hands``.
        rules: Rules of the game.
        player: Name of the player.
        situations: The player's frequencies of plays in self-play, by situation.
    """
    taken = clash_effects(rules).taken.T
    clashes = [[card, *taken[k]] for k, card in enumerate(CARDS) if rules.copies[k]]
    worth = [
        [card, "" if each["step"] is None else f"{100 * each['step']:+.1f}"] for card, each in report["in_hand"].items()
    ]
    often = [
        [each.situation, *("" if isnan(x) else f"{100 * x:.0f}" for x in each.when_possible)] for each in situations
    ]
    hands = sorted(report["hands"], key=lambda each: tuple(each["hand"].values()), reverse=True)
    points = f"<h2>One more in your first hand (points of {report['value_is']})</h2>{_table(['card', 'points'], worth)}"
    listed = "".join(f"<div><b>{letters(each['hand'])}</b> {plays_text(each['plays'], 3)}</div>" for each in hands)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>How to play Punish well</title><style>{_STYLE}</style></head><body>
<h1>How to play Punish well</h1>
<p>{escape(" ".join(in_short(rules)))}</p>
<p>Numbers are per cent of {escape(player)}'s choices; "when you can" counts only those where the play is possible.</p>
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
    return ", ".join(
        f"{name.replace('feint with', 'f')} {share:.0%}" for name, share in ranked[:most] if share >= _LEAST_SHARE
    )


def _table(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """Return an HTML table; the first cell of each row is its header."""
    lines = ["".join(f"<th>{escape(str(cell))}</th>" for cell in head)]
    lines += [f"<th>{escape(str(name))}</th>" + "".join(f"<td>{cell}</td>" for cell in cells) for name, *cells in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
