"""TapnSwap on a terminal: its rules in words, and hands drawn as hands."""

from __future__ import annotations

from punish_fast.games.tapnswap import Hands, TapnSwap

_GAP = "     "


def rules_text(game: TapnSwap) -> str:
    """What a player has to know."""
    variant, limit = game.variant, game.variant.limit
    beyond = f"rolls over: only a hand that hits {limit} dies" if variant.rolls_over else "dies"
    swap = (
        "Or swap: move fingers between your own hands, but not to the mirror image.\n"
        + ("You may empty a hand, and a dead hand may come back." if variant.may_empty else "You may not empty a hand.")
        if variant.swaps
        else "There are no swaps."
    )
    return "\n".join(
        [
            "Both players have two hands, with one finger on each.",
            "In your turn, tap: add the fingers of one of your hands to one of your opponent's.",
            f"A hand that reaches {limit} fingers or more {beyond}. Dead hands are empty and can do nothing.",
            swap,
            "Whoever has two dead hands has lost.",
        ]
    )


def draw_hands(game: TapnSwap, state: Hands, viewer: int, names: tuple[str, str]) -> str:
    """Both players' hands, those of ``viewer`` below with the fingers up.

    Args:
        game: The game.
        state: What to draw.
        viewer: Who looks, 0 or 1.
        names: Of both players.
    """
    near, far = (state.own, state.other) if state.player == viewer else (state.other, state.own)
    width = 2 * game.most + 1
    above = [_row(far, row, game.most, width) for row in (_knuckles, _fingers, _tips)]
    below = [_row(near, row, game.most, width) for row in (_tips, _fingers, _knuckles)]
    return "\n".join(
        [
            _label(names[1 - viewer], far, width),
            *above,
            "",
            *below,
            _label(names[viewer], near, width),
        ]
    )


def _row(pair: tuple[int, int], row: object, most: int, width: int) -> str:
    assert callable(row)
    return (" " * 12 + _GAP.join(str(row(fingers, most)).ljust(width) for fingers in pair)).rstrip()


def _tips(fingers: int, most: int) -> str:
    return " " + " ".join("|" if k < fingers else " " for k in range(most))


def _fingers(fingers: int, most: int) -> str:
    return " " + " ".join("|" if k < fingers else "n" for k in range(most))


def _knuckles(_fingers: int, most: int) -> str:
    return "(" + "=" * (2 * most - 1) + ")"


def _label(name: str, pair: tuple[int, int], width: int) -> str:
    counts = [str(fingers) if fingers else "dead" for fingers in pair]
    return (name[:11].ljust(12) + _GAP.join(count.center(width) for count in counts)).rstrip()
