"""Average rewards in textbook examples; ``judge.py`` has random processes."""

import re
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from processes import random_processes

from punish_fast.mdp import SolveError, average_reward, from_rows
from punish_fast.mdp.chain.stationary import stationary_weights
from punish_fast.mdp.methods.component_gains import gain_of_chain
from punish_fast.mdp.methods.gain_iteration import bias_of_best
from punish_fast.mdp.model.limits import SolverOptions
from tests.mdp.exact_policies import Chain, Sample, backed_up, biases, class_gain, gains, recurrent


@settings(max_examples=15)
@given(random_processes())
def test_the_bias_solves_the_equation_of_the_policy(sample):
    mdp = from_rows(*sample)
    found = average_reward(mdp, tolerance=1e-8)
    rows = mdp.to_scipy()[found.choice][:, : mdp.n_states]
    missing = mdp.reward[found.choice] + rows @ found.bias - found.gain - found.bias
    scale = 1 + np.abs(found.bias).max()
    assert np.abs(missing).max() <= found.bias_residual + 1e-12 * scale
    assert found.bias_residual <= 1e-7 * scale


def sample_with_ties(seed):
    """Random states, often with several recurrent classes of equal gains."""
    rng = Random(seed)
    n, ends = rng.randint(2, 6), [1.0] * rng.randint(0, 1)

    def row():
        first, second = (rng.randrange(n + len(ends)) for _ in range(2))
        p = rng.choice([0.25, 0.5, 1.0])
        return float(rng.randint(-2, 2)), [(first, p), (second, 1 - p)]

    return Sample([[row() for _ in range(rng.randint(1, 3))] for _ in range(n)], ends, is_sparse=True)


@pytest.mark.parametrize("sign", [1, -1])
def test_no_row_of_the_same_gain_has_a_better_bias(sign):
    for seed in range(60):
        sample = sample_with_ties(seed)
        found = average_reward(sample.mdp, maximize=sign > 0)
        chain = sample.exact.chain(found.choice.tolist())
        fixed = {min(members): Fraction(found.bias[min(members)]) for members in recurrent(chain, chain.ends)}
        gain, bias = gains(chain) + chain.terminals, biases(chain, fixed) + [Fraction(0)] * len(chain.terminals)
        assert found.bias == pytest.approx([*map(float, bias[: len(found.bias)])], abs=1e-8)
        for s, rows in enumerate(sample.exact.rows):
            for reward, row in rows:
                change = sign * (backed_up((Fraction(0), row), gain) - gain[s])
                assert change <= 1e-9, seed
                if change == 0:
                    assert sign * (backed_up((reward, row), bias) - gain[s] - bias[s]) <= 1e-8, seed


@pytest.mark.parametrize(
    ("states", "choice", "gain"),
    [
        # Staying is first, or last. Leaving costs more.
        ([[(1.0, {0: 1.0}), (-100.0, {1: 1.0})], [(1.0, {1: 1.0})]], [0, 2], 1),
        ([[(-100.0, {1: 1.0}), (1.0, {0: 1.0})], [(1.0, {1: 1.0})]], [1, 2], 1),
        ([[(1.0, {0: 1.0}), (-100.0, {1: 1.0})]], [0], 1),
        # Both states of a component have a row that leaves it; the policy must not mix rows of loops that pay less.
        ([[(2.0, {1: 1.0}), (9.0, {2: 1.0})], [(9.0, {2: 1.0}), (0.0, {0: 1.0})], [(1.0, {2: 1.0})]], [0, 2, 4], 1),
        ([[(2.0, {1: 1.0}), (9.0, {2: 1.0})], [(0.0, {0: 1.0}), (9.0, {2: 1.0})], [(1.0, {2: 1.0})]], [0, 3, 4], 1),
        # State 0 could stay, but leaving by state 1 pays more.
        ([[(1.0, {0: 1.0}), (0.0, {1: 1.0})], [(9.0, {2: 1.0}), (0.0, {0: 1.0})], [(1.0, {2: 1.0})]], [1, 2, 4], 1),
        # A loss in each step is not a tie: 1e-11 is more than 1e-12 of the gain.
        ([[(1 - 1e-11, {0: 1.0}), (0.0, {1: 1.0})], [(1.0, {1: 1.0})]], [1, 2], 1),
        ([[(1 - 1e-11, {0: 1.0}), (1.0, {0: 1.0})]], [1], 1),
    ],
)
def test_the_first_of_tied_rows_is_taken(states, choice, gain):
    terminals = [1.0] if len(states) == 1 else []
    found = average_reward(from_rows(states, terminals=terminals))
    assert found.choice.tolist() == choice
    assert np.abs(found.gain - gain).max() <= found.error_bound
    assert found.bias_residual <= 1e-9


def test_a_row_that_is_worse_than_another_is_not_tied_however_wide_the_bracket():
    """The second row of state 0 is better by 1e-6, which is less than the distance of the bounds."""
    leak = 1e-5
    states = [[(1.0, {0: 1 - leak, 1: leak}), (1.0 + 1e-6, {0: 1 - leak, 1: leak})], [(0.0, {0: leak, 1: 1 - leak})]]
    found = average_reward(from_rows(states), tolerance=3.0)
    assert found.choice.tolist() == [1, 2]


def test_slow_mixing_takes_policy_iteration(leak=1e-9):
    states = [[(1.0, {0: 1 - leak, 1: leak})], [(0.0, {1: 1 - leak, 0: leak}), (0.5, {1: 1.0})]]
    found = average_reward(from_rows(states), max_sweeps=10)
    assert found.gain == pytest.approx([0.5, 0.5], abs=1e-12)
    assert np.abs(found.gain - 0.5).max() <= found.error_bound <= 1e-10


def test_play_that_leaves_a_place_once_in_far_more_steps_than_floats_count():
    # Play may drift to either side, so a few states with high rewards hold it for 9^k steps.
    n, drifts = 600, (0.1, 0.9)
    reward = np.random.default_rng(1).random(n)

    def row(state, right):
        left, onward = max(state - 1, 0), min(state + 1, n - 1)
        return reward[state], {left: 1 - right, onward: right}

    found = average_reward(from_rows([[row(state, right) for right in drifts] for state in range(n)]))
    assert np.ptp(found.gain) == 0
    # Drifting towards one place, as the policy does, has weights that fall by nine with each step away from it.
    rights = np.array(drifts)[found.choice % 2]
    weight = np.cumsum(np.log(np.append(1.0, rights[:-1] / (1 - rights[1:]))))
    share = np.exp(weight - weight.max())
    assert abs(found.gain[0] - share @ reward / share.sum()) <= max(found.error_bound, 1e-12)
    assert found.error_bound <= 1e-9


def test_policy_iteration_narrows_all_components_together(monkeypatch):
    """Pairs of states that seldom switch earn the mean of their rewards, or stay in a state by choice, for 1e6 + k."""
    calls, leak, n = [], 1e-5, 40
    monkeypatch.setattr(
        "punish_fast.mdp.methods.component_gains.bias_of_best", lambda *args: calls.append(args) or bias_of_best(*args)
    )
    states = []
    for k in range(0, n, 2):
        states.append([(0.0, {k: 1 - leak, k + 1: leak})])
        states.append([(float(k), {k + 1: 1 - leak, k: leak}), (k * 0.75, {k + 1: 1.0})])
    states += [[(1e6 + k, {n + k: 1.0})] for k in range(20)]
    found = average_reward(from_rows([*states, [(0.0, dict.fromkeys(range(n), 1 / n))]]))
    expected = [0.75 * (k - k % 2) for k in range(n)] + [1e6 + k for k in range(20)]
    assert found.gain[:-1] == pytest.approx(expected, abs=1e-8)
    assert found.choice[:n:2].tolist() == list(range(0, 3 * n // 2, 3))
    assert len(calls) == 1


@pytest.mark.parametrize(
    "states",
    [
        [[(1e300, {1: 1.0}), (1e-300, {0: 1.0})], [(-1e300, {0: 1.0}), (1.0, {1: 1.0})]],
        [[(1e300, {1: 1.0})], [(-1e300, {2: 1.0})], [(3.0, {0: 1.0})]],
    ],
)
def test_rewards_that_cancel_in_cycles_without_chance_are_added_exactly(states):
    found = average_reward(from_rows(states))
    assert np.abs(found.gain - 1).max() <= found.error_bound <= 1e-9


def test_processes_without_rewards_have_exact_gains():
    mdp = from_rows([[(0.0, {0: 0.5, 1: 0.5})], [(0.0, {0: 1.0}), (0.0, {2: 1.0})]], terminals=[0.0])
    found = average_reward(mdp)
    assert not np.shares_memory(found.choice, mdp.state_ptr)
    assert not np.shares_memory(found.gain, found.bias)
    assert found.gain is found.v
    assert (found.gain.tolist(), found.error_bound, found.choice.tolist()) == ([0.0, 0.0], 0.0, [0, 1])


def test_classes_of_equal_gain_are_joined_and_other_components_stay():
    loops = [[(1.0, {0: 1.0}), (0.0, {1: 1.0})], [(1.0, {1: 1.0}), (0.0, {0: 1.0})], [(5.0, {2: 1.0})]]
    bias = bias_of_best(from_rows(loops), np.array([0, 0, 1]), np.array([0, 2, 4]), SolverOptions(1e-9))
    assert sorted(bias.high[:2]) == pytest.approx([-1.0, 0.0])
    assert bias.high[2] == 0


def test_processes_too_large_for_it_are_refused(monkeypatch):
    monkeypatch.setattr("punish_fast.mdp.methods.component_gains.operations", lambda *_: np.inf)
    monkeypatch.setattr("punish_fast.mdp.methods.component_gains.is_small", lambda _: False)
    states = [[(1.0, {0: 1 - 2.0**-20, 1: 2.0**-20})], [(0.0, {1: 1 - 2.0**-20, 0: 2.0**-20}), (0.1, {1: 1.0})]]
    with pytest.raises(
        SolveError, match=r"^tolerance: 10 sweeps, .* a component of 2 states has an average reward from "
    ):
        average_reward(from_rows(states), max_sweeps=10)


def random_chain(seed):
    """A cycle of 2 to 8 states with other transitions, whose probabilities are from 2^-60 to 1."""
    rng = np.random.default_rng(seed)
    n, chain = int(rng.integers(2, 9)), []
    for s in range(n):
        to = {(s + 1) % n, *rng.integers(n, size=rng.integers(0, n)).tolist()}
        share = 2.0 ** -rng.integers(0, 60, size=len(to))
        reward = float(rng.normal() * 10.0 ** rng.integers(-3, 4))
        chain.append((reward, dict(zip(to, share / share.sum(), strict=True))))
    return chain


def exactly(row):
    """Fractions that add up to 1."""
    total = sum(map(Fraction, row.values()))
    return {t: Fraction(p) / total for t, p in row.items()}


def bounds_of(chain):
    return gain_of_chain(chain, *stationary_weights(chain.to_scipy()))


@pytest.mark.kernels
def test_bounds_hold_the_exact_gain():
    for seed in range(30):
        chain = random_chain(seed)
        fractions = Chain([(Fraction(reward), exactly(row)) for reward, row in chain], [], [])
        exact = class_gain(fractions, frozenset(range(len(chain))))
        lower, upper = bounds_of(from_rows([[row] for row in chain]))
        assert Fraction(lower) <= exact <= Fraction(upper)
        assert upper - lower <= 1e-12 * max(abs(reward) for reward, _ in chain)


def magnet(n, beta, field=0.01):
    """Glauber dynamics of the Curie-Weiss model: states with most spins up, or down, hardly lead to each other."""
    up, magnetization = np.arange(n + 1), 2 * np.arange(n + 1) / n - 1
    aligned = np.tanh(beta * (magnetization + field))
    rises, falls = (1 - up / n) * (1 + aligned) / 2, up / n * (1 - aligned) / 2
    states = [
        [(float(m), {t: p for t, p in ((k - 1, f), (k, 1 - r - f), (k + 1, r)) if p})]
        for k, m, r, f in zip(up.tolist(), magnetization, rises, falls, strict=True)
    ]
    weight = [Fraction(1)]
    for k in range(n):
        weight.append(weight[-1] * Fraction(float(rises[k])) / Fraction(float(falls[k + 1])))
    gain = sum(w * Fraction(float(m)) for w, m in zip(weight, magnetization, strict=True)) / sum(weight)
    return states, float(gain)


@pytest.mark.kernels
def test_play_that_hardly_leaves_either_of_two_groups_has_a_gain():
    states, gain = magnet(100, 2.0)
    found = average_reward(from_rows(states, normalize=True))
    assert np.abs(found.gain - gain).max() <= found.error_bound + 1e-14
    assert found.error_bound <= 1e-9


@pytest.mark.kernels
def test_sweeps_do_not_replace_a_narrower_bracket():
    """A choice rules out stationary weights; policy iteration proves about 1e-6."""
    states, gain = magnet(50, 2.0)
    states[0].append((-2.0, {0: 1.0}))
    with pytest.raises(SolveError, match=r"a component of 51 states has an average reward from ") as refusal:
        average_reward(from_rows(states, normalize=True), max_sweeps=1001)
    lower, upper = map(float, re.findall(r"from (\S+) to (\S+);", str(refusal.value))[0])
    assert gain - 1e-5 <= lower <= gain <= upper <= gain + 1e-5


@pytest.mark.kernels
def test_chains_of_numbers_that_floats_cannot_hold_are_left_to_other_methods():
    tiny = 1e-200
    assert bounds_of(from_rows([[(1.0, {0: 1.0, 1: tiny})], [(0.0, {0: tiny, 1: 1.0})]])) is None
    steps = [[(0.0, {k: 0.5 - 1e-9, k + 1: 1e-9, max(k - 1, 0): 0.5})] for k in range(100)]
    assert bounds_of(from_rows([*steps, [(0.0, {99: 1.0})]], normalize=True)) is None
