"""A game of Punish in the terminal: one user against an agent, two users, or two agents."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from punish_fast.play.events import Deal
from punish_fast.play.explain.guide import guide
from punish_fast.play.explain.why import Explainer
from punish_fast.play.game_data import GameData, View
from punish_fast.play.punish.moves import MoveError, ask_move, moves_text, parse_move, typed_text
from punish_fast.play.punish.screen import Screen
from punish_fast.play.session import HELP, Ask, PlaySession, answer_to
from punish_fast.punish.codes import action_name

_COACH, _WHY, _BACK = ("c", "coach"), ("w", "why"), ("u", "undo")
_MOST_EXPECTED = 5
_KEYS = "u takes a move back before it is revealed, c asks the coach, w why, ? shows the rules, q leaves."


@dataclass(eq=False)
class PunishTerminal:
    """A session of Punish in the terminal."""

    session: PlaySession
    data: GameData
    screen: Screen
    ask: Ask  # shows a prompt and returns the answer (raises EOFError at the end of input)
    # Function that returns an explainer of the best choices against a reference player, and the name of this player.
    coach: Callable[[], tuple[Explainer, str]]
    coaches: bool = False  # True to show advice before every move, unless only one is legal
    # True to ask users to confirm each move or take it back, and spectators to press Enter before each breath.
    confirms: bool = True
    # Function for two users at one screen, called with a user's name before each turn and with None afterwards.
    hides: Callable[[str | None], None] | None = None

    def play(self) -> None:
        """Play the game to the end."""
        session = self.session
        session.begin()
        told = 0
        while session.is_on:
            told = self._tell(told)
            if not session.waiting:
                self._show()
            for seat in session.waiting:
                self._take_turn(seat)
            session.reveal()
            self.screen.console.print()
        self._tell(told)
        if any(map(session.is_person, (0, 1))):
            self.screen.uncover([session.view(seat) for seat in (0, 1)])

    def _tell(self, since: int) -> int:
        for event in self.session.events[since:]:
            # Skip the first deal, because the view shows its cards.
            if not isinstance(event, Deal) or event.measure > 1:
                self.screen.tell(event)
        return len(self.session.events)

    def _show(self) -> None:
        """Draw both hands for spectators, and wait for Enter if ``confirms`` is True."""
        self.screen.draw_open([self.session.view(seat) for seat in (0, 1)])
        if self.confirms:
            answer_to(self.ask, "  Enter shows the breath, q leaves: ")

    def _take_turn(self, seat: int) -> None:
        if self.hides is not None:
            self.hides(self.screen.names[seat])
        self._choose(seat)
        if self.hides is not None:
            self.hides(None)

    def _choose(self, seat: int) -> None:
        view = self.session.view(seat)
        self.screen.draw(view, seat)
        if self.coaches and len(view.actions) > 1:
            self._advise(view, seat)
        else:
            self.screen.say(moves_text(view.actions))
        name = self.screen.names[seat]
        prompt = f"  {'Your' if name == 'you' else f'{name}, your'} move (? for help): "
        while True:
            action = ask_move(self.ask, self.screen.say, prompt, view.actions, partial(self._replied, view, seat, None))
            sure = self._confirmed(view, seat, action) if self.confirms and len(view.actions) > 1 else action
            if sure is not None:
                self.session.choose(seat, sure)
                return

    def _confirmed(self, view: View, seat: int, action: int) -> int | None:
        """Ask a user to confirm, change or take back a move. Return the move, or None if the user takes it back."""
        while True:
            answer = answer_to(self.ask, f"  {action_name(action)}: Enter plays it, u takes it back: ")
            if not answer:
                return action
            if answer in _BACK:
                return None
            if self._replied(view, seat, action, answer):
                continue
            try:
                action = parse_move(answer, view.actions)
            except MoveError:
                self.screen.say(f"Press Enter to play {action_name(action)}, or u to choose again.")

    def _replied(self, view: View, seat: int, picked: int | None, answer: str) -> bool:
        """Reply to a question typed at a prompt. Return False if ``answer`` is not a question."""
        if answer in _BACK:
            self.screen.say("Nothing to take back: you have not picked a card in this breath.")
        elif answer in _COACH:
            self._advise(view, seat)
        elif answer in _WHY:
            self._explain(view, picked)
        elif answer in HELP:
            for paragraph in [*guide(self.data.space.rules, view, self.screen.names[1 - seat]), _KEYS]:
                self.screen.say(paragraph)
        else:
            return False
        return True

    def _explain(self, view: View, picked: int | None) -> None:
        """Explain why the best move is better than ``picked``, or than the second best if ``picked`` is None."""
        if len(view.actions) == 1:
            self.screen.say("You have only this move.")
            return
        explainer, reference = self.coach()
        found = explainer.explain(view.state)
        best = found.reasons[0]
        because = found.contrast(best.action if picked is None else picked)
        told = f"Best against {reference}: {action_name(best.action)}, which {found.scale.sentence(best.value)}."
        self.screen.say(f"{told} {because}")

    def _advise(self, view: View, seat: int) -> None:
        other = self.screen.names[1 - seat]
        explainer, reference = self.coach()
        plays = "keeps to its strategy" if reference == other else f"plays like {reference}"
        self.screen.say(f"Win probabilities if {other} {plays} and you play optimally:")
        found = explainer.explain(view.state)
        self.screen.columns([f"{typed_text(reason.action):<9} {reason.value:6.1%}" for reason in found.reasons])
        expected = list(found.answers.items())
        listed = ", ".join(f"{action_name(action)} {p:.0%}" for action, p in expected[:_MOST_EXPECTED])
        more = " ..." if len(expected) > _MOST_EXPECTED else ""
        self.screen.say(f"Expect: {listed}{more}")
