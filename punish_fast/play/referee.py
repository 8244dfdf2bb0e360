"""What a table asks about the secrets of a game: who decides, what each player knows, and what happens, in words.

A *referee* of a game knows its states. A match hands nobody a state itself, but `Referee.known_to`, in which everything
that a player does not know is replaced. Whatever follows from it, be it a policy or a page, cannot tell what is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from punish_fast.play.events import Event


class Step(NamedTuple):
    """One action of a player or of chance.

    Attributes:
        state: The state before it.
        action: The action.
        after: The state after it.
    """

    state: Any
    action: int
    after: Any


class Referee(Protocol):
    """The secrets of one game."""

    def deciders(self, state: Any) -> tuple[int, ...]:
        """The players who decide now, all at once, in the order in which the game asks them.

        Args:
            state: A state in which players are to decide, and nobody has been asked yet.
        """

    def known_to(self, state: Any, player: int) -> Any:
        """A state that ``player`` cannot tell from ``state``, the same one for all such states.

        If ``player`` is to decide, the game asks this player there.
        """

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """What happens in the steps from one decision to the next."""
