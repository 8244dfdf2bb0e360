"""Diagrams for the documentation: speed, the subpackages, and the arrays of a decision process."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench.contenders import GIVEN, OURS, WHOLE, WIN
from bench.harness import newest
from punish_fast.mdp.model.mdp import from_rows
from punish_fast.runtime.figures import FAINT, INK, LOOKS, MUTED, Look, name_rows, set_headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# --- Speed ------------------------------------------------------------------------------------------------------------


# Background of labels. It hides grid lines.
_BLANK = {"facecolor": "white", "edgecolor": "none", "pad": 1}
# For each panel, the benchmark and its bars: a label and a pattern for the names of measurements. The fastest matching
# measurement is drawn. MDPSolver is given the values of win and loss, because it does not support terminals.
GROUPS = {
    "discounted values": (
        "peers",
        {
            "punish-fast": OURS,
            "SciPy": "SciPy, .*",
            "QuantEcon": f"QuantEcon, (?!.*{GIVEN}).*",
            "MDPSolver": f"MDPSolver, .*{GIVEN}",
        },
    ),
    "win probabilities": ("peers", {"punish-fast": f"{OURS}{WIN}", "Storm": "Storm, .*"}),
    "from the rules to values": ("reference", {"punish-fast": WHOLE, "plain Python": "plain Python, extrapolated"}),
}


def seconds_of(benchmark: str, patterns: Iterable[str]) -> list[float]:
    """Return, for each pattern, the seconds of the fastest matching measurement in the newest report of a benchmark."""
    found = newest()[benchmark].measurements
    return [min(each.median for each in found if re.fullmatch(pattern, each.name)) for pattern in patterns]


def draw_speed(figure: Figure) -> None:
    """Draw bars of the seconds that each program needs for the same task, on a logarithmic axis."""
    figure.set_size_inches(8.0, 3.4)
    heights = {"height_ratios": [len(bars) for _, bars in GROUPS.values()]}
    panels: Any = figure.subplots(len(GROUPS), sharex=True, gridspec_kw=heights)
    for axes, (title, (benchmark, bars)) in zip(panels, GROUPS.items(), strict=True):
        seconds = seconds_of(benchmark, bars.values())
        rows = -np.arange(len(bars))
        for row, time in zip(rows, seconds, strict=True):
            look = LOOKS[1 if row else 0]
            axes.barh(row, time, height=0.72, color=look.color, hatch=look.hatch)
            times = f"   {_three(time / seconds[0])} times as long" if row else ""
            axes.text(time * 1.12, row, f"{_three(time)} s{times}", va="center", fontsize=8, bbox=_BLANK)
        name_rows(axes, rows, list(bars))
        axes.set(xscale="log", xlim=(0.1, 60_000), ylim=(0.5 - len(bars), 0.5), title=title)
        axes.grid(axis="x")
        axes.tick_params(axis="x", which="both", length=0)
        axes.spines["bottom"].set_visible(False)
    panels[-1].set_xticks([0.1, 1, 10, 100, 1000, 10_000], ["0.1 s", "1 s", "10 s", "100 s", "1,000 s", "10,000 s"])
    set_headline(figure, "Time to solve Punish")


def _three(number: float) -> str:
    """Format a number with at least two significant digits and in groups of three digits."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


# --- Subpackages ------------------------------------------------------------------------------------------------------


class Stop(NamedTuple):
    """A subpackage that an object passes through.

    Attributes:
        room: Name of the subpackage.
        label: Text to the right of the dot.
        offset: Distance from the left edge of the lane.
    """

    room: str
    label: str
    offset: float = 0.0


class Road(NamedTuple):
    """The path of an object through the subpackages, as stops in order."""

    name: str
    look: Look
    stops: tuple[Stop, ...]


# In the order of tests/test_house.py, where each subpackage imports only from subpackages after it.
ROOMS = (
    *("cli", "web", "play", "envs", "arena", "study", "games", "store"),
    *("equilibrium", "records", "enemies", "duel", "punish", "mdp", "runtime"),
)
ROADS = (
    Road(
        "a state",
        LOOKS[0],
        (Stop("punish", "StateSpace, build", 0.45), Stop("mdp", "solve"), Stop("store", "save"), Stop("cli", "show")),
    ),
    Road(
        "a policy",
        LOOKS[3],
        (
            Stop("mdp", "Solution.policy"),
            Stop("store", "agent file"),
            Stop("arena", "Player.in_game", 0.62),
            Stop("equilibrium", "best_response", 1.25),
            Stop("duel", "head_to_head", 1.25),
        ),
    ),
    Road(
        "a recorded game",
        LOOKS[2],
        (
            Stop("web", "a user plays"),
            Stop("play", "PlaySession"),
            Stop("records", "database"),
            Stop("enemies", "parless"),
            Stop("punish", "policy of all rows"),
        ),
    ),
    Road(
        "an option",
        LOOKS[4],
        (Stop("cli", "--sweeps 20"), Stop("store", "solve_file"), Stop("mdp", "solve"), Stop("runtime", "threads")),
    ),
)
_LANES, _RIGHT, _BAND = (1.8, 4.2, 7.4, 10.1), 12.0, "#F4F4F4"


def draw_rooms(figure: Figure) -> None:
    """Draw the subpackages from top to bottom, and a lane for each road with numbered dots at its stops."""
    figure.set_size_inches(8.6, 5.0)
    axes: Axes = figure.subplots()
    axes.set(xlim=(-0.1, _RIGHT), ylim=(-len(ROOMS) + 0.45, 1.1))
    axes.set_axis_off()
    for number, room in enumerate(ROOMS):
        if number % 2 == 0:
            axes.axhspan(-number - 0.5, -number + 0.5, color=_BAND, zorder=0, linewidth=0)
        axes.text(0, -number, room, va="center", weight="bold")
    for left, road in zip(_LANES, ROADS, strict=True):
        _road(axes, road, left)


def _road(axes: Axes, road: Road, x: float) -> None:
    axes.text(x, 0.85, road.name, va="center", weight="bold", color=road.look.color)
    places = [(x + stop.offset, -ROOMS.index(stop.room)) for stop in road.stops]
    for begin, end in pairwise(places):
        style: Any = {"arrowstyle": "-|>", "color": road.look.color, "linewidth": 1.3, "shrinkA": 7, "shrinkB": 7}
        axes.annotate("", end, begin, arrowprops=style)
    for number, (stop, place) in enumerate(zip(road.stops, places, strict=True), 1):
        axes.plot(*place, "o", color=road.look.color, markersize=12, zorder=4)
        axes.text(*place, str(number), ha="center", va="center_baseline", color=road.look.ink, fontsize=8, zorder=5)
        axes.text(place[0] + 0.2, place[1], stop.label, va="center", fontsize=8)


# --- States, rows and columns -----------------------------------------------------------------------------------------

STATES, TERMINAL = ("good", "worn", "broken"), "sold"
_REWARD = 8.4
# Reward, successors and name of each row, by state. docs/mdp.md uses the same example.
MACHINE = (
    ((3.0, {0: 0.8, 1: 0.2}, "run"),),
    ((2.0, {1: 0.5, 2: 0.5}, "run"), (-1.0, {0: 1.0}, "maintain")),
    ((-4.0, {0: 1.0}, "repair"), (0.0, {3: 1.0}, "sell")),
)


def draw_process(figure: Figure) -> None:
    """Draw the rows of three states with their transition probabilities in each column."""
    figure.set_size_inches(7.4, 3.3)
    axes: Axes = figure.subplots()
    axes.set(xlim=(-0.1, 8.6), ylim=(-5.9, 1.75))
    axes.set_axis_off()
    mdp = from_rows([[(pay, to) for pay, to, _ in rows] for rows in MACHINE], terminals=[0.5])
    columns = [3.8 + 1.05 * k for k in range(mdp.n_columns)]
    _head(axes, columns)
    for state, name in enumerate(STATES):
        first, last = mdp.state_ptr[state : state + 2].tolist()
        axes.plot([1.35, 1.35], [-first + 0.32, 1 - last - 0.32], color=LOOKS[state].color, linewidth=4)
        middle = -(first + last - 1) / 2
        axes.text(0.05, middle, str(state), va="center", color=MUTED)
        axes.text(0.35, middle, name, va="center")
    names = [name for rows in MACHINE for *_, name in rows]
    for row, name in enumerate(names):
        axes.text(1.55, -row, str(row), va="center", color=MUTED)
        axes.text(1.85, -row, name, va="center")
        axes.text(_REWARD, -row, f"{mdp.reward[row]:g}", ha="right", va="center")
        entries = slice(*mdp.indptr[row : row + 2].tolist())
        _entries(axes, row, columns, mdp.indices[entries].tolist(), mdp.data[entries].tolist())
    pointers = {"state_ptr": mdp.state_ptr, "indptr": mdp.indptr, "indices": mdp.indices, "data": mdp.data}
    texts = [f"{name} = [{', '.join(f'{each:g}' for each in values.tolist())}]" for name, values in pointers.items()]
    axes.text(0, -5.1, "   ".join(texts[:2]), va="center", fontsize=8, family="monospace")
    axes.text(0, -5.65, "   ".join(texts[2:]), va="center", fontsize=8, family="monospace")


def _head(axes: Axes, columns: Sequence[float]) -> None:
    for x, text in ((0.05, "states"), (1.55, "rows"), (columns[0] - 0.4, "columns")):
        axes.text(x, 1.5, text, va="center", weight="bold")
    axes.text(_REWARD, 1.5, "reward", ha="right", va="center", weight="bold")
    for number, (x, name) in enumerate(zip(columns, (*STATES, TERMINAL), strict=True)):
        axes.text(x, 1.05, str(number), ha="center", va="center", color=MUTED)
        axes.text(x, 0.64, name, ha="center", va="center", style="italic" if name == TERMINAL else "normal")
    axes.text(columns[-1], 1.5, "terminal", ha="center", va="center", color=MUTED)


def _entries(axes: Axes, row: int, columns: Sequence[float], indices: list[int], data: list[float]) -> None:
    from matplotlib.patches import Rectangle

    for number, x in enumerate(columns):
        is_entry = number in indices
        face = LOOKS[5].color if is_entry else "white"
        axes.add_patch(Rectangle((x - 0.5, -row - 0.4), 1.0, 0.8, linewidth=0.6, facecolor=face, edgecolor=FAINT))
        if is_entry:
            axes.text(x, -row, f"{data[indices.index(number)]:g}", ha="center", va="center", color=INK)
