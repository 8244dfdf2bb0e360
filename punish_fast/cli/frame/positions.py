"""Options that describe a position by its cards and statuses."""

from __future__ import annotations

import re
from typing import Any, Literal

from punish_fast.cli.frame.options import CommonOptions, option

_SIDES = ("own", "enemy", "both")


class PositionOptions(CommonOptions):
    """Options of commands that show a position."""

    hand: str | None = option("Cards in hand, by initials: g, r, d, s, p.", metavar="CARDS")
    discard: str | None = option("Cards in the discard pile, by initials.", metavar="CARDS")
    hp: str | None = option("Your HP and the enemy's, such as 3-2.  [default: full]", metavar="OWN-ENEMY")
    breath: int | None = option("Breath of the measure.  [default: 1; for hand: the first possible]")
    enemy_hand: int | None = option("Cards in the enemy's hand.  [default: all unseen cards outside the deck]")
    exhausted: Literal["own", "enemy", "both"] | None = option("Player who must rest in this breath.")
    feinted: str | None = option(
        "Player who has feinted in this measure, or both players' numbers of feints, such as 2-1.",
        metavar="own|enemy|both",
        complete=lambda incomplete: [side for side in _SIDES if side.startswith(incomplete)],
    )

    def details(self) -> dict[str, Any]:
        """Return the given details as arguments of `position`."""
        from punish_fast.punish.codes import StateError

        names = ("hand", "discard", "hp", "breath", "enemy_hand", "exhausted", "feinted")
        words = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        for name in ("hp", "feinted"):
            text = words.get(name)
            if text is not None and (name == "hp" or text not in _SIDES):
                if re.fullmatch("[0-9]-[0-9]", text) is None:
                    sides = "own, enemy, both, or " if name == "feinted" else ""
                    told = f"it must be {sides}two numbers, yours and the enemy's, such as 2-1"
                    raise StateError(f"{name}: {text!r} is invalid; {told}")
                words[name] = int(text[0]), int(text[2])
        return words
