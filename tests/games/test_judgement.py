"""Agents judged, against lines of play written out one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from games.small import Nim
from punish_fast.games.exact_matches import exact_response
from punish_fast.games.judgement import judge, losing_lines, unfold_policy
from punish_fast.games.positions import enumerate_positions
from punish_fast.games.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.mdp.policy import check_policy


@pytest.fixture(scope="module")
def perfect():
    return solve_game(enumerate_positions(TicTacToe(), is_folded=False))


def choose(positions, choice):
    """The policy of an agent that chooses by a function of the state; illegal choices have no row."""
    policy = np.zeros(positions.n_rows)
    for number in positions.live:
        state = positions.states[number]
        legal = list(positions.game.actions(state))
        if choice(state) in legal:
            policy[positions.rows_of(state)[legal.index(choice(state))]] = 1.0
    return policy


def lines_of(game, choice, seat):
    """Every line of play of an agent, and whether it loses it."""
    found = []

    def follow(state, line):
        if game.is_terminal(state):
            found.append((line, game.returns(state)[seat] < 0))
        elif game.player(state) != seat:
            for action in game.actions(state):
                follow(game.apply(state, action), (*line, action))
        elif choice(state) in game.actions(state):
            follow(game.apply(state, choice(state)), (*line, choice(state)))
        else:
            found.append(((*line, choice(state)), True))

    follow(game.initial(), ())
    assert len({line for line, _ in found}) == len(found)
    return [line for line, is_lost in found if is_lost]


AGENTS = {
    "the first square": lambda state: TicTacToe().actions(state)[0],
    "the last square": lambda state: TicTacToe().actions(state)[-1],
    "the centre only": lambda _state: 4,
    "a square of its own, illegal at times": lambda state: (state.own * 5 + state.other * 3) % 9,
}


@pytest.mark.parametrize("name", AGENTS)
def test_losing_lines_are_those_written_out(perfect, name):
    positions = perfect.positions
    found = losing_lines(positions, choose(positions, AGENTS[name]))
    assert found == tuple(len(lines_of(positions.game, AGENTS[name], seat)) for seat in (0, 1))


def test_an_agent_that_plays_the_centre_only_is_judged_by_hand(perfect):
    judgement = judge(perfect, choose(perfect.positions, AGENTS["the centre only"]))
    # As X it takes the centre and then again; as O it takes it unless X has it.
    assert judgement.losing_lines == (8, 8 * 7 + 1)
    assert (judgement.first.illegal, judgement.second.illegal) == (1, 1)
    assert judgement.first.win == judgement.second.win == 0


def test_lines_of_nim_are_counted_by_hand():
    positions = enumerate_positions(Nim(4))
    # By what each move takes: first 1111; second 112 and 211.
    always_one = choose(positions, lambda _state: 1)
    assert losing_lines(positions, always_one) == (1, 2)
    # All of 1111 and 22, and of 112, 121 and 211.
    assert losing_lines(positions, positions.uniform()) == (2, 3)


def test_perfect_play_has_no_losing_line_and_keeps_every_value(perfect):
    judgement = judge(perfect, perfect.policy())
    assert judgement.losing_lines == (0, 0)
    assert (judgement.keeps_value, judgement.keeps_choice) == (1, 1)
    assert judgement.first.loss == judgement.second.loss == judgement.first.illegal == 0


def test_symmetry_changes_no_judgement_of_random_play(perfect):
    folded = solve_game(enumerate_positions(TicTacToe()))
    found = [judge(each, each.positions.uniform()) for each in (perfect, folded)]
    assert found[0][:3] == found[1][:3]
    assert found[0].losing_lines == (77_904, 131_184)
    assert found[0].first.win == Fraction(737, 1260)


def test_the_best_response_is_judged_by_its_chance_to_win(perfect):
    positions = perfect.positions
    response = exact_response(positions, positions.uniform())
    judgement = judge(perfect, response.policy)
    assert (judgement.first.win, judgement.second.win) == (Fraction(191, 192), Fraction(887, 945))
    assert judgement.losing_lines.second > 0
    assert judgement.keeps_choice < judgement.keeps_value < 1


def test_choices_are_those_of_the_states_of_positions():
    positions = enumerate_positions(TicTacToe())
    policy = choose(positions, lambda state: positions.game.actions(state)[-1])
    for number in positions.live:
        state = positions.states[number]
        (row,) = [row for row in positions.rows(number) if policy[row]]
        after = positions.game.apply(state, positions.game.actions(state)[-1])
        assert positions.after[row] == positions.find(after)


def test_a_policy_is_unfolded_by_turning_each_board(perfect):
    folded = solve_game(enumerate_positions(TicTacToe()))
    policy = unfold_policy(folded.positions, folded.policy(), perfect.positions)
    assert check_policy(perfect.positions.live_ptr, policy) is policy
    assert (perfect.keeps_value()[policy > 0]).all()
    random = unfold_policy(folded.positions, folded.positions.uniform(), perfect.positions)
    assert np.array_equal(random, perfect.positions.uniform())
    assert judge(perfect, policy).first == judge(folded, folded.policy()).first


def test_where_every_action_keeps_the_value_all_choices_do():
    perfect = solve_game(enumerate_positions(TapnSwap(Variant(limit=2, swaps=False))))
    judgement = judge(perfect, perfect.positions.uniform())
    assert (judgement.keeps_value, judgement.keeps_choice) == (1.0, 1.0)
    assert np.isfinite(judgement.keeps_value)
