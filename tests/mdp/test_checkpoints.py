from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import ending_processes, random_processes

from punish_fast.mdp.checkpoints import Checkpoints, SweepState
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.solver import SolveError, solve

# Long enough for the acceleration to remember and to forget, in a cycle of three layers.
SIZE = 8


def states_of(mdp, after, **options):
    """The states after some sweeps, and the solution."""
    states: list[SweepState] = []

    def save(state):
        if state.sweeps in after:
            states.append(copy.deepcopy(state))

    return states, solve(mdp, start=Checkpoints(save, seconds=0), **options)


def assert_resumes(mdp, **options):
    """From the state after some sweeps, the last one included, the solution is what it was."""
    # Nothing but sweeps has checkpoints.
    options = {"method": "layered"} | options
    whole = solve(mdp, **options)
    n_sweeps = whole.sweeps - bool(whole.policies)
    after = {1, min(2, n_sweeps), n_sweeps // 2 or 1, n_sweeps}
    states, saving = states_of(mdp, after, **options)
    assert len(states) == len(after)
    for state in states:
        n_left, again = n_sweeps - state.sweeps, []
        resumed = solve(mdp, start=Checkpoints(again.append, state, seconds=0), **options)
        assert len(again) == n_left
        assert saving.fingerprint == resumed.fingerprint == whole.fingerprint
        assert np.array_equal(resumed.q, whole.q)
        assert np.array_equal(resumed.choice, whole.choice)
        assert resumed.error_bound == whole.error_bound
        for name in ("residual", "rmse", "choice_changes"):
            assert getattr(resumed.log, name) == getattr(whole.log, name)
        assert len(resumed.log.seconds) == whole.sweeps


def cycle(seed, n_layers=3):
    """A cycle of layers, some of whose rows lead to a terminal."""
    generator = np.random.default_rng(seed)
    states = []
    for layer in range(n_layers):
        first = (layer + 1) % n_layers * SIZE
        for _ in range(SIZE):
            columns = [generator.choice([*range(first, first + SIZE), n_layers * SIZE], 3, False) for _ in range(2)]
            p = [0.5, 0.25, 0.25]
            states.append([(float(generator.normal()), dict(zip(each.tolist(), p, strict=True))) for each in columns])
    return from_rows(states, [SIZE] * n_layers, [1.0])


@pytest.mark.parametrize("options", [{}, {"discount": 0.999}, {"sweeps": 9}, {"method": "jacobi", "sweeps": 5}])
def test_a_cycle_resumes_with_its_acceleration(options):
    assert_resumes(cycle(1), **options)


@given(random_processes(), st.sampled_from([{"method": "layered"}, {"method": "jacobi", "discount": 0.5}]))
@settings(max_examples=6)
def test_any_process_resumes(sample, options):
    assert_resumes(from_rows(*sample), tolerance=1e-6, **options)


@given(ending_processes(), st.sampled_from([1e-2, 1e-8]))
@settings(max_examples=6)
def test_brackets_resume(sample, tolerance):
    mdp = from_rows(*sample)
    assert_resumes(mdp, objective="win-probability", tolerance=tolerance)
    assert_resumes(mdp, objective="win-probability", sweeps=20)


@given(ending_processes())
@settings(max_examples=6)
def test_undiscounted_sweeps_resume(sample):
    assert_resumes(from_rows(*sample), discount=1.0, tolerance=1e-8)


def test_loops_that_are_one_state_resume():
    # Two states lead to each other for nothing, or to a win with probability 1/4.
    rows = [[(0.0, {1: 1.0})], [(0.0, {0: 1.0}), (0.0, {2: 1.0})], [(0.0, {0: 0.75, 3: 0.25})]]
    assert_resumes(from_rows(rows, terminals=[1.0]), objective="win-probability")


def test_initial_values_come_with_checkpoints():
    mdp, values = cycle(2), np.full(3 * SIZE, 5.0)
    whole = solve(mdp)
    begun = solve(mdp, start=Checkpoints(lambda _state: None, values=values))
    assert begun.log.residual == solve(mdp, start=values).log.residual != whole.log.residual
    with pytest.raises(SolveError, match="start: must be 24 finite numbers"):
        solve(mdp, start=Checkpoints(lambda _state: None, values=values[1:]))


def test_states_are_saved_only_now_and_then(monkeypatch):
    clock, saved = [0.0], []

    def save(state):
        clock[0] += 4.0
        saved.append(state.sweeps)

    monkeypatch.setattr("punish_fast.mdp.checkpoints.time.perf_counter", lambda: clock[0])

    def after_sweep(*_args):
        clock[0] += 4.0

    solve(cycle(1), start=Checkpoints(save), sweeps=10, progress=after_sweep)
    assert saved == [3, 6, 9]


def test_another_process_or_other_settings_are_refused():
    mdp = cycle(1)
    states, _ = states_of(mdp, {1}, sweeps=3)

    def resume(state: SweepState, process=mdp, **options):
        solve(process, start=Checkpoints(lambda _state: None, copy.deepcopy(state)), **options)

    with pytest.raises(SolveError, match=r"^discount: 0.9 is not that of the checkpoint, which was made with 0.95$"):
        resume(states[0], sweeps=3, discount=0.9)
    with pytest.raises(SolveError, match=r"^sweeps: None is not that of the checkpoint"):
        resume(states[0])
    with pytest.raises(SolveError, match=r"^objective: win-probability is not that of the checkpoint"):
        resume(states[0], sweeps=3, objective="win-probability")
    with pytest.raises(SolveError, match=r"^start: v of the checkpoint has the shape \(25,\), the process has 33$"):
        resume(states[0], cycle(1, n_layers=4), sweeps=3)
