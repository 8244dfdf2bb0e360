"""Write the page ``docs/lessons.md``: ``python -m bench.make.lessons EQ.h5``.

All numbers of the page, and all sentences that depend on the strategy, are in blocks between two comments. The command
writes the blocks and the figures from a strategy file. Only with ``--db DB`` does it write the block and the
figure about where people deviate.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.harness import ROOT, say
from bench.make.pictures import shrink
from bench.report import Table, markdown
from punish_fast.cli.frame.errors import UsageError, guarded
from punish_fast.cli.strategies.lessons_text import caveats, extremes
from punish_fast.punish.rules import CARDS, cards_text
from punish_fast.study.frequencies import PLAYS
from punish_fast.study.lessons_plot import draw_lessons

PAGE = ROOT / "docs" / "lessons.md"
# Figures by the row of the plot.
FIGURES = {"worth": "lessons-worth.png", "hands": "lessons-hands.png", "frequencies": "lessons-frequencies.png"}
PEOPLE_FIGURE = {"people": "lessons-people.png"}

_HANDS = 5
_WORST = 6
_GROUPINGS = ("all", "breath", "enemy", "hp")
# Plays chosen in at least this share of the states that allow them get a sentence.
_OFTEN = 0.5


def blocks_of(report: dict[str, Any], origin: dict[str, Any] | None) -> dict[str, str]:
    """Return the blocks by name, from the JSON of ``lessons --json`` and the origin of the strategy."""
    blocks = {
        "source": _source(report, origin or {}),
        "hp": _hp(report),
        "hands": _hands(report),
        "kept": _kept(report),
        "frequencies": _frequencies(report),
    }
    if report["people"] is not None:
        blocks["people"] = _people(report["people"])
    return blocks


def _source(report: dict[str, Any], origin: dict[str, Any]) -> str:
    made = f" after {origin['iterations']:,} iterations" if "iterations" in origin else ""
    lines = [
        f"All numbers are of a strategy of the model `{report['information']}`{made},",
        f"under the rules `{report['rules']}`.",
        f"When it plays both sides, a game takes {report['length']:.1f} breaths on average.",
    ]
    if "exploitability" in origin:
        lines.append(f"Its exploitability is {origin['exploitability']:.1f} points.")
    return "\n".join(lines)


def _hp(report: dict[str, Any]) -> str:
    before = {(each["own"], each["enemy"]): each["win"] for each in report["hp_before_deals"]}
    lines: list[str] = []
    for key in ("hp_before_deals", "hp_during_measures"):
        when = "before a deal" if key == "hp_before_deals" else "later in a measure"
        win = {(each["own"], each["enemy"]): each["win"] for each in report[key]}
        owns, enemies = (sorted({pair[k] for pair in win}, reverse=True) for k in (0, 1))
        rows = [[when, *(f"enemy {enemy} HP" for enemy in enemies)]]
        rows += [[f"{own} HP", *(_percent(win.get((own, enemy)), 1) for enemy in enemies)] for own in owns]
        lines += [*markdown(rows), ""]
    ahead = {pair: win for pair, win in before.items() if pair[0] == pair[1] + 1}
    told = [
        f"a player with {own} HP against {enemy} wins {100 * win:.0f} games of 100"
        for (own, enemy), win in ahead.items()
    ]
    if told:
        lines.append(_sentence("Before the cards are dealt, " + ", and ".join(told)))
    return "\n".join(lines)


def _hands(report: dict[str, Any]) -> str:
    hands = report["hands"]
    rows = [["hand", "dealt", "wins"]]
    rows += [
        [cards_text(each["hand"].values()), _percent(each["probability"], 2), _percent(each["win"], 1)]
        for each in [*hands[:_HANDS], *hands[max(_HANDS, len(hands) - _HANDS) :]]
    ]
    most = max(copies for each in report["in_hand"].values() for copies in each["copies"])
    copies = [["copies in hand", *map(str, range(most + 1)), "one more"]]
    for card, each in report["in_hand"].items():
        win = dict(zip(each["copies"], each["mean"], strict=True))
        copies.append([card, *(_percent(win.get(n), 1) for n in range(most + 1)), _points(each["step"])])
    steps = {card: each["step"] for card, each in report["in_hand"].items() if each["step"] is not None}
    best, worst = max(steps, key=lambda card: steps[card]), min(steps, key=lambda card: steps[card])
    told = [
        f"The best hand wins {_percent(hands[0]['win'], 0)} and the worst {_percent(hands[-1]['win'], 0)}.",
        f"On average, an extra {best} helps most ({_points(steps[best])} points)",
        f"and an extra {worst} hurts most ({_points(steps[worst])}).",
    ]
    return "\n".join([*markdown(rows), "", *markdown(copies), "", *told])


def _kept(report: dict[str, Any]) -> str:
    kept = report["kept"]
    rows = [["kept", "how often", "rather than a fresh card", *(f"than {card}" for card in CARDS)]]
    for card, each in kept.items():
        others = ["" if other == card else _points(gain) for other, gain in each["over_other"].items()]
        rows.append([card, _percent(each["share"], 0), _points(each["over_fresh"]), *others])
    gain = {card: each["over_fresh"] for card, each in kept.items() if each["over_fresh"] is not None}
    order = sorted(gain, key=lambda card: -gain[card])
    good = [f"{card} ({_points(gain[card])})" for card in order if gain[card] > 0]
    bad = [f"{card} ({_points(gain[card])})" for card in reversed(order) if gain[card] < 0]
    told = [
        f"Worth keeping, best first: {', '.join(good) or 'none'}.",
        f"Worth getting rid of, worst first: {', '.join(bad) or 'none'}.",
    ]
    return "\n".join([*markdown(rows), "", *told])


def _frequencies(report: dict[str, Any]) -> str:
    frequencies = report["frequencies"]
    rows = [["", *PLAYS]]
    for grouping in _GROUPINGS:
        rows += [_situation_row(situation) for situation in frequencies if situation["grouping"] == grouping]
    always = frequencies[0]
    given = {card: share for card, share in always["given_up"].items() if share is not None}
    order = sorted(given, key=lambda card: -given[card])
    told = [f"Of all choices, {_percent(always['shares']['feint'], 0)} are feints"]
    if order:
        named = " and ".join(f"{card} ({_percent(given[card], 0)})" for card in order[:2])
        told[0] += f"; the cards given up most often are {named}"
    told += _turns(frequencies)
    return "\n".join([*markdown(rows), "", *(f"- {_sentence(line)}" for line in told)])


def _situation_row(situation: dict[str, Any]) -> list[str]:
    cells = []
    for play in PLAYS:
        share, possible = situation["shares"][play], situation["when_possible"][play]
        cells.append("" if possible is None else f"{100 * share:.0f} / {100 * possible:.0f}")
    return [situation["situation"], *cells]


def _turns(frequencies: list[dict[str, Any]]) -> list[str]:
    """Return sentences on plays that are chosen in most states that allow them."""
    lines = []
    for situation in frequencies:
        often = {
            play: share for play, share in situation["when_possible"].items() if share is not None and share >= _OFTEN
        }
        if not often or situation["grouping"] == "hand":
            continue
        order = sorted(often, key=lambda play: -often[play])
        told = " and ".join(f"{play} in {_percent(often[play], 0)} of the choices that allow it" for play in order)
        lines.append(f"{situation['situation']}: {told}")
    return lines


def _people(people: dict[str, Any]) -> str:
    everything = people["costs"][0]
    error = people["loss_per_game_error"]
    often, seldom = extremes(everything)
    own = 100 * people["strategy_loss_per_choice"]
    margin = "" if error is None else f" +- {200 * error:.0f}"
    lines = [
        f"In {people['games']:,} recorded games people made {people['choices']:,} choices between legal actions.",
        f"The average choice loses {100 * everything['loss']:.1f} points,",
        f"and all choices of a player in one game lose {100 * people['loss_per_game']:.0f}{margin} points together.",
        f"By the same measure, in the same states, a choice of the strategy itself loses {own:.1f} points,",
        "since it is not perfect.",
        f"Most overplayed, in per cent: {often}; most underplayed: {seldom}.",
        *(_sentence(line) for line in caveats(people)),
        "",
    ]
    plays: Table = [["", "choices", "people", "strategy", "a choice loses", "+-", "of all losses"]]
    for cost in (cost for cost in people["costs"] if cost["grouping"] == "play"):
        play = cost["situation"]
        shares = [_percent(everything[who][play], 0) for who in ("people", "strategy")]
        plays.append([play, f"{cost['choices']:,}", *shares, *_losses(cost)])
    kinds: Table = [["", "choices", "a choice loses", "+-", "of all losses", "too often", "too seldom"]]
    for cost in people["worst"][:_WORST]:
        kinds.append([cost["situation"], f"{cost['choices']:,}", *_losses(cost), *extremes(cost)])
    return "\n".join([*lines, *markdown(plays), "", *markdown(kinds)])


def _losses(cost: dict[str, Any]) -> list[str]:
    error = "" if cost["loss_error"] is None else f"{200 * cost['loss_error']:.1f}"
    return [f"{100 * cost['loss']:.1f}", error, _percent(cost["share"], 0)]


def _percent(share: float | None, digits: int) -> str:
    return "" if share is None else f"{100 * share:.{digits}f} %"


def _points(gain: float | None) -> str:
    return "" if gain is None else f"{100 * gain:+.1f}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def replaced(text: str, blocks: dict[str, str]) -> str:
    """Return the page ``text`` with new ``blocks``."""
    for name, block in blocks.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise UsageError(f"page: {end if found else begin} is missing")
        text = f"{before}{begin}\n\n{block}\n\n{end}{after}"
    return text


def make(file: Path, games: Path | None, page: Path = PAGE) -> list[Path]:
    """Write the blocks of the page, and the figures, from a strategy or agent; return the files written."""
    from punish_fast.cli.strategies.lessons import LessonsOptions, study_file
    from punish_fast.store.reader import load

    text = page.read_text(encoding="utf-8")
    study = study_file(LessonsOptions(agent=str(file), db=games))
    text = replaced(text, blocks_of(study.report, load(file).origin))
    written = [page]
    with tempfile.TemporaryDirectory() as folder:
        for row, name in (FIGURES | (PEOPLE_FIGURE if games is not None else {})).items():
            drawn = Path(folder) / name
            draw_lessons(study.lessons, study.people, "", drawn, rows=[row])
            shrink(drawn, page.parent / name)
            written.append(page.parent / name)
    page.write_text(text, encoding="utf-8")
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.make.lessons", description="Write docs/lessons.md and its figures."
    )
    parser.add_argument("file", type=Path, metavar="EQ.h5", help="a strategy or an agent file")
    parser.add_argument("--db", type=Path, metavar="DB", help="a database of recorded games")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help="default: docs/lessons.md")
    options = parser.parse_args(arguments)

    def run() -> None:
        for path in make(options.file, options.db, options.page):
            say(f"wrote {path}")
        if options.db is None:
            say("without --db, the block on people stays unchanged")

    return guarded(run)


if __name__ == "__main__":
    sys.exit(main())
