"""Options that describe a position by its cards and statuses."""

from __future__ import annotations

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
        from punish_fast.punish.position import details_of

        names = ("hand", "discard", "hp", "breath", "enemy_hand", "exhausted", "feinted")
        return details_of({name: getattr(self, name) for name in names})
