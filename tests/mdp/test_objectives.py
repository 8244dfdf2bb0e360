"""Laws of all objectives, whose values ``judge.py`` compares with fractions, and objectives as text."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import compacted, marks, random_processes, with_zeros

from punish_fast.mdp import (
    Names,
    SolveError,
    average_reward,
    finite_horizon,
    from_rows,
    reach_probability,
    solve,
    total_reward,
)
from punish_fast.mdp.conversion.objective_text import (
    NamedProcess,
    ObjectiveError,
    parse_objective,
)
from punish_fast.runtime._jit import set_threads, threads

pytestmark = pytest.mark.kernels

LAST_STATE = {
    "least probability": lambda mdp, goal: reach_probability(mdp, goal, maximize=False, tolerance=1e-6),
    "least cost": lambda mdp, goal: total_reward(mdp, goal, maximize=False, tolerance=1e-3),
    "average": lambda mdp, _: average_reward(mdp, tolerance=1e-3),
    "horizon": lambda mdp, _: finite_horizon(mdp, 5, 0.9),
}


@pytest.mark.compiled
@pytest.mark.parametrize("objective", LAST_STATE)
@settings(max_examples=5)
@given(sample=random_processes())
def test_threads_and_storage_change_no_bit(objective, sample):
    states, layers, terminals = sample
    costs = [[(abs(reward), row) for reward, row in rows] for rows in states]
    mdp, before, bits = from_rows(costs, layers, terminals), threads(), set()
    goal = marks({mdp.n_states - 1}, mdp.n_columns)
    try:
        # Zeros make rows longer, and so the bounds on rounding.
        other = mdp if objective in ("least probability", "horizon") else with_zeros(mdp)
        for process, n_threads in ((mdp, 1), (mdp, 2), (compacted(mdp), 2), (other, 2)):
            set_threads(n_threads)
            found = LAST_STATE[objective](process, goal)
            values = found.gain if objective == "average" else found.v
            bits.add((values.tobytes(), found.choice.tobytes(), found.error_bound))
    finally:
        set_threads(before)
    assert len(bits) == 1


def test_sure_ways_are_found_without_arithmetic():
    """A coin is tossed until it shows heads, or put away for good; a goal that is a state stops play."""
    states = [[(0.0, {1: 1.0}), (0.0, {0: 0.5, 2: 0.5})], [(0.0, {1: 1.0})], [(0.0, {1: 1.0})]]
    mdp = from_rows(states)
    found = reach_probability(mdp, marks({2}, 3))
    assert (found.v.tolist(), found.error_bound, found.choice[0]) == ([1.0, 0.0, 1.0], 0.0, 1)
    assert reach_probability(mdp, marks({2}, 3), maximize=False).v.tolist() == [0.0, 0.0, 1.0]
    assert reach_probability(mdp, marks({1}, 3), maximize=False).v.tolist() == [1.0, 1.0, 1.0]
    assert reach_probability(mdp, marks({1}, 3), avoid=marks({2}, 3)).v.tolist() == [1.0, 1.0, 0.0]


def test_goals_of_another_shape_are_refused():
    mdp = from_rows([[(0.0, {1: 1.0})]], terminals=[0.0])
    with pytest.raises(SolveError, match=r"^goal: array\(\[1\]\) is not allowed; .* bool \(1,\), or \(2,\) with term"):
        reach_probability(mdp, np.array([1]))
    with pytest.raises(SolveError, match=r"^avoid: bool \(3,\)"):
        reach_probability(mdp, np.array([True]), avoid=np.zeros(3, dtype=bool))


@pytest.mark.compiled
@pytest.mark.parametrize("moves", [1.0, 1e-6])
def test_a_queue_that_could_hover_for_ever_keeps_its_bound(moves):
    """A slow server lets the queue drift to the full state, so policies can hover for exponentially many steps."""
    n, arrives, fast, slow = 600, 0.3, 0.4, 0.29
    states = [
        [
            (0.0, {s + 1: moves * arrives, s - 1: moves * served, s: 1 - moves * (arrives + served)})
            for served in (fast, slow)
        ]
        for s in range(1, n)
    ]
    mdp = from_rows([[(0.0, {0: 1.0})], *states, [(0.0, {n: 1.0})]])
    empty, full = np.arange(n + 1) == 0, np.arange(n + 1) == n
    found = reach_probability(mdp, empty, avoid=full)
    ratio = fast / arrives
    # Gambler's ruin; the first row serves fast.
    right = 1 - (ratio ** np.arange(n + 1) - 1) / (ratio**n - 1)
    assert found.error_bound <= 1e-10
    assert np.abs(found.v - right).max() <= found.error_bound + 1e-12
    assert found.choice[n // 2 :].tolist() == mdp.state_ptr[n // 2 : -1].tolist()


@given(random_processes(), st.integers(1, 12), st.integers(-3, 3))
def test_the_first_step_alone_is_that_of_all_steps(sample, n_steps, last):
    mdp = from_rows(*sample)
    final = np.full(mdp.n_columns, float(last))
    found = finite_horizon(mdp, n_steps, 0.95, final)
    assert found.v.shape == (n_steps + 1, mdp.n_states)
    assert (found.v[-1] == last).all()
    first = finite_horizon(mdp, n_steps, 0.95, final, keep_all=False)
    assert np.array_equal(first.v, found.v[:1])
    assert np.array_equal(first.choice, found.choice[:1])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_steps": 0}, "n_steps: 0 is not allowed; it must be a whole number of at least 1"),
        ({"n_steps": 1, "discount": 1.5}, "discount: 1.5 is not allowed; it must be a number from 0 to 1"),
        ({"n_steps": 1, "terminal_value": np.zeros(3)}, "terminal_value: must be 1 or 2 finite numbers"),
        ({"n_steps": 1, "terminal_value": [10**400]}, "terminal_value: must be an array of real numbers"),
    ],
)
def test_options_out_of_range_are_refused(options, text):
    with pytest.raises(SolveError) as refusal:
        finite_horizon(from_rows([[(0.0, {1: 1.0})]], terminals=[1.0]), **options)
    assert str(refusal.value) == text


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
def test_last_values_of_any_dtype_are_minimized(dtype):
    last = np.array([0, 128]).astype(dtype)
    found = finite_horizon(from_rows([[(2.0, {1: 1.0})]], terminals=[0.0]), 1, terminal_value=last, maximize=False)
    assert found.v[:, 0].tolist() == [2.0 + last[1], 0.0]


def test_a_slightly_worse_row_does_not_enlarge_the_bound():
    worse, best = (1 - 5e-11, {0: 1.0}), (1.0, {0: 1.0})
    first, last = (finite_horizon(from_rows([rows]), 300) for rows in ([worse, best], [best, worse]))
    assert first.error_bound == last.error_bound
    assert (first.choice[:, 0] == 1).all()
    # A tied row that is taken counts in the bound.
    tied = finite_horizon(from_rows([[(1 - 3e-15, {0: 1.0}), best]]), 1)
    assert tied.choice.tolist() == [[0]]
    assert tied.error_bound >= 3e-15


INFINITE = float("inf")


@pytest.mark.parametrize(
    ("states", "terminals", "expected", "choice"),
    [
        ([[(-1.0, {0: 1.0}), (-2.0, {1: 1.0})]], [0.0], [-2.0], [1]),
        ([[(-3.0, {1: 1.0})], [(1.0, {0: 1.0}), (0.0, {2: 1.0})]], [0.0], [-3.0, 0.0], [0, 2]),
        # A loop with costs that cannot be left, and one that can be left for it or for the goal.
        ([[(-1.0, {0: 1.0})], [(-1.0, {1: 1.0}), (5.0, {0: 1.0}), (-1.0, {2: 1.0})]], [0.0], [-INFINITE, -1.0], [0, 3]),
        # A loop without costs inside a loop with costs, and a terminal that is not the goal.
        ([[(-3.0, {1: 1.0})], [(1.0, {0: 1.0}), (0.0, {1: 1.0}), (0.0, {2: 1.0})]], [0.0], [INFINITE] * 2, [0, 2]),
        ([[(-1.0, {0: 1.0}), (0.0, {1: 0.5, 2: 0.5})]], [0.0, 0.0], [INFINITE], [1]),
        # A loop of rewards and costs that cancel.
        ([[(-1.0, {1: 1.0})], [(1.0, {0: 1.0}), (0.0, {2: 1.0})]], [0.0], [INFINITE] * 2, [0, 1]),
    ],
)
def test_the_largest_total_avoids_loops_with_costs(states, terminals, expected, choice):
    mdp, n = from_rows(states, terminals=terminals), len(states)
    found = total_reward(mdp, marks({n}, mdp.n_columns))
    assert (found.v.tolist(), found.choice.tolist()) == (expected, choice)
    of_policy = total_reward(mdp, marks({n}, mdp.n_columns), policy=found.policy)
    assert of_policy.v.tolist() == expected


def test_a_small_toll_is_paid_for_long_before_a_large_one():
    """A round costs 2^-10; the way out costs 1000 at once, or 1 with a chance of 2^-6 in each round."""
    states = [[(1000.0, {1: 1.0}), (2.0**-10, {0: 1 - 2.0**-6, 1: 2.0**-6})]]
    found = total_reward(from_rows(states, terminals=[0.0]), marks({1}, 2), maximize=False)
    assert found.v == pytest.approx([2.0**-4], abs=1e-9)
    assert found.choice.tolist() == [1]


@pytest.mark.parametrize(("back", "expected"), [(-3.0, -INFINITE), (-1.0, 1.0)])
def test_rounds_that_pay_in_the_long_run_are_made_without_end(back, expected):
    """A round costs 2 and pays ``back``; from state 2 play may enter, or end at a cost of 5."""
    states = [[(2.0, {1: 1.0})], [(back, {0: 1.0}), (-1.0, {3: 1.0})], [(0.0, {0: 0.5, 3: 0.5}), (5.0, {3: 1.0})]]
    mdp = from_rows(states, terminals=[0.0])
    found = total_reward(mdp, marks({3}, 4), maximize=False)
    assert found.v.tolist() == total_reward(with_zeros(mdp), marks({3}, 4), maximize=False).v.tolist()
    assert found.v[0] == pytest.approx(expected)
    assert found.v[2] == (-INFINITE if expected < 0 else pytest.approx(0.5))
    assert found.choice[2] == 3
    assert found.lower[0] <= found.v[0] <= found.upper[0]


@pytest.mark.parametrize("maximize", [True, False])
def test_totals_of_rounds_whose_average_has_no_known_sign_are_refused(maximize):
    """The rewards of a round cancel except for rounded probabilities."""
    states = [[(0.3, {1: 1.0}), (0.0, {2: 1.0})], [(-0.1, {0: 1 / 3, 1: 2 / 3})]]
    mdp = from_rows(states, terminals=[0.0], normalize=True)
    told = r"^reward: play can continue forever in a component of 2 states, where the average"
    with pytest.raises(SolveError, match=told):
        total_reward(mdp, marks({2}, 3), maximize)
    with pytest.raises(SolveError, match=told):
        solve(mdp, 1, maximize=maximize)


def test_rounds_that_may_cost_nothing_in_the_long_run_are_refused():
    states = [[(2.0, {1: 1.0})], [(-2.0, {0: 1.0}), (-1.0, {2: 1.0})]]
    match = "forever in a component of 2 states, where the average reward per step is 0, so totals are unknown; use"
    with pytest.raises(SolveError, match=match):
        total_reward(from_rows(states, terminals=[0.0]), marks({2}, 3), maximize=False)


@pytest.mark.parametrize(("out", "back"), [(1.0, -1 + 1e-12), (1e8 + 0.01, -1e8), (-1.0, 1 + 1e-15)])
def test_rounds_that_hardly_cost_anything_have_a_sign(out, back):
    """State 2 is the goal, which state 1 reaches at a cost of 5."""
    states = [[(out, {1: 1.0})], [(back, {0: 1.0}), (5.0, {2: 1.0})], [(0.0, {2: 1.0})]]
    found = total_reward(from_rows(states), marks({2}, 3), maximize=False)
    assert found.v == pytest.approx([out + 5, 5, 0])
    assert found.choice.tolist() == [0, 2, 3]


def test_rounds_that_cost_less_than_rounding_are_refused():
    """States 2 to 19 lead to the round, whose cost is less than their probabilities might be rounded."""
    states = [[(1.0, {1: 1.0}), (5.0, {20: 1.0})], [(-1 + 1e-14, {0: 1.0})]]
    states += [[(1.0, {k - 1: 0.5, 20: 0.5})] for k in range(2, 20)]
    with pytest.raises(SolveError, match=r"^reward: endless play costs so little"):
        total_reward(from_rows(states, terminals=[0.0]), marks({20}, 21), maximize=False)


@pytest.mark.compiled
def test_a_first_policy_that_takes_too_long_for_floats_is_improved():
    """The cheap rows lead away from the goal, state 0, so play by them takes 9^k steps; the others take 1.25 k."""
    n, rows = 3000, ((1.0, 0.1), (2.0, 0.9))
    walks = [[(cost, {k - 1: p, min(k + 1, n - 1): 1 - p}) for cost, p in rows] for k in range(1, n)]
    found = total_reward(from_rows([[(0.0, {0: 1.0})], *walks]), marks({0}, n), maximize=False, max_sweeps=2000)
    assert found.v[:3] == pytest.approx([0, 2.5, 5])
    assert found.error_bound < 1e-9
    assert found.choice.tolist() == [0, *range(2, 2 * n, 2)]


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
        ],
        names=Names(actions=["leap", "walk", "stay"]),
    )
    rewards = {"cost": np.array([1.0, 2.0, 0.5, 0.0, 3.0, 4.0, 0.0]), "time": np.ones(7)}
    labels = {"goal": np.arange(5) == 1, "bad": np.arange(5) == 2, "mid": np.arange(5) == 3}
    return NamedProcess(mdp, labels, rewards)


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
    found = process.solve(text)
    assert found.v[0] == pytest.approx(value, abs=1e-9)
    assert found.choice[0] == choice
    assert found.error_bound <= 1e-10


def test_discounted_rewards_are_the_largest_or_the_smallest(process):
    """Staying pays 0.5 for ever; a leap costs 1 and then, half the time, 3."""
    stay = 0.5 / (1 - 0.5)
    assert process.solve('min R{"cost"}', 0.5).v[0] == pytest.approx(stay)
    walk = 2 + 0.5 * (4 + 0)
    assert process.solve('max R{"cost"}', 0.5).v[0] == pytest.approx(walk)
    time = process.solve('R{"time"}max=?')
    assert time.v == pytest.approx(20)
    # With discount 1, the total reward: a leap, and by way of the bad state.
    total = replace(process, rewards={"cost": np.array([1, 2, 3, 0, 3, 4, 0.0])}).solve("min R", 1)
    assert total.v == pytest.approx([2.5, 0, 3, 4, 0])


def test_rewards_need_their_name_and_other_objectives_no_discount(process):
    with pytest.raises(ObjectiveError, match=r'name one of "cost", "time"$'):
        process.solve("max R", 0.5)
    with pytest.raises(ObjectiveError, match=r"^discount: 0\.5 is allowed only for rewards without a goal"):
        process.solve('max P [F "goal"]', 0.5)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (5, "5 is not allowed; it must be a text: max or min of P with"),
        ("", "'' is not understood; use max or min of P with"),
        ('most P [F "goal"]', "is not understood; use"),
        ("max P", "is not understood; use"),
        ('max P [F "goal"', "is not understood: brackets do not match; use"),
        ('Pmax=? F "goal"', "is not understood; use"),
        ('max P [F "goal" "goal"]', "is not understood; use"),
        ('max P [F "goal"("goal")]', "is not understood; use"),
        ('max P [F "goal") | ("goal"]', "is not understood; use"),
        ('max P [F "a" & F "b"]', "is not understood; use"),
        ('max P [U "goal"]', "is not understood; use"),
        ("max P [F ]", "is not understood; use"),
        ("max P [F _]", "is not understood at '_]'"),
        ('max P [W "goal"]', "is not understood at 'W \"goal\"]'"),
        ('max Pmin=? [F "goal"]', "is not understood; use"),
        ('max P [X<=2 "goal"]', "is not understood: a bound other than <=k"),
        ('max P [F<=9999999999 "goal"]', "is not understood: a bound other than <=k"),
        ('max P [F "goal"] trailing', "is not understood at 'trailing'"),
        ('max P{"cost"} [F "goal"]', "only R can have a name, not P"),
        ('max R{"cost"} [F<=3 "goal"]', "R supports only F, C, I, S and LRA, not U, G, X or F<=k"),
        ('max R{"cost"} ["bad" U "goal"]', "R supports only F, C, I, S and LRA, not U, G, X or F<=k"),
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
        ('P>=0.9 [F "goal"]', "a bound on the value"),
        ('R{"cost"}max<3 [F "goal"]', "a bound on the value"),
        ('Pmax=? [F<2 "goal"]', r"at '<2.* a bound other than <=k, such as F<=9,"),
        ('Pmax=? ["bad" U[0,5] "goal"]', "a bound other than <=k"),
        ('R{"cost"}max=? [C<2]', "a bound other than <=k"),
        ('R{"cost"}max=? [Cdiscount=0.9]', r"Cdiscount \(max R with an argument discount replaces it\)"),
        ('Pmax=? ["bad" W "goal"]', r"W or R \(weak until, release\)"),
        ('Pmax=? [F "bad" => "goal"]', "=> or <=>"),
        ("Pmax=? [F s=3]", "an expression of variables"),
        ('multi(Pmax=? [F "goal"], P>=0.5 [F "bad"])', "multi, filter or a coalition"),
    ],
)
def test_what_is_not_supported_is_named_beside_what_is(text, told):
    with pytest.raises(
        ObjectiveError, match=rf"is not understood.*{told}.* is not supported; use max or min of P"
    ) as error:
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
    assert process.labeled("mid").tolist() == [False, False, False, True, False]
    with pytest.raises(ObjectiveError, match=r'^label "e\\nd" is not in the model, which has "goal", "bad", "mid"$'):
        process.labeled("e\nd")


def test_rewards_are_found_by_their_name(process):
    assert process.paying("time").reward.tolist() == [1.0] * 7
    assert replace(process, rewards={"cost": [0, 1, 2, 3, 4, 5, 6]}).paying().reward.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert not process.mdp.reward.any()
    many = replace(process, rewards=dict.fromkeys([f"r{k}" for k in range(9)], np.zeros(7)))
    for name, asked, match in (
        (None, process, r'^the model has several rewards; name one of "cost", "time"$'),
        (None, replace(process, rewards={}), r"^the model has no rewards$"),
        ("x", process, r'^reward "x" is not in the model, which has "cost", "time"$'),
        ("x", replace(process, rewards={}), r'^reward "x" is not in the model, which has none$'),
        ("x", many, r'"r7" and 1 more$'),
        ("short", replace(process, rewards={"short": [1, 2]}), '^rewards: "short": must be 7 finite numbers$'),
        ("inf", replace(process, rewards={"inf": [np.inf] * 7}), '^rewards: "inf": must be 7 finite numbers$'),
    ):
        with pytest.raises(ObjectiveError, match=match):
            asked.paying(name)
    assert repr(many).startswith("NamedProcess(MDP(5 states, ")
