"""Plots of recorded games: durations, contributions of players, and win rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.records.database import RecordsError
from punish_fast.records.summary import Results, correlations, player_table
from punish_fast.runtime import figures
from punish_fast.runtime.results import wilson_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_PANELS = 24
# Number of latest games in a moving win rate. If possible, titles rank only players with at least this number of games.
_FORM = 20
# Significance level at which a title describes a rank correlation as a trend.
_SIGNIFICANCE = 0.05

_HUMAN = {"marker": figures.LOOKS[2].marker, "color": figures.BLUE}
_BOT = {"marker": figures.LOOKS[3].marker, "color": figures.VERMILION}


def draw(kind: str, results: Results, path: str | Path, player: str | None = None) -> None:
    """Draw the plot ``kind``, a key of `PLOTS`, to a PNG, SVG or PDF file.

    The plot ``over-time`` shows ``player``, or the most active players if ``player`` is None.
    """
    if kind not in PLOTS:
        raise RecordsError(f"plot is {kind!r}; the plots are {', '.join(PLOTS)}")
    if len(results) == 0:
        raise RecordsError("no game was selected, so there is nothing to draw")
    with figures.picture(Path(path), kind) as figure:
        PLOTS[kind][1](figure, results, player)


def _durations(figure: Figure, results: Results, _player: str | None) -> None:
    lengths = results.n_breaths
    title = f"Games take {lengths.mean():.1f} breaths on average, and half of them end within {np.median(lengths):g}"
    names = _most_active(results)
    panels = _panels(figure, len(names) + 1, title + _left_out(results), ("breaths in a game", "share of games (%)"))
    bins = np.arange(0.5, lengths.max() + 1.5).tolist()
    for axes, name in zip(panels, [None, *names], strict=True):
        played = lengths if name is None else lengths[_played(results, name)]
        shares, color = np.full(len(played), 100 / len(played)), figures.BLUE if name else figures.MUTED
        axes.hist(played, bins=bins, weights=shares, color=color)
        axes.axvline(played.mean(), color=figures.INK, linestyle="--", linewidth=1)
        axes.set_title(f"{_label(name or 'all')}\n{_games(len(played))}, mean {played.mean():.1f}", fontsize=9)


def _contributions(figure: Figure, results: Results, _player: str | None) -> None:
    table = sorted(player_table(results), key=lambda entry: int(entry["games"]))
    axes = _rows(figure, table)
    wins, losses = (np.array([entry[key] for entry in table]) for key in ("wins", "losses"))
    axes.barh(range(len(table)), wins, color=figures.BLUE, label="won", height=0.7)
    bars = axes.barh(range(len(table)), losses, left=wins, color=figures.YELLOW, hatch="///", label="lost", height=0.7)
    axes.bar_label(bars, [f"{entry['games']:,}" for entry in table], padding=4)
    axes.set(xlabel="games played")
    figures.set_headline(figure, f"{table[-1]['name']} played most: {table[-1]['games']:,} of {_games(len(results))}")
    _add_legend(figure, axes)


def _win_rates(figure: Figure, results: Results, _player: str | None) -> None:
    table = sorted(player_table(results), key=lambda entry: float(entry["win_rate"]))
    axes = _rows(figure, table)
    for k, entry in enumerate(table):
        axes.plot(_interval(entry), [k, k], color=figures.MUTED, linewidth=2, solid_capstyle="butt")
        axes.plot(100 * entry["win_rate"], k, **_mark(entry))
        text = f"{entry['wins']:,} of {entry['games']:,}"
        axes.annotate(text, (103, k), va="center", annotation_clip=False)
    axes.axvline(50, color=figures.INK, linestyle=":", linewidth=1)
    axes.set(xlim=(0, 100), xlabel="games won (%), with 95% intervals")
    seasoned = [entry for entry in table if entry["games"] >= _FORM] or table
    among = f" (of those with {_FORM} games)" if len(seasoned) < len(table) else ""
    figures.set_headline(figure, f"{seasoned[-1]['name']} wins most often: {seasoned[-1]['win_rate']:.0%}{among}")
    _explain_marks(figure, axes, table)


def _games_win_rate(figure: Figure, results: Results, _player: str | None) -> None:
    from scipy.stats import spearmanr

    figure.set_size_inches(7.5, 5)
    axes = figure.subplots()
    table = player_table(results)
    played, rates = [entry["games"] for entry in table], [100 * entry["win_rate"] for entry in table]
    for entry, x, y in zip(table, played, rates, strict=True):
        axes.plot([x, x], _interval(entry), color=figures.FAINT, linewidth=2, solid_capstyle="butt", zorder=0)
        axes.plot(x, y, **_mark(entry))
    axes.axhline(50, color=figures.INK, linestyle=":", linewidth=1)
    low, high = axes.get_ylim()
    figures.draw_labels(axes, played, rates, [_label(entry["name"]) for entry in table], (high - low) / 24)
    rank = correlations(table)["rank"]
    title = "Those who play more do not clearly win more often"
    if rank is not None and len(table) > 2 and spearmanr(played, rates).pvalue < _SIGNIFICANCE:
        title = f"Those who play more win {'more' if rank > 0 else 'less'} often"
    said = "" if rank is None else f" (rank correlation {rank:+.2f})"
    figures.set_headline(figure, title + said)
    axes.set(xlabel="games played", ylabel="games won (%), with 95% intervals")
    _explain_marks(figure, axes, table)


def _over_time(figure: Figure, results: Results, player: str | None) -> None:
    names = _most_active(results) if player is None else [player]
    won = {name: (results.winner == name)[_played(results, name)].astype(np.float64) for name in names}
    form = {name: float(games[-_FORM:].mean()) for name, games in won.items() if len(games) >= _FORM}
    best = max(form, key=lambda name: form[name], default=None)
    title = f"{best} won {form[best]:.0%} of the last {_FORM} games" if best else "Win rates vary from game to game"
    title += ", more than anyone else" if len(form) > 1 else ""
    title += _left_out(results) if player is None else ""
    panels = _panels(figure, len(names), title, ("games played", "games won (%)"))
    for axes, name in zip(panels, names, strict=True):
        n, total = np.arange(1, len(won[name]) + 1), np.append(0.0, np.cumsum(won[name]))
        axes.plot(n, 100 * total[1:] / n, color=figures.BLUE, label="all games so far")
        if name in form:
            recent = 100 * (total[_FORM:] - total[:-_FORM]) / _FORM
            axes.plot(
                n[_FORM - 1 :], recent, color=figures.VERMILION, linewidth=1, linestyle="--", label=f"last {_FORM}"
            )
        axes.axhline(50, color=figures.INK, linestyle=":", linewidth=0.8)
        axes.set(ylim=(0, 100))
        axes.set_title(f"{_label(name)}: {_games(len(n))}", fontsize=9)
    # The legend is at the right of the label.
    figure.supxlabel("games played", x=0.02, ha="left", fontsize=9)
    _add_legend(figure, panels[0])


def _matchups(figure: Figure, results: Results, _player: str | None) -> None:
    mixed = results.winner_is_bot != results.loser_is_bot
    if not mixed.any():
        raise RecordsError("no game between a bot and a person was selected, so there is nothing to draw")
    bots = np.where(results.winner_is_bot, results.winner, results.loser)[mixed]
    people = np.where(results.winner_is_bot, results.loser, results.winner)[mixed]
    won = (~results.winner_is_bot)[mixed]
    rows, columns = sorted(set(people.tolist())), sorted(set(bots.tolist()))
    games, wins = np.zeros((2, len(rows), len(columns)), dtype=np.int64)
    np.add.at(games, (np.searchsorted(rows, people), np.searchsorted(columns, bots)), 1)
    np.add.at(wins, (np.searchsorted(rows, people), np.searchsorted(columns, bots)), won)
    rate = np.where(games > 0, wins / np.maximum(games, 1), np.nan)
    labels = np.array([[f"{w} of {n}" for w, n in zip(*row, strict=True)] for row in zip(wins, games, strict=True)])
    names = [*map(_label, rows)], [*map(_label, columns)]
    figures.draw_matchups(figure, rate, names, labels, "games that the human player won (%)")
    figures.set_headline(figure, f"Human players won {won.mean():.0%} of their {_games(len(won))} against bots")


# Titles and functions of the plots.
PLOTS: dict[str, tuple[str, Callable[[Figure, Results, str | None], None]]] = {
    "durations": ("Games by number of breaths", _durations),
    "contributions": ("Games of each player", _contributions),
    "win-rates": ("Share of games that each player won", _win_rates),
    "games-win-rate": ("Games played and share of games won", _games_win_rate),
    "over-time": ("Share of games won over time", _over_time),
    "matchups": ("Wins of each pair of players", _matchups),
}


def _panels(figure: Figure, n: int, title: str, labels: tuple[str, str]) -> list[Axes]:
    columns = n if n <= 3 else min((5, 4, 3), key=lambda k: (-n % k, -k))
    rows = -(-n // columns)
    figure.set_size_inches(max(7.0, 2.3 * columns), 1.2 + max(1.7 * rows, 2.6))
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for axes in panels[n:]:
        axes.remove()
    figures.set_headline(figure, title)
    figure.supxlabel(labels[0], fontsize=9)
    figure.supylabel(labels[1], fontsize=9)
    return panels[:n]


def _rows(figure: Figure, table: Sequence[dict[str, Any]]) -> Axes:
    figure.set_size_inches(7, 1.2 + 0.32 * len(table))
    axes = figure.subplots()
    names = [f"{_label(entry['name'])}{' (bot)' * entry['is_bot']}" for entry in table]
    figures.name_rows(axes, range(len(table)), names)
    axes.grid(axis="x", color=figures.FAINT)
    return axes


def _label(name: str) -> str:
    """Return the name of a player as text: names of agent files contain underscores."""
    return name.replace("_", " ")


def _interval(entry: dict[str, Any]) -> list[float]:
    """Return the 95 % interval of a win rate in percent."""
    return [100 * end for end in wilson_interval(entry["win_rate"], entry["games"])]


def _mark(entry: dict[str, Any]) -> dict[str, Any]:
    return {"linestyle": "none", **(_BOT if entry["is_bot"] else _HUMAN)}


def _add_legend(figure: Figure, axes: Axes) -> None:
    """Add a legend below the axes, where it covers no data at any size."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower right", ncols=2)


def _explain_marks(figure: Figure, axes: Axes, table: Sequence[dict[str, Any]]) -> None:
    if len({entry["is_bot"] for entry in table}) > 1:
        for label, is_bot in (("human player", False), ("bot", True)):
            axes.plot([], [], label=label, **_mark({"is_bot": is_bot}))
        _add_legend(figure, axes)


def _most_active(results: Results) -> list[str]:
    table = sorted(player_table(results), key=lambda entry: -int(entry["games"]))
    return [entry["name"] for entry in table[:_MOST_PANELS]]


def _left_out(results: Results) -> str:
    """Return a title suffix if only the most active players have panels, otherwise an empty string."""
    n = len(player_table(results))
    return f" ({_MOST_PANELS} most active of {n} players)" if n > _MOST_PANELS else ""


def _played(results: Results, name: str) -> np.ndarray:
    return np.asarray((results.winner == name) | (results.loser == name))


def _games(n: int) -> str:
    return "1 game" if n == 1 else f"{n:,} games"
