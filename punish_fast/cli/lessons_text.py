"""What ``show --lessons`` prints: short tables, each with a line that says how to read it."""

from __future__ import annotations

from typing import Any

from punish_fast.cli.openings import print_worth
from punish_fast.cli.report import print_table
from punish_fast.punish.rules import CARDS, cards_text
from punish_fast.study.frequencies import PLAYS

_HANDS = 5
_WORST = 8
# Frequencies that differ by less are not worth a remark.
_LEAST_DIFFERENCE = 0.02


def print_lessons(report: dict[str, Any]) -> None:
    """Print a report of ``show --lessons``."""
    print(f"what {report['agent']} teaches: rules {report['rules']}, information {report['information']};")
    print(
        f"it plays both sides, {report['length']:.2f} breaths a game; gains and losses are points: games in a hundred"
    )
    _print_hps(report)
    _print_hands(report)
    _print_kept(report["kept"])
    _print_habits(report["habits"])
    if report["people"] is not None:
        _print_people(report["people"])
    if report["plot"] is not None:
        print(f"\nwrote {report['plot']}")


def _print_hps(report: dict[str, Any]) -> None:
    for title, key in (
        ("HP: chance to win before the cards of a measure are dealt", "hp_before_deals"),
        ("HP: chance to win later in a measure, as games come to it", "hp_during_measures"),
    ):
        if report[key]:
            print(f"\n{title}")
            print_table(_hp_rows(report[key]), indent="  ")


def _hp_rows(entries: list[dict[str, Any]]) -> list[list[str]]:
    win = {(entry["own"], entry["enemy"]): entry["win"] for entry in entries}
    owns, enemies = (sorted({pair[k] for pair in win}, reverse=True) for k in (0, 1))
    rows = [["", *(f"enemy {enemy} HP" for enemy in enemies)]]
    rows += [[f"{own} HP", *(_chance(win.get((own, enemy))) for enemy in enemies)] for own in owns]
    return rows


def _print_hands(report: dict[str, Any]) -> None:
    hands = report["hands"]
    mean = _chance(report["mean"])
    print(f"\nopening hands: chance to win with the best and the worst of {len(hands)}, {mean} on average")
    shown = [*hands[:_HANDS], *hands[max(_HANDS, len(hands) - _HANDS) :]]
    rows = [["hand", "dealt", "wins"]]
    rows += [[cards_text(entry["hand"]), f"{entry['probability']:.2%}", _chance(entry["win"])] for entry in shown]
    print_table(rows, indent="  ")
    print("\nopening hands: chance to win by copies of a card, and what one more is worth on average")
    print_worth(report["in_hand"], "{:.1%}")


def _print_kept(kept: dict[str, Any]) -> None:
    print(
        "\nkept cards: what it is worth to hold the card over a redeal, rather than a card freshly drawn or another one"
    )
    rows = [["", "kept", "than fresh", *(f"than {card}" for card in CARDS)]]
    for card, each in kept.items():
        others = ["-" if other == card else _points(gain) for other, gain in each["over_other"].items()]
        rows.append([card, _percent(each["share"]), _points(each["over_fresh"]), *others])
    print_table(rows, indent="  ")


def _print_habits(habits: list[dict[str, Any]]) -> None:
    print(
        "\nhow often to play what, in per cent: of all choices / of those in which it is possible (a feint: any card)"
    )
    rows = [["", "a game", *PLAYS]]
    for habit in habits:
        cells = [
            f"{_percent(habit['shares'][play])} / {_percent(habit['when_possible'][play])}"
            if habit["when_possible"][play] is not None
            else "-"
            for play in PLAYS
        ]
        rows.append([habit["situation"], f"{habit['choices']:.2f}", *cells])
    print_table(rows, indent="  ")
    given = habits[0]["given_up"] if habits else {}
    if any(share is not None for share in given.values()):
        print("  cards given up by feints: " + ", ".join(f"{card} {_percent(given[card])}" for card in CARDS))


def _print_people(people: dict[str, Any]) -> None:
    print(f"\npeople: {people['games']:,} recorded games, {people['choices']:,} choices between legal actions")
    for line in caveats(people):
        print(f"  {line}")
    error = "" if people["loss_per_game_error"] is None else f" +- {200 * people['loss_per_game_error']:.1f}"
    loss = 100 * people["loss_per_game"]
    print(f"  all choices of a player in a game lose {loss:.1f}{error} points together (+- two standard errors)")
    own = 100 * people["strategy_loss_per_choice"]
    print(f"  by the same measure, a choice of the strategy itself would lose {own:.2f} points in the same states")
    print("\npeople: how often they play what in per cent, what the strategy would, and what a choice loses")
    rows = [["", "choices", "people", "strategy", "loses", "+-", "of all losses"]]
    everything = people["costs"][0]
    for cost in (cost for cost in people["costs"] if cost["grouping"] == "play"):
        play = cost["situation"]
        rows.append(
            [play, *_cost_cells(cost, _percent(everything["people"][play]), _percent(everything["strategy"][play]))]
        )
    print_table(rows, indent="  ")
    print("\npeople: by situation, and the worst that come often; what they play most too often and most too seldom")
    rows = [["", "choices", "loses", "+-", "of all losses", "too often", "too seldom"]]
    shown = [cost for cost in people["costs"] if cost["grouping"] != "play"] + people["worst"][:_WORST]
    rows += [[cost["situation"], *_cost_cells(cost), *extremes(cost)] for cost in shown]
    print_table(rows, indent="  ")


def caveats(people: dict[str, Any]) -> list[str]:
    """What is left out of a report on people, or not certain, in lines."""
    lines = [
        f"left out {people[key]:,} choices {reason}"
        for key, reason in (("illegal", "not legal in their state"), ("unknown", "in states that no game reaches"))
        if people[key]
    ]
    unsure = people["choices"] - people["certain"]
    if unsure:
        lines.append(f"of {unsure:,} choices it is not on record who had played what: these are means over what may be")
    return lines


def extremes(cost: dict[str, Any]) -> tuple[str, str]:
    """What people play most too often, and most too seldom: ``dodge 32 for 19``."""
    surplus = {play: cost["people"][play] - cost["strategy"][play] for play in PLAYS}
    often, seldom = max(surplus, key=lambda play: surplus[play]), min(surplus, key=lambda play: surplus[play])
    cells = []
    for play in (often, seldom):
        told = f"{play} {_percent(cost['people'][play])} for {_percent(cost['strategy'][play])}"
        cells.append(told if abs(surplus[play]) >= _LEAST_DIFFERENCE else "-")
    return cells[0], cells[1]


def _cost_cells(cost: dict[str, Any], *shares: str) -> list[str]:
    error = "-" if cost["loss_error"] is None else f"{200 * cost['loss_error']:.1f}"
    return [f"{cost['choices']:,}", *shares, f"{100 * cost['loss']:.1f}", error, f"{cost['share']:.0%}"]


def _chance(win: float | None) -> str:
    return "" if win is None else f"{win:.1%}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}"


def _points(gain: float | None) -> str:
    return "-" if gain is None else f"{100 * gain:+.1f}"
