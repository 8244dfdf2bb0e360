"""Both regret minimizers, in a game whose equilibrium is known."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.equilibrium._hedge import LEAST_LOGIT, follow_regrets, play_logits
from punish_fast.equilibrium._restricted_game import INSIDE, NEEDED, OUTSIDE
from punish_fast.equilibrium.regret_minimizers import Hedge, RegretMatching

pytestmark = pytest.mark.kernels

# A player with two decisions, of three and of two actions.
PTR = np.array([0, 3, 5])
# Rock, paper, scissors, where paper wins twice as much.
PAYOFF = np.array([[0.0, -2.0, 1.0], [2.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
EQUILIBRIUM = np.array([0.25, 0.25, 0.5])
# Both decisions always come up.
SEEN = np.ones((2, 2))


def regrets(strategy, enemy):
    """Regrets of the first decision against an enemy; in the second, the first action wins 1 more."""
    values = PAYOFF @ enemy
    second = np.array([1.0, 0.0])
    return np.concatenate([values - strategy[:3] @ values, second - strategy[3:] @ second])


def learn(minimizer, iterations, enemy_of):
    """The average strategy learned against ``enemy_of(strategy)``."""
    strategy = np.empty(5)
    minimizer.play(strategy)
    assert strategy == pytest.approx([1 / 3] * 3 + [1 / 2] * 2)
    for iteration in range(1, iterations + 1):
        minimizer.regret[:] = regrets(strategy, enemy_of(strategy[:3]))
        minimizer.learn(iteration, SEEN, strategy)
    total = minimizer.tables["strategy_sum"]
    return total / np.repeat(np.add.reduceat(total, PTR[:-1]), np.diff(PTR))


def half_best_response(strategy):
    best = np.zeros(3)
    best[np.argmax(PAYOFF @ strategy)] = 1
    return (strategy + best) / 2


def test_regret_matching_converges_to_the_equilibrium_in_self_play():
    average = learn(RegretMatching(PTR), 1_000, lambda strategy: strategy)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=1e-3)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


def test_hedge_converges_to_the_equilibrium_against_best_responses():
    average = learn(Hedge(PTR), 2_000, half_best_response)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=0.05)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


def test_only_hedge_has_restricted_iterations():
    assert all(RegretMatching(PTR).is_full(iteration) for iteration in range(1, 100))
    minimizer = Hedge(PTR)
    assert [iteration for iteration in range(1, 65) if minimizer.is_full(iteration)] == [*range(1, 17), 32, 48, 64]


def test_a_restricted_minimizer_starts_from_the_tables_and_merges_into_them():
    generator = np.random.default_rng(2)
    minimizer = Hedge(PTR)
    for table in minimizer.tables.values():
        table[:] = generator.random(len(table))
    before = {name: table.copy() for name, table in minimizer.tables.items()}
    states, rows = np.array([1]), np.array([4])
    part = minimizer.restrict(states, rows, np.array([0, 1]))
    assert {name: table.tolist() for name, table in part.tables.items()} == {
        "logit": [before["logit"][4]],
        "strategy_sum": [before["strategy_sum"][4]],
        "variance": [before["variance"][1]],
    }
    for name in part.tables:
        part.tables[name] += 1
    minimizer.merge(part, states, rows)
    for name, places in (("logit", rows), ("strategy_sum", rows), ("variance", states)):
        changed = minimizer.tables[name] - before[name]
        assert changed[places] == pytest.approx(1)
        assert not np.delete(changed, places).any()


numbers = st.floats(-3, 3)


def always(ptr):
    """Marks with all rows inside: every iteration updates them."""
    return np.full(ptr[-1], INSIDE, dtype=np.uint8)


def seen(ptr, reach=0.5):
    """Both reaches of every information state."""
    return np.full((len(ptr) - 1, 2), reach)


@st.composite
def states(draw):
    """Offsets of rows, and by row logits, 0 at most in each state, and regrets."""
    n_rows = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    ptr = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
    logit = np.array(draw(st.lists(numbers, min_size=int(ptr[-1]), max_size=int(ptr[-1]))))
    logit -= np.repeat(np.maximum.reduceat(logit, ptr[:-1]), n_rows)
    return ptr, logit, np.array(draw(st.lists(numbers, min_size=len(logit), max_size=len(logit))))


def softmax_of(ptr, logit):
    """The strategy of the logits alone."""
    return played(ptr, logit, np.zeros(len(logit)))


def played(ptr, logit, total):
    strategy = np.empty(len(logit))
    play_logits(0, len(ptr) - 1, ptr, logit, total, strategy)
    return strategy


def mean_of(ptr, total):
    return total / np.repeat(np.add.reduceat(total, ptr[:-1]), np.diff(ptr))


@given(states())
def test_half_of_the_strategy_is_the_mean_of_earlier_ones(drawn):
    ptr, logit, total = drawn
    total = np.abs(total) + 1e-3
    exact = np.exp(logit) / np.repeat(np.add.reduceat(np.exp(logit), ptr[:-1]), np.diff(ptr))
    assert softmax_of(ptr, logit) == pytest.approx(exact, rel=1e-12)
    assert played(ptr, logit, total) == pytest.approx((exact + mean_of(ptr, total)) / 2, rel=1e-12)


@given(states(), st.integers(1, 20), st.sampled_from([OUTSIDE, NEEDED]), st.floats(0.01, 2))
def test_logits_follow_regrets_which_count_several_times_outside_the_restricted_game(drawn, times, mark, rate):
    """In every second row, this iteration's regret counts several times."""
    ptr, logit, regret = drawn
    begin, marks = np.linspace(1, 2, len(logit)), np.full(len(logit), INSIDE, dtype=np.uint8)
    marks[1::2] = mark
    often = np.where(marks == INSIDE, 1, times)
    moved, variance, total = logit.copy(), np.full(len(ptr) - 1, 0.5), begin.copy()
    strategy = played(ptr, logit, begin)
    now = strategy.copy()
    follow_regrets(
        0, len(ptr) - 1, ptr, (rate, 4.0, float(times)), marks, regret, seen(ptr), now, (variance, moved, total)
    )
    assert np.array_equal(now, played(ptr, moved, total))
    assert total == pytest.approx(begin + 4 * often * softmax_of(ptr, logit), rel=1e-12)
    assert variance == pytest.approx(0.5 + np.add.reduceat(often * strategy * regret**2, ptr[:-1]), rel=1e-12)
    for state, (first, end) in enumerate(itertools.pairwise(ptr)):
        steps = often[first:end] * regret[first:end]
        step = min(rate / np.sqrt(variance[state]), 1 / max(np.abs(steps).max(), 1e-100))
        expected = logit[first:end] + step * steps
        assert moved[first:end] == pytest.approx(np.maximum(expected - expected.max(), LEAST_LOGIT), abs=1e-9)


@given(states())
def test_a_restricted_iteration_learns_the_same_up_to_a_shift_of_logits(drawn):
    """All logits of a state may shift by the same amount: those of rows outside stay comparable."""
    ptr, logit, regret = drawn
    begin, strategy = np.linspace(1, 2, len(logit)), softmax_of(ptr, logit)
    found = []
    for marks, times in ((always(ptr), 1.0), (None, 16.0)):
        moved, now, variance, total = logit.copy(), strategy.copy(), np.full(len(ptr) - 1, 0.5), begin.copy()
        follow_regrets(0, len(ptr) - 1, ptr, (1.0, 4.0, times), marks, regret, seen(ptr), now, (variance, moved, total))
        found.append((moved, now, variance, total))
    (whole, *others), (part, *same) = found
    for one, other in zip(others, same, strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    difference = part - whole
    for first, end in itertools.pairwise(ptr):
        # No step reaches the least logit here.
        assert difference[first:end] == pytest.approx(difference[first], abs=1e-12)
        assert part[first:end].max() == pytest.approx(difference[first], abs=1e-12)


def test_a_restricted_iteration_learns_nothing_in_states_without_reach():
    ptr, logit, total, variance = np.array([0, 2, 4]), np.zeros(4), np.ones(4), np.full(2, 0.5)
    strategy, regret, reach = softmax_of(ptr, logit), np.array([1.0, 0.0, 1.0, 0.0]), seen(ptr)
    reach[0] = 0.0
    follow_regrets(0, 2, ptr, (1.0, 1.0, 16.0), None, regret, reach, strategy, (variance, logit, total))
    assert logit.tolist() == [0, 0, 1, 0]
    assert total.tolist() == [1, 1, 1.5, 1.5]
    assert variance.tolist() == [0.5, 1.0]
