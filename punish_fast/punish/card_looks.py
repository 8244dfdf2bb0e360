"""Color, marker, line style and hatch of each card and of feints in plots."""

from punish_fast.punish.rules import CARDS
from punish_fast.runtime.figures import LOOKS

CARD_LOOKS = LOOKS[: len(CARDS)]
FEINT_LOOK = LOOKS[len(CARDS)]
