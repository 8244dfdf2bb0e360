"""Players of a session that are functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from punish_fast.play.session import Match, SessionPlayer


@dataclass(frozen=True)
class ScriptedPlayer(SessionPlayer):
    """Chooses by a function of the view and the legal actions of its seat."""

    decide: Callable[[Any, Sequence[int]], int]

    def choice(self, match: Match, seat: int) -> int:
        return self.decide(match.view(seat), match.legal(seat))
