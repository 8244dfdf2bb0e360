"""Average rewards of chains from stationary weights, against fractions and detailed balance."""

import re
from fractions import Fraction

import numpy as np
import pytest

from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.chain.stationary_weights import gain_of_chain
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.objectives.average_reward import average_reward
from tests.mdp.exact_policies import Chain, class_gain

pytestmark = pytest.mark.kernels


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


def test_bounds_hold_the_exact_gain():
    for seed in range(30):
        chain = random_chain(seed)
        fractions = Chain([(Fraction(reward), exactly(row)) for reward, row in chain], [])
        exact = class_gain(fractions, frozenset(range(len(chain))))
        lower, upper = gain_of_chain(from_rows([[row] for row in chain]))
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


def test_play_that_hardly_leaves_either_of_two_groups_has_a_gain():
    states, gain = magnet(100, 2.0)
    found = average_reward(from_rows(states, normalize=True))
    assert np.abs(found.gain - gain).max() <= found.error_bound + 1e-14
    assert found.error_bound <= 1e-9


def test_sweeps_do_not_replace_a_narrower_bracket():
    """A choice rules out stationary weights; policy iteration proves about 1e-6."""
    states, gain = magnet(50, 2.0)
    states[0].append((-2.0, {0: 1.0}))
    with pytest.raises(SolveError, match=r"a component of 51 states has an average reward from ") as refusal:
        average_reward(from_rows(states, normalize=True), max_sweeps=1001)
    lower, upper = map(float, re.findall(r"from (\S+) to (\S+);", str(refusal.value))[0])
    assert gain - 1e-5 <= lower <= gain <= upper <= gain + 1e-5


def test_chains_of_numbers_that_floats_cannot_hold_are_left_to_other_methods():
    tiny = 1e-200
    assert gain_of_chain(from_rows([[(1.0, {0: 1.0, 1: tiny})], [(0.0, {0: tiny, 1: 1.0})]])) is None
    steps = [[(0.0, {k: 0.5 - 1e-9, k + 1: 1e-9, max(k - 1, 0): 0.5})] for k in range(100)]
    assert gain_of_chain(from_rows([*steps, [(0.0, {99: 1.0})]], normalize=True)) is None
