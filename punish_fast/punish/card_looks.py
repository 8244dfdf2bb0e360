"""Appearance of cards: color, marker, line style and hatch in plots, and drawings as SVG and PNG."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from punish_fast.punish.rules import CARDS
from punish_fast.runtime.figures import INK, LOOKS, MUTED, picture

CARD_LOOKS = LOOKS[: len(CARDS)]
FEINT_LOOK = LOOKS[len(CARDS)]

_WIDTH, _HEIGHT, _GAP, _TEXT = 56, 72, 6, 20

# Name, left edge, color and text color of a card.
_Card = tuple[str, int, str, str]


def cards_of(counts: Iterable[int]) -> list[str]:
    """Return the names of the cards with the given five counts."""
    return [card for card, n in zip(CARDS, counts, strict=True) for _ in range(n)]


def cards_svg(rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return an SVG drawing of rows of cards, each with a line of text above. A card without a name is face down."""
    placed, width, height = _placed(rows)
    parts = []
    for text, top, cards in placed:
        parts.append(f'<text x="0" y="{top + 14}" fill="{INK}">{text}</text>')
        for card, x, color, ink in cards:
            y, middle = top + _TEXT, f'y="{top + _TEXT + _HEIGHT // 2 + 4}" text-anchor="middle"'
            parts.append(f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{color}"/>')
            parts.append(f'<text x="{x + _WIDTH // 2}" {middle} fill="{ink}">{card}</text>')
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    return "\n".join([head, f'<rect {size} fill="white"/>', *parts, "</svg>\n"])


def draw_cards(rows: Sequence[tuple[str, Sequence[str]]], path: Path) -> None:
    """Draw the same rows of cards to a PNG file of 1200 by 630 pixels, the size of previews of links."""
    placed, width, height = _placed(rows)
    with picture(path, "cards") as figure:
        figure.set_size_inches(8, 4.2)
        # Size of a text in points. The texts shrink with the cards.
        size = 13 * min(8 * 70 / width, 4.2 * 70 / height)
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
        for text, top, cards in placed:
            axes.text(0, top + 14, text, color=INK, size=size)
            for card, x, color, ink in cards:
                middle = x + _WIDTH / 2, top + _TEXT + _HEIGHT / 2
                axes.bar(middle[0], _HEIGHT, _WIDTH, bottom=top + _TEXT, color=color)
                axes.text(*middle, card, color=ink, size=size, ha="center", va="center")


def _placed(rows: Sequence[tuple[str, Sequence[str]]]) -> tuple[list[tuple[str, int, list[_Card]]], int, int]:
    """Return the text, top and cards of each row, and the width and height of the drawing."""
    looks, placed, top = dict(zip(CARDS, CARD_LOOKS, strict=True)), [], 0
    for text, cards in rows:
        colors = [(looks[card].color, looks[card].ink) if card else (MUTED, "white") for card in cards]
        places = enumerate(zip(cards, colors, strict=True))
        placed.append((text, top, [(card or "?", k * (_WIDTH + _GAP), *color) for k, (card, color) in places]))
        top += _TEXT + (_HEIGHT if cards else 0) + _GAP
    return placed, max([7, *(len(cards) for _, cards in rows)]) * (_WIDTH + _GAP), top
