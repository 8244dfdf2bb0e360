"""Long-run distributions of policies, and their bounds, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import compacted, random_processes, slow_processes, with_zeros

from punish_fast.mdp.arrays.names import Names
from punish_fast.mdp.chain.stationary import stationary_distribution
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import MDP, from_rows, validate
from punish_fast.mdp.objectives.solver import solve
from tests.mdp.exact_policies import Chain, Sample, gains

pytestmark = pytest.mark.kernels


def shares(chain: Chain, initial: list[float]) -> list[Fraction]:
    """The long-run share of each column: the average of a reward of 1 in this column."""
    found = []
    total = sum(map(Fraction, initial))
    for column in range(chain.ends.stop):
        rows = [(Fraction(state == column), row) for state, (_, row) in enumerate(chain.rows)]
        marked = Chain(rows, [Fraction(column == end) for end in chain.ends], [Fraction(0)] * len(chain.ends))
        found.append(sum(Fraction(p) / total * gain for p, gain in zip(initial, gains(marked), strict=True)))
    return found


def check(mdp: MDP, chain: Chain, policy: list[float], initial: list[float]) -> None:
    found, exact = stationary_distribution(mdp, policy, initial), shares(chain, initial)
    for p, lower, upper, share in zip(*(x.tolist() for x in (found.p, found.lower, found.upper)), exact, strict=True):
        assert Fraction(lower) <= share <= Fraction(upper)
        assert lower <= p <= upper
        assert upper - lower <= 1e-12 * p


def row_weights(states, data) -> list[float]:
    """A random policy."""
    policy = []
    for rows in states:
        weights = data.draw(st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=len(rows), max_size=len(rows)))
        weights[0] += not any(weights)
        policy += [weight / sum(weights) for weight in weights]
    return policy


@given(st.one_of(random_processes(), slow_processes()), st.data())
def test_shares_are_those_in_fractions(sample, data):
    states, *_, terminals = sample
    policy = row_weights(states, data)
    weights = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=len(states), max_size=len(states)))
    initial = [weight / sum(weights) for weight in weights] if any(weights) else [1.0, *weights[1:]]
    sample = Sample([[(reward, list(row.items())) for reward, row in rows] for rows in states], terminals)
    for mdp in (sample.mdp, compacted(sample.mdp), with_zeros(sample.mdp)):
        check(mdp, sample.exact.mixture(policy), policy, initial)


def test_the_chain_of_a_policy_has_the_mean_of_its_rows():
    names = Names(["a", "b"], ["stay", "go", "end"])
    rows = [[(1.0, {0: 1.0}), (2.0, {1: 1.0}), (4.0, {2: 1.0})], [(0.0, {1: 0.5, 2: 0.5})]]
    mdp = from_rows(rows, terminals=[0.0], terminal_value=[3.0], names=names)
    chain = mdp.under([0.0, 0.25, 0.75, 1.0])
    assert chain.to_scipy().toarray().tolist() == [[0, 0.25, 0.75], [0, 0.5, 0.5]]
    assert (chain.reward.tolist(), chain.action.tolist(), chain.state_ptr.tolist()) == ([3.5, 0], [1, 0], [0, 1, 2])
    assert (chain.terminal_value.tolist(), chain.names) == ([3.0], names)
    validate(chain)
    assert solve(chain, 0.5).v == pytest.approx([4.75, 1.0])


def test_rare_states_have_a_relative_bound():
    # A walk against the drift: the share of each state is a tenth of that of the previous one.
    n, up = 100, 1 / 11
    rows = [[(0.0, {max(k - 1, 0): 1 - up, min(k + 1, n - 1): up})] for k in range(n)]
    found = stationary_distribution(from_rows(rows))
    chain = Sample([[(0.0, list(row[0][1].items()))] for row in rows], []).exact.mixture([1.0] * n)
    ratio = [chain.rows[k][1][k + 1] / chain.rows[k + 1][1][k] for k in range(n - 1)]
    weight = [Fraction(1)]
    for r in ratio:
        weight.append(weight[-1] * r)
    for k in range(n):
        share = weight[k] / sum(weight)
        assert Fraction(float(found.lower[k])) <= share <= Fraction(float(found.upper[k]))
    assert found.p[-1] < 1e-98
    assert ((found.upper - found.lower) <= 1e-11 * found.p).all()


def test_the_start_matters_only_if_there_are_several_classes():
    stay = from_rows([[(0.0, {1: 0.5, 2: 0.5})], [(0.0, {0: 1.0})]], terminals=[1.0])
    assert stationary_distribution(stay).p.tolist() == [0, 0, 1]
    apart = from_rows([[(0.0, {0: 1.0}), (0.0, {1: 1.0})], [(0.0, {1: 1.0})]])
    with pytest.raises(SolveError, match=r"^initial: missing; it is needed because the policy has 2 recurrent"):
        stationary_distribution(apart, [1.0, 0.0, 1.0])
    assert stationary_distribution(apart, [1.0, 0.0, 1.0], initial=0).p.tolist() == [1, 0]
    assert stationary_distribution(apart, [0.5, 0.5, 1.0]).p.tolist() == [0, 1]
    for initial in (2, "0", ([1],), [1.0], [0.5, 0.6], [-1.0, 2.0]):
        with pytest.raises(
            SolveError,
            match=r"^initial: .* is not allowed; it must be a state such as 0, or {state: probability} or 2 ",
        ):
            stationary_distribution(apart, [1.0, 0.0, 1.0], initial)
    with pytest.raises(SolveError, match=r"^policy: the probabilities of state 0 do not add up to 1"):
        stationary_distribution(apart)


def test_initial_states_are_given_by_name():
    rows = {"go": (0.0, {(0, "left"): 0.25, (0, "right"): 0.75})}
    mdp = MDP.from_function(lambda state: rows if state == "start" else 0.0, ["start"])
    quarters = [0.0, 0.25, 0.75]
    for initial in ("start", {"start": 1.0}, [1.0]):
        assert stationary_distribution(mdp, {"start": "go"}, initial).p.tolist() == quarters
    stays = {cell: {"stay": (0.0, {cell: 1.0})} for cell in ((1, 1), (1, 2))}
    cells = MDP.from_function(stays.__getitem__, list(stays))
    for initial in ({(1, 1): 0.25, (1, 2): 0.75}, (0.25, 0.75), np.array([0.25, 0.75])):
        assert stationary_distribution(cells, initial=initial).p.tolist() == [0.25, 0.75]
    assert stationary_distribution(cells, initial=(1, 2)).p.tolist() == [0.0, 1.0]
    # Numbers that are names are not indices.
    loops = MDP.from_function(lambda n: {"stay": (0.0, {n: 1.0})}, [1, 0])
    assert stationary_distribution(loops, initial=0).p.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "initial",
    [
        "end",
        "unknown",
        0,
        ["start"],
        {"start"},
        {"start": 0.5},
        {"start": "x"},
        {"start": 1.0, "end": 0.0},
        {},
        object(),
    ],
)
def test_other_initial_states_are_refused(initial):
    mdp = MDP.from_function(lambda state: {"go": (0.0, {"end": 1.0})} if state == "start" else 0.0, ["start"])
    with pytest.raises(SolveError, match=r"^initial: "):
        stationary_distribution(mdp, initial=initial)


def test_what_is_out_of_range_is_refused():
    walk = [[(0.0, {max(k - 1, 0): 1 - 1e-9, min(k + 1, 39): 1e-9})] for k in range(40)]
    with pytest.raises(SolveError, match=r"^policy: its chain is too large, or its probabilities are too different"):
        stationary_distribution(from_rows(walk))


def test_shares_too_small_for_floating_point_have_an_upper_bound():
    # A walk of 140 states against the drift leads to a second walk against the drift.
    n, last, up = 140, 339, 1 / 11
    first = [[(0.0, {k - 1 if k else last + 1: 1 - up, k + 1: up})] for k in range(n)]
    second = [[(0.0, {max(k - 1, n): 1 - up, min(k + 1, last): up})] for k in range(n, last + 1)]
    found = stationary_distribution(from_rows(first + second, terminals=[0.0]), initial=0)
    assert found.p[n] == pytest.approx(8.1e-141)
    assert found.p[last] == found.lower[last] == 0 < found.upper[last] < 1e-307
    assert (found.p[0], found.upper[0], found.p[-1]) == (0, 0, 1)
