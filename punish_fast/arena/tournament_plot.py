"""A picture of a tournament: who beats whom, readable without colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from punish_fast.arena.tournament import Tournament
from punish_fast.runtime.figures import picture


def draw_heatmap(tournament: Tournament, path: Path) -> None:
    """Draw chances to win, agents ranked, into a PNG or SVG file, which is replaced only when the new one is whole.

    Args:
        tournament: What came of it.
        path: The file; its suffix says which format.

    Raises:
        RecordsError: the suffix says neither format.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ImportError: matplotlib is not installed.
    """
    names = [standing.agent for standing in tournament.ranking]
    order = [tournament.agents.index(name) for name in names]
    win = tournament.win[np.ix_(order, order)]
    with picture(path, "arena") as figure:
        figure.set_size_inches(3.2 + 0.75 * len(names), 2.2 + 0.5 * len(names))
        axes = figure.subplots()
        # From middle grey, on which black can be read, to white.
        image = axes.imshow(win, cmap="gray", vmin=-0.9, vmax=1, aspect="auto")
        for (i, j), chance in np.ndenumerate(win):
            text = "-" if i == j else f"{100 * chance:.1f}"
            axes.annotate(text, (j, i), ha="center", va="center")
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="against", title=f"games won, in per cent ({_how(tournament)})")
        bar = figure.colorbar(image, ax=axes, boundaries=np.linspace(0, 1, 101), ticks=np.linspace(0, 1, 5))
        bar.set_label("share that the agent of the row wins")


def _how(tournament: Tournament) -> str:
    return "exact" if tournament.games is None else f"{tournament.games:,} games a pair"
