from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from processes import process

from bench import win_probability as module
from bench.win_probability import win_probability
from punish_fast.mdp.model import MDP


def plain(mdp: MDP, sweeps: int) -> np.ndarray:
    """The probability to win within so many steps."""
    v = np.zeros(mdp.n_columns)
    v[mdp.n_states] = 1
    matrix = mdp.to_scipy()
    for _ in range(sweeps):
        v[: mdp.n_states] = np.maximum.reduceat(matrix @ v, mdp.state_ptr[:-1])
    return v[: mdp.n_states]


def test_the_tiny_game_is_won_as_often_as_in_many_steps(tiny_mdp):
    found = win_probability(tiny_mdp, 1e-12)
    assert found.error_bound <= 1e-12
    assert np.abs(found.values - plain(tiny_mdp, 400)).max() <= 1e-12


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-10])
def test_no_value_is_further_off_than_the_bound(tiny_mdp, tolerance):
    found = win_probability(tiny_mdp, tolerance)
    exact = win_probability(tiny_mdp, 1e-13).values
    assert np.abs(found.values - exact).max() <= found.error_bound <= tolerance


def game_of(stay: float, win: float) -> MDP:
    """Two layers of one state: from the first always on, from the second back, to a win or to a loss."""
    return process(
        [[(0.0, {1: 1.0})], [(0.0, {0: stay, 2: win, 3: 1 - stay - win})]], layers=[1, 1], terminals=[1.0, -1.0]
    )


@pytest.mark.parametrize(("stay", "win"), [(0.5, 0.125), (0.875, 0.0625), (0.0, 1.0), (0.96875, 0.03125)])
def test_a_game_of_two_states_has_a_closed_form(stay, win):
    exact = float(Fraction(win) / (1 - Fraction(stay)))
    found = win_probability(game_of(stay, win), 1e-10)
    assert found.values == pytest.approx([exact, exact], abs=1e-10)


def test_a_hand_that_keeps_the_game_alive_for_a_measure_does_no_harm():
    # From state 0 the game comes back to layer 1 for sure, but to state 1, where it ends.
    states = [[(0.0, {2: 1.0})], [(0.0, {3: 1.0})], [(0.0, {1: 1.0})], [(0.0, {4: 0.75, 5: 0.25})]]
    found = win_probability(process(states, layers=[2, 2], terminals=[1.0, -1.0]), 1e-10)
    assert found.values == pytest.approx([0.75] * 4, abs=1e-10)
    assert found.modulus < 1


def test_a_policy_that_never_ends_a_game_is_refused(monkeypatch):
    monkeypatch.setattr(module, "_MOST_WEIGHINGS", 20)
    endless = process(
        [[(0.0, {1: 1.0})], [(0.0, {0: 1.0}), (0.0, {2: 0.5, 3: 0.5})]], layers=[1, 1], terminals=[1.0, -1.0]
    )
    with pytest.raises(ValueError, match="no end of the games is in sight"):
        win_probability(endless, 1e-6)


def test_layers_that_are_no_cycle_are_refused():
    single = process([[(0.0, {0: 0.5, 1: 0.25, 2: 0.25})]], terminals=[1.0, -1.0])
    with pytest.raises(ValueError, match="cycle"):
        win_probability(single, 1e-6)
