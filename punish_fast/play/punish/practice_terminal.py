"""A quiz in the terminal: positions, the user's answers, and explanations."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from punish_fast.play.explain.guide import guide
from punish_fast.play.explain.why import Explainer
from punish_fast.play.game_data import View, view_of
from punish_fast.play.punish.moves import ask_move, moves_text
from punish_fast.play.punish.practice import Question, Verdict, verdict_on
from punish_fast.play.punish.screen import Screen
from punish_fast.play.session import HELP, Ask, answer_to
from punish_fast.punish.codes import action_name
from punish_fast.runtime.errors import printable

_KEYS = "? shows the rules, q ends the quiz."


@dataclass(eq=False)
class PracticeTerminal:
    """A quiz in the terminal."""

    explainer: Explainer  # source of the right answers
    screen: Screen  # screen on which positions are drawn
    ask: Ask  # shows a prompt and returns the answer (raises EOFError at the end of input)
    waits: bool = False  # True to wait for Enter before the next question
    verdicts: list[Verdict] = field(default_factory=list)  # verdicts on the answers so far

    def practice(self, questions: Sequence[Question]) -> None:
        """Ask all questions, and store the verdicts. Raise `LeaveError` if the user leaves."""
        for number, question in enumerate(questions, 1):
            self.screen.console.print()
            self.screen.say(f"Question {number} of {len(questions)}")
            view = view_of(self.explainer.data.space, question.state)
            self.screen.draw(view, 0)
            self.screen.say(moves_text(view.actions))
            replied = partial(self._replied, view)
            move = ask_move(self.ask, self.screen.say, "  Your move (? for help): ", view.actions, replied)
            verdict = verdict_on(self.explainer, question, move)
            self.verdicts.append(verdict)
            self._tell(verdict)
            if self.waits and number < len(questions):
                answer_to(self.ask, "  Enter for the next question: ")

    def choice(self, rounds: Sequence[tuple[str, list[Question]]]) -> list[Question]:
        """Ask which round to practice (by default the first), and return its questions."""
        for number, (name, _) in enumerate(rounds, 1):
            self.screen.say(f"{number}. {name}")
        while True:
            answer = answer_to(self.ask, f"  What do you practice? (1 to {len(rounds)}, Enter for 1): ") or "1"
            if answer.isdecimal() and 0 < int(answer) <= len(rounds):
                return rounds[int(answer) - 1][1]

    def tell_result(self) -> None:
        """Print the score and the positions with wrong answers."""
        self.screen.console.print()
        self.screen.say(self.score)
        for number, verdict in enumerate(self.verdicts, 1):
            if not verdict.is_right:
                best = action_name(verdict.explanation.reasons[0].action)
                answer = f"you chose {action_name(verdict.action)}, and {best} wins {self._points(verdict.loss)} more."
                self.screen.say(f"Question {number}: {answer} {verdict.explanation.words}")

    @property
    def score(self) -> str:
        """Score as a sentence."""
        n_right = sum(verdict.is_right for verdict in self.verdicts)
        lost = self._points(sum(verdict.loss for verdict in self.verdicts))
        return f"{n_right} of {len(self.verdicts)} right, {lost} lost in all."

    def _points(self, loss: float) -> str:
        return f"{100 * loss:.1f} points" + (" of win probability" if self.explainer.scale.is_chance else "")

    def _replied(self, view: View, answer: str) -> bool:
        """Return True if ``answer`` asks for help, after showing the rules."""
        if answer in HELP:
            for paragraph in [*guide(self.screen.rules, view, self.screen.names[1]), _KEYS]:
                self.screen.say(paragraph)
        return answer in HELP

    def _tell(self, verdict: Verdict) -> None:
        say, print_line = self.screen.say, self.screen.console.print
        scale, best = self.explainer.scale, verdict.explanation.reasons[0]
        print_line()
        chosen = action_name(verdict.action).capitalize()
        say("Right." if verdict.is_right else f"{chosen} loses {self._points(verdict.loss)}.")
        for reason in verdict.explanation.reasons:
            is_best = scale.text(reason.value) == scale.text(best.value)
            marks = [("<- best", is_best), ("<- you", reason.action == verdict.action)]
            shown = " ".join(mark for mark, is_so in marks if is_so)
            value = scale.sentence(reason.value)
            print_line(f"    {action_name(reason.action):<18} {value}  {shown}".rstrip())
        say(verdict.why)
        question = verdict.question
        if question.played is not None:
            say(
                f"{printable(question.player or '')} played {action_name(question.played)} here in game "
                f"{question.game} and lost {100 * question.stake:.1f} points."
            )
