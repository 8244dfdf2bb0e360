"""A game in the terminal, against agents or between two users."""

from dataclasses import dataclass

from punish_fast.games.contract import Game, Oracle, numbers_of
from punish_fast.games.enumeration.retrograde import outcome_text
from punish_fast.play.events import End
from punish_fast.play.games.game_player import GamePresentation
from punish_fast.play.games.match import GameView
from punish_fast.play.session import HELP, Ask, LeaveError, PlaySession, Tell, UndoError, answer_to
from punish_fast.runtime.errors import printable
from punish_fast.runtime.events import Event, Moved


@dataclass(frozen=True)
class Result:
    """Result of a game."""

    winner: int | None  # seat of the winner (None if there is no single winner or the game is unfinished)
    ended: bool  # True if the game was finished
    actions: list[str]  # actions played, in words
    story: list[str]  # all printed events


@dataclass(eq=False)
class TerminalGame:
    """A game in the terminal."""

    session: PlaySession  # session with a `GameMatch`
    game: Game
    oracle: Oracle | None  # perfect play, used for hints (None if unavailable)
    ask: Ask  # shows a prompt and returns a user's answer (raises EOFError at the end of input)
    tell: Tell  # prints a text

    def play(self) -> Result:
        """Play the game, and return its result."""
        session = self.session
        session.begin()
        self._tell_since(0)
        try:
            while session.is_on:
                if not session.waiting or self._chosen(session.waiting[0]):
                    n_events = len(session.events)
                    session.reveal()
                    self._tell_since(n_events)
        except (LeaveError, EOFError):
            self.tell("You left the game.")
        else:
            self.tell(self._drawing(self._viewer))
            verdict = "Draw" if session.winner is None else f"{session.seats[session.winner].name} won"
            end = f"{verdict} after {len(self._actions)} moves." if self.oracle else self._words(session.events[-1])
            self.tell(f"\n{end}")
        return Result(session.winner, not session.is_on, self._actions, self._story(0))

    @property
    def _actions(self) -> list[str]:
        return [event.words for event in self.session.events if isinstance(event, Moved)]

    @property
    def _names(self) -> list[str]:
        return [seat.name for seat in self.session.seats]

    @property
    def _viewer(self) -> int:
        """Seat whose view of events is printed: the first user's, or 0 without users."""
        return next((seat for seat in range(len(self.session.seats)) if self.session.is_person(seat)), 0)

    def _story(self, since: int) -> list[str]:
        """Return the events from index ``since`` onward in words, without the end of the game."""
        return [self._words(event) for event in self.session.events[since:] if not isinstance(event, End)]

    def _words(self, event: Event) -> str:
        return str(GamePresentation(self.game).event(event, self._viewer, self._names)["words"])

    def _tell_since(self, n_events: int) -> None:
        """Print the events from index ``n_events`` onward."""
        if told := self._story(n_events):
            self.tell("\n".join(told) + "\n")

    def _drawing(self, viewer: int) -> str:
        return self.game.draw(self.session.view(viewer).state, viewer, self._names)

    def _chosen(self, seat: int) -> bool:
        """Ask a user for a choice. Return False after an undo."""
        view: GameView = self.session.view(seat)
        self.tell(self._drawing(seat) + "\n")
        allowed, typed = self._offer(view)
        while True:
            answer = answer_to(self.ask, f"{self.session.seats[seat].name}, your move ({allowed}, ? for help): ")
            if answer in typed:
                self.session.choose(seat, typed[answer])
                return True
            is_undo = answer in {"u", "undo"}
            if is_undo and self._undone():
                return False
            if not is_undo:
                self.tell(self._reply(answer, view))

    def _offer(self, view: GameView) -> tuple[str, dict[str, int]]:
        """Print the legal moves. Return a text with their keys, and a mapping from allowed input to actions.

        Keys are numbers, or short words in games that have them, such as a card. Equal cards are one move.
        """
        words = {action: word for word, action in self.game.words(view.state).items()}
        actions = [action for action in view.actions if action in words]
        texts = [self.game.action_text(view.state, action) for action in actions]
        numbers = numbers_of(self.game, actions)
        short = [words[action] for action in actions]
        initials = [key if key.isdecimal() else key[0] for key in short]
        keys = initials if len({*initials}) == len(initials) else short
        if short == texts:
            keys = [*map(str, numbers)]
        for key, text in zip(keys, texts, strict=True):
            self.tell(f"  {key}  {text.partition(' from slot ')[0]}")
        is_range = short == texts and numbers[-1] - numbers[0] < len(numbers)
        allowed = f"{keys[0]} to {keys[-1]}" if is_range else ", ".join(keys)
        return allowed, dict(zip([*keys, *texts, *short], actions * 3, strict=True))

    def _undone(self) -> bool:
        try:
            self.session.undo()
        except UndoError as error:
            self.tell(f"{str(error).capitalize()}.")
            return False
        return True

    def _reply(self, answer: str, view: GameView) -> str:
        # Card games offer neither hints nor undo.
        more = "hint, u to undo, " if self.oracle else ""
        help_text = f"Type the number of a move, or the move in words; {more}rules, or q to leave."
        if answer in HELP:
            return help_text
        if answer == "rules":
            return self.game.rules_text()
        if answer == "hint":
            return self._hint(view)
        return f"{printable(answer)!r} is not a move. {help_text}"

    def _hint(self, view: GameView) -> str:
        if self.oracle is None:
            return "There are no hints for this game, because its perfect play is not known."
        if not self.oracle.is_quick:
            self.tell("Looking ahead ...")
        best = self.oracle.best_action(view.state)
        move = next(each for each in self.oracle.move_values(view.state) if each.action == best)
        text = self.game.action_text(view.state, best)
        return f"{text} ({outcome_text(move.value, move.plies)} with perfect play)"
