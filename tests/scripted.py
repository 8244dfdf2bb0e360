"""Players of a session that are functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from punish_fast.play.session import Match


@dataclass(frozen=True)
class ScriptedPlayer:
    """Chooses by a function of the view and the legal actions of its seat."""

    name: str
    decide: Callable[[Any, Sequence[int]], int]
    temperature: None = None
    is_human: bool = False

    def choice(self, match: Match, seat: int) -> int:
        return self.decide(match.view(seat), match.legal(seat))
