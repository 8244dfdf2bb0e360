"""Who sits at a table: people, agents and scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from punish_fast.play.match import Match


@dataclass(frozen=True)
class Person:
    """A player who is asked for every choice.

    Attributes:
        name: The player's name.
    """

    name: str

    def choice(self, _match: Match, _number: int) -> int | None:
        """The choice of the player of seat ``number``; None for a person, who has to be asked."""
        return None


@dataclass(frozen=True)
class Agent(Person):
    """A player that follows a policy.

    Attributes:
        policy: Its policy, as the match draws from it.
        temperature: That of its softmax; None if it plays otherwise.
    """

    policy: Any
    temperature: float | None = None

    def choice(self, match: Match, number: int) -> int:
        """A choice drawn from the policy."""
        return match.draw_choice(number, self.policy)


@dataclass(frozen=True)
class Script(Person):
    """A player that is a function of what it may know.

    Attributes:
        decide: Takes the view of its seat and the legal actions; returns one of them.
    """

    decide: Callable[[Any, Sequence[int]], int]

    def choice(self, match: Match, number: int) -> int:
        """A choice by the function."""
        return self.decide(match.view(number), match.legal(number))


def numbered(names: Sequence[str]) -> list[str]:
    """Names that can be told apart: those that come more than once get numbers, from 1."""
    return [
        f"{name} {list(names[: k + 1]).count(name)}" if list(names).count(name) > 1 else name
        for k, name in enumerate(names)
    ]
