"""Text output of ``lessons``: short tables, each after a line that explains how to read it, then three headlines."""

from typing import Any

from punish_fast.cli.frame.report import print_rows, print_table, print_text
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
    return f"{loss}; played {', '.join(told)} (in percent)." if told else f"{loss}."


def _ranked(values: dict[str, float | None]) -> list[tuple[str, float]]:
    return sorted(((name, value) for name, value in values.items() if value is not None), key=lambda each: -each[1])


def _print_hps(report: dict[str, Any]) -> None:
    for title, key in (
        ("HP: win probability before a deal to empty hands", "hp_before_deals"),
        ("HP: win probability later in a measure, averaged over self-play", "hp_during_measures"),
    ):
        if report[key]:
            print_table(_hp_rows(report[key]), indent="  ", title=title)


def _hp_rows(entries: list[dict[str, Any]]) -> list[list[str]]:
    win = {(entry["own"], entry["enemy"]): entry["win"] for entry in entries}
    owns, enemies = (sorted({pair[k] for pair in win}, reverse=True) for k in (0, 1))
    rows = [["", *(f"enemy {enemy} HP" for enemy in enemies)]]
    return rows + [[f"{own} HP", *(_share(win.get((own, enemy))) for enemy in enemies)] for own in owns]


def _print_hands(report: dict[str, Any]) -> None:
    hands = report["hands"]
    title = f"win probability of the best and the worst of {len(hands)}; on average {_share(report['mean'])}"
    columns = {"hand": "{hand:cards}", "dealt": "{probability:.2%}", "wins": "{win:.1%}"}
    shown = [*hands[:_HANDS], *hands[max(_HANDS, len(hands) - _HANDS) :]]
    print_rows(shown, columns, indent="  ", title=f"opening hands: {title}")
    title = "win probability by number of copies of a card, and the average gain from one more"
    print_worth(f"opening hands: {title}", report["in_hand"])


def print_worth(title: str, worth: dict[str, Any], is_chance: bool = True) -> None:
    """Print the value by number of copies of each card, and the gain from one more, in points if ``is_chance``."""
    most = max(copies for each in worth.values() for copies in each["copies"])
    rows = [["card", *map(str, range(most + 1)), "one more (points)" if is_chance else "one more"]]
    for card, each in worth.items():
        means = dict(zip(each["copies"], each["mean"], strict=True))
        value, gain = (_share, _points) if is_chance else ("{:.2f}".format, "{:+.2f}".format)
        cells = ["" if (mean := means.get(n)) is None else value(mean) for n in range(most + 1)]
        rows.append([card, *cells, "" if each["step"] is None else gain(each["step"])])
    print_table(rows, indent="  ", title=title)


def _print_kept(kept: dict[str, Any]) -> None:
    columns = {"": "{card}", "kept": "{share:.0%}", "than fresh": "{over_fresh:+.1p}"}
    columns |= {f"than {card}": f"{{over_other[{card}]:+.1p}}" for card in CARDS}
    title = "kept cards: gain from keeping a card over the redeal instead of a fresh or another card, in points"
    rows = [each | {"card": card, "over_other": each["over_other"] | {card: None}} for card, each in kept.items()]
    print_rows(rows, columns, indent="  ", title=title)


def _print_frequencies(frequencies: list[dict[str, Any]]) -> None:
    plays, given = (frequencies[0][name] if frequencies else {} for name in ("shares", "given_up"))
    columns = {"": "{situation}", "choices": "{choices:.2f}"}
    columns |= {play: f"{{shares[{play}]:.0p}}/{{when_possible[{play}]:.0p}}" for play in plays}
    title = "choices per game; percent of all choices / of those where the card is legal (feint: any card)"
    print_rows(frequencies, columns, indent="  ", title=f"how often to play each card: {title}")
    if any(share is not None for share in given.values()):
        shares = ", ".join(f"{card} {_percent(given[card])} %" for card in CARDS)
        print_text(f"cards given up by feints: {shares}", "  ")


def _print_people(people: dict[str, Any]) -> None:
    title = f"people: {people['games']:,} recorded games, {people['choices']:,} choices between legal actions"
    print_text(title, first="\n")
    error = "" if people["loss_per_game_error"] is None else f" +- {200 * people['loss_per_game_error']:.1f}"
    loss, own = 100 * people["loss_per_game"], 100 * people["strategy_loss_per_choice"]
    for line in (
        *caveats(people),
        f"the choices of a player in a game lose {loss:.1f}{error} points in total (+- two standard errors)",
        f"for comparison, a choice of the strategy itself loses {own:.2f} points in the same states",
    ):
        print_text(line, "  ")
    everything = people["costs"][0]
    by_play = [
        cost | {side: everything[side][cost["situation"]] for side in ("people", "strategy")}
        for cost in people["costs"]
        if cost["grouping"] == "play"
    ]
    choices, losses = {"": "{situation}", "choices": "{choices:,}"}, {"loses": "{loss:.1p}", "+-": "{loss_error:.1m}"}
    losses |= {"of all losses": "{share:.0%}"}
    title = "people: how often they and the strategy play each card (percent), and the loss per choice (points)"
    shares = {"people": "{people:.0p}", "strategy": "{strategy:.0p}"}
    print_rows(by_play, choices | shares | losses, indent="  ", title=title)
    title = "people: losses by situation, the worst frequent situations last; cards played too often or too seldom"
    shown = [cost for cost in people["costs"] if cost["grouping"] != "play"] + people["worst"][:_WORST]
    shown = [cost | dict(zip(("often", "seldom"), extremes(cost), strict=True)) for cost in shown]
    plays = {"too often": "{often}", "too seldom": "{seldom}"}
    print_rows(shown, choices | losses | plays, indent="  ", title=title)


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


def _share(win: float | None) -> str:
    return "" if win is None else f"{win:.1%}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}"


def _points(gain: float | None) -> str:
    return "-" if gain is None else f"{100 * gain:+.1f}"
