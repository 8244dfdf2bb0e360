"""Appearance of cards: color, marker, line style and hatch in plots, and drawings as SVG."""

from collections.abc import Iterable, Sequence

from punish_fast.punish.rules import CARDS
from punish_fast.runtime.figures import INK, LOOKS, MUTED

CARD_LOOKS = LOOKS[: len(CARDS)]
FEINT_LOOK = LOOKS[len(CARDS)]

_WIDTH, _HEIGHT, _GAP, _TEXT = 56, 72, 6, 20


def cards_of(counts: Iterable[int]) -> list[str]:
    """Return the names of the cards with the given five counts."""
    return [card for card, n in zip(CARDS, counts, strict=True) for _ in range(n)]


def cards_svg(rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return an SVG drawing of rows of cards, each with a line of text above. A card without a name is face down."""
    looks, parts, top = dict(zip(CARDS, CARD_LOOKS, strict=True)), [], 0
    columns = max([7, *(len(cards) for _, cards in rows)])
    for text, cards in rows:
        parts.append(f'<text x="0" y="{top + 14}" fill="{INK}">{text}</text>')
        top += _TEXT
        for k, card in enumerate(cards):
            color, ink = (looks[card].color, looks[card].ink) if card else (MUTED, "white")
            x, middle = k * (_WIDTH + _GAP), f'y="{top + _HEIGHT // 2 + 4}" text-anchor="middle"'
            parts.append(f'<rect x="{x}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{color}"/>')
            parts.append(f'<text x="{x + _WIDTH // 2}" {middle} fill="{ink}">{card or "?"}</text>')
        top += (_HEIGHT if cards else 0) + _GAP
    size = f'width="{columns * (_WIDTH + _GAP)}" height="{top}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    return "\n".join([head, f'<rect {size} fill="white"/>', *parts, "</svg>\n"])
