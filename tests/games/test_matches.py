"""Exact scores, best responses and judged agents against plain sweeps and simulated games; the registry of games."""

import json
from dataclasses import asdict, astuple

import numpy as np
import pytest

from games.laws import check_game
from games.small import Corridor, Nim
from games.test_tapnswap import NAMES, VARIANTS
from punish_fast.games import registry
from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.evaluation import evaluate_policy, losing_lines, unfold_policy, winning_policy
from punish_fast.games.enumeration.matches import Score, best_response, both_scores
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import solve_game
from punish_fast.games.registry import GAMES, describe, entry_of, game_of, make_game
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.mdp.arrays.policy import check_policy


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
    assert response.error_bound < 1e-12
    for score, win in zip(both_scores(positions, policy, enemy), (response.first, response.second), strict=True):
        # A position without an allowed action counts as lost.
        assert score.win == pytest.approx(win, abs=1e-12) or is_safe
    if is_safe:
        # There, the policy takes the action that would win most often.
        first_row, win = positions.live_ptr[:-1], response.row_win
        is_lost = ~np.logical_or.reduceat(allowed, first_row)
        taken, most = np.add.reduceat(policy * win, first_row), np.maximum.reduceat(win, first_row)
        assert is_lost.any()
        assert taken[is_lost] == pytest.approx(most[is_lost], abs=1e-9)


def test_known_probabilities_and_their_error_bounds(tapnswap):
    response = best_response(tapnswap, tapnswap.uniform())
    assert response.first == pytest.approx(0.999997275072857, abs=1e-13)
    assert response.second == pytest.approx(1.0, abs=1e-13)
    both = both_scores(tapnswap, tapnswap.uniform(), tapnswap.uniform())[0]
    assert both.win == pytest.approx(0.398413794960370, abs=1e-13)
    assert both.draw == pytest.approx(0, abs=1e-13)
    assert 0 < response.error_bound <= 1e-13


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=NAMES[:4])
def test_best_responses_are_the_limit_of_sweeps(variant):
    positions = enumerate_positions(TapnSwap(variant))
    enemy = random_policy(positions, 1)
    response = best_response(positions, enemy)
    ours, theirs = swept(positions, enemy)
    assert response.win == pytest.approx(ours, abs=1e-12)
    assert (response.first, response.second) == pytest.approx((ours[0], theirs[0]), abs=1e-12)
    assert np.maximum.reduceat(response.row_win, positions.live_ptr[:-1]) == pytest.approx(
        ours[positions.live], abs=1e-12
    )


@pytest.mark.parametrize("game", [TapnSwap(), Nim(20), Corridor({5: 1.0, 3: -1.0}, keeps=True)], ids=lambda g: g.name)
def test_exact_scores_are_the_limit_of_sweeps(game):
    positions = enumerate_positions(game)
    first, second = random_policy(positions, 1), random_policy(positions, 2)
    score = both_scores(positions, first, second)[0]
    assert score.win == pytest.approx(swept(positions, second, first)[0][0], abs=1e-12)
    assert score.loss == pytest.approx(swept(positions, first, second)[1][0], abs=1e-12)
    assert score.win + score.draw + score.loss == pytest.approx(1, abs=1e-12)
    assert score.points == pytest.approx(score.win + score.draw / 2)


@pytest.mark.parametrize(("variant", "is_perfect"), [(VARIANTS[1], True), (VARIANTS[3], False)])
def test_interval_iteration_bounds_best_responses_whether_or_not_play_ends(variant, is_perfect):
    positions = enumerate_positions(TapnSwap(variant))
    enemy = solve_game(positions).policy() if is_perfect else positions.uniform()
    assert best_response(positions, enemy).error_bound <= (0 if is_perfect else 1e-12)


def test_perfect_and_endless_play(tapnswap):
    perfect = solve_game(tapnswap)
    response = best_response(tapnswap, perfect.policy())
    wins = (perfect.value == 1).astype(float)
    assert response.win == pytest.approx(wins, abs=1e-12)
    assert (response.first, response.second) == (0, 1)
    positions = enumerate_positions(Corridor({5: 1.0}))
    stay = np.zeros(positions.n_rows)
    stay[positions.state_ptr[:-1][~positions.is_terminal]] = 1.0
    assert (both_scores(positions, stay, stay)[0].win, both_scores(positions, stay, stay)[0].draw) == (0, 1)
    assert both_scores(tapnswap, tapnswap.uniform(), tapnswap.uniform())[0].draw < 1e-12


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


_POSITIONS = {
    "tapnswap": "3-1 2-4",
    "tictactoe": "X../..X/O..",
    "connect4": "4455",
    "incan-gold": "7 stay stay leave fire",
    "gwent": "1 2 2 3 3 4 4 5 5 6 1 2 2 3 3 4 4 5 5 6 second 2 pass",
}


@pytest.mark.parametrize("name", GAMES)
def test_every_game_obeys_the_laws_and_describes_itself(name):
    game = make_game(name, {})
    # Games with hidden cards are large and slow.
    assert check_game(game, *((60, 2) if not game.is_open else (1000, 10))) > 1
    assert describe(game_of(describe(game))) == describe(game)
    assert game.name == name
    for state in (game.initial(), game.state_of(_POSITIONS[name])):
        for viewer in range(game.n_players):
            assert game.draw(state, viewer, ("one", "two", "three")[: game.n_players])
            assert json.dumps(game.board(state, viewer))
    assert game.rules_text()
    assert game.variant_text()
    assert all(count > 0 for count in game.counts().values())
    entry = GAMES[name]
    assert set(entry.verbs) <= set(registry.VERBS)
    assert "play" not in entry.verbs or entry.oracle is not None or entry.rule_of_thumb is not None


def test_options_make_variants():
    assert make_game("tapnswap", {}).parameters() == Variant()._asdict()
    game = make_game("tapnswap", {"limit": 6, "roll_over": True, "no_emptying": True, "taps_only": True})
    assert game.parameters() == Variant(6, True, False, False)._asdict()
    assert [*GAMES["tapnswap"].options.items()][:2] == [("limit", 5), ("roll_over", False)]


def test_unknown_games_and_wrong_parameters_are_refused():
    for name in ("chess", None, 3, []):
        with pytest.raises(GameError, match=rf"^game: .* is unknown; use {', '.join(GAMES)}$"):
            entry_of(name)
    with pytest.raises(GameError, match=r"^game: 'tictacto' is unknown; use .*; did you mean tictactoe\?$"):
        entry_of("tictacto")
    message = r"^game: invalid parameters .*; tapnswap has limit, rolls_over, may_empty, swaps$"
    for parameters in (None, {}, {"limit": "5"}, Variant(limit=True)._asdict()):
        with pytest.raises(GameError, match=message):
            game_of({"name": "tapnswap", "parameters": parameters})


def test_verbs_and_options_that_a_game_does_not_offer_are_refused(monkeypatch):
    with pytest.raises(GameError, match=r"^tapnswap: unknown option 'size'; use limit, roll_over, no_emptying, taps"):
        make_game("tapnswap", {"size": 3})
    with pytest.raises(GameError, match=r"^tictactoe: unknown option 'limit'; the game has no options$"):
        make_game("tictactoe", {"limit": 3})
    for name, options, kind in (
        ("tapnswap", {"limit": "5"}, "int"),
        ("tapnswap", {"limit": 2.5}, "int"),
        ("tapnswap", {"roll_over": 2}, "bool"),
        ("gwent", {"decks": None}, "str"),
    ):
        with pytest.raises(GameError, match=f"^[a-z_]+: .* is not allowed; it must be of type {kind}$"):
            make_game(name, options)
    monkeypatch.setitem(registry.GAMES, "tapnswap", GAMES["tapnswap"]._replace(verbs=("solve", "play")))
    assert entry_of("tapnswap", "play").name == "tapnswap"
    with pytest.raises(GameError, match=r"^tapnswap: does not offer 'train', only solve, play$"):
        make_game("tapnswap", {}, "train")


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
    "the center only": lambda _state: 4,
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
    evaluation = evaluate_policy(perfect, choose(perfect.positions, AGENTS["the center only"]))
    # As X it takes the center and then again; as O it takes it unless X has it.
    assert astuple(evaluation.losing_lines) == (8, 8 * 7 + 1)
    assert (evaluation.first.illegal, evaluation.second.illegal) == pytest.approx((1, 1))
    assert (evaluation.first.win, evaluation.second.win) == pytest.approx((0, 0))
    evaluation = evaluate_policy(perfect, perfect.policy())
    assert astuple(evaluation.losing_lines) == (0, 0)
    assert (evaluation.keeps_value, evaluation.keeps_choice) == (1, 1)
    assert (evaluation.first.loss, evaluation.second.loss, evaluation.first.illegal) == pytest.approx((0, 0, 0))


def test_symmetry_changes_no_evaluation_of_random_play(perfect):
    folded = solve_game(enumerate_positions(TicTacToe()))
    found = [evaluate_policy(each, each.positions.uniform()) for each in (perfect, folded)]
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
    scores = [evaluate_policy(perfect, policy).first, evaluate_policy(folded, folded.policy()).first]
    assert astuple(scores[0]) == pytest.approx(astuple(scores[1]))


def test_safe_responses_never_lose_and_the_best_ones_may(perfect):
    positions = perfect.positions
    for allowed, win, loses in ((perfect.is_safe(), 866 / 945, False), (None, 887 / 945, True)):
        score = evaluate_policy(perfect, winning_policy(positions, positions.uniform(), allowed)).second
        assert score.win == pytest.approx(win)
        assert (score.loss > 1e-9) == loses


def test_illegal_moves_lose_and_endless_games_are_refused():
    perfect = solve_game(enumerate_positions(Nim(2)))
    # With 2 left, take 1 or 2; with 1 left, take it.
    assert perfect.positions.action.tolist() == [1, 2, 1]
    evaluation = evaluate_policy(perfect, np.array([0.25, 0.5, 0.0]))
    assert astuple(evaluation.first) == pytest.approx((0.5, 0, 0.25, 0.25))
    # The enemy takes 2 and wins, or leaves 1, where the policy has no legal move.
    assert astuple(evaluation.second) == pytest.approx((0, 0, 0.5, 0.5))
    perfect = solve_game(enumerate_positions(TapnSwap()))
    with pytest.raises(GameError, match=r"^tapnswap: play can continue forever, so agents cannot be judged$"):
        evaluate_policy(perfect, perfect.positions.uniform())
