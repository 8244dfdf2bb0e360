"""Exact scores and best responses against plain sweeps and simulated games."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from games.small import Corridor, Nim
from games.test_tapnswap import NAMES, VARIANTS
from punish_fast.games.matches import (
    Score,
    best_response,
    both_scores,
    error_bound,
    exact_score,
)
from punish_fast.games.solve.judgement import winning_policy
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap


@pytest.fixture(scope="module")
def tapnswap():
    return enumerate_positions(TapnSwap())


def random_policy(positions, seed):
    weight = np.random.default_rng(seed).random(positions.n_rows) + 0.1
    return weight / np.bincount(positions.position_of_row, weight)[positions.position_of_row]


def swept(positions, enemy, own=None):
    """Win probabilities when to move and when not, of a best response or of ``own``, by sweeps from below."""
    n, after, sign = len(positions), positions.after, positions.sign
    ours, theirs = np.maximum(positions.payoff, 0), np.maximum(-positions.payoff, 0)
    for _ in range(4000):
        q = np.where(sign < 0, theirs[after], ours[after])
        moving = np.zeros(n)
        if own is None:
            np.maximum.at(moving, positions.position_of_row, q)
        else:
            moving += np.bincount(positions.position_of_row, own * q, n)
        ours = np.where(positions.is_terminal, ours, moving)
        waiting = np.bincount(positions.position_of_row, enemy * np.where(sign < 0, ours[after], theirs[after]), n)
        theirs = np.where(positions.is_terminal, theirs, waiting)
    return ours, theirs


@pytest.mark.parametrize("game", [Nim(8), TapnSwap(VARIANTS[3])], ids=lambda game: game.name)
@pytest.mark.parametrize("is_safe", [False, True])
def test_winning_policies_win_as_often_as_best_responses(game, is_safe):
    perfect = solve_game(enumerate_positions(game))
    positions, allowed = perfect.positions, perfect.is_safe() if is_safe else None
    enemy = random_policy(positions, 3)
    response, policy = best_response(positions, enemy, allowed), winning_policy(positions, enemy, allowed)
    assert error_bound(positions, enemy, response, allowed) < 1e-12
    for score, win in zip(both_scores(positions, policy, enemy), (response.first, response.second), strict=True):
        # A position without an allowed action counts as lost.
        assert score.win == pytest.approx(win, abs=1e-12) or is_safe


def test_known_probabilities_and_their_error_bounds(tapnswap):
    response = best_response(tapnswap, tapnswap.uniform())
    assert response.first == pytest.approx(0.999997275072857, abs=1e-13)
    assert response.second == pytest.approx(1.0, abs=1e-13)
    both = exact_score(tapnswap, tapnswap.uniform(), tapnswap.uniform())
    assert both.win == pytest.approx(0.398413794960370, abs=1e-13)
    assert both.draw == pytest.approx(0, abs=1e-13)
    enemy = tapnswap.uniform()
    response = best_response(tapnswap, enemy)
    wrong = replace(response, win=response.win + 1e-6 * (response.win < 0.9))
    assert 1e-6 <= error_bound(tapnswap, enemy, wrong) < 2e-6


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=NAMES[:4])
def test_best_responses_are_the_limit_of_sweeps(variant):
    positions = enumerate_positions(TapnSwap(variant))
    enemy = random_policy(positions, 1)
    response = best_response(positions, enemy)
    ours, theirs = swept(positions, enemy)
    assert response.win == pytest.approx(ours, abs=1e-12)
    assert (response.first, response.second) == pytest.approx((ours[0], theirs[0]), abs=1e-12)
    assert exact_score(positions, response.policy, enemy).win == pytest.approx(response.first, abs=1e-12)
    assert exact_score(positions, enemy, response.policy).loss == pytest.approx(response.second, abs=1e-12)


@pytest.mark.parametrize("game", [TapnSwap(), Nim(20), Corridor({5: 1.0, 3: -1.0}, keeps=True)], ids=lambda g: g.name)
def test_exact_scores_are_the_limit_of_sweeps(game):
    positions = enumerate_positions(game)
    first, second = random_policy(positions, 1), random_policy(positions, 2)
    score = exact_score(positions, first, second)
    assert score.win == pytest.approx(swept(positions, second, first)[0][0], abs=1e-12)
    assert score.loss == pytest.approx(swept(positions, first, second)[1][0], abs=1e-12)
    assert score.win + score.draw + score.loss == pytest.approx(1, abs=1e-12)
    assert score.points == pytest.approx(score.win + score.draw / 2)


@pytest.mark.parametrize(("variant", "is_perfect"), [(VARIANTS[1], True), (VARIANTS[3], False)])
def test_interval_iteration_bounds_best_responses_whether_or_not_play_ends(variant, is_perfect):
    positions = enumerate_positions(TapnSwap(variant))
    enemy = solve_game(positions).policy() if is_perfect else positions.uniform()
    assert error_bound(positions, enemy, best_response(positions, enemy)) < 1e-12


def test_perfect_and_endless_play(tapnswap):
    perfect = solve_game(tapnswap)
    response = best_response(tapnswap, perfect.policy())
    wins = (perfect.value == 1).astype(float)
    assert response.win == pytest.approx(wins, abs=1e-12)
    assert (response.first, response.second) == (0, 1)
    positions = enumerate_positions(Corridor({5: 1.0}))
    stay = np.zeros(positions.n_rows)
    stay[positions.state_ptr[:-1][~positions.is_terminal]] = 1.0
    assert (exact_score(positions, stay, stay).win, exact_score(positions, stay, stay).draw) == (0, 1)
    assert exact_score(tapnswap, tapnswap.uniform(), tapnswap.uniform()).draw < 1e-12


def test_illegal_moves_end_a_game_for_themselves(tapnswap):
    own, enemy = random_policy(tapnswap, 1), tapnswap.uniform()
    errs = np.zeros(len(tapnswap), dtype=np.bool_)
    errs[tapnswap.after[0]] = True
    first, second = both_scores(tapnswap, own, enemy, errs)
    # The second position is that after the first action, in which the first mover has been the enemy.
    assert second.illegal >= enemy[0]
    assert second.win + second.draw + second.loss + second.illegal == pytest.approx(1)
    assert 0 < first.illegal < second.illegal
    errs[0] = True
    assert asdict(both_scores(tapnswap, own, enemy, errs)[0]) == pytest.approx(asdict(Score(0, 0, 0, 1)))
