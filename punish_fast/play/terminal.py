"""A game of two at a terminal, against a policy or between two people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.games.contract import TableGame
from punish_fast.games.positions import Positions
from punish_fast.games.retrograde import outcome_text, solve_game
from punish_fast.runtime.printable import printable

Ask = Callable[[str], str]
Tell = Callable[[str], None]

_HELP = "Type the number of a move, or the move in words; hint, undo, rules, or q to leave."


class LeaveError(Exception):
    """A person left the game."""


@dataclass(frozen=True)
class Seat:
    """A player.

    Attributes:
        name: The name of the player.
        policy: float64 ``[n_rows]``, its policy; None for a person.
    """

    name: str
    policy: np.ndarray | None = None


@dataclass(frozen=True)
class Result:
    """The result of a game.

    Attributes:
        winner: The number of the winner; None for a draw or an unfinished game.
        ended: Whether the game was finished.
        actions: The actions played, in words.
    """

    winner: int | None
    ended: bool
    actions: list[str]


@dataclass(eq=False)
class TerminalGame:
    """A game at the terminal.

    Attributes:
        game: The game.
        positions: Its positions.
        seats: The players; the first moves first.
        ask: Asks a person for a line; raises EOFError when there is none.
        tell: Prints a text.
        generator: Draws the actions of policies.
    """

    game: TableGame
    positions: Positions
    seats: tuple[Seat, Seat]
    ask: Ask
    tell: Tell
    generator: np.random.Generator

    def __post_init__(self) -> None:
        # States and actions so far, for undo.
        self._states: list[Any] = [self.game.initial()]
        self._actions: list[str] = []

    def play(self) -> Result:
        """Play the game."""
        game = self.game
        try:
            while not game.is_terminal(state := self._states[-1]):
                seat = self.seats[game.player(state)]
                action = self._asked(state) if seat.policy is None else self._drawn(state, seat.policy)
                if action is None:
                    continue
                self._actions.append(game.action_text(state, action))
                self.tell(f"{seat.name}: {self._actions[-1]}\n")
                self._states.append(game.apply(state, action))
        except (LeaveError, EOFError):
            self.tell("You left the game.")
            return Result(None, False, self._actions)
        person = int(self.seats[0].policy is not None and self.seats[1].policy is None)
        self.tell(self._drawing(person))
        returns = game.returns(self._states[-1])
        winner = None if returns[0] == returns[1] else int(returns[1] > returns[0])
        verdict = "Draw" if winner is None else f"{self.seats[winner].name} won"
        self.tell(f"\n{verdict} after {len(self._actions)} moves.")
        return Result(winner, True, self._actions)

    def _drawing(self, viewer: int) -> str:
        return self.game.draw(self._states[-1], viewer, (self.seats[0].name, self.seats[1].name))

    def _drawn(self, state: Any, policy: np.ndarray) -> int:
        rows = self.positions.rows(self.positions.find(state))
        weight = policy[rows.start : rows.stop]
        return int(self.positions.action[rows.start + self.generator.choice(len(rows), p=weight / weight.sum())])

    def _asked(self, state: Any) -> int | None:
        """The action of a person; None after an undo."""
        game, player = self.game, self.game.player(state)
        actions = list(game.actions(state))
        texts = [game.action_text(state, action) for action in actions]
        numbers = [str(number) for number in range(1, len(texts) + 1)]
        self.tell(self._drawing(player) + "\n")
        for number, text in zip(numbers, texts, strict=True):
            self.tell(f"  {number}  {text}")
        while True:
            prompt = f"{self.seats[player].name}, your move (1 to {len(texts)}, ? for help): "
            answer = self.ask(prompt).strip().lower()
            if answer in texts:
                return actions[texts.index(answer)]
            if answer in numbers:
                return actions[numbers.index(answer)]
            if answer == "undo" and self._undo(player):
                return None
            self.tell(self._reply(answer, state))

    def _reply(self, answer: str, state: Any) -> str:
        if answer in {"q", "quit", "exit"}:
            raise LeaveError
        if answer in {"?", "h", "help"}:
            return _HELP
        if answer == "rules":
            return self.game.rules_text()
        if answer == "hint":
            return self._hint(state)
        return "There is no move to undo." if answer == "undo" else f"{printable(answer)!r} is not a move. {_HELP}"

    def _undo(self, player: int) -> bool:
        """Return to the last state in which ``player`` or another person was to move; False if there is none."""
        for number in range(len(self._states) - 2, -1, -1):
            mover = self.game.player(self._states[number])
            if mover == player or self.seats[mover].policy is None:
                del self._states[number + 1 :], self._actions[number:]
                return True
        return False

    def _hint(self, state: Any) -> str:
        perfect = solve_game(self.positions)
        number = self.positions.find(state)
        action = self.game.action_text(state, int(self.positions.action[perfect.best_rows()[number]]))
        return f"{action} ({outcome_text(int(perfect.value[number]), int(perfect.distance[number]))} with perfect play)"
