"""Drawings of a game in the terminal: cards, hands, statuses, and events in words.

A card is a box with its name and key, filled with the color of the card in plots. If the terminal does not support
line-drawing characters, boxes consist of ASCII characters.
"""

import os
from collections.abc import Sequence
from textwrap import fill
from typing import IO

import numpy as np
from rich.box import ASCII, ROUNDED
from rich.color import Color
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from punish_fast.play.events import Damage, End, Heal, Reveal
from punish_fast.play.game_data import View
from punish_fast.play.words import told_of, words_of
from punish_fast.punish.card_looks import CARD_LOOKS
from punish_fast.punish.rules import CARDS, Rules
from punish_fast.runtime.events import Event
from punish_fast.runtime.figures import INK, is_dark

_WIDEST, _NARROWEST = 100, 40
_CARD, _TITLE = 10, 14


def open_console(stream: IO[str]) -> Console:
    """Return a console for a stream, with 40 to 100 columns.

    If the stream is not a terminal and ``COLUMNS`` is not set, the console has 80 columns.
    """
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    width = console.width if console.is_terminal or "COLUMNS" in os.environ else 80
    console.width = max(_NARROWEST, min(width, _WIDEST))
    return console


def card_style(kind: int) -> Style:
    """Return the style of a card: its background color and a legible text color."""
    color = CARD_LOOKS[kind].color
    triplet = Color.parse(color).get_truecolor()
    return Style(color="#ffffff" if is_dark(triplet.normalized) else INK, bgcolor=color)


class Screen:
    """Draws views and prints events.

    Attributes:
        console: Console to draw on.
        rules: The rules.
        names: Name of the player in each seat. A user who plays against an agent is "you".
    """

    def __init__(self, console: Console, rules: Rules, names: tuple[str, str]) -> None:
        """Store the arguments, and select characters that the terminal supports."""
        self.console = console
        self.rules, self.names = rules, names
        encoding = (getattr(console.file, "encoding", None) or "ascii").lower()
        plain = console.is_dumb_terminal or not encoding.startswith("utf")
        self._box = ASCII if plain else ROUNDED
        self._full, self._empty, self._back, self._bar = "*.#-" if plain else "♥·▒━"

    def draw(self, view: View, seat: int) -> None:
        """Draw a position as seen by the player in a seat."""
        state = view.state
        enemy, own = self.names[1 - seat], self.names[seat]
        self._heading_of(view)
        self._player(enemy, state.enemy_hp, state.enemy_exhausted, state.enemy_feinted, state.enemy_hand)
        hidden, deck = self._backs(state.enemy_hand), f"deck {self._backs(view.deck)}".rstrip()
        self._flow("", "", [Text(hidden, "dim"), Text(deck, "dim")] if hidden else [Text(deck, "dim")], 4)
        self.console.print()
        self._pile("discard pile", state.discard)
        self._pile("not seen yet", view.unseen)
        self.console.print()
        self._player(own, state.own_hp, state.own_exhausted, state.own_feinted, sum(state.hand))
        self.cards([kind for kind, n in enumerate(state.hand) for _ in range(n)], keys=True)

    def draw_open(self, views: Sequence[View]) -> None:
        """Draw the hands of both players, for spectators."""
        self._heading_of(views[0])
        for name, view in zip(self.names, views, strict=True):
            state = view.state
            self._player(name, state.own_hp, state.own_exhausted, state.own_feinted, sum(state.hand))
            self._pile("", state.hand)
        self._pile("discard pile", views[0].state.discard)

    def uncover(self, views: Sequence[View]) -> None:
        """Draw the deck and the hand of each player except "you"."""
        for name, view in zip(self.names, views, strict=True):
            if name != "you":
                self._pile(f"{name[:20]}'s hand", view.state.hand)
        self._pile("deck", np.subtract(views[0].unseen, views[1].state.hand).tolist())

    def cards(self, kinds: Sequence[int], keys: bool = False) -> None:
        """Draw cards side by side, with the key of each card if ``keys`` is True."""
        most = max(1, (self.console.width - 2) // (_CARD + 1))
        for begin in range(0, len(kinds), most):
            row = Table.grid(padding=(0, 1, 0, 0))
            row.add_row(*(self._card(kind, keys) for kind in kinds[begin : begin + most]))
            self.console.print(Padding.indent(row, 2))

    def say(self, text: str) -> None:
        """Print a paragraph."""
        self.console.print(fill(text, self.console.width - 1, initial_indent="  ", subsequent_indent="  "))

    def columns(self, texts: Sequence[str]) -> None:
        """Print texts of equal length in rows. The first text is bold."""
        cells = [Text(text, "" if number else "bold") for number, text in enumerate(texts)]
        most = max(1, (self.console.width - 2) // (len(texts[0]) + 2))
        for begin in range(0, len(cells), most):
            self.console.print(Text("    ") + Text("  ").join(cells[begin : begin + most]), no_wrap=True)

    def tell(self, event: Event) -> None:
        """Print an event in words."""
        if isinstance(event, Reveal):
            for seat in (0, 1):
                self.console.print(self._played(seat, event))
        elif isinstance(event, Damage | Heal | End):
            self.console.print(Text(f"  {words_of(event, self.rules, self.names)}", "bold"))
        else:
            self.say(words_of(event, self.rules, self.names))

    def _heading_of(self, view: View) -> None:
        measure = "" if view.measure is None else f"measure {view.measure}, "
        text = f"{measure}breath {view.state.breath} of {self.rules.breaths}"
        self.console.print()
        self.console.print(Text(f"{self._bar * 2} {text} ".ljust(self.console.width, self._bar), "bold"), no_wrap=True)

    def _player(self, name: str, hp: int, exhausted: int, feinted: int, n_cards: int) -> None:
        parts = [Text(self._full * hp + self._empty * (self.rules.hp - hp), "red"), Text(f"{hp} HP")]
        parts.append(Text(f"{n_cards} card{'' if n_cards == 1 else 's'}"))
        if self.rules.feints:
            left = self.rules.feints - feinted
            parts.append(Text("may feint" if left else "has feinted"))
        if exhausted:
            parts.append(Text("EXHAUSTED, rests", "bold"))
        self._flow(name[:24], "bold", parts, 2)

    def _pile(self, title: str, counts: Sequence[int]) -> None:
        chips = [
            Text(f" {n} {CARDS[kind]} ", card_style(kind)) if n else Text(f" - {CARDS[kind]} ", "dim")
            for kind, n in enumerate(counts)
        ]
        self._flow(title, "", chips, 1)

    def _backs(self, n: int) -> str:
        return " ".join([self._back * 2] * n)

    def _flow(self, title: str, style: str, parts: Sequence[Text], gap: int) -> None:
        """Print parts after a title, separated by ``gap`` spaces, with line breaks if necessary."""
        line = Text("  ").append(f"{title:<{_TITLE - 1}} ", style)
        for number, part in enumerate(parts):
            if number and len(line) + gap + len(part) > self.console.width:
                self._print_line(line)
                line = Text(" " * (2 + _TITLE))
            elif number:
                line.append(" " * gap)
            line.append_text(part)
        self._print_line(line)

    def _print_line(self, line: Text) -> None:
        line.rstrip()
        self.console.print(line, no_wrap=True)

    def _card(self, kind: int, key: bool) -> Panel:
        card, damage = CARDS[kind], self.rules.damage[kind]
        text = Text(f"{card}\n{f'deals {damage}' if damage else ''}", justify="center")
        subtitle = card[0] if key else None
        return Panel(text, self._box, subtitle=subtitle, style=card_style(kind), width=_CARD, padding=0)

    def _played(self, seat: int, event: Reveal) -> Text:
        """Return a line that shows the card that a player picked and, for a feint, the card drawn."""
        action, drawn = event.actions[seat], event.drawn[seat]
        who = self.names[seat]
        pick = action // 10 - 1
        if pick >= len(CARDS):
            return Text(f"  {told_of(who, 'rest')}.")
        line = Text(f"  {told_of(who, 'play' if drawn is None else 'feint')} ".ljust(18))
        line.append(f" {CARDS[pick]} ", card_style(pick))
        if drawn is not None:
            line.append(" away and draw " if who == "you" else " away and draws ")
            line.append(f" {CARDS[drawn]} ", card_style(drawn))
        return line
