"""Objectives as text, and their values."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.conversion.objective_text import (
    NamedProcess,
    NameUnknownError,
    ObjectiveError,
    parse_objective,
    solve_objective,
)
from punish_fast.mdp.model import from_rows

pytestmark = pytest.mark.kernels


@pytest.fixture
def process() -> NamedProcess:
    """From state 0: at once to the goal by half, else to the bad state; or by way of state 3, surely.

    The bad state leads to the goal, too.
    """
    mdp = from_rows(
        [
            [(0.0, {1: 0.5, 2: 0.5}), (0.0, {3: 1.0}), (0.0, {0: 1.0})],
            [(0.0, {1: 1.0})],
            [(0.0, {1: 1.0})],
            [(0.0, {1: 0.25, 4: 0.75})],
            [(0.0, {4: 1.0})],
        ]
    )
    rewards = {"cost": np.array([1.0, 2.0, 0.5, 0.0, 3.0, 4.0, 0.0]), "time": np.ones(7)}
    labels = {"goal": np.arange(5) == 1, "bad": np.arange(5) == 2, "mid": np.arange(5) == 3}
    return NamedProcess(mdp, labels, rewards, np.array([0]), ("leap", "walk", "stay"))


@pytest.mark.parametrize(
    ("text", "value", "choice"),
    [
        ('max P [F "goal"]', 1.0, 0),
        ('min P [F "goal"]', 0.0, 2),
        ('max P [!"bad" U "goal"]', 0.5, 0),
        ('max P [F ("goal" & "bad") | "mid"]', 1.0, 1),
        ('max P[!("bad"|"goal") U "goal"]', 0.5, 0),
        ('max P [!"mid" & !"bad" U "goal"]', 0.5, 0),
        ('max P [true U "goal"]', 1.0, 0),
        ("max P [F false]", 0.0, 0),
        ('Pmax=? [F "goal"]', 1.0, 0),
        ('  Pmin =? [ F"goal" ]  ', 0.0, 2),
    ],
)
def test_probabilities_of_formulas(process, text, value, choice):
    found = solve_objective(process, parse_objective(text))
    assert found.v[0] == pytest.approx(value, abs=1e-9)
    assert found.choice[0] == choice
    assert found.error_bound <= 1e-10


def test_discounted_rewards_are_the_largest_or_the_smallest(process):
    """Staying pays 0.5 for ever; a leap costs 1 and then, half the time, 3."""
    stay = 0.5 / (1 - 0.5)
    assert solve_objective(process, parse_objective('min R{"cost"}'), 0.5).v[0] == pytest.approx(stay)
    walk = 2 + 0.5 * (4 + 0)
    assert solve_objective(process, parse_objective('max R{"cost"}'), 0.5).v[0] == pytest.approx(walk)
    time = solve_objective(process, parse_objective('R{"time"}max=?'))
    assert time.v == pytest.approx(20)


def test_rewards_need_their_name_and_a_discount_below_1(process):
    with pytest.raises(NameUnknownError, match=r'name one of "cost", "time"$'):
        solve_objective(process, parse_objective("max R"), 0.5)
    with pytest.raises(SolveError, match=r"^discount: 1 is not allowed; rewards without a goal need one"):
        solve_objective(process, parse_objective('max R{"cost"}'), 1)
    with pytest.raises(ObjectiveError, match=r"^discount: 0\.5 is allowed only for rewards without a goal"):
        solve_objective(process, parse_objective('max P [F "goal"]'), 0.5)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "'' is not understood; use max P"),
        ('most P [F "goal"]', "is not understood; use"),
        ("max P", "is not understood at its end"),
        ('max P [F "goal"', "is not understood at its end"),
        ('max P [G "goal"]', "is not understood at 'G \"goal\"]'"),
        ('max P [F "goal"] trailing', "is not understood at 'trailing'"),
        ('max P{"cost"} [F "goal"]', "only R can have a name, not P"),
        ('max R{"cost"} ["bad" U "goal"]', "R supports only F, not U"),
        (f"max P [F {'!' * 5000}true]", "more than 100 labels and signs"),
        ("max P [F \x00\n]", r"is not understood at '\\\\x00\\\\n\]'"),
    ],
)
def test_what_is_no_objective_is_refused_in_one_line(text, match):
    with pytest.raises(ObjectiveError, match=match) as error:
        parse_objective(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("text", "told"),
    [
        # Objectives of Storm and PRISM.
        ('P=? [F "goal"]', r"P=\? or R=\? without max or min"),
        ('R{"cost"}=? [F "goal"]', r"P=\? or R=\? without max or min"),
        ('P>=0.9 [F "goal"]', "a bound on the value"),
        ('R{"cost"}max<3 [F "goal"]', "a bound on the value"),
        ('Pmax=? [F<=2 "goal"]', r"at '<=2.* a bound on the number of steps, such as F<=10,"),
        ('Pmax=? ["bad" U[0,5] "goal"]', "a bound on the number of steps"),
        ('R{"cost"}max=? [C<=2]', r"C \(cumulative rewards\)"),
        ('R{"cost"}min=? [I=5]', r"I \(rewards at one step\)"),
        ('R{"cost"}max=? [LRA]', r"S or LRA \(long-run averages\)"),
        ('Pmax=? [G !"goal"]', r"G \(always\)"),
        ('Pmax=? [X "goal"]', r"X \(next\)"),
        ('Pmax=? ["bad" W "goal"]', r"W or R \(weak until, release\)"),
        ('Pmax=? [F "bad" => "goal"]', "=> or <=>"),
        ("Pmax=? [F s=3]", "an expression of variables"),
        ('multi(Pmax=? [F "goal"], P>=0.5 [F "bad"])', "multi, filter or a coalition"),
    ],
)
def test_what_is_not_supported_is_named_beside_what_is(text, told):
    with pytest.raises(ObjectiveError, match=rf"is not understood.*{told}.* is not supported; use max P") as error:
        parse_objective(text)
    assert len(str(error.value)) < 300
    # Names do not count.
    assert parse_objective('max P [F "X=3 [C<=2] P=?"]').goal is not None


@given(st.text(alphabet='maxinPRFU[]()!&|{}"gtrue =?\n', max_size=40))
def test_no_text_makes_the_parser_fail(text):
    try:
        parse_objective(text)
    except ObjectiveError:
        return
    assert text.strip().startswith(("max", "min", "P", "R"))


def test_states_are_found_by_their_label(process):
    assert process.labelled("mid").tolist() == [False, False, False, True, False]
    with pytest.raises(NameUnknownError, match=r'^label "e\\nd" is not in the model, which has "goal", "bad", "mid"$'):
        process.labelled("e\nd")


def test_rewards_are_found_by_their_name(process):
    assert process.paying("time").reward.tolist() == [1.0] * 7
    assert replace(process, rewards={"cost": np.arange(7.0)}).paying().reward.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert not process.mdp.reward.any()
    many = replace(process, rewards=dict.fromkeys([f"r{k}" for k in range(10)], np.zeros(7)))
    for name, asked, match in (
        (None, process, r'^the model has several rewards; name one of "cost", "time"$'),
        (None, replace(process, rewards={}), r"^the model has no rewards$"),
        ("x", process, r'^reward "x" is not in the model, which has "cost", "time"$'),
        ("x", replace(process, rewards={}), r'^reward "x" is not in the model, which has none$'),
        ("x", many, r'"r7" and 2 more$'),
    ):
        with pytest.raises(NameUnknownError, match=match):
            asked.paying(name)
    assert repr(many).startswith("NamedProcess(MDP(5 states, ")
