"""Text output of ``lessons``: short tables, each after a line that explains how to read it, then three headlines."""

from typing import Any

from punish_fast.cli.frame.report import print_table, print_text
from punish_fast.punish.rules import CARDS, cards_text

_HANDS = 5
_WORST = 8
# Minimum difference in frequency for a play to be called overplayed or underplayed.
_LEAST_DIFFERENCE = 0.02


def print_lessons(report: dict[str, Any]) -> None:
    """Print the report of ``lessons``."""
    print_text(
        f"{report['agent']}, rules {report['rules']}, information {report['information']}: "
        f"self-play, {report['length']:.2f} breaths per game; one point is one game in a hundred"
    )
    _print_hps(report)
    _print_hands(report)
    _print_kept(report["kept"])
    _print_frequencies(report["frequencies"])
    if report["people"] is not None:
        _print_people(report["people"])
    if report["plot"] is not None:
        print(f"\nwrote {report['plot']}")
    print()
    for headline in headlines(report):
        print_text(headline, "  ", "* ")


def headlines(report: dict[str, Any]) -> list[str]:
    """Return up to three sentences that summarize the main findings of a report."""
    found = [_people_headline(report["people"])] if report["people"] is not None else []
    best, worst = report["hands"][0], report["hands"][-1]
    steps = _ranked({card: each["step"] for card, each in report["in_hand"].items()})
    step = f"; one more {steps[0][0]} is worth {_points(steps[0][1])} points" if steps else ""
    found.append(
        f"The best opening hand wins {_share(best['win'])} ({cards_text(best['hand'].values())}), the worst "
        f"{_share(worst['win'])} ({cards_text(worst['hand'].values())}){step}."
    )
    kept = _ranked({card: each["over_fresh"] for card, each in report["kept"].items()})
    if kept:
        (keep, gain), (drop, loss) = kept[0], kept[-1]
        found.append(
            f"Of the cards kept over the redeal, {keep} gains most over a fresh card ({_points(gain)} points) and "
            f"{drop} least ({_points(loss)})."
        )
    ahead = [each for each in report["hp_before_deals"] if each["own"] == each["enemy"] + 1]
    if ahead:
        told = [f"{each['own']} HP against {each['enemy']} win {_share(each['win'])}" for each in ahead]
        found.append(f"Before the deal, {' and '.join(told)} of games.")
    if report["frequencies"]:
        told = [f"{play} {_percent(share)} %" for play, share in _ranked(report["frequencies"][0]["shares"])]
        found.append(f"Share of all choices: {', '.join(told)}.")
    return found[:3]


def _people_headline(people: dict[str, Any]) -> str:
    often, seldom = extremes(people["costs"][0])
    loss = f"People lose {100 * people['loss_per_game']:.1f} points per game"
    told = [f"too {word}: {play}" for word, play in (("often", often), ("seldom", seldom)) if play != "-"]
    return f"{loss}; played {', '.join(told)} (in per cent)." if told else f"{loss}."


def _ranked(values: dict[str, float | None]) -> list[tuple[str, float]]:
    return sorted(((name, value) for name, value in values.items() if value is not None), key=lambda each: -each[1])


def _print_title(title: str) -> None:
    print()
    print_text(title)


def _print_hps(report: dict[str, Any]) -> None:
    for title, key in (
        ("HP: win probability before a measure is dealt", "hp_before_deals"),
        ("HP: win probability later in a measure, averaged over self-play", "hp_during_measures"),
    ):
        if report[key]:
            _print_title(title)
            print_table(_hp_rows(report[key]), indent="  ")


def _hp_rows(entries: list[dict[str, Any]]) -> list[list[str]]:
    win = {(entry["own"], entry["enemy"]): entry["win"] for entry in entries}
    owns, enemies = (sorted({pair[k] for pair in win}, reverse=True) for k in (0, 1))
    rows = [["", *(f"enemy {enemy} HP" for enemy in enemies)]]
    return rows + [[f"{own} HP", *(_share(win.get((own, enemy))) for enemy in enemies)] for own in owns]


def _print_hands(report: dict[str, Any]) -> None:
    hands = report["hands"]
    _print_title(
        f"opening hands: win probability of the best and the worst of {len(hands)}; on average {_share(report['mean'])}"
    )
    shown = [*hands[:_HANDS], *hands[max(_HANDS, len(hands) - _HANDS) :]]
    rows = [["hand", "dealt", "wins"]]
    rows += [
        [cards_text(entry["hand"].values()), f"{entry['probability']:.2%}", _share(entry["win"])] for entry in shown
    ]
    print_table(rows, indent="  ")
    _print_title("opening hands: win probability by number of copies of a card, and the average gain from one more")
    print_worth(report["in_hand"])


def print_worth(worth: dict[str, Any], is_chance: bool = True) -> None:
    """Print the value by number of copies of each card, and the gain from one more, in points if ``is_chance``."""
    most = max(copies for each in worth.values() for copies in each["copies"])
    rows = [["card", *map(str, range(most + 1)), "one more (points)" if is_chance else "one more"]]
    for card, each in worth.items():
        means = dict(zip(each["copies"], each["mean"], strict=True))
        value, gain = (_share, _points) if is_chance else ("{:.2f}".format, "{:+.2f}".format)
        cells = ["" if (mean := means.get(n)) is None else value(mean) for n in range(most + 1)]
        rows.append([card, *cells, "" if each["step"] is None else gain(each["step"])])
    print_table(rows, indent="  ")


def _print_kept(kept: dict[str, Any]) -> None:
    _print_title("kept cards: gain from keeping a card over the redeal instead of a fresh or another card, in points")
    rows = [["", "kept", "than fresh", *(f"than {card}" for card in CARDS)]]
    for card, each in kept.items():
        others = ["-" if other == card else _points(gain) for other, gain in each["over_other"].items()]
        kept_often = "-" if each["share"] is None else f"{each['share']:.0%}"
        rows.append([card, kept_often, _points(each["over_fresh"]), *others])
    print_table(rows, indent="  ")


def _print_frequencies(frequencies: list[dict[str, Any]]) -> None:
    _print_title(
        "how often to play each card: choices per game; per cent of all choices / of those where the card is legal "
        "(feint: any card)"
    )
    plays = list(frequencies[0]["shares"]) if frequencies else []
    rows = [["", "choices", *plays]]
    for situation in frequencies:
        cells = [
            "-" if share is None else f"{_percent(situation['shares'][play])}/{_percent(share)}"
            for play, share in situation["when_possible"].items()
        ]
        rows.append([situation["situation"], f"{situation['choices']:.2f}", *cells])
    print_table(rows, indent="  ")
    given = frequencies[0]["given_up"] if frequencies else {}
    if any(share is not None for share in given.values()):
        print_text(
            "cards given up by feints: " + ", ".join(f"{card} {_percent(given[card])} %" for card in CARDS), "  "
        )


def _print_people(people: dict[str, Any]) -> None:
    _print_title(f"people: {people['games']:,} recorded games, {people['choices']:,} choices between legal actions")
    error = "" if people["loss_per_game_error"] is None else f" +- {200 * people['loss_per_game_error']:.1f}"
    loss, own = 100 * people["loss_per_game"], 100 * people["strategy_loss_per_choice"]
    for line in (
        *caveats(people),
        f"the choices of a player in a game lose {loss:.1f}{error} points in total (+- two standard errors)",
        f"for comparison, a choice of the strategy itself loses {own:.2f} points in the same states",
    ):
        print_text(line, "  ")
    _print_title("people: how often they and the strategy play each card (per cent), and the loss per choice (points)")
    rows = [["", "choices", "people", "strategy", "loses", "+-", "of all losses"]]
    everything = people["costs"][0]
    for cost in (cost for cost in people["costs"] if cost["grouping"] == "play"):
        shares = [_percent(everything[side][cost["situation"]]) for side in ("people", "strategy")]
        rows.append([cost["situation"], *_cost_cells(cost, *shares)])
    print_table(rows, indent="  ")
    _print_title(
        "people: losses by situation, the worst frequent situations last; cards played too often or too seldom"
    )
    rows = [["", "choices", "loses", "+-", "of all losses", "too often", "too seldom"]]
    shown = [cost for cost in people["costs"] if cost["grouping"] != "play"] + people["worst"][:_WORST]
    rows += [[cost["situation"], *_cost_cells(cost), *extremes(cost)] for cost in shown]
    print_table(rows, indent="  ")


def caveats(people: dict[str, Any]) -> list[str]:
    """Return one line for each group of omitted or uncertain choices."""
    reasons = {"illegal": "that are illegal in their state", "unknown": "in states that no game reaches"}
    lines = [f"{people[key]:,} choices {reason} were omitted" for key, reason in reasons.items() if people[key]]
    unsure = people["choices"] - people["certain"]
    if unsure:
        unknown = f"for {unsure:,} choices the log does not say which side played which card"
        lines.append(f"{unknown}; they are averaged over the possibilities")
    return lines


def extremes(cost: dict[str, Any]) -> tuple[str, str]:
    """Return the most overplayed and the most underplayed play, or "-" if the difference is small.

    For example, ``dodge 32 for 19`` means that human players dodge in 32 % of their choices and the strategy in 19 %.
    """
    surplus = {play: cost["people"][play] - cost["strategy"][play] for play in cost["people"]}
    often, seldom = max(surplus, key=lambda play: surplus[play]), min(surplus, key=lambda play: surplus[play])
    cells = []
    for play in (often, seldom):
        told = f"{play} {_percent(cost['people'][play])} for {_percent(cost['strategy'][play])}"
        cells.append(told if abs(surplus[play]) >= _LEAST_DIFFERENCE else "-")
    return cells[0], cells[1]


def _cost_cells(cost: dict[str, Any], *shares: str) -> list[str]:
    error = "-" if cost["loss_error"] is None else f"{200 * cost['loss_error']:.1f}"
    return [f"{cost['choices']:,}", *shares, f"{100 * cost['loss']:.1f}", error, f"{cost['share']:.0%}"]


def _share(win: float | None) -> str:
    return "" if win is None else f"{win:.1%}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}"


def _points(gain: float | None) -> str:
    return "-" if gain is None else f"{100 * gain:+.1f}"
