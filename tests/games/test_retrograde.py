"""Positions of games, their values and distances, and the certificate."""

from dataclasses import replace

import numpy as np
import pytest

from games.laws import check_vector_game
from games.small import Corridor, Nim
from games.test_tapnswap import NAMES, VARIANTS
from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import CertificateError, RetrogradeOracle, check_perfect_play, solve_game
from punish_fast.games.enumeration.vector_games import VectorPositions
from punish_fast.games.registry import GAMES, make_game, vector_game
from punish_fast.games.tapnswap import TapnSwap, TapnSwapState, Variant

pytestmark = pytest.mark.kernels


def solved(game):
    return check_perfect_play(solve_game(enumerate_positions(game)))


@pytest.fixture(scope="module")
def perfect():
    return solved(TapnSwap())


def forced(positions, depth):
    """The result forced within ``depth`` actions, by recursion: 1 a win, -1 a loss, 0 neither."""
    value = np.sign(positions.payoff).astype(int)
    for _ in range(depth):
        before = value.copy()
        for number in np.flatnonzero(~positions.is_terminal):
            rows = list(positions.rows(number))
            value[number] = max(before[positions.after[row]] * positions.sign[row] for row in rows)
    return value


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=NAMES[:4])
def test_values_are_forced_within_the_distance(variant):
    perfect = solved(TapnSwap(variant))
    positions, furthest = perfect.positions, int(perfect.distance.max())
    for depth in (*range(0, furthest, 5), furthest, furthest + 10):
        known = (perfect.distance >= 0) & (perfect.distance <= depth)
        assert np.array_equal(forced(positions, depth), np.where(known, perfect.value, 0))


def test_tapnswap_is_lost_in_26_and_its_best_lines_last_as_long(perfect):
    assert (perfect.value[0], perfect.distance[0]) == (-1, 26)
    values = perfect.value[~perfect.positions.is_terminal].tolist()
    assert [values.count(value) for value in (1, -1, 0)] == [120, 47, 10]
    assert perfect.distance.max() == 33
    oracle, positions = RetrogradeOracle(TapnSwap()), perfect.positions
    for number, state in enumerate(positions.states):
        line, after = oracle.line(state), state
        for before, action in line:
            assert before == after
            after = positions.game.apply(before, action)
        if perfect.value[number] != 0:
            assert (len(line), positions.game.is_terminal(after)) == (perfect.distance[number], True)
        else:
            # A draw ends where it repeats.
            assert positions.game.position(after) in positions.number
            assert perfect.value[positions.find(after)] == 0


@pytest.mark.parametrize(
    ("game", "value", "distance"),
    [
        (TapnSwap(Variant(rolls_over=True)), 0, -1),
        (TapnSwap(Variant(may_empty=False)), 0, -1),
        (TapnSwap(Variant(swaps=False)), -1, 8),
        (TapnSwap(Variant(limit=3)), 0, -1),
        (TapnSwap(Variant(limit=4)), 1, 17),
        (TapnSwap(Variant(limit=6)), 0, -1),
        (Corridor({}), 0, -1),
        (Corridor({1: -1.0}), 1, 1),
        (Corridor({1: 1.0}), 0, -1),
        (Corridor({1: 0.0}), 0, -1),
        (Corridor({1: 1.0}, keeps=True), 1, 1),
        (Corridor({2: -1.0, 5: 1.0}), 0, -1),
        (Corridor({2: -1.0, 5: 1.0}, keeps=True), 1, 2),
    ],
)
def test_values_of_variants_and_small_walks(game, value, distance):
    perfect = solved(game)
    assert (perfect.value[0], perfect.distance[0]) == (value, distance)


def test_the_certificate_refuses_any_other_value_or_distance(perfect):
    for number in range(len(perfect.positions)):
        for value in {-1, 0, 1} - {int(perfect.value[number])}:
            wrong = perfect.value.copy()
            wrong[number] = value
            with pytest.raises(CertificateError, match=r"is not perfect play$"):
                check_perfect_play(replace(perfect, value=wrong))
        for step in (-1, 1):
            late = perfect.distance.copy()
            late[number] += step
            with pytest.raises(CertificateError, match=r"is not perfect play$"):
                check_perfect_play(replace(perfect, distance=late))


def test_moves_have_the_values_of_the_positions_they_lead_to(perfect):
    positions, oracle = perfect.positions, RetrogradeOracle(perfect.positions.game)
    assert oracle.n_positions == len(positions)
    for number in positions.live:
        state = positions.states[number]
        moves = oracle.move_values(state)
        assert oracle.best_action(state) == next(move.action for move in moves if move.is_best)
        assert [move.action for move in moves] == positions.game.actions(state)
        assert max(move.value for move in moves) == perfect.value[number]
        if perfect.value[number]:
            assert {move.plies for move in moves if move.is_best} == {int(perfect.distance[number])}
        else:
            assert all((move.plies is None) == (move.value == 0) for move in moves)
    end = positions.states[int(np.flatnonzero(positions.is_terminal)[0])]
    assert oracle.move_values(end) == []
    with pytest.raises(GameError, match=r"^state: .* is terminal, so there is no action$"):
        oracle.best_action(end)


@pytest.mark.parametrize("variant", VARIANTS[:3], ids=NAMES[:3])
def test_rows_lead_to_the_states_after_their_actions(variant):
    positions = enumerate_positions(TapnSwap(variant))
    game = positions.game
    for number, state in enumerate(positions.states):
        rows = positions.rows(number)
        assert positions.rows_of(state) == list(rows)
        assert positions.action[list(rows)].tolist() == game.actions(state)
        for row in rows:
            assert positions.after[row] == positions.find(game.apply(state, int(positions.action[row])))
            assert positions.position_of_row[row] == number
            assert positions.sign[row] == -1
        if positions.is_terminal[number]:
            assert positions.payoff[number] == game.returns(state)[state.player]


def test_states_are_found_in_any_order_of_hands(tapnswap):
    assert tapnswap.find(TapnSwapState((1, 2), (1, 1), 1)) == tapnswap.find(TapnSwapState((2, 1), (1, 1), 0))
    with pytest.raises(GameError, match=r"^position: 4-4 4-4 player 1 cannot be reached from the initial position$"):
        tapnswap.find(TapnSwapState((4, 4), (4, 4), 0))
    assert (len(tapnswap), int(tapnswap.is_terminal.sum()), tapnswap.n_rows) == (191, 14, 539)


def test_without_folding_every_state_is_a_position(tapnswap):
    plain = enumerate_positions(TapnSwap(), is_folded=False)
    assert plain.states == list(dict.fromkeys(plain.states))
    assert {plain.game.position(state) for state in plain.states} == set(tapnswap.number)
    assert plain.find(TapnSwapState((1, 1), (2, 1), 1)) != plain.find(TapnSwapState((1, 1), (1, 2), 1))
    assert plain.digest != tapnswap.digest
    games = [TapnSwap(variant) for variant in VARIANTS] + [Nim(5), Nim(6)]
    digests = [enumerate_positions(game).digest for game in games]
    assert len(set(digests)) == len(games)
    assert enumerate_positions(TapnSwap(Variant())).digest == digests[0]


def test_games_of_chance_and_too_large_ones_are_refused(monkeypatch):
    with pytest.raises(GameError, match=r"^coin-nim: games with chance states cannot be enumerated$"):
        enumerate_positions(Nim(dice=True))
    monkeypatch.setattr("punish_fast.games.enumeration.positions._MAX_POSITIONS", 100)
    with pytest.raises(GameError, match=r"^tapnswap: has more than 100 positions$"):
        enumerate_positions(TapnSwap())


@pytest.mark.parametrize("name", [name for name, entry in GAMES.items() if "train" in entry.verbs])
def test_games_of_the_registry_are_the_same_many_at_once(name):
    vector = vector_game(make_game(name, {}))
    assert vector.game.name == name
    assert check_vector_game(vector, 6) > 6


def test_turns_may_be_kept_and_states_are_numbers_of_positions():
    vector = VectorPositions(Corridor({5: 1.0}, keeps=True))
    assert check_vector_game(vector, 8) > 8
    after, _, _ = vector.step(vector.initial(1), np.array([0]))
    assert vector.player(after) == 0
    with pytest.raises(GameError, match="games with chance states cannot be enumerated"):
        VectorPositions(Nim(dice=True))
    vector = VectorPositions(TapnSwap())
    positions = vector.positions
    states = vector.initial(2)
    after, _, _ = vector.step(states, positions.action[[0, positions.rows(0)[-1]]])
    assert states.tolist() == [[0], [0]]
    assert after[:, 0].tolist() == positions.after[[0, positions.rows(0)[-1]]].tolist()
    assert [positions.states[number].player for number in after[:, 0].tolist()] == vector.player(after).tolist()
