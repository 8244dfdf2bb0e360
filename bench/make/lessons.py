"""Write the page ``docs/lessons.md``: ``python -m bench.make.lessons EQ.h5``.

Tables and sentences that depend on the strategy are in blocks between two HTML comments. The command generates the
blocks and the figures from a strategy file. The block and the figure about mistakes in recorded games also need the
option ``--db``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from bench.harness import ROOT, say
from bench.make.pictures import shrink
from bench.report import Table, markdown
from punish_fast.cli.frame.errors import guarded
from punish_fast.cli.frame.report import UsageError
from punish_fast.cli.strategies.lessons_text import caveats, extremes
from punish_fast.punish.rules import cards_text
from punish_fast.study.frequencies import PLAYS
from punish_fast.study.lessons_plot import draw_lessons

PAGE = ROOT / "docs" / "lessons.md"
# File of each figure, by row of the plot.
FIGURES = {"worth": "lessons-worth.png", "hands": "lessons-hands.png", "frequencies": "lessons-frequencies.png"}
PEOPLE_FIGURE = {"people": "lessons-people.png"}

_HANDS = 3
_WORST = 4
# Maximum number of sentences in the list at the top of the page.
_SENTENCES = 10
_GROUPINGS = ("all", "breath", "enemy", "hp")
# Groupings whose situations are described in sentences, and the word before the situation.
_WHEN = {"breath": "In ", "enemy": "If ", "hp": "At "}
# A sentence describes each play that is chosen in at least this share of the states that allow it.
_OFTEN = 0.5


def blocks_of(report: dict[str, Any], origin: dict[str, Any] | None) -> dict[str, str]:
    """Return the blocks by name, given the report of ``lessons --json`` and the origin of the strategy."""
    blocks = {
        "sentences": _sentences(report),
        "source": _source(report, origin or {}),
        "hands": _hands(report),
        "frequencies": _frequencies(report),
    }
    if report["people"] is not None:
        blocks["people"] = _people(report["people"])
    return blocks


def _source(report: dict[str, Any], origin: dict[str, Any]) -> str:
    made = f" after {origin['iterations']:,} iterations" if "iterations" in origin else ""
    lines = [
        f"All numbers describe a strategy with the model `{report['information']}`{made},",
        f"under the rules `{report['rules']}`.",
        f"When it plays both sides, a game takes {report['length']:.1f} breaths on average.",
    ]
    if "exploitability" in origin:
        lines.append(f"Its exploitability is {origin['exploitability']:.1f} points.")
    return "\n".join(lines)


def _sentences(report: dict[str, Any]) -> str:
    """Return the numbered list of sentences at the top of the page, from general advice to rare situations."""
    found = [*_hp_sentences(report), _hands_sentence(report), _kept_sentence(report)]
    found += [_feint_sentence(report["frequencies"][0]), *_turns(report["frequencies"])]
    return "\n".join(
        fill(f"{number}. {sentence}", 120, subsequent_indent="   ", break_on_hyphens=False)
        for number, sentence in enumerate(filter(None, found[:_SENTENCES]), 1)
    )


def _hp_sentences(report: dict[str, Any]) -> list[str]:
    win = {(each["own"], each["enemy"]): 100 * each["win"] for each in report["hp_before_deals"]}
    return [
        f"Before a deal, a player with {own} HP against {enemy} wins {share:.0f} games of 100."
        for (own, enemy), share in win.items()
        if own == enemy + 1
    ]


def _hands_sentence(report: dict[str, Any]) -> str:
    steps = {card: each["step"] for card, each in report["in_hand"].items() if each["step"] is not None}
    best, worst = max(steps, key=lambda card: steps[card]), min(steps, key=lambda card: steps[card])
    return (
        f"In the opening hand, an extra {best} helps most ({_points(steps[best])} points), "
        f"and an extra {worst} hurts most ({_points(steps[worst])})."
    )


def _kept_sentence(report: dict[str, Any]) -> str:
    gain = {card: each["over_fresh"] for card, each in report["kept"].items() if each["over_fresh"] is not None}
    order = sorted(gain, key=lambda card: -gain[card])
    good = _listed([f"{card} ({_points(gain[card])})" for card in order if gain[card] > 0], "and")
    bad = _listed([f"{card} ({_points(gain[card])})" for card in reversed(order) if gain[card] < 0], "and")
    return f"For the next measure, keep {good or 'no card'} rather than {bad or 'no card'}." if gain else ""


def _feint_sentence(always: dict[str, Any]) -> str:
    given = {card: share for card, share in always["given_up"].items() if share is not None}
    order = sorted(given, key=lambda card: -given[card])[:2]
    named = _listed([f"{card} ({_percent(given[card], 0)})" for card in order], "or")
    return f"Feint in {_percent(always['shares']['feint'], 0)} of all choices, mostly with {named}." if named else ""


def _listed(names: list[str], word: str) -> str:
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _hands(report: dict[str, Any]) -> str:
    hands = report["hands"]
    rows = [["hand", "wins"]]
    rows += [
        [cards_text(each["hand"].values()), _percent(each["win"], 1)]
        for each in [*hands[:_HANDS], *hands[max(_HANDS, len(hands) - _HANDS) :]]
    ]
    most = max(copies for each in report["in_hand"].values() for copies in each["copies"])
    copies = [["copies in hand", *map(str, range(most + 1)), "one more"]]
    for card, each in report["in_hand"].items():
        win = dict(zip(each["copies"], each["mean"], strict=True))
        copies.append([card, *(_percent(win.get(n), 1) for n in range(most + 1)), _points(each["step"])])
    return "\n".join([*markdown(rows), "", *markdown(copies)])


def _frequencies(report: dict[str, Any]) -> str:
    rows = [["", *PLAYS]]
    for grouping in _GROUPINGS:
        rows += [_situation_row(situation) for situation in report["frequencies"] if situation["grouping"] == grouping]
    return "\n".join(markdown(rows))


def _situation_row(situation: dict[str, Any]) -> list[str]:
    return [situation["situation"], *(_percent(situation["when_possible"][play], 0) for play in PLAYS)]


def _turns(frequencies: list[dict[str, Any]]) -> list[str]:
    """Return sentences on plays that are chosen in most states that allow them, in descending order of frequency."""
    found = [
        (share, f"{_WHEN[each['grouping']]}{each['situation']}{_play_text(play, each)} {100 * share:.0f} times in 100.")
        for each in frequencies
        if each["grouping"] in _WHEN
        for play, share in each["when_possible"].items()
        if share is not None and share >= _OFTEN
    ]
    return [sentence for _, sentence in sorted(found, key=lambda each: -each[0])]


def _play_text(play: str, situation: dict[str, Any]) -> str:
    condition = " and" if situation["grouping"] == "enemy" else ", if"
    return f"{condition} a feint is left, feint" if play == "feint" else f"{condition} you hold a {play}, play it"


def _people(people: dict[str, Any]) -> str:
    everything = people["costs"][0]
    error = people["loss_per_game_error"]
    often, seldom = (each.replace(" for ", " instead of ") for each in extremes(everything))
    own = 100 * people["strategy_loss_per_choice"]
    margin = "" if error is None else f" +- {200 * error:.0f}"
    lines = [
        f"The study covers {people['choices']:,} choices between legal actions in {people['games']:,} recorded games.",
        f"A choice loses {100 * everything['loss']:.1f} points on average,",
        f"and the choices of a player in one game lose {100 * people['loss_per_game']:.0f}{margin} points together.",
        f"In the same states, the strategy's own choices lose {own:.1f} points, because the strategy is approximate.",
        f"Most overplayed, in percent: {often}. Most underplayed: {seldom}.",
        *(_sentence(line) for line in caveats(people)),
        "",
    ]
    kinds: Table = [["situation", "choices", "a choice loses", "+-", "too often", "too seldom"]]
    for cost in people["worst"][:_WORST]:
        error = "" if cost["loss_error"] is None else f"{200 * cost['loss_error']:.1f}"
        kinds.append([cost["situation"], f"{cost['choices']:,}", f"{100 * cost['loss']:.1f}", error, *extremes(cost)])
    return "\n".join([*lines, *markdown(kinds)])


def _percent(share: float | None, digits: int) -> str:
    return "" if share is None else f"{100 * share:.{digits}f} %"


def _points(gain: float | None) -> str:
    return "" if gain is None else f"{100 * gain:+.1f}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def replaced(text: str, blocks: dict[str, str]) -> str:
    """Return the page ``text`` with its blocks replaced."""
    for name, block in blocks.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise UsageError(f"page: {end if found else begin} is missing")
        text = f"{before}{begin}\n\n{block}\n\n{end}{after}"
    return text


def make(file: Path, games: Path | None, page: Path = PAGE) -> list[Path]:
    """Write the blocks of the page and the figures from a strategy or agent file. Return the files written."""
    from punish_fast.cli.strategies.lessons import LessonsOptions, study_file
    from punish_fast.store.reader import load

    text = page.read_text(encoding="utf-8")
    found, people, report = study_file(LessonsOptions(agent=str(file), db=games))
    text = replaced(text, blocks_of(report, load(file).origin))
    written = [page]
    with tempfile.TemporaryDirectory() as folder:
        for row, name in (FIGURES | (PEOPLE_FIGURE if games is not None else {})).items():
            drawn = Path(folder) / name
            draw_lessons(found, people, "", drawn, rows=[row])
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
