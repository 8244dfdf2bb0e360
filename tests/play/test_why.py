"""Explanations add up to the values and the rows of the transition tensor, and say what the rules say."""

from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from bench import reference
from punish_fast.arena.players import Player, PlayerError
from punish_fast.mdp.objectives.solver import solve
from punish_fast.play.explain.coach import subsets, win_solution
from punish_fast.play.explain.reasons import Answer, Consequence, Reason, Scale, contrast, likeliest
from punish_fast.play.explain.why import Explainer, explainer_against, explainer_of
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import HumanPlayer, PlaySession
from punish_fast.punish.codes import StateError
from punish_fast.punish.position import position
from punish_fast.punish.rules import PRESETS, RulesError
from punish_fast.punish.states.information import InformationError
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.reader import load
from punish_fast.store.tensors import save

METHODS = {"discounted": {}, "total": {"discount": 1}, "wins": {"objective": "reach-probability"}}


@pytest.fixture(scope="module")
def table(tiny):
    return GameData(tiny)


@pytest.fixture(scope="module")
def tabletop_like(space):
    """An explainer of win probabilities under the true redeal, against the uniform player."""
    enemy = uniform_policy(space)
    solution = solve(build(space, enemy), objective="reach-probability", tolerance=1e-12)
    return Explainer(GameData(space), enemy, solution)


def played_states(space, step):
    """One of ``step`` states in which something is played, by row."""
    return {row: space.state(row) for row in range(0, int(space.layer_ptr[-2]), step)}


@pytest.mark.parametrize("method", METHODS)
def test_consequences_are_the_rows_of_the_tensor_and_add_up_to_the_values(tiny, table, method):
    enemy = mixed(tiny, 3)
    mdp = build(tiny, enemy)
    explainer = Explainer(table, enemy, solve(mdp, tolerance=1e-12, **METHODS[method]))
    ends = {"win": tiny.n_states, "lose": tiny.n_states + 1}
    for row, state in played_states(tiny, 11).items():
        rows = range(*tiny.state_ptr[row : row + 2])
        reasons = {reason.action: reason for reason in explainer.explain(state).reasons}
        assert sorted(reasons) == tiny.action[rows].tolist()
        for r in rows:
            reason, value = reasons[tiny.action[r]], explainer.solution.q[r]
            assert reason.value == value
            assert sum(answer.probability for answer in reason.against) == pytest.approx(1, abs=1e-12)
            assert sum(a.probability * a.value for a in reason.against) == pytest.approx(value, abs=1e-9)
            found, expected = np.zeros((2, tiny.n_states + 2))
            for consequence in (each for answer in reason.against for each in answer.consequences):
                after, words = consequence.state, consequence.words
                found[ends[words.split()[-1]] if after is None else tiny.index(after)] += consequence.probability
            entries = slice(*mdp.indptr[r : r + 2])
            expected[mdp.indices[entries]] = mdp.data[entries]
            assert found == pytest.approx(expected, abs=1e-12)


def test_answers_are_sorted_and_each_action_meets_all_of_them(tiny, table):
    enemy = mixed(tiny, 7)
    explainer = Explainer(table, enemy, solve(build(tiny, enemy)))
    for state in played_states(tiny, 7).values():
        explanation = explainer.explain(state)
        likely = list(explanation.answers.values())
        assert likely == pytest.approx(sorted(likely, reverse=True))
        assert sum(explanation.hands.values()) == pytest.approx(1)
        for reason in explanation.reasons:
            assert {a.action: a.probability for a in reason.against} == pytest.approx(explanation.answers)


def words_of(explainer, state):
    return {
        (reason.action, answer.action): answer.words
        for reason in explainer.explain(state).reasons
        for answer in reason.against
    }


def test_consequences_are_told_in_words(tabletop_like):
    rules = tabletop_like.data.space.rules
    words = words_of(tabletop_like, position("rs", "g", rules=rules))
    assert words[20, 20] == "nobody is hurt"
    assert words[20, 30] == "you deal 1 (enemy 1 HP)"
    assert words[20, 40] == "you lose"
    assert words[40, 50] == "both fall, your card is lower and you win"
    # The deck has two of rush, dodge and strike or punish.
    assert words[40, 41] == "33% you win; 33% nobody is hurt; 33% both fall, your card is lower and you win"
    assert words[21, 41].endswith("% other outcomes")
    words = words_of(tabletop_like, position("r", "rds", breath=2, hp=(2, 2), rules=rules))
    assert words[20, 10] == "nobody is hurt"
    words = words_of(tabletop_like, position("r", "grs", breath=2, hp=(2, 2), rules=rules))
    assert words[20, 30] == "you deal 1 (enemy 1 HP), the enemy heals 1"
    words = words_of(tabletop_like, position("gp", "r", rules=rules))
    assert (words[10, 30], words[50, 30]) == ("nobody is hurt", "nobody is hurt, you must rest next")
    words = words_of(tabletop_like, position("gs", "r", rules=rules))
    assert words[10, 50] == "you lose"
    assert "you deal 1 (enemy 1 HP), the enemy must rest next" not in words.values()


def test_between_two_measures_nothing_is_played(tabletop_like):
    space = tabletop_like.data.space
    explanation = tabletop_like.explain(space.state(space.n_states - 1))
    (reason,) = explanation.reasons
    assert (reason.action, reason.against) == (90, ())
    assert explanation.contrast(90) is None
    assert contrast(reason, reason, explanation.scale) == "Nothing is played between two measures."


def test_values_against_another_enemy_are_not_explained(tiny, table):
    explainer = Explainer(table, mixed(tiny, 4), solve(build(tiny, mixed(tiny, 3))))
    with pytest.raises(match=r"enemy: not the enemy against which the values were solved, .*; .* would be worth"):
        explainer.explain(tiny.state(0))


def test_an_agents_file_says_who_its_enemy_is(tabletop_like, tmp_path):
    space, solution = tabletop_like.data.space, tabletop_like.solution
    state = space.state(7)
    notes = {"random": {"kind": "built-in", "name": "random"}, "unknown": {"kind": "unknown"}}
    for name, note in notes.items():
        save(tmp_path / f"{name}.h5", space, build(space), solution, enemy=note)
    expected = tabletop_like.explain(state)
    assert explainer_of(load(tmp_path / "random.h5")).explain(state) == expected
    with pytest.raises(PlayerError, match="the enemy is not recorded; name it with --enemy"):
        explainer_of(load(tmp_path / "unknown.h5"))
    assert explainer_of(load(tmp_path / "unknown.h5"), Player("random")).explain(state) == expected


def test_the_best_choices_against_a_player_are_solved_for_here(tabletop_like):
    found = explainer_against(Player("random"), PRESETS["tiny"])
    assert found.data.space.rules == tabletop_like.data.space.rules
    assert found.solution.q == pytest.approx(tabletop_like.solution.q, abs=1e-9)
    with pytest.raises(RulesError, match="plays only under the standard rules"):
        explainer_against(Player("veteran"), PRESETS["tiny"])


def test_what_is_no_position_or_no_view_is_refused(tabletop_like):
    space = tabletop_like.data.space
    with pytest.raises(StateError):
        tabletop_like.explain(space.state(0)._replace(own_hp=9))
    fine = GameData(StateSpace(space.rules, "memory"))
    with pytest.raises(InformationError, match="only 'memoryless' is"):
        Explainer(fine, mixed(fine.space, 1), solve(build(space)))
    with pytest.raises(InformationError, match="only 'memoryless' is"):
        _ = win_solution(fine.space, mixed(fine.space, 1))


GUARD, RUSH, STRIKE, FEINT = 10, 20, 40, 41


def answer(action, *cases):
    """An answer with consequences of these words, probabilities and values."""
    return Answer(action, tuple(Consequence(p, value, None, words) for words, p, value in cases))


def test_consequences_of_the_same_words_are_told_once_and_the_likeliest_first():
    found = answer(FEINT, ("you lose", 0.1, 0.0), ("you win", 0.1, 1.0), ("you win", 0.2, 1.0))
    assert (found.words, found.likely) == ("75% you win; 25% you lose", "mostly you win")
    assert (found.probability, found.value) == (pytest.approx(0.4), pytest.approx(0.75))
    # A certain consequence is told alone, and unlikely ones are left out.
    found = answer(STRIKE, ("you win", 0.25, 1.0))
    assert (found.words, found.likely, found.probability, found.value) == ("you win", "you win", 0.25, 1.0)
    found = answer(FEINT, *[(f"case {k}", 0.1 * k, 0.0) for k in range(4, 0, -1)])
    # No consequence happens in more than half of the draws.
    assert found.words == found.likely == "40% case 4; 30% case 3; 20% case 2; 10% other outcomes"


def test_what_decides_is_the_answer_with_the_largest_share_of_the_difference():
    better = Reason(RUSH, 0.7, (answer(GUARD, ("nobody is hurt", 0.6, 0.5)), answer(STRIKE, ("you win", 0.4, 1.0))))
    worse = Reason(GUARD, 0.5, (answer(STRIKE, ("you lose", 0.4, 0.2)), answer(GUARD, ("nobody is hurt", 0.6, 0.7))))
    assert contrast(better, worse, Scale(0, 1, True)) == (
        "The enemy's strike decides (40% likely). Against it, rush wins at once. Guard loses at once."
    )


def test_what_the_answer_is_worth_is_told_with_it():
    better = Reason(RUSH, 0.7, (answer(FEINT, ("you take 1", 0.25, 0.5), ("you win", 0.75, 1.0)),))
    worse = Reason(GUARD, 0.5, (answer(FEINT, ("nobody is hurt, you have 1 HP", 1.0, 0.25)),))
    assert contrast(better, worse, Scale(-1, 1, False)) == (
        "The enemy's feint with strike decides (100% likely). Against it, rush is worth +0.8750: mostly you win. "
        "Guard is worth +0.2500: nobody is hurt, you have 1 HP."
    )


def test_equal_outcomes_are_told_with_what_differs():
    def told(hurt, value=0.5):
        better = Reason(GUARD, 0.7, (answer(STRIKE, ("nobody is hurt", 1.0, 0.7)),))
        cases = [("nobody is hurt", 1 - hurt, 0.5), ("you lose", hurt, 0.5)]
        worse = Reason(RUSH, value, (answer(STRIKE, *cases[: 1 + (hurt > 0)]),))
        return contrast(better, worse, Scale(0, 1, True)).partition(" Against it, ")

    start, _, words = told(0.0)
    assert start == "The enemy's strike decides (100% likely)."
    first = "guard wins 70.0%: nobody is hurt. Rush wins 50.0%: "
    assert words == f"{first}nobody is hurt. The cards that remain after guard are better."
    assert told(0.25)[2] == f"{first}75% nobody is hurt; 25% you lose."
    assert told(0.0, value=0.69999)[0] == "Guard wins 70.0%, the same as rush."


def test_rounding_does_not_change_the_order():
    assert list(likeliest({"a": 0.1, "b": 0.2, "c": 0.1 + 1e-12, "d": 0.1 - 1e-12})) == ["b", "a", "c", "d"]


def views_of(space, seed):
    session = PlaySession(PunishMatch(GameData(space), seed), (HumanPlayer("a"), HumanPlayer("b")))
    session.begin()
    generator = np.random.default_rng(seed)
    while session.is_on:
        yield session.view(0)
        for seat in (0, 1):
            session.choose(seat, int(generator.choice(session.legal(seat))))
        session.reveal()


def test_win_chances_are_those_of_the_one_player_model(space):
    enemy = mixed(space, 3)
    explainer = Explainer(GameData(space), enemy, win_solution(space, enemy))
    q = solve(build(space, enemy), objective="reach-probability").q
    for view in views_of(space, 1):
        index = space.index(view.state)
        chances = {reason.action: reason.value for reason in explainer.explain(view.state).reasons}
        assert list(chances.values()) == sorted(chances.values(), reverse=True)
        for k, action in enumerate(view.actions):
            assert chances[action] == pytest.approx(q[space.state_ptr[index] + k], abs=1e-3)


def test_expectations_are_means_over_the_slow_models_hands(space):
    enemy = mixed(space, 4)
    explainer = Explainer(GameData(space), enemy, win_solution(space, enemy))
    for view in [view for seed in range(4) for view in views_of(space, seed)]:
        hands = reference.hands(view.unseen, view.state.enemy_hand)
        found = dict(subsets(view.unseen, view.state.enemy_hand))
        assert found == pytest.approx({hand: float(p) for hand, p in hands.items()})
        total = {}
        for hand, p in hands.items():
            index = space.index(type(view.state)(*reference.mirror(reference.State(*view.state), hand)))
            for r in range(*space.state_ptr[index : index + 2]):
                action = int(space.action[r])
                total[action] = total.get(action, 0.0) + float(p) * enemy[r]
        expected = {action: p for action, p in total.items() if p}
        assert explainer.explain(view.state).answers == pytest.approx(expected)
