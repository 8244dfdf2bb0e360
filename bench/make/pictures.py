"""Draw the pictures of the documents: ``python -m bench.make.pictures [NAME ...]`` writes ``docs/NAME.png``.

A picture is a function that draws on an empty figure. `PICTURES` contains all pictures by name.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.harness import ROOT, say
from bench.make.diagrams import draw_process, draw_rooms, draw_speed
from punish_fast.punish.card_looks import CARD_LOOKS
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.rules import CARDS, load_rules
from punish_fast.runtime.figures import FAINT, INK, LOOKS, MUTED, VERMILION, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOCS = ROOT / "docs"
# Number of colors. 64 are enough for lines, letters and cards, and keep files small.
_COLORS = 64


def shrink(path: Path, output: Path) -> None:
    """Write an image with at most 64 colors."""
    from PIL import Image

    with Image.open(path) as image:
        image.convert("RGB").quantize(_COLORS).save(output, optimize=True)


# --- One measure of the game ------------------------------------------------------------------------------------------


class Breath(NamedTuple):
    """One breath in the diagram of a measure.

    Attributes:
        own: Card that you play, or ``rest``.
        enemy: Card that the opponent plays.
        discarded: Card that you discard for a feint, or None if you do not feint.
        remark: Text between your card and the opponent's.
    """

    own: str
    enemy: str
    discarded: str | None
    remark: str


# A game in which each rule about breaths applies once.
MEASURE = (
    Breath("strike", "guard", None, "a guard\nabsorbs 1"),
    Breath("punish", "dodge", None, "a dodge\nevades it"),
    Breath("rest", "strike", None, "you must rest\nafter a punish"),
    Breath("guard", "rush", "dodge", "a feint: the top\ncard of the deck"),
)
_WIDTH, _HEIGHT = 0.62, 0.52
_OWN, _ENEMY = 2.1, 0.55


def draw_measure(figure: Figure) -> None:
    """Draw one measure: the deal, four breaths with the cards and HP of both players, and the redeal."""
    figure.set_size_inches(9.2, 3.3)
    axes: Axes = figure.subplots()
    axes.set(xlim=(-0.95, 5.75), ylim=(-0.05, 3.05))
    axes.set_axis_off()
    rules = load_rules("tabletop")
    taken = clash_effects(rules).taken
    kinds = [*CARDS, "rest"]
    own_hp = enemy_hp = rules.hp
    for height, name in ((_OWN, "you"), (_ENEMY, "opponent")):
        axes.text(-0.9, height, name, ha="left", va="center", weight="bold")
    _column(axes, 0, "deal", ("5 cards", "5 cards"), (own_hp, enemy_hp), rules.hp)
    _note(axes, 0, "discard pile: 3\ndeck: 2")
    for number, breath in enumerate(MEASURE, 1):
        own, enemy = kinds.index(breath.own), kinds.index(breath.enemy)
        own_hp, enemy_hp = own_hp - int(taken[own, enemy]), enemy_hp - int(taken[enemy, own])
        _column(axes, number, f"breath {number}", (breath.own, breath.enemy), (own_hp, enemy_hp), rules.hp)
        _note(axes, number, breath.remark)
        if breath.discarded is not None:
            _discarded(axes, number, _OWN, breath.discarded)
    own_hp, enemy_hp = (min(rules.hp, hp + rules.healing) for hp in (own_hp, enemy_hp))
    _column(axes, 5, "redeal", ("draw 3", "draw 4"), (own_hp, enemy_hp), rules.hp)
    _note(axes, 5, "both heal 1 HP, and\ndraw up to 5 cards")
    for number in range(5):
        _arrow(axes, number)


def _column(axes: Axes, x: float, title: str, cards: tuple[str, str], hps: tuple[int, int], most: int) -> None:
    axes.text(x, 2.97, title, ha="center", va="top", weight="bold")
    for height, card, hp in zip((_OWN, _ENEMY), cards, hps, strict=True):
        _card(axes, x, height, card)
        for k in range(most):
            color = VERMILION if k < hp else FAINT
            axes.text(
                x + 0.14 * (k - (most - 1) / 2), height - 0.4, "♥", ha="center", va="center", color=color, size=12
            )


def _card(axes: Axes, x: float, y: float, name: str, order: int = 2) -> None:
    from matplotlib.patches import FancyBboxPatch

    look = CARD_LOOKS[CARDS.index(name)] if name in CARDS else None
    face, ink = (look.color, look.ink) if look else ("white", MUTED)
    shape = "round,pad=0,rounding_size=0.08"
    corner = (x - _WIDTH / 2, y - _HEIGHT / 2)
    edge = INK if look else FAINT
    axes.add_patch(
        FancyBboxPatch(corner, _WIDTH, _HEIGHT, boxstyle=shape, facecolor=face, edgecolor=edge, zorder=order)
    )
    axes.text(x, y, name, ha="center", va="center", color=ink, zorder=order)


def _discarded(axes: Axes, x: float, y: float, name: str) -> None:
    """Draw a card behind the card at (x, y), so that only its upper edge is visible."""
    _card(axes, x + 0.1, y + 0.24, "", order=1)
    axes.text(x + 0.1, y + 0.37, f"({name})", ha="center", va="center", color=MUTED, size=8)


def _note(axes: Axes, x: float, text: str) -> None:
    axes.text(x, (_OWN + _ENEMY) / 2 - 0.08, text, ha="center", va="center", color=MUTED, size=8)


def _arrow(axes: Axes, x: float) -> None:
    style: Any = {"arrowstyle": "->", "color": MUTED, "linewidth": 0.8}
    axes.annotate("", (x + 0.66, 2.9), (x + 0.42, 2.9), arrowprops=style)


# --- Exploitability by number of iterations -------------------------------------------------------------------------

# Exploitability in percentage points by number of iterations, from ``equilibrium --iterations N --resume run.h5``.
MEMORYLESS = {1: 34.58, 2: 36.12, 5: 20.10, 10: 10.50, 20: 5.49, 40: 3.64, 80: 2.80, 160: 2.42, 320: 2.18, 640: 2.01}
# Exploitability in percentage points with ``--information memory``, from docs/equilibrium.md.
MEMORY = {1344: 1.3}


def draw_exploitability(figure: Figure) -> None:
    """Draw exploitability over the number of iterations, on logarithmic axes."""
    from matplotlib.ticker import FormatStrFormatter

    figure.set_size_inches(6.4, 3.4)
    axes: Axes = figure.subplots()
    for name, points, look in (("memoryless", MEMORYLESS, LOOKS[0]), ("memory", MEMORY, LOOKS[3])):
        axes.plot(list(points), list(points.values()), color=look.color, marker=look.marker, clip_on=False)
        last = list(points.items())[-1]
        axes.annotate(name, last, (0, 8), textcoords="offset points", ha="center", color=look.color)
    axes.set(xscale="log", yscale="log", xlim=(0.9, 3000), ylim=(1, 60))
    axes.set(xlabel="iterations", ylabel="exploitability in percentage points")
    axes.set_xticks((1, 10, 100, 1000))
    axes.set_yticks((1, 2, 5, 10, 20, 50))
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(FormatStrFormatter("%d"))
    axes.yaxis.set_major_formatter(FormatStrFormatter("%d"))
    axes.grid()


# --- Exploitability by number of rounds -------------------------------------------------------------------------------

# Exploitability of the small game of docs/equilibrium.md in percentage points after 0, 1, ... rounds over all public
# states. The bounds agree to 0.01 points.
ROUNDS = {"memoryless": (1.90, 0.60, 0.62, 0.61, 0.56, 0.57), "memory": (1.93, 0.49, 0.49, 0.41, 0.43, 0.37)}


def draw_rounds(figure: Figure) -> None:
    """Draw exploitability over the number of rounds over all public states."""
    figure.set_size_inches(6.4, 2.8)
    axes: Axes = figure.subplots()
    for (name, points), look, offset in zip(ROUNDS.items(), (LOOKS[0], LOOKS[3]), (8, -14), strict=True):
        axes.plot(points, color=look.color, marker=look.marker, clip_on=False)
        axes.annotate(name, (4, points[4]), (0, offset), textcoords="offset points", ha="center", color=look.color)
    axes.set(ylim=(0, 2), xlabel="rounds", ylabel="exploitability\nin percentage points")
    axes.grid()


# --- All pictures -----------------------------------------------------------------------------------------------------

PICTURES: dict[str, Callable[[Figure], None]] = {
    "measure": draw_measure,
    "exploitability": draw_exploitability,
    "public-rounds": draw_rounds,
    "architecture-rooms": draw_rooms,
    "mdp-rows": draw_process,
    "speed": draw_speed,
}


def draw(name: str, folder: Path = DOCS) -> Path:
    """Draw a picture, write it to a folder and return its path."""
    output = folder / f"{name}.png"
    with tempfile.TemporaryDirectory() as temporary:
        drawn = Path(temporary) / output.name
        with picture(drawn, name) as figure:
            PICTURES[name](figure)
        shrink(drawn, output)
    return output


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.make.pictures", description="Draw pictures of the documents."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *PICTURES], help=f"{', '.join(PICTURES)}")
    for name in parser.parse_args(arguments).names or PICTURES:
        say(f"wrote {draw(name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
