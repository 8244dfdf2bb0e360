"""Scores and responses against a recursion over states in fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from games.laws import check_game
from games.small import Nim
from games.test_matches import random_policy
from punish_fast.games.matches import best_response, both_scores, error_bound
from punish_fast.games.solve.judgement import winning_policy
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe


class KeepingNim(Nim):
    """Nim in which whoever takes one moves again, and whoever would move at the end loses."""

    def __init__(self, size):
        super().__init__(size)
        self.name = "keeping-nim"

    def apply(self, state, action):
        after = super().apply(state, action)
        return after._replace(player=state.player) if action == 1 else after


GAMES = [TicTacToe(), Nim(8), KeepingNim(8), TapnSwap(Variant(swaps=False))]


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


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_scores_are_those_of_a_recursion_over_states(game):
    positions = enumerate_positions(game)
    own, enemy = random_policy(positions, 1), random_policy(positions, 2)
    for seat, score in enumerate(both_scores(positions, own, enemy)):
        expected = chances(positions, (own, enemy) if seat == 0 else (enemy, own), seat)
        assert [score.win, score.draw, score.loss] == pytest.approx([float(p) for p in expected], abs=1e-12)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
@pytest.mark.parametrize("is_safe", [False, True])
def test_responses_are_those_of_a_recursion_over_states(game, is_safe):
    perfect = solve_game(enumerate_positions(game))
    positions = perfect.positions
    enemy, allowed = random_policy(positions, 3), perfect.is_safe() if is_safe else None
    may_take = perfect.is_safe() | (not is_safe)
    expected = [float(widest(positions, enemy, seat, may_take)) for seat in (0, 1)]
    response = best_response(positions, enemy, allowed)
    assert [response.first, response.second] == pytest.approx(expected, abs=1e-12)
    assert error_bound(positions, enemy, response, allowed) < 1e-12
    policy = winning_policy(positions, enemy, allowed)
    for seat, score in enumerate(both_scores(positions, policy, enemy)):
        # A position without an action that is allowed counts as lost.
        assert score.win == pytest.approx(expected[seat], abs=1e-12) or is_safe
