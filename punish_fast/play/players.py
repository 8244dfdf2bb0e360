"""Players of a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from punish_fast.play.match import Match


@dataclass(frozen=True)
class SessionPlayer:
    """A player of a session."""

    name: str
    is_human: ClassVar[bool] = False

    def choice(self, match: Match, seat: int) -> int:  # noqa: ARG002 - no policy
        """Return an action for the player of ``seat``."""
        raise TypeError(f"{self.name}: choices come from outside of the session")


@dataclass(frozen=True)
class HumanPlayer(SessionPlayer):
    """A person, whose choices come from outside of the session."""

    is_human: ClassVar[bool] = True


@dataclass(frozen=True)
class PolicyPlayer(SessionPlayer):
    """A player that follows a policy."""

    policy: Any  # as the match draws from it
    temperature: float | None = None  # softmax temperature, if any

    def choice(self, match: Match, seat: int) -> int:
        """Sample an action of the policy."""
        return match.draw_choice(seat, self.policy)


def numbered(names: Sequence[str]) -> list[str]:
    """Number the names that occur more than once, from 1."""
    return [
        f"{name} {list(names[: k + 1]).count(name)}" if list(names).count(name) > 1 else name
        for k, name in enumerate(names)
    ]
