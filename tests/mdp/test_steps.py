"""Objectives with a number of steps, invariants, and total rewards without a goal, compared with fractions."""

import math
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from punish_fast.mdp.conversion.objective_text import NamedProcess, ObjectiveError
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import from_rows
from punish_fast.mdp.objectives.steps import cumulative_reward, reach_within, reward_at_step, stay_probability
from tests.mdp.exact_policies import backed_up, expected, gains, random_sample, reach_probabilities, reached, recurrent

pytestmark = pytest.mark.kernels
SEEDS = range(60)


@pytest.fixture(params=SEEDS)
def sample(request):
    """A process with rewards of at least 0, some with values of terminals, and two random sets of columns."""
    given, rng = random_sample(request.param), Random(-request.param)
    states = [[(min(abs(reward), 100.0), row) for reward, row in rows] for rows in given.states]
    values = [Random(request.param).choice([0.0, 7.0, 0.5, -2.0]) for _ in given.terminals]
    given = replace(given, states=states, terminals=[0.0] * len(values), values=values if request.param % 2 else None)
    columns = range(len(states) + len(given.terminals))
    return given, {s for s in columns if rng.random() < 0.3}, {s for s in columns if rng.random() < 0.3}


def marked(columns, n):
    return np.isin(np.arange(n), list(columns))


def induction(process, n_steps, best, last, settled=(), pays=False):
    """Backward steps in fractions. Columns in ``settled`` keep their value in ``last``."""
    n, v = len(process.rows), list(last)
    for _ in range(n_steps):
        rows = [[row if pays else (Fraction(0), row[1]) for row in state] for state in process.rows]
        before = v
        v = [before[s] if s in settled else best(backed_up(row, before) for row in rows[s]) for s in range(n)]
        v += before[n:]
    return v[:n]


def agrees(found, exact):
    """Check values, bounds and error bound."""
    for v, low, high, x in zip(found.v.tolist(), found.lower.tolist(), found.upper.tolist(), exact, strict=True):
        assert low <= x <= high
        assert v == x or abs(Fraction(v) - x) <= Fraction(found.error_bound)
    largest = np.abs(found.v[np.isfinite(found.v)]).max(initial=0)
    assert found.error_bound <= 1e-9 * max(1.0, largest)


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("n_steps", [0, 1, 4])
def test_step_bounds_are_backward_steps(sample, n_steps, maximize):
    given, goal, avoid = sample
    best, n = (max if maximize else min), given.mdp.n_columns
    indicator = [Fraction(s in goal) for s in range(n)]
    masks = marked(goal, n), marked(avoid, n)
    exact = induction(given.exact, n_steps, best, indicator, goal | avoid)
    agrees(reach_within(given.mdp, masks[0], n_steps, maximize, masks[1]), exact)
    safe = [Fraction(s in goal) for s in range(n)]
    exact = induction(given.exact, n_steps, best, safe, set(range(n)) - goal)
    agrees(stay_probability(given.mdp, masks[0], n_steps, maximize), exact)
    nothing = [Fraction(0)] * n
    ends = nothing[: given.mdp.n_states] + given.exact.values
    agrees(cumulative_reward(given.mdp, n_steps, maximize), induction(given.exact, n_steps, best, ends, pays=True))
    last = [best(row[0] for row in rows) for rows in given.exact.rows] + nothing[given.mdp.n_states :]
    agrees(found := reward_at_step(given.mdp, n_steps, maximize), induction(given.exact, n_steps, best, last))
    assert n_steps > 0 or given.mdp.reward[found.choice].tolist() == found.v.tolist()


def of_best(best, policies):
    """The best value of each state, given the values of all policies."""
    return [best(values) for values in zip(*policies, strict=True)]


def total(chain):
    """Total rewards of a chain without end; plus infinity if a recurrent class that may be reached pays."""
    classes = recurrent(chain, chain.ends)
    paying = {s for members in classes if any(chain.rows[t][0] for t in members) for s in members}
    settled = dict.fromkeys([s for members in classes for s in members], Fraction(0)) | chain.settled()
    return [
        math.inf if seen & paying else v
        for v, seen in zip(expected(chain.rows, settled), reached(chain, chain.ends), strict=True)
    ]


@pytest.mark.parametrize("maximize", [True, False])
def test_unlimited_steps_are_those_of_the_best_policy(sample, maximize):
    given, goal, _ = sample
    if given.layers is not None or len(given.exact.policies) > 24:
        return
    best, n = (max if maximize else min), given.mdp.n_columns
    totals = of_best(best, map(total, given.exact.policies))
    if any(1e300 < v < math.inf for v in totals):
        with pytest.raises(SolveError, match="too large for floating point"):
            cumulative_reward(given.mdp, None, maximize)
    else:
        agrees(cumulative_reward(given.mdp, None, maximize), totals)
    unsafe = set(range(n)) - goal
    stays = [[1 - p for p in reach_probabilities(chain, unsafe, set())] for chain in given.exact.policies]
    agrees(stay_probability(given.mdp, marked(goal, n), None, maximize), of_best(best, stays))


def test_the_policy_returns_to_rewards_again_and_again():
    # Staying in state 1 is possible, but collects no further rewards.
    mdp = from_rows([[(0.0, {0: 1.0}), (2.0, {1: 1.0})], [(0.0, {1: 1.0}), (0.0, {0: 0.5, 1: 0.5})], [(0.0, {0: 1.0})]])
    found = cumulative_reward(mdp)
    assert found.v.tolist() == [math.inf] * 3
    assert found.choice.tolist() == [1, 3, 4]


@pytest.fixture
def process():
    """From state 0, a leap to state 1 succeeds half the time; state 2 is a dead end. Steps cost 1, waiting 3."""
    mdp = from_rows([[(0.0, {1: 0.5, 2: 0.5}), (0.0, {0: 1.0})], [(0.0, {1: 1.0})], [(0.0, {2: 1.0})]])
    labels = {name: np.arange(3) == k for k, name in enumerate(("start", "goal", "dead"))}
    return NamedProcess(mdp, labels, {"cost": np.array([1.0, 3.0, 0.0, 0.0])})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Pmax=? [F<=0 "goal"]', 0.0),
        ('Pmax=? [F<=1 "goal"]', 0.5),
        ('Pmin [F<=3 "goal"]', 0.0),
        ('max P [!"dead" U<=2 "goal"]', 0.5),
        ('Pmax=? [G !"dead"]', 1.0),
        ('Pmin=? [G !"dead"]', 0.5),
        ('Pmin=? [G<=2 "start" | "goal"]', 0.5),
        ('Pmax=? [X "start"]', 1.0),
        ('min P [X "start"]', 0.0),
        ('R{"cost"}max=? [C<=4]', 12.0),
        ('R{"cost"}min=? [C<=4]', 1.0),
        ('R{"cost"}min=? [C]', 1.0),
        ('R{"cost"}max=? [C]', math.inf),
        ('R{"cost"}max=? [I=2]', 3.0),
        ('R{"cost"}min=? [I = 0]', 1.0),
        ('R{"cost"}max=? [LRA]', 3.0),
        ('min R{"cost"} [S]', 0.0),
        ('R{"cost"}min=? [F "goal" | "dead"]', 1.0),
    ],
)
def test_objectives_as_text_have_the_values_of_their_functions(process, text, value):
    found = process.solve(text)
    assert found.v[0] == pytest.approx(value, abs=1e-9)
    assert found.lower[0] <= value <= found.upper[0]


# Maximum and minimum from the states of the next test, found by enumerating policies.
FRACTIONS = {
    'P [F "goal"]': ("1 1 1", "0 1 0"),
    'P [F<=3 "goal"]': ("15/32 1 1/4", "0 1 0"),
    'P [!"bad" U "goal"]': ("1/2 1 0", "0 1 0"),
    'P [!"bad" U<=3 "goal"]': ("7/16 1 0", "0 1 0"),
    'P [G !"bad"]': ("1 0 0", "0 0 0"),
    'P [G<=3 !"bad"]': ("1 1/64 0", "15/64 1/64 0"),
    'P [X "goal"]': ("1/4 1/4 0", "0 1/4 0"),
    'R{"pay"} [F "goal"]': ("inf 0 inf", "10 0 16"),
    'R{"pay"} [C]': ("inf inf inf", "inf inf inf"),
    'R{"pay"} [C<=3]': ("99/16 159/16 31/4", "5 153/16 7"),
    'R{"pay"} [I=2]': ("45/16 43/16 21/8", "1 37/16 3/2"),
    'R{"pay"} [LRA]': ("16/7 16/7 16/7", "2 2 2"),
    'R{"pay"} [S]': ("16/7 16/7 16/7", "2 2 2"),
}


@pytest.mark.parametrize("text", FRACTIONS)
def test_every_formula_encloses_its_fraction(text):
    first = [(1.0, {0: 0.5, 1: 0.25, 2: 0.25}), (2.0, {0: 1.0})]
    mdp = from_rows([first, [(4.0, {1: 0.25, 2: 0.75})], [(3.0, {0: 0.5, 2: 0.5})]])
    labels = {"goal": np.arange(3) == 1, "bad": np.arange(3) == 2}
    process = NamedProcess(replace(mdp, reward=0 * mdp.reward), labels, {"pay": mdp.reward})
    head, path = text.split(" ", 1)
    for aim, values in zip(("max", "min"), FRACTIONS[text], strict=True):
        for objective in (f"{head}{aim}=? {path}", f"{aim} {text}", f"{head}{aim} {path}"):
            found = process.solve(objective)
            for k, value in enumerate(values.split()):
                exact = math.inf if value == "inf" else Fraction(value)
                assert found.lower[k] <= exact <= found.upper[k], (objective, k)
                assert exact == math.inf or found.upper[k] - found.lower[k] <= 1e-9


def test_the_aim_may_be_missing_in_chains_alone(process):
    chain = replace(process, mdp=from_rows([[(0.0, {1: 0.5, 0: 0.5})], [(0.0, {1: 1.0})]]), rewards={"one": np.ones(2)})
    chain = replace(chain, labels={"goal": np.array([False, True])})
    assert chain.solve('P=? [F<=2 "goal"]').v[0] == 0.75
    assert chain.solve("R=? [LRA]").v.tolist() == [1.0, 1.0]
    with pytest.raises(ObjectiveError, match=r"^objective: max or min is missing, which is allowed only in Markov"):
        process.solve('P=? [F "goal"]')


def test_average_rewards_have_the_sign_of_the_rewards(sample):
    given, _, _ = sample
    if given.layers is not None or given.terminals or len(given.exact.policies) > 24:
        return
    named = NamedProcess(given.mdp, {}, {"r": given.mdp.reward})
    for aim, best in (("max", max), ("min", min)):
        exact = of_best(best, map(gains, given.exact.policies))
        agrees(named.solve(f'R{{"r"}}{aim}=? [LRA]'), exact)


def test_a_total_counts_the_values_of_terminals_with_and_without_a_number_of_steps():
    """State 0 pays 1 before it ends; state 1 may stay without a reward, or pay 1 to leave."""
    stays_or_leaves = [(5.0, {1: 1.0}), (0.0, {1: 1.0}), (1.0, {2: 1.0})]
    for value, least, most in ((7.0, 0.0, math.inf), (-3.0, -2.0, math.inf)):
        mdp = from_rows([[(1.0, {2: 1.0})], stays_or_leaves], terminal_value=[value])
        low, high = cumulative_reward(mdp, maximize=False), cumulative_reward(mdp)
        assert low.v.tolist() == pytest.approx([1 + value, least])
        assert high.v.tolist() == pytest.approx([1 + value, most])
        assert low.choice.tolist() == [0, 2 if value > 0 else 3]
        assert cumulative_reward(mdp, 5).v[0] == 1 + value
    assert reward_at_step(mdp, 1).v[0] == 0


def test_wrong_numbers_of_steps_and_negative_rewards_are_refused_in_one_line():
    mdp = from_rows([[(-1.0, {0: 1.0})]])
    with pytest.raises(SolveError, match=r"^n_steps: -1 is not allowed; it must be a whole number of at least 0$"):
        reach_within(mdp, np.array([True]), -1)
    with pytest.raises(SolveError, match=r"^reward: -1 in row 0 is negative; without a goal or a number of steps"):
        cumulative_reward(mdp)
    assert cumulative_reward(mdp, 3).v.tolist() == [-3.0]
