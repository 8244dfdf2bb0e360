"""Exact fractions against a plain recursion over states, floating point, and known numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.laws import check_game
from games.small import Nim
from games.test_matches import random_policy
from punish_fast.games.contract import GameError
from punish_fast.games.exact_matches import Endings, exact_match, exact_response, last_first
from punish_fast.games.matches import best_response, error_bound, exact_score
from punish_fast.games.positions import enumerate_positions
from punish_fast.games.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.mdp.policy import PolicyError


class KeepingNim(Nim):
    """Nim in which whoever takes one moves again, and whoever would move at the end loses."""

    def __init__(self, size):
        super().__init__(size)
        self.name = "keeping-nim"

    def apply(self, state, action):
        after = super().apply(state, action)
        return after._replace(player=state.player) if action == 1 else after


GAMES = [TicTacToe(), Nim(8), KeepingNim(8), TapnSwap(Variant(swaps=False))]


@pytest.fixture(scope="module")
def tictactoe():
    return solve_game(enumerate_positions(TicTacToe()))


def shares(positions, policy, state):
    """The probability of each action of a state, as fractions."""
    weights = [Fraction(weight) for weight in policy[positions.rows_of(state)].tolist()]
    return [weight / sum(weights) for weight in weights]


def chances(positions, policies, seat):
    """Win, draw and loss of the player of a seat, by recursion over states."""
    game = positions.game

    @cache
    def value(state):
        if game.is_terminal(state):
            own = game.returns(state)[seat]
            return tuple(Fraction(int(holds)) for holds in (own > 0, own == 0, own < 0))
        after = [value(game.apply(state, action)) for action in game.actions(state)]
        share = shares(positions, policies[game.player(state)], state)
        return tuple(sum(p * each[k] for p, each in zip(share, after, strict=True)) for k in range(3))

    return value(game.initial())


def widest(positions, enemy, seat, may_take):
    """The largest chance to win of a seat, by recursion over states."""
    game = positions.game

    @cache
    def value(state):
        if game.is_terminal(state):
            return Fraction(int(game.returns(state)[seat] > 0))
        after = [value(game.apply(state, action)) for action in game.actions(state)]
        if game.player(state) != seat:
            return sum(p * each for p, each in zip(shares(positions, enemy, state), after, strict=True))
        rows = positions.rows_of(state)
        return max((each for row, each in zip(rows, after, strict=True) if may_take[row]), default=Fraction(0))

    return value(game.initial())


def test_the_game_of_kept_turns_is_sound():
    assert check_game(KeepingNim(8)) == 16


@pytest.mark.parametrize("is_folded", [True, False])
def test_the_best_chances_to_win_against_random_play_are_known(is_folded):
    perfect = solve_game(enumerate_positions(TicTacToe(), is_folded=is_folded))
    random = perfect.positions.uniform()
    best, safe = (exact_response(perfect.positions, random, allowed) for allowed in (None, perfect.is_safe()))
    assert (best.first, best.second) == (Fraction(191, 192), Fraction(887, 945))
    assert (safe.first, safe.second) == (Fraction(191, 192), Fraction(866, 945))


def test_random_play_against_itself_is_known(tictactoe):
    random = tictactoe.positions.uniform()
    first, second = exact_match(tictactoe.positions, random, random)
    assert first == Endings(Fraction(737, 1260), Fraction(8, 63), Fraction(121, 420), Fraction(0))
    assert second == Endings(first.loss, first.draw, first.win, Fraction(0))
    assert first.points == Fraction(737, 1260) + Fraction(4, 63)


def test_safe_responses_never_lose_and_the_best_ones_may(tictactoe):
    positions = tictactoe.positions
    random = positions.uniform()
    for response, loses in (
        (exact_response(positions, random, tictactoe.is_safe()), False),
        (exact_response(positions, random), True),
    ):
        match = exact_match(positions, response.policy, random)
        assert (match.first.win, match.second.win) == (response.first, response.second)
        assert (match.second.loss > 0) == loses
        assert match.first.loss == 0 or loses


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_fractions_are_those_of_a_recursion_over_states(game):
    positions = enumerate_positions(game)
    own, enemy = random_policy(positions, 1).round(3) + 0.001, random_policy(positions, 2)
    own /= np.bincount(positions.position_of_row, own)[positions.position_of_row]
    match = exact_match(positions, own, enemy)
    assert match.first[:3] == chances(positions, (own, enemy), 0)
    assert match.second[:3] == chances(positions, (enemy, own), 1)
    assert sum(match.first) == sum(match.second) == 1
    score = exact_score(positions, own, enemy)
    assert [float(p) for p in match.first[:3]] == pytest.approx([score.win, score.draw, score.loss], abs=1e-12)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
@pytest.mark.parametrize("is_safe", [False, True])
def test_responses_are_those_of_a_recursion_over_states(game, is_safe):
    perfect = solve_game(enumerate_positions(game))
    positions = perfect.positions
    enemy, allowed = random_policy(positions, 3), perfect.is_safe() if is_safe else None
    response, may_take = exact_response(positions, enemy, allowed), perfect.is_safe() | (not is_safe)
    assert response.first == widest(positions, enemy, 0, may_take)
    assert response.second == widest(positions, enemy, 1, may_take)
    rounded = best_response(positions, enemy, allowed)
    assert (rounded.first, rounded.second) == pytest.approx((float(response.first), float(response.second)), abs=1e-12)
    assert error_bound(positions, enemy, rounded, allowed) < 1e-12


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_equal_weights_are_equal_fractions(size, seed):
    positions = enumerate_positions(Nim(size))
    generator = np.random.default_rng(seed)
    choices = np.zeros(positions.n_rows)
    choices[[generator.choice(positions.rows(number)) for number in positions.live]] = 1.0
    win = exact_match(positions, choices, positions.uniform()).first.win
    assert win.denominator & (win.denominator - 1) == 0


def test_an_illegal_move_loses_with_the_probability_that_is_missing():
    positions = enumerate_positions(Nim(2))
    # With 2 left, take 1 or 2; with 1 left, take it.
    assert positions.action.tolist() == [1, 2, 1]
    policy = np.array([0.25, 0.5, 0.0])
    match = exact_match(positions, policy, positions.uniform())
    assert match.first == Endings(Fraction(1, 2), Fraction(0), Fraction(1, 4), Fraction(1, 4))
    # The enemy takes 2 and wins, or leaves 1, where the policy has no legal move.
    assert match.second == Endings(Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1, 2))


def test_every_position_comes_after_its_successors(tictactoe):
    positions = tictactoe.positions
    place = np.empty(len(positions), dtype=int)
    place[last_first(positions)] = np.arange(len(positions))
    assert (place[positions.after] < place[positions.position_of_row]).all()


def test_games_that_may_never_end_are_refused():
    positions = enumerate_positions(TapnSwap())
    with pytest.raises(GameError, match=r"^tapnswap: play can go on for ever, so there are no exact fractions$"):
        exact_match(positions, positions.uniform(), positions.uniform())


@pytest.mark.parametrize("spoil", [lambda p: p[1:], lambda p: -p, lambda p: p * 1.1, lambda p: p * np.nan])
def test_what_is_no_policy_is_refused(tictactoe, spoil):
    random = tictactoe.positions.uniform()
    with pytest.raises(PolicyError, match=r"^policy: "):
        exact_match(tictactoe.positions, spoil(random), random)
    with pytest.raises(PolicyError, match=r"^policy: "):
        exact_match(tictactoe.positions, random, spoil(random))
    with pytest.raises(PolicyError, match=r"^policy: "):
        exact_match(tictactoe.positions, random, random * 0.9)
