"""Play that can go on for ever by choice: its end components, and values that greedy play reaches."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from processes import (
    compacted,
    end_components,
    endless_states,
    endless_values,
    error,
    random_processes,
    slow_processes,
    total_rewards,
    valued,
)

from punish_fast.mdp.graph import _graph
from punish_fast.mdp.graph.end_components import collapsed
from punish_fast.mdp.graph.end_components import end_components as find
from punish_fast.mdp.graph.qualitative import reachable_states
from punish_fast.mdp.graph.row_selection import count_rows, rows_of_states, select_rows, states_of_rows
from punish_fast.mdp.model.limits import SWEEP_METHODS, SolveError
from punish_fast.mdp.model.mdp import from_rows, validate
from punish_fast.mdp.objectives.reachability import reach_probability
from punish_fast.mdp.objectives.solver import solve

pytestmark = pytest.mark.kernels

# Two rooms of two states each, and a trap; play walks within a room, from the first to the second, and leaves from
# there by a bad bet. Terminals: a win, a loss.
ROOMS = [
    [(0.0, {1: 1.0})],
    [(0.0, {0: 1.0}), (0.0, {2: 0.5, 6: 0.5})],
    [(0.0, {3: 1.0}), (0.0, {2: 1.0})],
    [(0.0, {2: 1.0}), (0.0, {5: 0.25, 6: 0.5, 4: 0.25})],
    [(0.0, {4: 1.0})],
]

objectives = st.sampled_from(["discounted", "reach-probability"])


def solved(sample, objective, **options):
    return solve(from_rows(*sample), 1.0 if objective == "discounted" else None, objective=objective, **options)


def solved_unless_too_long(sample, objective, **options):
    """The solution; an example whose play lasts too long for these options does not count."""
    try:
        return solved(sample, objective, **options)
    except SolveError as refusal:
        assert "play may be too long for sweeps alone" in str(refusal) or "play is too long" in str(refusal)
        reject()


def exact(sample, objective):
    """The exact values as fractions, None if there are none."""
    return endless_values(*valued(sample, objective))


def greedy_values(sample, objective, solution):
    """What the greedy policy earns, as fractions."""
    states, terminals = valued(sample, objective)
    rows = [row for state in states for row in state]
    return total_rewards([rows[row] for row in solution.choice], terminals)


# Components


@given(random_processes() | slow_processes())
def test_components_are_those_found_by_trying_every_set_of_states(sample):
    states = sample[0]
    mdp = from_rows(*sample)
    marks = np.isin(np.arange(len(states)), list(endless_states(states)))
    number, first, inside = find(mdp, marks, np.ones(mdp.n_rows, dtype=bool))
    state = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr))
    found = [set(np.flatnonzero(number == k).tolist()) for k in np.unique(number[state[inside]])]
    assert sorted(map(sorted, found)) == sorted(map(sorted, end_components(states)))
    rows = [row for rows in states for _, row in rows]
    within = {row for row in range(len(rows)) for c in found if state[row] in c and set(rows[row]) <= c}
    assert set(inside.tolist()) == within
    assert first.tolist() == [number.tolist().index(k) for k in range(len(first))]


@given(random_processes() | slow_processes(), st.booleans(), st.booleans())
def test_play_in_the_quotient_ends_unless_it_can_be_paid_for_ever(sample, pays, is_compact):
    states, _, terminals = sample
    mdp = from_rows(*sample)
    marks = np.isin(np.arange(len(states)), list(endless_states(states)))
    quotient = validate(collapsed(compacted(mdp) if is_compact else mdp, marks, pays).mdp)
    rows = [
        [
            (float(quotient.reward[row]), dict.fromkeys(quotient.indices[slice(*quotient.indptr[row : row + 2])], 1.0))
            for row in range(*quotient.state_ptr[s : s + 2])
        ]
        for s in range(quotient.n_states)
    ]
    assert bool(endless_states(rows)) == (pays and endless_values(states, terminals) is None)
    assert quotient.n_layers == mdp.n_layers
    assert quotient.terminal_reward.tolist() == [*terminals, 0.0]


# Values


@given(random_processes(), st.sampled_from([*SWEEP_METHODS, None]), st.integers(1, 8), st.floats(-100, 100))
def test_bounds_hold_after_any_number_of_sweeps_from_any_start(sample, method, sweeps, value):
    objective = "discounted" if method else "reach-probability"
    expected = exact(sample, objective)
    if expected is None:
        return
    initial_values = None if method == "jacobi" else np.full(len(sample[0]), value)
    options = {"method": method or "layered", "sweeps": sweeps, "initial_values": initial_values}
    solution = solved_unless_too_long(sample, objective, **options)
    assert solution.sweeps == len(solution.log.residual) == sweeps
    assert error(solution.v, expected) <= solution.error_bound
    if method is None:
        for low, x, high in zip(solution.lower.tolist(), expected, solution.upper.tolist(), strict=True):
            # Adding the bound to a value rounds once more.
            assert 0 <= low <= x + Fraction(1, 2**53) <= high + Fraction(1, 2**52) <= 1 + Fraction(1, 2**52)
    assert np.array_equal(solution.v, np.maximum.reduceat(solution.q, solution.state_ptr[:-1]))


# Cases


@pytest.mark.parametrize("tolerance", [1e-2, 1e-9, 1e-12])
def test_greedy_play_takes_no_loop_that_loses_less_than_the_error_bound(tolerance):
    """From state 1 half of the games are won at once; a round of the loop 1, 2, 0 loses 1.2e-10, and never wins."""
    slow, slower = 2.0**-15, 2.0**-17
    states = [
        [(0.0, {4: slower, 1: 1 - slower})],
        [(0.0, {2: 1.0}), (0.0, {4: 0.5, 5: 0.5})],
        [(0.0, {0: slow, 1: 1 - slow})],
        [(0.0, {0: 1.0})],
        [(0.0, {4: 1.0})],
    ]
    sample = states, None, [1.0]
    solution = solved(sample, "reach-probability", tolerance=tolerance)
    assert solution.converged
    assert error(solution.v, exact(sample, "reach-probability")) <= solution.error_bound
    earned = greedy_values(sample, "reach-probability", solution)
    assert error(solution.v, earned) <= 2 * tolerance
    assert solution.choice[1] == 2


@pytest.mark.parametrize(("layers", "sweeps"), [(None, None), ([2, 2, 1], None), ([5, 0], 60)])
def test_two_components_and_a_trap(layers, sweeps):
    """From the second room a game is won with 1/4; betting from the first wins half the time, or leads there."""
    solution = solved((ROOMS, layers, [1.0, -1.0]), "reach-probability", sweeps=sweeps)
    assert solution.v == pytest.approx([0.125, 0.125, 0.25, 0.25, 0.0], abs=1e-10)
    assert solution.choice.tolist() == [0, 2, 3, 6, 7]


def test_endless_play_is_noticed_long_before_sweeps_are_given_up(monkeypatch):
    monkeypatch.setattr("punish_fast.mdp.bounds.stopping_rule._MOST_SWEEPS", 10**12)
    assert solved((ROOMS, None, [1.0, -1.0]), "discounted").v.tolist() == [0.0] * 5


def test_rows_that_stay_do_not_make_searches_take_a_round_for_each_state(monkeypatch):
    """A gambler may also stop, so that no state is ever forced to leave."""
    n, calls = 200, []
    find_forced = _graph.find_forced
    monkeypatch.setattr(_graph, "find_forced", lambda *args: calls.append(0) or find_forced(*args))
    states = [[(0.0, {s: 1.0}), (0.0, {s - 1 if s else n + 1: 0.5, s + 1: 0.5})] for s in range(n)]
    mdp = from_rows(states, terminals=[1.0, 0.0])
    _, first, inside = find(mdp, np.ones(n, dtype=bool), np.ones(mdp.n_rows, dtype=bool))
    assert inside.tolist() == mdp.state_ptr[:-1].tolist()
    assert len(first) == n
    rich = np.arange(n + 2) == n
    assert reach_probability(mdp, rich).v == pytest.approx((np.arange(n) + 1) / (n + 1))
    assert len(calls) <= 8


@given(random_processes(), st.data())
def test_rows_keep_their_probabilities_under_new_columns(sample, data):
    mdp = from_rows(*sample)
    rows = np.array(data.draw(st.lists(st.integers(-1, mdp.n_rows - 1))), dtype=np.int64)
    column = np.array(data.draw(st.permutations(range(mdp.n_columns + 1))), dtype=np.int32)
    indptr, indices, probabilities, reward, action = select_rows(mdp, rows, column).values()
    assert reward.tolist() == [mdp.reward[row] if row >= 0 else 0.0 for row in rows]
    assert action.tolist() == [mdp.action[row] if row >= 0 else 0 for row in rows]
    assert action.dtype == mdp.action.dtype
    assert len(indices) == len(probabilities) == indptr[-1]
    for i, row in enumerate(rows):
        found = slice(*indptr[i : i + 2])
        entries = indices[found].tolist(), probabilities[found].tolist()
        if row < 0:
            assert entries == ([column[-1]], [1.0])
        else:
            stored = slice(*mdp.indptr[row : row + 2])
            assert entries == (column[mdp.indices[stored]].tolist(), mdp.data[stored].tolist())


@given(random_processes(), st.data())
def test_rows_and_states_are_matched_by_the_pointers(sample, data):
    mdp = from_rows(*sample)
    state = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr))
    assert states_of_rows(mdp).tolist() == state.tolist()
    marks = np.array(data.draw(st.lists(st.booleans(), min_size=mdp.n_states, max_size=mdp.n_states)), dtype=bool)
    rows = rows_of_states(mdp, marks)
    assert rows.tolist() == marks[state].tolist()
    assert count_rows(mdp, rows).tolist() == (np.diff(mdp.state_ptr) * marks).tolist()


@given(random_processes(), st.data())
def test_what_is_found_is_all_that_successors_lead_to(sample, data):
    states, _, _ = sample
    first = data.draw(st.sets(st.integers(0, len(states) - 1)))
    found, todo = set(), list(first)
    while todo:
        state = todo.pop()
        if state < len(states) and state not in found:
            found.add(state)
            todo += [successor for _, row in states[state] for successor in row]
    mdp = from_rows(*sample)
    for process in (mdp, compacted(mdp)):
        assert reachable_states(process, np.array(sorted(first), dtype=np.int64)).tolist() == sorted(found)
