"""The quiz at a terminal, with prepared answers."""

from __future__ import annotations

import io

import pytest
from playing import RULES

from punish_fast.arena.players import Player
from punish_fast.play.explain.practice import Question, simulated_questions
from punish_fast.play.explain.why import explainer_against
from punish_fast.play.games.terminal import LeaveError
from punish_fast.play.punish.practice_terminal import PracticeTerminal
from punish_fast.play.punish.screen import Screen, open_console
from punish_fast.punish.codes import action_name


@pytest.fixture(scope="module")
def explainer():
    return explainer_against(Player("random"), RULES)


def quiz_of(explainer, answers, waits=False):
    """A quiz that is given these answers, and what it draws on."""
    drawn, left = io.StringIO(), iter(answers)

    def ask(prompt):
        drawn.write(prompt)
        answer = next(left, None)
        if answer is None:
            raise EOFError
        drawn.write(f"{answer}\n")
        return answer

    table = explainer.data
    screen = Screen(open_console(drawn), table.space.rules, ("you", "random"))
    return PracticeTerminal(explainer, screen, ask, waits), drawn


def typed(action):
    return action_name(action).replace("feint with", "f")


def test_answers_are_judged_and_explained(explainer):
    questions = simulated_questions(explainer, 3, seed=1)
    reasons = [explainer.explain(question.state).reasons for question in questions]
    answers = [typed(reasons[0][0].action), typed(reasons[1][-1].action), typed(reasons[2][0].action)]
    quiz, drawn = quiz_of(explainer, answers)
    quiz.practise(questions)
    lost = reasons[1][0].value - reasons[1][-1].value
    assert [verdict.loss for verdict in quiz.verdicts] == [0, lost, 0]
    assert quiz.score == f"2 of 3 right, {100 * lost:.1f} points of win probability lost in all."
    text = drawn.getvalue()
    assert text.count("  Right.\n") == 2
    assert f"loses {100 * lost:.1f} points of win probability." in text
    assert text.count("<- best <- you") == 2
    assert "Question 3 of 3" in text
    for verdict in quiz.verdicts:
        assert verdict.why in " ".join(text.split())


def test_help_and_wrong_moves_are_answered(explainer):
    (question,) = simulated_questions(explainer, 1, seed=2)
    quiz, drawn = quiz_of(explainer, ["?", "nonsense", "Q"])
    with pytest.raises(LeaveError):
        quiz.practise([question])
    text = drawn.getvalue()
    assert "? shows the rules, q ends the quiz." in text
    assert "u takes a move back" not in text
    assert "'nonsense' is not a move." in text
    assert quiz.verdicts == []


def test_what_was_played_is_told_after_the_answer(explainer):
    (found,) = simulated_questions(explainer, 1, seed=2)
    worst = explainer.explain(found.state).reasons[-1].action
    question = Question(found.state, 0.25, 1_600_000_000, "Ann\x1b", worst)
    quiz, drawn = quiz_of(explainer, [typed(worst)])
    quiz.practise([question])
    before, after = drawn.getvalue().split("Your move", 1)
    assert "Ann" not in before
    told = f"Ann\\x1b played {action_name(worst)} here in game 1600000000 and lost 25.0 points."
    assert told in " ".join(after.split())


def test_a_person_reads_the_verdict_before_the_next_question(explainer):
    questions = simulated_questions(explainer, 2, seed=1)
    best = [typed(explainer.explain(question.state).reasons[0].action) for question in questions]
    quiz, drawn = quiz_of(explainer, [best[0], "", best[1]], waits=True)
    quiz.practise(questions)
    assert drawn.getvalue().count("Enter for the next question: ") == 1
    quiz, _ = quiz_of(explainer, [best[0], "q"], waits=True)
    with pytest.raises(LeaveError):
        quiz.practise(questions)
    assert len(quiz.verdicts) == 1
