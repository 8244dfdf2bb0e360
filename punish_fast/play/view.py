"""What one player may know."""

from __future__ import annotations

from dataclasses import dataclass

from punish_fast.punish.codes import State
from punish_fast.punish.rules import Five


@dataclass(frozen=True)
class View:
    """A position of Punish as one player sees it.

    Attributes:
        state: The information state: own hand, discard pile, HP and statuses.
        actions: The legal actions, two-digit codes, ascending.
        unseen: Cards in the enemy's hand and the deck together, five counts.
        deck: Cards in the deck.
        measure: The measure, from 1.
    """

    state: State
    actions: tuple[int, ...]
    unseen: Five
    deck: int
    measure: int
