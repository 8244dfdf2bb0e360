from __future__ import annotations

import io

import numpy as np
import pytest
from playing import RULES
from policies import uniform
from scripted import ScriptedPlayer

from punish_fast.arena.players import PolicyPlayer
from punish_fast.play.events import Deal, End, Reveal
from punish_fast.play.explain.coach import win_solution
from punish_fast.play.explain.why import Explainer
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.punish.screen import Screen, open_console
from punish_fast.play.punish.terminal import PunishTerminal
from punish_fast.play.session import HumanPlayer, LeaveError, PlaySession
from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.codes import action_name


def coach_of(space, name):
    explainer = Explainer(GameData(space), uniform(space), win_solution(space, uniform(space)))
    return lambda: (explainer, name)


BOT = ScriptedPlayer("bot", lambda _view, legal: legal[0])


class Evening:
    """Plays a game and records its screen and prompts; ``answer`` is called with each prompt and the session."""

    def __init__(self, table, seats, answer, names=("you", "bot"), seed=3, coach=None, **settings):
        self.drawn = io.StringIO()
        self.prompts = []
        self.session = PlaySession(PunishMatch(table, seed), seats)
        screen = Screen(open_console(self.drawn), RULES, names)

        def ask(prompt):
            self.prompts.append(prompt)
            self.drawn.write(f"{prompt}\n")
            return answer(prompt, self.session)

        self.terminal = PunishTerminal(self.session, table, screen, ask, coach, **settings)

    @property
    def text(self):
        return " ".join(self.drawn.getvalue().split())

    @property
    def picks(self):
        return [event.actions[0] for event in self.session.events if isinstance(event, Reveal)]


def typed(action):
    return action_name(action).replace("feint with", "f")


def first_legal(_prompt, session):
    """What a person types to play the first legal action."""
    return typed(session.legal(session.waiting[0])[0])


def in_order(*answers):
    left = iter(answers)

    def answer(_prompt, _session):
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return answer


def test_a_game_is_played_to_its_end(table):
    evening = Evening(table, (HumanPlayer("Ann"), BOT), first_legal, confirms=False)
    evening.terminal.play()
    end = evening.session.events[-1]
    assert isinstance(end, End)
    assert ("You win!" if end.winner == 0 else "bot wins!") in evening.text
    assert len(evening.prompts) == len(evening.picks)
    assert evening.prompts[0] == "  Your move (? for help): "
    measures = [word for word in evening.text.split("measure ")[1:] if word[0].isdigit()]
    assert measures[0].startswith("1, breath 1 of 2")
    # The first view shows the first deal.
    n_deals = sum(isinstance(event, Deal) for event in evening.session.events)
    assert evening.text.count("The cards are dealt.") == n_deals - 1


@pytest.mark.parametrize(
    ("answers", "picks"),
    [
        # A move is taken back, or another one typed.
        (("first", "u", "last", "nonsense", ""), ["last"]),
        (("first", "nonsense", "last", ""), ["last"]),
        # A person leaves at any prompt.
        (("q",), []),
        (("quit",), []),
        (("first", "q"), []),
    ],
)
def test_a_move_is_confirmed_or_taken_back(table, answers, picks):
    start = PlaySession(PunishMatch(table, 3), (HumanPlayer("Ann"), BOT))
    start.begin()
    moves = {"first": start.legal(0)[0], "last": start.legal(0)[-1]}
    answers = [typed(moves[answer]) if answer in moves else answer for answer in answers]
    evening = Evening(table, (HumanPlayer("Ann"), BOT), in_order(*answers))
    with pytest.raises(EOFError if picks else LeaveError):
        evening.terminal.play()
    assert evening.picks[:1] == [moves[pick] for pick in picks]
    confirming = f"  {action_name(moves['last'])}: Enter plays it, u takes it back: "
    assert evening.prompts.count(confirming) == len(picks) * (2 if "u" in answers else 1)
    if "nonsense" in answers:
        pick = moves["last" if "u" in answers else "first"]
        assert f"Press Enter to play {action_name(pick)}, or u to choose again." in evening.text


def test_the_only_legal_move_needs_no_confirmation(table):
    had_choice = []

    def answer(prompt, session):
        if "Enter plays" in prompt:
            return ""
        legal = session.legal(0)
        had_choice.append(len(legal) > 1)
        return typed(legal[-1])

    for seed in range(8):
        had_choice.clear()
        evening = Evening(table, (HumanPlayer("Ann"), BOT), answer, seed=seed)
        evening.terminal.play()
        assert sum("Enter plays" in prompt for prompt in evening.prompts) == sum(had_choice)
        if REST_ACTION in evening.picks:
            return
    raise AssertionError("nobody had to rest")


def test_questions_are_answered_before_the_move(table):
    evening = Evening(table, (HumanPlayer("Ann"), BOT), in_order("?", "u", "sword", "q"), confirms=False)
    with pytest.raises(LeaveError):
        evening.terminal.play()
    for words in (
        "You and bot pick a card at the same time",
        "Nothing to take back: you have not picked a card in this breath.",
        "'sword' is not a move. Moves: ",
    ):
        assert words in evening.text


def test_the_coach_advises_before_every_move_or_when_asked(table):
    enemy = uniform(table.space)
    coach = coach_of(table.space, "bot")
    seats = HumanPlayer("Ann"), PolicyPlayer("bot", enemy)
    unasked = Evening(table, seats, in_order("q"), coach=coach, coaches=True)
    asked = Evening(table, seats, in_order("c", "q"), coach=coach)
    for evening in (unasked, asked):
        with pytest.raises(LeaveError):
            evening.terminal.play()
        found = coach()[0].explain(evening.session.view(0).state)
        told = evening.text.partition("you play optimally: ")[2]
        assert told.startswith(" ".join(f"{typed(each.action)} {each.value:.1%}" for each in found.reasons))
        likely, p = next(iter(found.answers.items()))
        assert f"Expect: {action_name(likely)} {p:.0%}" in evening.text
    assert unasked.text.index("Win probabilities") < unasked.text.index("Your move")
    assert "if bot keeps to its strategy and you play optimally:" in asked.text


def test_w_explains_why_a_move_is_best(table):
    seats = HumanPlayer("Ann"), BOT
    coach = coach_of(table.space, "bot")
    start = PlaySession(PunishMatch(table, 3), seats)
    start.begin()
    found = coach()[0].explain(start.view(0).state)
    worst = found.reasons[-1].action
    evening = Evening(table, seats, in_order("w", typed(worst), "w", "q"), coach=coach)
    with pytest.raises(LeaveError):
        evening.terminal.play()
    assert f"Best against bot: {action_name(found.reasons[0].action)}, which wins " in evening.text
    for action in (found.reasons[0].action, worst):
        assert found.contrast(action) in evening.text


def test_between_people_the_coach_says_whose_play_it_expects(table):
    coach = coach_of(table.space, "random")
    evening = Evening(table, (HumanPlayer("Ann"), HumanPlayer("Ben")), in_order("c", "q"), ("Ann", "Ben"), coach=coach)
    with pytest.raises(LeaveError):
        evening.terminal.play()
    assert "if Ben plays like random and you play optimally:" in evening.text


def test_two_people_are_hidden_from_each_other(table):
    told = []
    seats = HumanPlayer("Ann"), HumanPlayer("Ben")
    evening = Evening(table, seats, first_legal, names=("Ann", "Ben"), confirms=False, hides=told.append)
    evening.terminal.play()
    breaths = len(evening.picks)
    assert told == ["Ann", None, "Ben", None] * breaths
    assert {prompt.strip() for prompt in evening.prompts} == {
        "Ann, your move (? for help):",
        "Ben, your move (? for help):",
    }


def test_spectators_turn_the_pages_at_a_terminal_alone(table):
    def watched(confirms):
        generator = np.random.default_rng(2)
        script = ScriptedPlayer("Ann", lambda _view, legal: int(generator.choice(legal)))
        return Evening(table, (script, script), lambda *_: "", names=("Ann", "Ben"), confirms=confirms)

    evening, piped = watched(True), watched(False)
    for each in (evening, piped):
        each.terminal.play()
    assert evening.prompts == ["  Enter shows the breath, q leaves: "] * len(evening.picks)
    assert (piped.prompts, piped.picks) == ([], evening.picks)
