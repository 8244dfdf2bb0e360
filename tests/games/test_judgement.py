"""Agents judged, against lines of play written out one by one."""

from dataclasses import asdict, astuple

import numpy as np
import pytest

from games.small import Nim
from punish_fast.games.contract import GameError
from punish_fast.games.solve.judgement import judge, losing_lines, unfold_policy, winning_policy
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap
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
    assert astuple(found) == tuple(len(lines_of(positions.game, AGENTS[name], seat)) for seat in (0, 1))


def test_lines_are_counted_and_agents_judged_by_hand(perfect):
    positions = enumerate_positions(Nim(4))
    # By what each move takes: first 1111; second 112 and 211.
    always_one = choose(positions, lambda _state: 1)
    assert astuple(losing_lines(positions, always_one)) == (1, 2)
    # All of 1111 and 22, and of 112, 121 and 211.
    assert astuple(losing_lines(positions, positions.uniform())) == (2, 3)
    judgement = judge(perfect, choose(perfect.positions, AGENTS["the centre only"]))
    # As X it takes the centre and then again; as O it takes it unless X has it.
    assert astuple(judgement.losing_lines) == (8, 8 * 7 + 1)
    assert (judgement.first.illegal, judgement.second.illegal) == pytest.approx((1, 1))
    assert (judgement.first.win, judgement.second.win) == pytest.approx((0, 0))
    judgement = judge(perfect, perfect.policy())
    assert astuple(judgement.losing_lines) == (0, 0)
    assert (judgement.keeps_value, judgement.keeps_choice) == (1, 1)
    assert (judgement.first.loss, judgement.second.loss, judgement.first.illegal) == pytest.approx((0, 0, 0))


def test_symmetry_changes_no_judgement_of_random_play(perfect):
    folded = solve_game(enumerate_positions(TicTacToe()))
    found = [judge(each, each.positions.uniform()) for each in (perfect, folded)]
    for seat in ("first", "second"):
        assert asdict(getattr(found[0], seat)) == pytest.approx(asdict(getattr(found[1], seat)))
    assert astuple(found[0].losing_lines) == astuple(found[1].losing_lines) == (77_904, 131_184)
    assert astuple(found[0].first) == pytest.approx((737 / 1260, 8 / 63, 121 / 420, 0))


def test_a_policy_is_unfolded_by_turning_each_board(perfect):
    folded = solve_game(enumerate_positions(TicTacToe()))
    policy = unfold_policy(folded.positions, folded.policy(), perfect.positions)
    assert check_policy(perfect.positions.live_ptr, policy) is policy
    assert (perfect.keeps_value()[policy > 0]).all()
    random = unfold_policy(folded.positions, folded.positions.uniform(), perfect.positions)
    assert np.array_equal(random, perfect.positions.uniform())
    scores = [judge(perfect, policy).first, judge(folded, folded.policy()).first]
    assert astuple(scores[0]) == pytest.approx(astuple(scores[1]))


def test_safe_responses_never_lose_and_the_best_ones_may(perfect):
    positions = perfect.positions
    for allowed, win, loses in ((perfect.is_safe(), 866 / 945, False), (None, 887 / 945, True)):
        score = judge(perfect, winning_policy(positions, positions.uniform(), allowed)).second
        assert score.win == pytest.approx(win)
        assert (score.loss > 1e-9) == loses


def test_illegal_moves_lose_and_endless_games_are_refused():
    perfect = solve_game(enumerate_positions(Nim(2)))
    # With 2 left, take 1 or 2; with 1 left, take it.
    assert perfect.positions.action.tolist() == [1, 2, 1]
    judgement = judge(perfect, np.array([0.25, 0.5, 0.0]))
    assert astuple(judgement.first) == pytest.approx((0.5, 0, 0.25, 0.25))
    # The enemy takes 2 and wins, or leaves 1, where the policy has no legal move.
    assert astuple(judgement.second) == pytest.approx((0, 0, 0.5, 0.5))
    perfect = solve_game(enumerate_positions(TapnSwap()))
    with pytest.raises(GameError, match=r"^tapnswap: play can continue forever, so agents cannot be judged$"):
        judge(perfect, perfect.positions.uniform())
