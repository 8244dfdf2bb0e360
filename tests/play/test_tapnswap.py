"""Hands drawn as hands, and rules in words."""

from __future__ import annotations

import pytest

from punish_fast.games.tapnswap import Hands, TapnSwap, Variant
from punish_fast.play.tapnswap import draw_hands, rules_text

PICTURE = """\
Ben             4            dead
            (=======)     (=======)
             | | | |       n n n n
             | | | |

             | | |         |
             | | | n       | n n n
            (=======)     (=======)
Anna            3             1"""


@pytest.mark.parametrize("state", [Hands((3, 1), (4, 0), 0), Hands((4, 0), (3, 1), 1)])
def test_the_viewer_sits_below_whoever_is_to_move(state):
    assert draw_hands(TapnSwap(), state, 0, ("Anna", "Ben")) == PICTURE


def test_hands_have_as_many_fingers_as_can_live():
    game = TapnSwap(Variant(limit=9))
    text = draw_hands(game, Hands((8, 3), (1, 1), 0), 0, ("you", "them"))
    assert "| | | | | | | |" in text
    assert "| | | n n n n n" in text


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        (Variant(), "A hand that reaches 5 fingers or more dies."),
        (Variant(rolls_over=True, limit=6), "only a hand that hits 6 dies"),
        (Variant(may_empty=False), "You may not empty a hand."),
        (Variant(), "You may empty a hand"),
        (Variant(swaps=False), "There are no swaps."),
    ],
)
def test_the_rules_are_those_of_the_variant(variant, text):
    assert text in rules_text(TapnSwap(variant))
