"""Pictures of recorded games, readable without colours.

Each takes `Results` and draws on one figure; `draw` picks it by name. Nothing is drawn on a screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.records.database import RecordsError
from punish_fast.records.results import Results
from punish_fast.records.summary import player_table
from punish_fast.runtime.figures import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DARK, _MIDDLE, _LIGHT = "0.2", "0.5", "0.85"
_COLUMNS = 3
_MOST_PANELS = 12
# How many of a player's last games make up the current form.
_FORM = 20
# The normal quantile of intervals with 95 % confidence.
_Z = 1.959963984540054


def draw(kind: str, results: Results, path: str | Path, player: str | None = None) -> None:
    """Draw a picture into a PNG or SVG file, which is replaced only when the new one is whole.

    Args:
        kind: One of `KINDS`.
        results: The games.
        path: The file; its suffix says which format.
        player: Whose win rate over time to draw, if that is the picture; all players' if None.

    Raises:
        RecordsError: there is no such picture or format, or there are no games to draw.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ImportError: matplotlib is not installed.
    """
    path = Path(path)
    if kind not in KINDS:
        raise RecordsError(f"plot is {kind!r}, allowed are {', '.join(KINDS)}")
    if len(results) == 0:
        raise RecordsError("no game was chosen, so there is nothing to draw")
    with picture(path, kind) as figure:
        KINDS[kind](figure, results, player)


def _durations(figure: Figure, results: Results, _player: str | None) -> None:
    names = _most_active(results)
    panels = _panels(figure, len(names) + 1, "duration of games", "breaths", "share of games")
    bins = np.arange(0.5, results.n_breaths.max() + 1.5).tolist()
    for axes, name in zip(panels, [None, *names], strict=True):
        played = np.ones(len(results), dtype=np.bool_) if name is None else _played(results, name)
        n_breaths = results.n_breaths[played]
        weights = np.full(len(n_breaths), 1 / len(n_breaths))
        axes.hist(n_breaths, bins=bins, weights=weights, color=_MIDDLE if name else _DARK, edgecolor="white")
        axes.axvline(n_breaths.mean(), color="black", linestyle="--", linewidth=1)
        axes.set_title(f"{name or 'all'}: {_games(len(n_breaths))}, mean {n_breaths.mean():.1f}", fontsize=9)


def _contributions(figure: Figure, results: Results, _player: str | None) -> None:
    table = sorted(player_table(results), key=lambda entry: int(entry["games"]))
    figure.set_size_inches(7, 1.2 + 0.32 * len(table))
    axes = figure.subplots()
    names = _labels(table)
    wins = np.array([entry["wins"] for entry in table])
    losses = np.array([entry["losses"] for entry in table])
    axes.barh(names, wins, color=_DARK, label="won")
    axes.barh(names, losses, left=wins, color=_LIGHT, edgecolor=_MIDDLE, hatch="//", label="lost")
    for k, entry in enumerate(table):
        axes.annotate(f" {entry['games']}", (entry["games"], k), va="center")
    axes.set(xlabel="games", title="games played, by result")
    axes.legend(loc="lower right", frameon=False)


def _win_rates(figure: Figure, results: Results, _player: str | None) -> None:
    table = sorted(player_table(results), key=lambda entry: float(entry["win_rate"]))
    figure.set_size_inches(7, 1.2 + 0.32 * len(table))
    axes = figure.subplots()
    for k, entry in enumerate(table):
        low, high = _interval(entry["wins"], entry["games"])
        axes.plot([low, high], [k, k], color=_MIDDLE, linewidth=2, solid_capstyle="butt")
        axes.plot(entry["win_rate"], k, "o", color="white" if entry["is_bot"] else _DARK, markeredgecolor="black")
        axes.annotate(f"{entry['wins']} of {entry['games']}", (1.02, k), va="center", annotation_clip=False)
    axes.axvline(0.5, color="black", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(table)), _labels(table))
    axes.set(xlim=(0, 1), xlabel="share of games won, with 95 % interval", title="win rates (bots: hollow)")


def _games_win_rate(figure: Figure, results: Results, _player: str | None) -> None:
    figure.set_size_inches(7.5, 5)
    axes = figure.subplots()
    table = player_table(results)
    for entry in table:
        at = entry["games"], entry["win_rate"]
        axes.plot(*at, "s" if entry["is_bot"] else "o", color="white" if entry["is_bot"] else _DARK, mec="black")
    axes.axhline(0.5, color="black", linestyle=":", linewidth=1)
    axes.margins(x=0.12, y=0.15)
    _annotate_apart(axes, table)
    axes.set(xlabel="games played", ylabel="share won", title="games played and win rate (bots: hollow squares)")


def _annotate_apart(axes: Axes, table: Sequence[dict[str, Any]]) -> None:
    """Write names right of their points, moved up or down from where they would cover a point or a name."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    letter, line, gap = (right - left) / 70, (high - low) / 22, (right - left) / 60
    points = [(float(entry["games"]), float(entry["win_rate"])) for entry in table]
    # Rectangles that are taken: left, right, and the middle of a line.
    taken = [(x - gap / 2, x + gap / 2, y) for x, y in points]
    leader = {"arrowstyle": "-", "color": _MIDDLE, "linewidth": 0.5}
    for entry, (x, y) in zip(table, points, strict=True):
        begin, end = x + gap, x + gap + letter * len(entry["name"])
        free = (
            y + step * line / 2
            for distance in range(200)
            for step in (distance, -distance)
            if not any(begin < v and u < end and abs(y + step * line / 2 - w) < line for u, v, w in taken)
        )
        at = next(free, y)
        taken.append((begin, end, at))
        axes.annotate(entry["name"], (x, y), (begin, at), va="center", arrowprops=None if at == y else leader)


def _over_time(figure: Figure, results: Results, player: str | None) -> None:
    names = _most_active(results) if player is None else [player]
    panels = _panels(figure, len(names), "win rate over time", "games played", "share won")
    for k, (axes, name) in enumerate(zip(panels, names, strict=True)):
        won = (results.winner == name)[_played(results, name)].astype(np.float64)
        total = np.append(0.0, np.cumsum(won))
        n = np.arange(1, len(won) + 1)
        axes.plot(n, total[1:] / n, color="black", linewidth=1.5, label="all so far")
        if len(won) >= _FORM:
            form = (total[_FORM:] - total[:-_FORM]) / _FORM
            axes.plot(n[_FORM - 1 :], form, color=_MIDDLE, linewidth=1, linestyle="--", label=f"last {_FORM}")
        axes.axhline(0.5, color="black", linestyle=":", linewidth=0.8)
        axes.set(ylim=(0, 1), title=f"{name}: {_games(len(won))}")
        if k == 0:
            figure.legend(loc="outside lower right", ncols=2, frameon=False)


def _matchups(figure: Figure, results: Results, _player: str | None) -> None:
    mixed = results.winner_is_bot != results.loser_is_bot
    if not mixed.any():
        raise RecordsError("no game between a bot and a person was chosen, so there is nothing to draw")
    bots = np.where(results.winner_is_bot, results.winner, results.loser)[mixed]
    people = np.where(results.winner_is_bot, results.loser, results.winner)[mixed]
    won = (~results.winner_is_bot)[mixed]
    rows, columns = sorted(set(people.tolist())), sorted(set(bots.tolist()))
    figure.set_size_inches(2.6 + 1.2 * len(columns), 1.8 + 0.5 * len(rows))
    axes = figure.subplots()
    rate = np.full((len(rows), len(columns)), np.nan)
    for i, person in enumerate(rows):
        for j, bot in enumerate(columns):
            met = (people == person) & (bots == bot)
            if met.any():
                rate[i, j] = won[met].mean()
                text = f"{rate[i, j]:.0%}\n{won[met].sum()} of {met.sum()}"
                axes.annotate(text, (j, i), ha="center", va="center", fontsize=8)
    # From middle grey, on which black can be read, to white.
    image = axes.imshow(rate, cmap="gray", vmin=-1.2, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=20, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_title("games of people against bots: share that the person won")
    bar = figure.colorbar(image, ax=axes, boundaries=np.linspace(0, 1, 101), ticks=np.linspace(0, 1, 5))
    bar.set_label("share won")


KINDS: dict[str, Callable[[Figure, Results, str | None], None]] = {
    "durations": _durations,
    "contributions": _contributions,
    "win-rates": _win_rates,
    "games-win-rate": _games_win_rate,
    "over-time": _over_time,
    "matchups": _matchups,
}


def _panels(figure: Figure, n: int, title: str, xlabel: str, ylabel: str) -> list[Axes]:
    """Panels with common axes, as many as needed."""
    columns = min(n, _COLUMNS)
    rows = -(-n // columns)
    figure.set_size_inches(max(6.0, 3.0 * columns), 0.8 + max(2.0 * rows, 3.0))
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for axes in panels[n:]:
        axes.remove()
    figure.suptitle(title)
    figure.supxlabel(xlabel)
    figure.supylabel(ylabel)
    return panels[:n]


def _most_active(results: Results) -> list[str]:
    table = sorted(player_table(results), key=lambda entry: -int(entry["games"]))
    return [entry["name"] for entry in table[:_MOST_PANELS]]


def _played(results: Results, name: str) -> np.ndarray:
    return np.asarray((results.winner == name) | (results.loser == name))


def _labels(table: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{entry['name']} (bot)" if entry["is_bot"] else entry["name"] for entry in table]


def _games(n: int) -> str:
    return "1 game" if n == 1 else f"{n:,} games"


def _interval(wins: int, games: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    share, z2 = wins / games, _Z**2 / games
    middle = (share + z2 / 2) / (1 + z2)
    half = _Z * np.sqrt(share * (1 - share) / games + z2 / (4 * games)) / (1 + z2)
    return float(middle - half), float(middle + half)
