"""The plot of a tournament: the win rate of every agent against every other one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from punish_fast.arena.tournament import Tournament
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import add_share_bar, draw_share_map, set_headline


def draw_heatmap(tournament: Tournament, path: Path) -> None:
    """Draw win rates, with agents in the order of the ranking, into a PNG or SVG file.

    Raises:
        FigureError: the suffix is neither .png nor .svg.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ExtraError: matplotlib is not installed.
    """
    names = [standing.agent for standing in tournament.ranking]
    order = [tournament.agents.index(name) for name in names]
    win = tournament.win[np.ix_(order, order)].copy()
    mean = (win.sum(axis=1) - np.diag(win)) / max(len(names) - 1, 1)
    np.fill_diagonal(win, np.nan)
    with picture(path, "arena") as figure:
        figure.set_size_inches(3.4 + 0.75 * len(names), 2.0 + 0.5 * len(names))
        axes = figure.subplots()
        image = draw_share_map(axes, win)
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(names)), names)
        how = "exact" if tournament.games is None else f"{tournament.games:,} games a pair"
        set_headline(figure, f"{names[0]} ranks first and wins {mean[0]:.1%} of its games")
        axes.set(xlabel="against", title=f"games that the agent of the row wins ({how})")
        add_share_bar(axes, image, "games won, in per cent")
