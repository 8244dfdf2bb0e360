"""Plot of a tournament: win probabilities of all pairs as a heat map."""

from pathlib import Path

import numpy as np

from punish_fast.arena.tournament import Tournament
from punish_fast.runtime.figures import draw_matchups, picture, set_headline


def draw_tournament(found: Tournament, path: Path) -> None:
    """Plot the win probabilities of all pairs to a PNG, SVG or PDF file, the best agents first."""
    order = [found.agents.index(standing.agent) for standing in found.ranking]
    names, best = [found.agents[k] for k in order], found.ranking[0]
    win = np.where(np.eye(len(order), dtype=np.bool_), np.nan, found.win[np.ix_(order, order)])
    with picture(path, "tournament") as figure:
        draw_matchups(figure, win, (names, names), None, "games that the agent of the row won (%)")
        set_headline(figure, f"{best.agent} ranks first and wins {best.win_rate:.1%} of its games")
