from __future__ import annotations

import io
import re

import pytest
from playing import RULES

from punish_fast.play.events import Clash, Damage, Deal, End, Exhaustion, Heal, Reshuffle, Reveal
from punish_fast.play.game_data import View, view_of
from punish_fast.play.punish.screen import Screen, card_style, open_console
from punish_fast.punish.card_looks import CARD_LOOKS
from punish_fast.punish.position import position
from punish_fast.punish.rules import CARDS
from punish_fast.runtime.figures import INK


class Stream(io.StringIO):
    """A stream of an encoding that may be a terminal."""

    encoding = None

    def __init__(self, encoding="utf-8", is_terminal=False):
        super().__init__()
        self.encoding, self.isatty = encoding, lambda: is_terminal


def drawn(draw, stream=None, names=("you", "naive")):
    """What is drawn on a stream."""
    stream = stream or Stream()
    draw(Screen(open_console(stream), RULES, names))
    return stream.getvalue()


@pytest.fixture
def view(table):
    return view_of(table.space, position("rs", "g", rules=RULES))


def test_a_view_shows_what_its_player_may_know(view):
    lines = drawn(lambda screen: screen.draw(view, 0)).splitlines()
    assert lines[1].startswith("━━ breath 1 of 2 ━")
    assert lines[2] == "  naive         ♥♥  2 HP  2 cards  may feint"
    assert lines[3].split() == ["▒▒", "▒▒", "deck", "▒▒", "▒▒"]
    assert lines[5] == "  discard pile   1 guard   - rush   - dodge   - strike   - punish"
    assert lines[6] == "  not seen yet   - guard   1 rush   1 dodge   1 strike   1 punish"
    assert lines[8] == "  you           ♥♥  2 HP  2 cards  may feint"
    assert lines[10] == "  │  rush  │ │ strike │"
    assert lines[11] == "  │deals 1 │ │deals 2 │"
    assert lines[12] == "  ╰── r ───╯ ╰── s ───╯"


def test_a_long_name_is_separated_from_the_hp(view):
    assert "  Viktor@resolve ♥♥  2 HP" in drawn(lambda screen: screen.draw(view, 0), names=("you", "Viktor@resolve"))


def test_statuses_are_named():
    state = position("r", "psd", breath=2, rules=RULES)._replace(enemy_exhausted=1, own_feinted=1, own_hp=1)
    view = View(state, (20,), (1, 1, 0, 1, 0), 3)
    text = drawn(lambda screen: screen.draw(view, 0))
    assert "━━ measure 3, breath 2 of 2 ━" in text
    assert "naive         ♥♥  2 HP  1 card  may feint  EXHAUSTED, rests" in text
    assert "you           ♥·  1 HP  1 card  has feinted" in text


def test_both_seats_are_drawn_for_spectators(view):
    text = drawn(lambda screen: screen.draw_open([view, view]), names=("Ann", "Ben"))
    assert [name in text for name in ("Ann", "Ben", "not seen yet")] == [True, True, False]
    assert text.count("1 rush   - dodge   1 strike") == 2


def test_a_terminal_without_lines_gets_ascii(view):
    text = drawn(lambda screen: screen.draw(view, 0), Stream("ascii"))
    assert text.isascii()
    assert "|  rush  | | strike |" in text
    assert "**  2 HP" in text
    assert "## ##" in text


@pytest.mark.parametrize("width", [40, 80])
def test_every_width_shows_everything_and_short_texts_side_by_side(view, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    texts = [f"f strike  {number:6.2f}%" for number in range(9)]
    rows = drawn(lambda screen: screen.columns(texts)).splitlines()
    assert max(map(len, rows)) <= width
    assert " ".join(" ".join(rows).split()) == " ".join(" ".join(texts).split())
    assert len(rows) == -(-len(texts) // {40: 2, 80: 4}[width])
    text = drawn(lambda screen: screen.draw(view, 0))
    assert max(map(len, text.splitlines())) <= width
    assert all(words in text for words in ("1 guard", "1 punish", "2 HP", "strike", "may feint"))


def test_cards_have_their_color_and_readable_ink(view, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = drawn(lambda screen: screen.draw(view, 0), Stream(is_terminal=True))
    for kind, card in enumerate(CARDS):
        red, green, blue = (int(CARD_LOOKS[kind].color[k : k + 2], 16) for k in (1, 3, 5))
        # Rush and strike are in hand; guard, dodge and punish are in the piles.
        assert f"48;2;{red};{green};{blue}m" in text, card
        assert card_style(kind).color.name in ("#ffffff", INK)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = drawn(lambda screen: screen.draw(view, 0), Stream(is_terminal=True))
    assert not re.search(r"\x1b\[(?:\d+;)*[34]8;", plain)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Deal(2, (None, None), (1, 0, 0, 0, 0), 2), "The cards are dealt. Revealed: guard."),
        (Clash((1, 3)), "rush against strike: the rush hits for 1 and the strike hits for 2."),
        (Clash((2, 3)), "dodge against strike: the dodge evades the strike."),
        (Damage(0, 1, 1), "You take 1 damage: 1 HP left."),
        (Damage(1, 3, -1), "naive takes 3 damage: no HP left."),
        (Heal(0, 2, 4), "You heal 2 HP (4 now)."),
        (Exhaustion(0), "You are exhausted and must rest in the next breath."),
        (Exhaustion(1), "naive is exhausted and must rest in the next breath."),
        (Reshuffle((2, 2), (1, 0)), "The measure ends. You heal 1 HP (2 now)."),
        (End(0), "You win!"),
        (End(1, both_fell=True), "Both fall, and the lower card wins. naive wins!"),
        (End(None), "A draw."),
    ],
)
def test_events_are_told_in_words(event, words):
    assert drawn(lambda screen: screen.tell(event)) == f"  {words}\n"


def test_a_reveal_names_what_both_played_and_drew():
    text = drawn(lambda screen: screen.tell(Reveal(1, (40, 21), (None, 4))))
    assert text.splitlines() == ["  You play         strike ", "  naive feints     rush  away and draws  punish "]
    assert "You rest." in drawn(lambda screen: screen.tell(Reveal(1, (90, 20), (None, None))))
