"""Draw the pictures of the documents: ``python -m bench.make.pictures [NAME ...]`` writes ``docs/NAME.png``.

A picture is a function that draws on an empty figure; `PICTURES` lists all of them by name.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.harness import ROOT, say
from punish_fast.punish.card_looks import CARD_LOOKS
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.rules import CARDS, load_rules
from punish_fast.runtime.figures import FAINT, INK, MUTED, VERMILION, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOCS = ROOT / "docs"
# Enough for lines, letters and the colors of the cards; files stay small.
_COLORS = 64


def shrink(path: Path, output: Path) -> None:
    """Reduce the colors of a figure."""
    from PIL import Image

    with Image.open(path) as image:
        image.convert("RGB").quantize(_COLORS).save(output, optimize=True)


# --- One measure of the game ------------------------------------------------------------------------------------------


class Breath(NamedTuple):
    """A breath of the measure.

    Attributes:
        own: Card that you play, or ``rest``.
        enemy: Card that the opponent plays.
        discarded: Card that you discard for a feint; None without a feint.
        remark: Text between the two cards.
    """

    own: str
    enemy: str
    discarded: str | None
    remark: str


# A game in which every rule of a breath matters once.
MEASURE = (
    Breath("strike", "guard", None, "a guard\nabsorbs 1"),
    Breath("punish", "dodge", None, "a dodge\nevades it"),
    Breath("rest", "strike", None, "you must rest\nafter a punish"),
    Breath("guard", "rush", "dodge", "a feint: the top\ncard of the deck"),
)
_WIDTH, _HEIGHT = 0.62, 0.52
_OWN, _ENEMY = 2.1, 0.55


def draw_measure(figure: Figure) -> None:
    """Draw one measure: the deal, four breaths with the cards of both players and their HP, and the redeal."""
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
    """Draw a card that shows only its upper edge behind the card at (x, y)."""
    _card(axes, x + 0.1, y + 0.24, "", order=1)
    axes.text(x + 0.1, y + 0.37, f"({name})", ha="center", va="center", color=MUTED, size=8)


def _note(axes: Axes, x: float, text: str) -> None:
    axes.text(x, (_OWN + _ENEMY) / 2 - 0.08, text, ha="center", va="center", color=MUTED, size=8)


def _arrow(axes: Axes, x: float) -> None:
    style: Any = {"arrowstyle": "->", "color": MUTED, "linewidth": 0.8}
    axes.annotate("", (x + 0.66, 2.9), (x + 0.42, 2.9), arrowprops=style)


# --- All pictures -----------------------------------------------------------------------------------------------------

PICTURES: dict[str, Callable[[Figure], None]] = {
    "measure": draw_measure,
}


def draw(name: str, folder: Path = DOCS) -> Path:
    """Draw a picture into a folder and return its path."""
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
