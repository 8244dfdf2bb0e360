"""Plot of lessons: values of HP, hands and kept cards, and frequencies of plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.punish.card_looks import CARD_LOOKS, FEINT_LOOK
from punish_fast.punish.rules import CARDS, cards_text
from punish_fast.punish.states.openings import worth_of_cards
from punish_fast.runtime.figures import INK, VERMILION, draw_pairs, draw_share_map, name_rows, picture, set_headline
from punish_fast.runtime.results import Z_95
from punish_fast.study.deviations import Deviations
from punish_fast.study.frequencies import PLAYS, SituationFrequencies
from punish_fast.study.lessons import Lessons
from punish_fast.study.openings_plot import draw_extremes, draw_worth, gap_of, headline_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

ROWS = ("worth", "hands", "frequencies", "people")

_PLAY_LOOKS = (*CARD_LOOKS, FEINT_LOOK)
# Smaller shares have no label, because the number would not fit.
_LEAST_LABEL = 0.055


def draw_lessons(found: Lessons, people: Deviations | None, title: str, path: Path, rows: Sequence[str] = ROWS) -> None:
    """Plot lessons to a PNG, SVG or PDF file.

    The first row of panels shows win probabilities by HP, before a deal and after the first breath, and the values of
    kept cards. The second row shows the best and worst opening hands, and the mean value by card and number of copies.
    The third row shows the frequencies of plays. Unless ``people`` is None, the last row shows recorded plays and
    losses.

    Args:
        found: Lessons to plot.
        people: Deviations in recorded games, or None to omit their row.
        title: Headline. No headline if empty.
        path: Output file. The suffix determines the format.
        rows: Rows to draw, a subset of `ROWS`.
    """
    with picture(path, "lessons") as figure:
        shown = [situation for situation in found.frequencies if situation.grouping != "hand"]
        draws: dict[str, tuple[float, Callable[[SubFigure], None]]] = {
            "worth": (3.4, lambda row: _draw_worths(row, found)),
            "hands": (3.4, lambda row: _draw_hands(row, found)),
            "frequencies": (1.3 + 0.24 * len(shown), lambda row: _draw_frequencies(row.subplots(), shown)),
        }
        if people is not None:
            draws["people"] = 3.4, lambda row: _draw_people(row, people)
        chosen = [draws[row] for row in rows if row in draws]
        heights = [height for height, _ in chosen]
        figure.set_size_inches(11, sum(heights) + (0.3 if title else 0))
        if title:
            set_headline(figure, title)
        frames: Any = figure.subfigures(len(chosen), 1, height_ratios=heights, squeeze=False)
        for (_, draw), frame in zip(chosen, frames[:, 0], strict=True):
            draw(frame)


def _draw_worths(row: SubFigure, found: Lessons) -> None:
    moments = (found.dealt, "before the cards are dealt"), (found.during, "in breath 2 and later")
    tables = [(table, moment) for table, moment in moments if table]
    panels = row.subplots(1, len(tables) + 1, width_ratios=[1] * len(tables) + [1.4])
    for axes, (table, moment) in zip(panels, tables, strict=False):
        _draw_hps(axes, table, moment)
    _draw_kept(panels[-1], found)


def _draw_hps(axes: Axes, win_rates: dict[tuple[int, int], float], moment: str) -> None:
    owns, enemies = (sorted({pair[k] for pair in win_rates}, reverse=True) for k in (0, 1))
    win = np.full((len(owns), len(enemies)), np.nan)
    for (own, enemy), share in win_rates.items():
        win[owns.index(own), enemies.index(enemy)] = share
    draw_share_map(axes, win)
    axes.set_xticks(range(len(enemies)), list(map(str, enemies)))
    axes.set_yticks(range(len(owns)), list(map(str, owns)))
    own, enemy = max(win_rates, key=lambda pair: round(win_rates[pair], 9))
    best = f"{own} HP against {enemy} win {100 * win_rates[own, enemy]:.0f}%"
    axes.set(title=f"{best}\n{moment}", xlabel="enemy's HP", ylabel="own HP")


def _draw_kept(axes: Axes, found: Lessons) -> None:
    gain = 100 * found.kept.over_fresh
    order = [kind for kind in np.argsort(gain, kind="stable").tolist() if not np.isnan(gain[kind])]
    looks = [CARD_LOOKS[kind] for kind in order]
    style: dict[str, Any] = {"color": [look.color for look in looks], "hatch": [look.hatch for look in looks]}
    axes.bar_label(axes.barh(range(len(order)), gain[order], height=0.62, **style), fmt="{:+.1f}", padding=3)
    name_rows(axes, range(len(order)), [CARDS[kind] for kind in order])
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.margins(x=0.16)
    title = f"Keeping a {CARDS[order[-1]]} gains most" if order else "No card is ever kept"
    axes.set(title=f"{title}\nwin rate compared with a freshly drawn card", xlabel="percentage points")


def _draw_hands(row: SubFigure, found: Lessons) -> None:
    extremes, copies = row.subplots(1, 2)
    hands, win = found.hands, 100 * found.hands.value
    draw_extremes(extremes, [cards_text(hand) for hand in hands.hand], win)
    extremes.set(title=f"The best opening hand wins {win.max():.0f}%, the worst {win.min():.0f}%")
    extremes.set(xlabel="win probability (%)")
    curves = [*worth_of_cards(found.openings.hand, found.openings.p, 100 * found.value).values()]
    draw_worth(copies, curves, 1.4 * gap_of([curves]))
    copies.set(title=headline_of(curves, "in hand", " points"), xlabel="copies in the opening hand")
    copies.set(ylabel="win probability (%)")


def _places_of(kinds: Sequence[Any]) -> list[float]:
    """Return the vertical positions of rows, from top to bottom. A gap separates groupings."""
    places = [0.0]
    for before, after in pairwise(kinds):
        places.append(places[-1] - (1.0 if before.grouping == after.grouping else 1.6))
    return places[: len(kinds)]


def _draw_frequencies(axes: Axes, frequencies: list[SituationFrequencies]) -> None:
    places = _places_of(frequencies)
    left = np.zeros(len(frequencies))
    for k, (play, look) in enumerate(zip(PLAYS, _PLAY_LOOKS, strict=True)):
        share = np.array([situation.shares[k] for situation in frequencies])
        style: dict[str, Any] = {"facecolor": look.color, "edgecolor": "white", "hatch": look.hatch, "linewidth": 0.8}
        bars = axes.barh(places, share, left=left, height=0.8, label=play, **style)
        box = {"facecolor": look.color, "edgecolor": "none", "pad": 2.2}
        labels = [f"{100 * part:.0f}" if part >= _LEAST_LABEL else "" for part in share]
        axes.bar_label(bars, labels, label_type="center", color=look.ink, bbox=box)
        left += share
    axes.set_yticks(places, [each.situation for each in frequencies])
    axes.tick_params(axis="both", length=0)
    axes.set(xticks=[], xlim=(0, 1), ylim=(min(places, default=0) - 0.6, 0.6))
    axes.spines[:].set_visible(False)
    overall = next((situation.shares for situation in frequencies if situation.grouping == "all"), None)
    most = "" if overall is None else f"{PLAYS[int(np.argmax(overall))].capitalize()} is played most often; "
    axes.set_title(f"{most}share of all choices in each situation (%)", pad=24)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(PLAYS), borderaxespad=0.2)


def _draw_people(row: SubFigure, people: Deviations) -> None:
    often, lost = row.subplots(1, 2)
    overall = next(cost for cost in people.costs if cost.grouping == "all")
    shares = {"players": 100 * overall.people, "the strategy, in the same states": 100 * overall.strategy}
    draw_pairs(often, PLAYS, shares, "{:.0f}")
    most = int(np.argmax(overall.people - overall.strategy))
    said = f"Players choose {PLAYS[most]} too often: {overall.people[most]:.0%} instead of {overall.strategy[most]:.0%}"
    often.set_title(said, pad=20)
    often.set_xlabel(f"share of {overall.choices:,} recorded choices (%)")
    often.legend(loc="lower left", bbox_to_anchor=(-0.01, 0.98), ncols=2, borderaxespad=0.1)
    _draw_losses(lost, people, overall.loss)


def _draw_losses(axes: Axes, people: Deviations, overall: float) -> None:
    costs = [cost for cost in people.costs if cost.grouping in ("play", "breath", "enemy")]
    places = _places_of(costs)
    mean = np.array([100 * cost.loss for cost in costs])
    error = np.array([Z_95 * 100 * cost.loss_error if np.isfinite(cost.loss_error) else 0.0 for cost in costs])
    axes.errorbar(mean, places, xerr=error, fmt="o", color=VERMILION, ecolor=INK, markersize=5, elinewidth=1)
    own = 100 * people.policy_per_choice
    axes.axvline(own, color=INK, linestyle="--", linewidth=1)
    axes.annotate("the strategy itself", (own, 0.5), (4, 4), textcoords="offset points", va="bottom", fontsize=8)
    labels = [f"{cost.situation} played" if cost.grouping == "play" else cost.situation for cost in costs]
    name_rows(axes, places, labels)
    axes.set_xlim(left=0)
    axes.set_title(f"A choice loses {100 * overall:.1f} points of win rate on average", pad=20)
    limits = min(places, default=0) - 0.7, 0.5
    axes.set(ylim=limits, xlabel="loss per choice, in percentage points, with 95% intervals")
