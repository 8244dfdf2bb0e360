"""A rule of thumb for Incan Gold, to compare other players with: leave with 12 collected points.

No number of points is the best against itself: two who leave with 6 are beaten by one who leaves with 15, and two who
leave with 15 by one who leaves with 6 (`incan_gold_responses.settled_rule`). Twelve lies between them.
"""

from __future__ import annotations

from punish_fast.games.incan_gold import LEAVE, STAY, IncanGoldState

LEAVE_AT = 12


def rule_of_thumb(state: IncanGoldState) -> int:
    """The answer of the player who is asked, where no card is to be drawn."""
    return LEAVE if state.held[state.seats[len(state.answers)]] >= LEAVE_AT else STAY
