"""How MuZero learns Connect Four: ``python -m bench.muzero_curve connect4.h5 --plot curve.png``.

The networks at each point of an agent's learning curve choose moves in the sets of positions with known scores
(`games.connect4_sets`), by their policy alone and by searches. The share in which they keep the value is drawn beside
those of searches of four moves in the rules, which judge all positions that are no ends alike, and of random play.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punish_fast.games.connect4_sets import PositionSet, position_sets, search_policy, shares
from punish_fast.games.contract import VectorGame
from punish_fast.learn.movers import Values, first_best_actions
from punish_fast.learn.muzero.checkpoint import load_muzero
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import FAINT, LOOKS, MUTED, set_headline

SIMULATIONS = (0, 25, 100)
_DEPTH = 4


class CurvePoint(NamedTuple):
    """What networks are worth after some games.

    Attributes:
        games: Games of self-play.
        kept: By simulations and set of positions, the share in which the value is kept.
    """

    games: int
    kept: Mapping[int, Mapping[str, float]]


def kept_by(vector: VectorGame, values: Values, sets: Mapping[str, PositionSet]) -> dict[str, float]:
    """The share of positions in which the best legal move by some values keeps the value, by set."""
    found = {}
    for name, each in sets.items():
        action = first_best_actions(values(each.boards), vector.legal(each.boards))
        found[name] = shares(each, np.eye(vector.n_moves)[action]).keeps_value
    return found


def curve_of(path: Path, sets: Mapping[str, PositionSet]) -> list[CurvePoint]:
    """The curve of an agent of Connect Four in a file; errors as in `load_muzero`."""
    learner = load_muzero(path)
    points = []
    for point, weights in zip(learner.curve, learner.snapshots, strict=True):
        by_simulations = {n: kept_by(learner.vector, learner.values_of(weights, n), sets) for n in SIMULATIONS}
        points.append(CurvePoint(point["games"], by_simulations))
    return points


def draw_curve(points: Sequence[CurvePoint], sets: Mapping[str, PositionSet], path: Path) -> None:
    """Draw a curve, a panel for each set; errors as in `runtime.figures.picture`."""
    with picture(path, "muzero-curve") as figure:
        from matplotlib.ticker import LogLocator, NullFormatter

        figure.set_size_inches(8.5, 6.5)
        last = points[-1]
        share = last.kept[SIMULATIONS[-1]]["easy-middles"]
        set_headline(figure, f"MuZero keeps the value in {share:.1%} of easy middles after {last.games:,} games")
        panels = figure.subplots(2, 2, sharex=True).ravel()
        for panel, (name, each) in zip(panels, sets.items(), strict=True):
            for depth, label in ((_DEPTH, "search of four moves"), (0, "random play")):
                level = 100 * shares(each, search_policy(each, depth)).keeps_value
                panel.axhline(level, color=MUTED, linewidth=0.8, linestyle=":")
                panel.annotate(label, (points[0].games, level), color=MUTED, va="bottom")
            for look, n in zip(LOOKS, SIMULATIONS, strict=False):
                label = f"{n} simulations" if n else "policy alone"
                percent = [100 * point.kept[n][name] for point in points]
                games = [point.games for point in points]
                panel.plot(games, percent, color=look.colour, marker=look.marker, linestyle=look.line, label=label)
            panel.set(title=name.replace("-", " "), xscale="log", ylabel="value kept, per cent")
            panel.grid(color=FAINT)
        for panel in panels[2:]:
            panel.set(xlabel="games of self-play (logarithmic)")
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
            panel.xaxis.set_major_formatter("{x:,.0f}")
            panel.xaxis.set_minor_formatter(NullFormatter())
        panels[-1].legend(loc="lower right", bbox_to_anchor=(1, 0.08))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the curve of an agent, and draw it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("file", type=Path, help="an agent that games train connect4 --method muzero has written")
    parser.add_argument("--plot", type=Path, default=Path("muzero-curve.png"), help="the picture (muzero-curve.png)")
    options = parser.parse_args(arguments)
    sets = position_sets()
    points = curve_of(options.file, sets)
    for point in points:
        for n, kept in point.kept.items():
            print(f"{point.games:>9,} games, {n:>3} simulations:", *(f"{name} {kept[name]:.3f}" for name in sets))
    draw_curve(points, sets, options.plot)
    print(f"wrote {options.plot}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
