"""Play sessions, each with a game and its players.

A session stores a game with its hidden information, accepts a choice from each seat, and records events. During a
game, users see only `PlaySession.view` and events without the cards that are hidden from their seat (`Event.seen_by`)::

    session = PlaySession(match, (HumanPlayer("Ann"), PolicyPlayer("naive", policy)))
    session.begin()
    while session.is_on:
        for seat in session.waiting:
            session.choose(seat, ask(session.view(seat), session.legal(seat)))
        session.reveal()

A choice remains secret, and can be taken back, until the call of `PlaySession.reveal`. This method also makes the
agents choose. In games without hidden information, users can also undo moves.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from punish_fast.arena.players import PolicyPlayer
from punish_fast.play.events import End
from punish_fast.punish.rules import Rules
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.events import Event
from punish_fast.store.reader import SolutionFile

# Functions of a terminal: `Ask` shows a prompt and returns the answer. `Tell` prints a text.
Ask = Callable[[str], str]
Tell = Callable[[str], None]

# Answers that request help at any prompt, and answers that leave the game.
HELP, LEAVE = ("?", "h", "help"), ("q", "quit", "exit")


class LeaveError(Exception):
    """Raised when the user of a terminal leaves the game."""


def answer_to(ask: Ask, prompt: str) -> str:
    """Return the answer to a prompt in lower case. Raise `LeaveError` for an answer in `LEAVE`."""
    answer = ask(prompt).strip().lower()
    if answer in LEAVE:
        raise LeaveError
    return answer


class UndoError(PunishFastError, ValueError):
    """Raised when a move cannot be undone. The message contains the reason."""


class Match(Protocol):
    """State of a game, including hidden information."""

    @property
    def to_move(self) -> tuple[int, ...]:
        """Seats that choose simultaneously. Empty when the game is over."""

    def begin(self) -> list[Event]:
        """Begin the game and return its first events. Must be called only once."""

    def view(self, seat: int) -> Any:
        """Return the position as seen by the player in a seat."""

    def legal(self, seat: int) -> Sequence[int]:
        """Return the legal actions of a seat."""

    def draw_choice(self, seat: int, policy: Any) -> int:
        """Sample an action from a policy, for the player in a seat."""

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Play the actions of all seats that choose now, and return the events."""

    def undo(self) -> None:
        """Undo the last move, or raise `UndoError`."""

    def uncovered(self, seat: int) -> dict[str, Any] | None:
        """Return the cards that a seat sees after the game. Return None if the game is not over or has no cards."""


@dataclass(frozen=True)
class HumanPlayer:
    """A user. The session receives the user's choices through `PlaySession.choose`."""

    name: str
    temperature: ClassVar[None] = None
    is_human: ClassVar[bool] = True

    def choice(self, match: Match, seat: int) -> int:  # noqa: ARG002 - no policy
        """Raise TypeError, because a user's choices come from outside the session."""
        raise TypeError(f"{self.name}: choices come from outside the session")


SessionPlayer = HumanPlayer | PolicyPlayer


class ChoiceError(PunishFastError, ValueError):
    """Raised when a choice is not allowed now. The message contains the reason."""


class PlaySession:
    """A game and its players.

    Attributes:
        events: All events so far, including hidden information, for records and spectators.
    """

    def __init__(self, match: Match, seats: Sequence[SessionPlayer]) -> None:
        self.seats = seats
        self.events: list[Event] = []
        self._match = match
        self._choices: dict[int, int] = {}
        # For each reveal: the number of events before the reveal, and True if a user chose.
        self._past: list[tuple[int, bool]] = []

    @property
    def is_on(self) -> bool:
        """True until the game is over."""
        return bool(self._match.to_move)

    @property
    def winner(self) -> int | None:
        """Seat of the winner. None if the game is not over or has no single winner."""
        last = self.events[-1] if self.events else None
        return last.winner if isinstance(last, End) else None

    @property
    def waiting(self) -> list[int]:
        """Seats of users who have not chosen yet."""
        return [seat for seat in self._match.to_move if seat not in self._choices and self.is_person(seat)]

    def is_person(self, seat: int) -> bool:
        """Return True if the player in a seat is a user."""
        return self.seats[seat].is_human

    def view(self, seat: int) -> Any:
        """Return the current position as seen by the player in a seat."""
        return self._match.view(seat)

    def legal(self, seat: int) -> Sequence[int]:
        """Return the legal actions of a seat."""
        return self._match.legal(seat)

    def begin(self) -> None:
        """Begin the game."""
        self.events += self._match.begin()

    def choose(self, seat: int, action: int) -> None:
        """Store the secret choice of a seat. Raise `ChoiceError` if the choice is not allowed."""
        if seat not in self._match.to_move:
            raise ChoiceError(f"seat {seat}: has nothing to choose now")
        if seat in self._choices:
            raise ChoiceError(f"seat {seat}: has already chosen; take the choice back first")
        if action not in self.legal(seat):
            raise ChoiceError(f"action {action}: is illegal; use one of {', '.join(map(str, self.legal(seat)))}")
        self._choices[seat] = action

    def chosen(self, seat: int) -> int | None:
        """Return the secret choice of a seat, or None if the seat has not chosen."""
        return self._choices.get(seat)

    def take_back(self, seat: int) -> None:
        """Take back the choice of a seat before it is revealed. Raise `ChoiceError` if there is none."""
        if self._choices.pop(seat, None) is None:
            raise ChoiceError(f"seat {seat}: there is no choice to take back")

    def reveal(self) -> None:
        """Make the agents choose, and carry out all choices. Raise `ChoiceError` if a user has not chosen."""
        if not self.is_on:
            raise ChoiceError("the game is over")
        if self.waiting:
            raise ChoiceError(f"seat {self.waiting[0]}: has not chosen")
        self._past.append((len(self.events), any(map(self.is_person, self._match.to_move))))
        for number in self._match.to_move:
            if number not in self._choices:
                self.choose(number, self.seats[number].choice(self._match, number))
        choices, self._choices = self._choices, {}
        self.events += self._match.move(choices)

    def repeat(self, actions: dict[int, int]) -> None:
        """Play the actions of all seats from an earlier game."""
        self.events += self._match.move(actions)

    def undo(self) -> None:
        """Undo the last move of a user and all later moves, or raise `UndoError`."""
        if not any(is_persons for _, is_persons in self._past):
            raise UndoError("there is no move to undo")
        is_persons = False
        while not is_persons:
            self._match.undo()
            n_events, is_persons = self._past.pop()
            del self.events[n_events:]
        self._choices.clear()


class NoAnswerError(PunishFastError, ValueError):
    """Raised when a player cannot answer a question. The message contains the reason."""


class Presentation(Protocol):
    """Presents matches of one game as JSON-like objects and texts for a web page."""

    game: str  # name of the game

    def rules(self) -> dict[str, Any]:
        """Return the rules."""

    def view(self, view: Any) -> dict[str, Any]:
        """Return a position as seen by a player."""

    def guide(self, view: Any, enemy: str) -> list[str]:
        """Return paragraphs about the rules that matter in a position."""

    def moves(self, view: Any) -> list[dict[str, Any]]:
        """Return the legal actions."""

    def event(self, event: Event, seat: int, names: Sequence[str]) -> dict[str, Any]:
        """Return an event as seen by the player in a seat."""


class ServedPlayer(ABC):
    """A player of one game on a server. Methods raise `NoAnswerError` for questions that the player cannot answer."""

    name: str
    game_name: str
    presentation: Presentation
    rules: Rules | None = None  # rules if the game is Punish
    file: SolutionFile | None = None  # solution file, read on demand (None if the player is built in)
    is_light = False  # True if `open` needs only one processor
    move_seconds = 2.0  # time limit for a move, including `prepare` and the time spent in queues
    moves_quickly = True  # False if the player needs `prepare` before each move
    no_second: str | None = None  # reason why users cannot let the player move first (None if they can)

    @property
    @abstractmethod
    def digest(self) -> str:
        """Digest of the player, 32 hexadecimal digits."""

    @property
    @abstractmethod
    def n_states(self) -> int | None:
        """Number of states in the game. None if unknown."""

    @property
    def person(self) -> str:
        """Name shown to users."""
        return self.name

    def facts(self) -> dict[str, Any]:
        """Return a JSON-like description of the player without calling `open`."""
        unknown = "about", "level", "strength", "rules", "rules_digest", "information", "enemy", "objective", "discount"
        answers = dict.fromkeys(("coaches", "hints", "values", "explains", "judges"), False)
        shown: dict[str, Any] = {"name": self.name, "person": self.person, "game": self.game_name, "plays": True}
        return {**shown, **dict.fromkeys(unknown), "temperatures": [], **answers, "against": None}

    @abstractmethod
    def open(self) -> None:
        """Load files and networks, and compute the strategy, which can take minutes."""

    @abstractmethod
    def is_ready(self, temperature: float | None) -> bool:
        """Return True if `opponents` needs no computation."""

    @abstractmethod
    def opponents(self, temperature: float | None) -> list[PolicyPlayer]:
        """Return the players of all seats except the user's."""

    @abstractmethod
    def match(self, seed: int, choice_seed: int | None = None) -> Match:
        """Return a match. ``seed`` determines chance events and, unless ``choice_seed`` is given, choices."""

    def prepare(self, state: Any, until: float) -> bool:  # noqa: ARG002 - for players that search
        """Search until a deadline (a ``time.monotonic`` value). Return True if no further search is needed."""
        return True

    def hasty_action(self, state: Any) -> int:  # noqa: ARG002 - as above
        """Return a move that needs no search, for a player whose `prepare` missed its deadline."""
        raise self.refusal("moves without a search")

    def hint(self, view: Any, until: float = math.inf) -> dict[str, Any]:  # noqa: ARG002 - as above
        """Return the outcome of each move with perfect play. Stop a search at the deadline ``until``."""
        raise self.refusal("hint")

    def refusal(self, name: str) -> NoAnswerError:
        """Return the error to raise if the player does not support a question, such as ``"hint"``."""
        return NoAnswerError(f"{self.name}: does not offer {name} in {self.game_name}")


def numbered(names: list[str]) -> list[str]:
    """Append numbers, from 1, to the names that occur more than once."""
    return [f"{name} {names[: k + 1].count(name)}" if names.count(name) > 1 else name for k, name in enumerate(names)]
