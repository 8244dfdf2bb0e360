"""A picture of what a policy teaches, readable without colours: what things are worth, and what to play when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.punish.rules import CARDS, cards_text
from punish_fast.runtime.figures import picture
from punish_fast.study.deviations import Deviations
from punish_fast.study.frequencies import PLAYS, Habit
from punish_fast.study.lessons import Lessons
from punish_fast.study.openings_plot import draw_extremes, draw_worth, gap_of, worths_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

ROWS = ("worth", "hands", "habits", "people")

_DARK, _MIDDLE, _LIGHT = "0.2", "0.5", "0.85"
# A shade and a hatch for every play, so that neighbours differ without colours.
_FILLS = (("0.25", ""), ("0.92", "////"), ("0.55", ""), ("0.8", ""), ("0.1", ""), ("1.0", "...."))
# Shares below this have no room for a number.
_LEAST_LABEL = 0.055
_QUANTILE = 1.96  # of the normal distribution, for an interval of 95 %


def draw_lessons(found: Lessons, people: Deviations | None, title: str, path: Path, rows: Sequence[str] = ROWS) -> None:
    """Draw into a PNG or SVG file, which is replaced only when the new one is whole.

    Rows of panels: chances to win by HP, before a deal and later, and what kept cards are worth; the best and the worst
    opening hands, and what copies of a card are worth in them; how often to play what; and, if there are recorded
    games, what people play and lose.

    Args:
        found: The lessons.
        people: Where people play otherwise; None without recorded games.
        title: What stands above; nothing if empty.
        path: The file; its suffix says which format.
        rows: Which of `ROWS` to draw.

    Raises:
        RecordsError: the suffix says neither format.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ImportError: matplotlib is not installed.
    """
    with picture(path, "lessons") as figure:
        shown = [habit for habit in found.habits if habit.grouping != "hand"]
        draws: dict[str, tuple[float, Callable[[SubFigure], None]]] = {
            "worth": (3.4, lambda row: _draw_worths(row, found)),
            "hands": (3.4, lambda row: _draw_hands(row, found)),
            "habits": (1.2 + 0.23 * len(shown), lambda row: _draw_habits(row.subplots(), shown)),
        }
        if people is not None:
            draws["people"] = 3.1, lambda row: _draw_people(row, people)
        chosen = [draws[row] for row in rows if row in draws]
        heights = [height for height, _ in chosen]
        figure.set_size_inches(10.5, sum(heights) + (0.3 if title else 0))
        if title:
            figure.suptitle(title)
        frames: Any = figure.subfigures(len(chosen), 1, height_ratios=heights, squeeze=False)
        for (_, draw), frame in zip(chosen, frames[:, 0], strict=True):
            draw(frame)


def _draw_worths(row: SubFigure, found: Lessons) -> None:
    before, later, kept = row.subplots(1, 3, width_ratios=[0.8, 1, 1.5])
    _draw_hps(before, found.dealt, "wins before a deal, in per cent")
    _draw_hps(later, found.during, "wins later in a measure")
    _draw_kept(kept, found)


def _draw_hps(axes: Axes, chances: dict[tuple[int, int], float], title: str) -> None:
    axes.set(title=title, xlabel="enemy's HP", ylabel="own HP")
    if not chances:
        axes.set_axis_off()
        return
    owns, enemies = (sorted({pair[k] for pair in chances}, reverse=True) for k in (0, 1))
    win = np.full((len(owns), len(enemies)), np.nan)
    for (own, enemy), chance in chances.items():
        win[owns.index(own), enemies.index(enemy)] = chance
    # From middle grey, on which black can be read, to white.
    axes.imshow(win, cmap="gray", vmin=-0.9, vmax=1, aspect="auto")
    for (i, j), chance in np.ndenumerate(win):
        axes.annotate("" if np.isnan(chance) else f"{100 * chance:.1f}", (j, i), ha="center", va="center")
    axes.set_xticks(range(len(enemies)), list(map(str, enemies)))
    axes.set_yticks(range(len(owns)), list(map(str, owns)))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_kept(axes: Axes, found: Lessons) -> None:
    gain = 100 * found.kept.over_fresh
    order = [kind for kind in np.argsort(gain, kind="stable").tolist() if not np.isnan(gain[kind])]
    axes.barh([CARDS[kind] for kind in order], gain[order], color=_MIDDLE, height=0.62)
    for place, kind in enumerate(order):
        side = -1 if gain[kind] < 0 else 1
        align = "right" if side < 0 else "left"
        axes.annotate(
            f"{gain[kind]:+.1f}", (gain[kind], place), (3 * side, 0), textcoords="offset points", va="center", ha=align
        )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.margins(x=0.16)
    axes.tick_params(axis="y", length=0)
    axes.set(title="keeping a card instead of drawing a fresh one", xlabel="wins more often, in points")


def _draw_hands(row: SubFigure, found: Lessons) -> None:
    extremes, worth = row.subplots(1, 2)
    hands = found.hands
    draw_extremes(extremes, [cards_text(hand) for hand in hands.hand], 100 * hands.value)
    extremes.set(title="the best and the worst opening hands", xlabel="chance to win, in per cent")
    curves = worths_of(found.openings, found.openings.hand, 100 * found.value)
    draw_worth(worth, curves, 1.4 * gap_of([curves]))
    worth.set(
        title="by copies of a card, and what one more is worth",
        xlabel="copies in the opening hand",
        ylabel="chance to win, in per cent",
    )


def _draw_habits(axes: Axes, habits: list[Habit]) -> None:
    places, place, before = [], 0.0, ""
    for habit in habits:
        # A gap parts the sorts of situations.
        place -= 1.0 if habit.grouping == before else 1.5
        places.append(place)
        before = habit.grouping
    left = np.zeros(len(habits))
    for k, play in enumerate(PLAYS):
        share = np.array([habit.shares[k] for habit in habits])
        face, hatch = _FILLS[k]
        axes.barh(
            places,
            share,
            left=left,
            height=0.8,
            label=play,
            facecolor=face,
            edgecolor="0.4",
            hatch=hatch,
            linewidth=0.5,
        )
        for middle, y, part in zip(left + share / 2, places, share, strict=True):
            if part >= _LEAST_LABEL:
                _draw_number(axes, 100 * part, (float(middle), y), is_dark=float(face) < 0.6, is_hatched=bool(hatch))
        left += share
    axes.set_yticks(places, [habit.label for habit in habits])
    axes.tick_params(axis="both", length=0)
    axes.set_xticks([])
    axes.set_xlim(0, 1)
    axes.set_ylim(place - 0.6, places[0] + 0.6 if places else 0)
    axes.spines[:].set_visible(False)
    axes.set_title("how often to play what, in per cent of all choices", pad=22)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(PLAYS), frameon=False)


def _draw_number(axes: Axes, number: float, place: tuple[float, float], is_dark: bool, is_hatched: bool) -> None:
    box: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.annotate(
        f"{number:.0f}",
        place,
        ha="center",
        va="center",
        fontsize=8,
        color="white" if is_dark else "black",
        bbox=box if is_hatched else None,
    )


def _draw_people(row: SubFigure, people: Deviations) -> None:
    often, lost = row.subplots(1, 2)
    overall = next(cost for cost in people.costs if cost.grouping == "all")
    height = 0.36
    places = -np.arange(len(PLAYS))
    sides = ((overall.people, "people", _LIGHT, ""), (overall.policy, "the strategy, in the same states", _DARK, ""))
    for k, (shares, label, face, hatch) in enumerate(sides):
        y = places + (0.5 - k) * height
        often.barh(y, 100 * shares, height=height, label=label, facecolor=face, edgecolor="0.4", hatch=hatch)
        for share, place in zip(100 * shares, y, strict=True):
            often.annotate(f"{share:.0f}", (share, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
    often.set_yticks(places, list(PLAYS))
    often.tick_params(axis="y", length=0)
    often.set(title=f"what people play in {overall.n:,} recorded choices", xlabel="share of choices, in per cent")
    often.set_ylim(places[-1] - 0.5, 1.35)
    often.legend(loc="upper center", ncols=2, frameon=False)
    _draw_losses(lost, people)


def _draw_losses(axes: Axes, people: Deviations) -> None:
    costs = [cost for cost in people.costs if cost.grouping in ("play", "breath", "enemy")]
    places, place, before = [], 0.0, "play"
    for cost in costs:
        place -= 1.0 if cost.grouping == before else 1.6
        places.append(place)
        before = cost.grouping
    mean = np.array([100 * cost.mean for cost in costs])
    error = np.array([_QUANTILE * 100 * cost.error if np.isfinite(cost.error) else 0.0 for cost in costs])
    axes.errorbar(mean, places, xerr=error, fmt="o", color=_DARK, markersize=4, elinewidth=1)
    axes.axvline(100 * people.policy_per_choice, color="black", linestyle="--", linewidth=1)
    axes.annotate(
        "the strategy itself",
        (100 * people.policy_per_choice, 0),
        (4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
    )
    labels = [f"{cost.label} played" if cost.grouping == "play" else cost.label for cost in costs]
    axes.set_yticks(places, labels, fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(left=0)
    axes.set_ylim(place - 0.7, 0.5)
    axes.set(title="what a choice loses, with intervals of 95 %", xlabel="points")
