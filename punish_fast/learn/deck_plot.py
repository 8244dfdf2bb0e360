"""Searches over decks in a picture: strength over generations, and whether selection beats its noise."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.learn.deck_search import DeckSearch, curve_of, noises_of
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import FAINT, INK, LOOKS, Look, set_headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_searches(searches: Mapping[str, DeckSearch], path: Path) -> None:
    """Draw searches into a PNG or SVG file.

    On top the strength of the survivors against random decks, with two standard errors; below the spread of the decks'
    true strengths, and as a thin line the standard error of a fitness, both over all generations so far.

    Args:
        searches: Searches by name, each with a generation.
        path: The file; its suffix gives the format.

    Raises:
        FigureError: the suffix is neither .png nor .svg.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ExtraError: matplotlib is not installed.
    """
    with picture(path, "decks") as figure:
        from matplotlib.ticker import MaxNLocator

        figure.set_size_inches(8.5, 7)
        name, first = next(iter(searches.items()))
        end = curve_of(first)[-1]
        told = f"{end['strength']:+.3f} against random decks in generation {end['generation']}"
        set_headline(figure, f"{name}: {told}")
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.axhline(0, color=INK, linestyle=":", linewidth=0.8)
        for look, (name, search) in zip(cycle(LOOKS), searches.items(), strict=False):
            _draw_search(upper, lower, look, f"{name} ({search.method.player})", search)
        upper.set(title="strength of the survivors, with two standard errors", ylabel="wins less losses, a game")
        lower.set(
            title="does selection beat its noise? spread of the decks, and standard error of a fitness, so far",
            ylabel="wins less losses, a game",
            xlabel="generation",
        )
        lower.set_ylim(bottom=0)
        lower.xaxis.set_major_locator(MaxNLocator(integer=True))
        for axes in (upper, lower):
            axes.grid(color=FAINT)
            axes.legend(loc="best")


def _draw_search(upper: Axes, lower: Axes, look: Look, name: str, search: DeckSearch) -> None:
    curve = curve_of(search)
    generations, noises = range(len(curve)), noises_of(search.history)
    strengths, errors = ([point[key] for point in curve] for key in ("strength", "strength_error"))
    drawn: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
    upper.errorbar(
        generations, strengths, yerr=[2 * error for error in errors], label=name, capsize=2, elinewidth=0.8, **drawn
    )
    lower.plot(generations, [spread for spread, _ in noises], label=f"{name}: spread", **drawn)
    lower.plot(
        generations, [error for _, error in noises], color=look.colour, linewidth=0.8, label=f"{name}: standard error"
    )
