"""Rules in, values out: the whole way against the exact model and the published figures."""

import numpy as np
import pytest
from exact import random_policy, strategy_of, twin_of

from bench import reference
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.transitions.tensor import build

pytestmark = pytest.mark.kernels

# Options of `solve`, and the values of a won and of a lost game.
OBJECTIVES = [
    ({}, 20.0, -20.0),
    ({"method": "jacobi"}, 20.0, -20.0),
    ({"discount": 1.0}, 1.0, -1.0),
    ({"objective": "reach-probability"}, 1.0, 0.0),
]

PUBLISHED_RMSE = {
    101: 5.35349066338031,
    102: 5.085831529477704,
    103: 4.831545750031296,
    110: 3.3741245156234045,
    120: 2.0202316300885625,
    125: 1.5632183619595168,
}


@pytest.mark.parametrize("seed", [None, 8])
def test_values_of_tiny_solve_the_equations_of_the_exact_model(tiny, seed):
    """Against uniform play and a random policy; rows of one state follow each other as in the tensor."""
    policy = None if seed is None else random_policy(tiny, seed)
    strategy = None if policy is None else strategy_of(tiny, policy)
    mdp, twins = build(tiny, policy), [twin_of(tiny.state(row)) for row in range(tiny.n_states)]
    rows = [row for twin in twins for row in reference.transitions(tiny.rules, twin, strategy).values()]
    for options, won, lost in OBJECTIVES:
        solution = solve(mdp, **options)
        later = dict(zip(twins, (solution.discount * solution.v).tolist(), strict=True))
        later |= {reference.WIN: won, reference.LOSS: lost}
        q = np.array([sum(float(p) * later[after] for after, p in row.items()) for row in rows])
        assert solution.converged
        assert np.abs(solution.q - q).max() <= 2 * solution.error_bound + 1e-12
        v = np.maximum.reduceat(q, tiny.state_ptr[:-1])
        assert np.abs(solution.v - v).max() <= 2 * solution.error_bound + 1e-12


@pytest.mark.full
@pytest.mark.parametrize("name", ["notebook", "tabletop"])
def test_chances_to_win_agree_with_undiscounted_values_of_the_whole_game(request, name):
    mdp = request.getfixturevalue(f"{name}_mdp")
    chances = solve(mdp, objective="reach-probability")
    signed = solve(mdp, 1.0)
    assert np.abs(chances.v - (1 + signed.v) / 2).max() <= chances.error_bound + signed.error_bound / 2
    assert np.abs(chances.q - (1 + signed.q) / 2).max() <= chances.error_bound + signed.error_bound / 2
    assert chances.converged
    # An accelerated sweep for each, and then few from both sides.
    assert chances.sweeps < 20


@pytest.mark.full
@pytest.mark.parametrize("name", ["notebook", "tabletop"])
def test_methods_agree_within_their_bounds_on_the_whole_game(request, name):
    mdp = request.getfixturevalue(f"{name}_mdp")
    layered = solve(mdp, tolerance=1e-10)
    jacobi = solve(mdp, tolerance=1e-4, method="jacobi")
    assert layered.converged
    assert jacobi.converged
    assert np.abs(layered.v - jacobi.v).max() <= layered.error_bound + jacobi.error_bound
    assert layered.sweeps < 25
    if name == "notebook":
        published = {episode: jacobi.log.rmse[episode - 1] for episode in PUBLISHED_RMSE}
        assert published == pytest.approx(PUBLISHED_RMSE, rel=1e-10)
