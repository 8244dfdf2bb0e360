"""A game of two on a terminal, against a policy or between two people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.games.positions import Positions

Ask = Callable[[str], str]
Tell = Callable[[str], None]
# What a person sees of a state: the state, and who looks.
Draw = Callable[[Any, int], str]

_LEAVE = ("q", "quit", "exit")


class LeaveError(Exception):
    """Somebody got up from the table."""


@dataclass(frozen=True)
class Seat:
    """A player.

    Attributes:
        name: What to call it.
        policy: float64 ``[n_rows]``, what it plays; None for a person.
    """

    name: str
    policy: np.ndarray | None = None


@dataclass(frozen=True)
class Result:
    """What came of a game.

    Attributes:
        winner: The number of the player who won, or None.
        ended: Whether play came to its end; otherwise somebody left.
        actions: What was played, in words.
    """

    winner: int | None
    ended: bool
    actions: list[str]


@dataclass(frozen=True)
class Table:
    """Two seats, and how to talk to the people on them.

    Attributes:
        positions: Those of the game.
        seats: Two; the first one begins.
        draw: Draws a state for a player.
        ask: Asks a person; raises EOFError if nobody answers any more.
        tell: Tells all.
        generator: Draws what policies leave open.
    """

    positions: Positions
    seats: tuple[Seat, Seat]
    draw: Draw
    ask: Ask
    tell: Tell
    generator: np.random.Generator

    def play(self) -> Result:
        """Play a game."""
        game, state = self.positions.game, self.positions.game.initial()
        actions: list[str] = []
        try:
            while not game.is_terminal(state):
                player = game.player(state)
                seat = self.seats[player]
                action = self._asked(state, player) if seat.policy is None else self._drawn(state, seat.policy)
                actions.append(game.action_text(state, action))
                self.tell(f"{seat.name}: {actions[-1]}\n")
                state = game.apply(state, action)
        except (LeaveError, EOFError):
            self.tell("The game was left.")
            return Result(None, False, actions)
        self.tell(self.draw(state, self._viewer))
        returns = game.returns(state)
        winner = None if returns[0] == returns[1] else int(returns[1] > returns[0])
        verdict = "Nobody wins" if winner is None else f"{self.seats[winner].name} won"
        self.tell(f"\n{verdict} after {len(actions)} moves.")
        return Result(winner, True, actions)

    @property
    def _viewer(self) -> int:
        """Who looks when a game is over: a person, if there is one."""
        return int(self.seats[0].policy is not None and self.seats[1].policy is None)

    def _drawn(self, state: Any, policy: np.ndarray) -> int:
        rows = self.positions.rows(self.positions.find(state))
        chances = policy[rows.start : rows.stop]
        row = rows.start + self.generator.choice(len(rows), p=chances / chances.sum())
        return int(self.positions.action[row])

    def _asked(self, state: Any, player: int) -> int:
        game = self.positions.game
        actions = list(game.actions(state))
        words = [game.action_text(state, action) for action in actions]
        self.tell(self.draw(state, player))
        self.tell("")
        for number, text in enumerate(words, 1):
            self.tell(f"  {number}  {text}")
        while True:
            answer = self.ask(f"{self.seats[player].name}, your move (1 to {len(words)}, q leaves): ").strip().lower()
            if answer in _LEAVE:
                raise LeaveError
            if answer in words:
                return actions[words.index(answer)]
            if answer.isdecimal() and 1 <= int(answer) <= len(words):
                return actions[int(answer) - 1]
            self.tell(f"{answer!r} is no move, type its number, or it in words")
