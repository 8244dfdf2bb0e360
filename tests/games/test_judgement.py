"""Agents judged, against lines of play written out one by one."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from games.small import Nim
from punish_fast.games.contract import GameError
from punish_fast.games.solve.judgement import judge, last_first, losing_lines, unfold_policy, winning_policy
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.mdp.policy import PolicyError, check_policy


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
    assert (judgement.first.illegal, judgement.second.illegal) == pytest.approx((1, 1))
    assert (judgement.first.win, judgement.second.win) == pytest.approx((0, 0))


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
    assert (judgement.first.loss, judgement.second.loss, judgement.first.illegal) == pytest.approx((0, 0, 0))


def test_symmetry_changes_no_judgement_of_random_play(perfect):
    folded = solve_game(enumerate_positions(TicTacToe()))
    found = [judge(each, each.positions.uniform()) for each in (perfect, folded)]
    for scores in zip(found[0][:2], found[1][:2], strict=True):
        assert astuple(scores[0]) == pytest.approx(astuple(scores[1]))
    assert found[0].losing_lines == found[1].losing_lines == (77_904, 131_184)
    assert astuple(found[0].first) == pytest.approx((737 / 1260, 8 / 63, 121 / 420, 0))


def test_the_best_response_is_judged_by_its_chance_to_win(perfect):
    positions = perfect.positions
    judgement = judge(perfect, winning_policy(positions, positions.uniform()))
    assert (judgement.first.win, judgement.second.win) == pytest.approx((191 / 192, 887 / 945))
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
    scores = [judge(perfect, policy).first, judge(folded, folded.policy()).first]
    assert astuple(scores[0]) == pytest.approx(astuple(scores[1]))


def test_where_every_action_keeps_the_value_all_choices_do():
    perfect = solve_game(enumerate_positions(TapnSwap(Variant(limit=2, swaps=False))))
    judgement = judge(perfect, perfect.positions.uniform())
    assert (judgement.keeps_value, judgement.keeps_choice) == (1.0, 1.0)
    assert np.isfinite(judgement.keeps_value)


def test_safe_responses_never_lose_and_the_best_ones_may(perfect):
    positions = perfect.positions
    for allowed, win, loses in ((perfect.is_safe(), 866 / 945, False), (None, 887 / 945, True)):
        score = judge(perfect, winning_policy(positions, positions.uniform(), allowed)).second
        assert score.win == pytest.approx(win)
        assert (score.loss > 1e-9) == loses


def test_an_illegal_move_loses_with_the_probability_that_is_missing():
    perfect = solve_game(enumerate_positions(Nim(2)))
    # With 2 left, take 1 or 2; with 1 left, take it.
    assert perfect.positions.action.tolist() == [1, 2, 1]
    judgement = judge(perfect, np.array([0.25, 0.5, 0.0]))
    assert astuple(judgement.first) == pytest.approx((0.5, 0, 0.25, 0.25))
    # The enemy takes 2 and wins, or leaves 1, where the policy has no legal move.
    assert astuple(judgement.second) == pytest.approx((0, 0, 0.5, 0.5))


def test_every_position_comes_after_its_successors(perfect):
    positions = perfect.positions
    place = np.empty(len(positions), dtype=int)
    place[last_first(positions)] = np.arange(len(positions))
    assert (place[positions.after] < place[positions.position_of_row]).all()


def test_games_that_may_never_end_are_refused():
    perfect = solve_game(enumerate_positions(TapnSwap()))
    with pytest.raises(GameError, match=r"^tapnswap: play can go on for ever, so agents cannot be judged$"):
        judge(perfect, perfect.positions.uniform())


@pytest.mark.parametrize("spoil", [lambda p: p[1:], lambda p: -p, lambda p: p * 1.1, lambda p: p * np.nan])
def test_a_wrong_policy_is_refused(perfect, spoil):
    with pytest.raises((PolicyError, ValueError), match=r"policy|same length|broadcast"):
        judge(perfect, spoil(perfect.positions.uniform()))
