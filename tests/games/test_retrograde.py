"""Values and distances, and their certificate."""

from dataclasses import replace

import numpy as np
import pytest

from games.small import Corridor
from games.test_tapnswap import NAMES, VARIANTS
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import CertificateError, RetrogradeOracle, check_perfect_play, solve_game
from punish_fast.games.tapnswap import TapnSwap, Variant

pytestmark = pytest.mark.kernels


def solved(game):
    return check_perfect_play(solve_game(enumerate_positions(game)))


@pytest.fixture(scope="module")
def tapnswap():
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


def test_tapnswap_is_lost_in_26_and_its_best_lines_last_as_long(tapnswap):
    assert (tapnswap.value[0], tapnswap.distance[0]) == (-1, 26)
    values = tapnswap.value[~tapnswap.positions.is_terminal].tolist()
    assert [values.count(value) for value in (1, -1, 0)] == [120, 47, 10]
    assert tapnswap.distance.max() == 33
    oracle, positions = RetrogradeOracle(TapnSwap()), tapnswap.positions
    for number, state in enumerate(positions.states):
        line, after = oracle.line(state), state
        for action in line:
            after = positions.game.apply(after, action)
        if tapnswap.value[number] != 0:
            assert (len(line), positions.game.is_terminal(after)) == (tapnswap.distance[number], True)
        else:
            # A draw ends where it repeats.
            assert positions.game.position(after) in positions.number
            assert tapnswap.value[positions.find(after)] == 0


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


def test_the_certificate_refuses_any_other_value_or_distance(tapnswap):
    for number in range(len(tapnswap.positions)):
        for value in {-1, 0, 1} - {int(tapnswap.value[number])}:
            wrong = tapnswap.value.copy()
            wrong[number] = value
            with pytest.raises(CertificateError, match=r"is not perfect play$"):
                check_perfect_play(replace(tapnswap, value=wrong))
        for step in (-1, 1):
            late = tapnswap.distance.copy()
            late[number] += step
            with pytest.raises(CertificateError, match=r"is not perfect play$"):
                check_perfect_play(replace(tapnswap, distance=late))


def test_moves_have_the_values_of_the_positions_they_lead_to(tapnswap):
    positions, oracle = tapnswap.positions, RetrogradeOracle(tapnswap.positions.game)
    assert oracle.n_positions == len(positions)
    for number in positions.live:
        state = positions.states[number]
        moves = oracle.move_values(state)
        assert oracle.best_action(state) == next(move.action for move in moves if move.is_best)
        assert [move.action for move in moves] == positions.game.actions(state)
        assert max(move.value for move in moves) == tapnswap.value[number]
        if tapnswap.value[number]:
            assert {move.plies for move in moves if move.is_best} == {int(tapnswap.distance[number])}
        else:
            assert all((move.plies is None) == (move.value == 0) for move in moves)
    assert oracle.move_values(positions.states[int(np.flatnonzero(positions.is_terminal)[0])]) == []
