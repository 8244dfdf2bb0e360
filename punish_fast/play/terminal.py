"""A game without secrets at a terminal, against an agent or between two people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from punish_fast.games.oracle import Oracle
from punish_fast.games.retrograde import outcome_text
from punish_fast.play.board_match import BoardView
from punish_fast.play.events import Moved
from punish_fast.play.match import UndoError
from punish_fast.play.session import PlaySession
from punish_fast.runtime.printable import printable

Ask = Callable[[str], str]
Tell = Callable[[str], None]

_HELP = "Type the number of a move, or the move in words; hint, undo, rules, or q to leave."


class LeaveError(Exception):
    """A person left the game."""


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
        session: A session with a `BoardMatch`.
        oracle: Perfect play, which gives hints.
        ask: Asks a person for a line; raises EOFError when there is none.
        tell: Prints a text.
    """

    session: PlaySession
    oracle: Oracle
    ask: Ask
    tell: Tell

    def play(self) -> Result:
        """Play the game."""
        session = self.session
        session.begin()
        try:
            while session.is_on:
                if not session.waiting or self._chosen(session.waiting[0]):
                    session.reveal()
                    last = self._moves[-1]
                    self.tell(f"{session.seats[last.seat].name}: {last.words}\n")
        except (LeaveError, EOFError):
            self.tell("You left the game.")
            return Result(None, False, self._actions)
        self.tell(self._drawing(int(session.is_person(1) and not session.is_person(0))))
        verdict = "Draw" if session.winner is None else f"{session.seats[session.winner].name} won"
        self.tell(f"\n{verdict} after {len(self._actions)} moves.")
        return Result(session.winner, True, self._actions)

    @property
    def _moves(self) -> list[Moved]:
        return [event for event in self.session.events if isinstance(event, Moved)]

    @property
    def _actions(self) -> list[str]:
        return [move.words for move in self._moves]

    def _drawing(self, viewer: int) -> str:
        first, second = self.session.seats
        return self.oracle.game.draw(self.session.view(viewer).state, viewer, (first.name, second.name))

    def _chosen(self, seat: int) -> bool:
        """Let a person choose; False after an undo."""
        view: BoardView = self.session.view(seat)
        texts = [self.oracle.game.action_text(view.state, action) for action in view.actions]
        numbers = [str(number) for number in range(1, len(texts) + 1)]
        self.tell(self._drawing(seat) + "\n")
        for number, text in zip(numbers, texts, strict=True):
            self.tell(f"  {number}  {text}")
        while True:
            prompt = f"{self.session.seats[seat].name}, your move (1 to {len(texts)}, ? for help): "
            answer = self.ask(prompt).strip().lower()
            for words in (texts, numbers):
                if answer in words:
                    self.session.choose(seat, view.actions[words.index(answer)])
                    return True
            if answer == "undo" and self._undone():
                return False
            if answer != "undo":
                self.tell(self._reply(answer, view))

    def _undone(self) -> bool:
        try:
            self.session.undo()
        except UndoError:
            self.tell("There is no move to undo.")
            return False
        return True

    def _reply(self, answer: str, view: BoardView) -> str:
        if answer in {"q", "quit", "exit"}:
            raise LeaveError
        if answer in {"?", "h", "help"}:
            return _HELP
        if answer == "rules":
            return self.oracle.game.rules_text()
        if answer == "hint":
            if not self.oracle.is_quick:
                self.tell("Looking ahead ...")
            return self._hint(view)
        return f"{printable(answer)!r} is not a move. {_HELP}"

    def _hint(self, view: BoardView) -> str:
        best = self.oracle.best_action(view.state)
        move = next(each for each in self.oracle.move_values(view.state) if each.action == best)
        text = self.oracle.game.action_text(view.state, best)
        return f"{text} ({outcome_text(move.value, move.plies)} with perfect play)"
