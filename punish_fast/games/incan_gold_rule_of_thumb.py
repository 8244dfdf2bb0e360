"""A rule of thumb for Incan Gold, to compare other players with.

Leave with so many points collected in this round; fewer, the more hazards are on the board, any of which may end the
round.
"""

from __future__ import annotations

from punish_fast.games.incan_gold import ARTIFACT, FIRST_HAZARD, LEAVE, STAY, IncanGoldState

# By hazards on the board, 0 to 5.
LEAVE_AT = (44, 22, 8, 4, 3, 2)


def rule_of_thumb(state: IncanGoldState) -> int:
    """The answer of the player who is asked, where no card is to be drawn."""
    # The second hazard of a kind ends the round, so each kind counts at most once.
    hazards = sum(state.drawn[FIRST_HAZARD:ARTIFACT])
    return LEAVE if state.held[state.seats[len(state.answers)]] >= LEAVE_AT[hazards] else STAY
