from __future__ import annotations

import io

import numpy as np
import pytest
from playing import RULES, some_games

from punish_fast.arena.players import Player
from punish_fast.play.explain.why import explainer_against
from punish_fast.play.punish.practice import (
    MOST_OF_RIGHT,
    Question,
    recorded_questions,
    simulated_questions,
    verdict_on,
)
from punish_fast.play.punish.practice_terminal import PracticeTerminal
from punish_fast.play.punish.screen import Screen, open_console
from punish_fast.play.session import LeaveError
from punish_fast.punish.codes import action_name, from_decimal, to_decimal
from punish_fast.records.games import Choices


@pytest.fixture(scope="module")
def explainer():
    return explainer_against(Player("naive"), RULES)


def choices_of(games):
    """The choices of games as a database gives them."""
    sides = [(game.id, side, won) for game in games for side, won in ((game.winner, True), (game.loser, False))]
    counts = [len(side.states) for _, side, _ in sides]
    return Choices(
        decimal=np.concatenate([side.states for _, side, _ in sides]).astype(np.int64),
        action=np.concatenate([side.actions for _, side, _ in sides]).astype(np.uint8),
        game=np.repeat([game for game, _, _ in sides], counts),
        won=np.repeat([won for _, _, won in sides], counts),
        player=np.repeat([side.name for _, side, _ in sides], counts),
    )


def loss_of(explainer, state, action):
    """What an action loses, by the reasons of its explanation."""
    reasons = explainer.explain(state).reasons
    return reasons[0].value - next(reason.value for reason in reasons if reason.action == action)


def test_recorded_questions_are_the_choices_that_lost_most(explainer):
    choices = choices_of(some_games(30))
    questions = recorded_questions(explainer, choices, 5, seed=1)
    recorded = set(zip(choices.decimal.tolist(), choices.action.tolist(), choices.game.tolist(), strict=True))
    assert len({question.state for question in questions}) == 5
    for question in questions:
        assert (to_decimal(question.state), question.played, question.game) in recorded
        assert question.stake == pytest.approx(loss_of(explainer, question.state, question.played))
        assert question.player in choices.player
    space = explainer.data.space
    losses: dict[int, float] = {}
    for decimal, action, _ in recorded:
        state = from_decimal(space.layout, decimal)
        losses[decimal] = max(losses.get(decimal, 0.0), loss_of(explainer, state, action))
    # They are drawn from the 25 worst.
    assert min(question.stake for question in questions) >= sorted(losses.values())[-25] - 1e-12


def test_questions_follow_from_the_seed(explainer):
    choices = choices_of(some_games(20))
    for draw in (
        lambda seed: recorded_questions(explainer, choices, 4, seed),
        lambda seed: simulated_questions(explainer, 4, seed),
    ):
        assert draw(3) == draw(3)
        assert draw(3) != draw(4)


def test_choices_that_are_not_legal_or_of_other_games_are_no_questions(explainer):
    choices = choices_of(some_games(20))
    wrong = Choices(choices.decimal, np.full_like(choices.action, 91), choices.game, choices.won, choices.player)
    with pytest.raises(match="no choice that lost at least 1% of a win"):
        recorded_questions(explainer, wrong, 4, seed=1)
    others = Choices(choices.decimal * 0 + 10**17, choices.action, choices.game, choices.won, choices.player)
    with pytest.raises(match="no positions under the rules tiny-reshuffle"):
        recorded_questions(explainer, others, 4, seed=1)


def test_simulated_questions_have_one_best_action_and_an_enemy_with_a_choice(explainer):
    questions = simulated_questions(explainer, 6, seed=2)
    assert len({question.state for question in questions}) == 6
    for question in questions:
        best, second, *_ = explainer.explain(question.state).reasons
        assert question.stake == pytest.approx(best.value - second.value)
        assert question.stake >= MOST_OF_RIGHT
        assert not question.state.enemy_exhausted
        assert (question.game, question.player, question.played) == (None, None, None)


def test_an_answer_is_judged_by_what_it_loses(explainer):
    for question in simulated_questions(explainer, 6, seed=3):
        best, second, *_ = reasons = explainer.explain(question.state).reasons
        for reason in reasons:
            verdict = verdict_on(explainer, question, reason.action)
            assert verdict.loss == best.value - reason.value
            assert verdict.is_right == (verdict.loss < MOST_OF_RIGHT)
            assert verdict.why.startswith("The enemy's ")
        assert verdict_on(explainer, question, best.action).why == verdict_on(explainer, question, second.action).why


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
    quiz.practice(questions)
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
    drawn.truncate(0)
    quiz.tell_result()
    result = " ".join(drawn.getvalue().replace("\0", "").split())
    chosen, best = action_name(reasons[1][-1].action), action_name(reasons[1][0].action)
    missed = f"Question 2: you chose {chosen}, and {best} wins {100 * lost:.1f} points of win probability more."
    assert result == f"{quiz.score} {missed} {quiz.verdicts[1].explanation.words}"


def test_a_round_is_chosen_by_its_number(explainer):
    rounds = [("all", simulated_questions(explainer, 1, seed=1)), ("strike", simulated_questions(explainer, 1, seed=2))]
    for answers, chosen in (([""], 0), (["2"], 1), (["0", "3", "x", "1"], 0)):
        quiz, drawn = quiz_of(explainer, answers)
        assert quiz.choice(rounds) == rounds[chosen][1]
        assert "  1. all\n  2. strike\n" in drawn.getvalue()
        assert drawn.getvalue().count("(1 to 2, Enter for 1)") == len(answers)
    quiz, _ = quiz_of(explainer, ["q"])
    with pytest.raises(LeaveError):
        quiz.choice(rounds)


def test_help_and_wrong_moves_are_answered(explainer):
    (question,) = simulated_questions(explainer, 1, seed=2)
    quiz, drawn = quiz_of(explainer, ["?", "nonsense", "Q"])
    with pytest.raises(LeaveError):
        quiz.practice([question])
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
    quiz.practice([question])
    before, after = drawn.getvalue().split("Your move", 1)
    assert "Ann" not in before
    told = f"Ann\\x1b played {action_name(worst)} here in game 1600000000 and lost 25.0 points."
    assert told in " ".join(after.split())


def test_a_person_reads_the_verdict_before_the_next_question(explainer):
    questions = simulated_questions(explainer, 2, seed=1)
    best = [typed(explainer.explain(question.state).reasons[0].action) for question in questions]
    quiz, drawn = quiz_of(explainer, [best[0], "", best[1]], waits=True)
    quiz.practice(questions)
    assert drawn.getvalue().count("Enter for the next question: ") == 1
    quiz, _ = quiz_of(explainer, [best[0], "q"], waits=True)
    with pytest.raises(LeaveError):
        quiz.practice(questions)
    assert len(quiz.verdicts) == 1
