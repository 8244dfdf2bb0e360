"""The positions of games and the successors of actions, one by one and many at once."""

import numpy as np
import pytest

from games.laws import check_vector_game
from games.small import Corridor, Nim
from games.test_tapnswap import NAMES, VARIANTS
from punish_fast.games.contract import GameError
from punish_fast.games.registry import GAMES, make_game, vectorise
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.vector_games import vectorise_positions
from punish_fast.games.tapnswap import TapnSwap, TapnSwapState, Variant

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def tapnswap():
    return enumerate_positions(TapnSwap())


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
    monkeypatch.setattr("punish_fast.games.solve.positions._MAX_POSITIONS", 100)
    with pytest.raises(GameError, match=r"^tapnswap: has more than 100 positions$"):
        enumerate_positions(TapnSwap())


@pytest.mark.parametrize("name", [name for name, entry in GAMES.items() if "train" in entry.verbs])
def test_games_of_the_registry_are_the_same_many_at_once(name):
    vector = vectorise(make_game(name, {}))
    assert vector.game.name == name
    assert check_vector_game(vector, 6) > 6


def test_turns_may_be_kept_and_states_are_numbers_of_positions():
    vector = vectorise_positions(Corridor({5: 1.0}, keeps=True))
    assert check_vector_game(vector, 8) > 8
    after, _, _ = vector.step(vector.initial(1), np.array([0]))
    assert vector.player(after) == 0
    with pytest.raises(GameError, match="games with chance states cannot be enumerated"):
        vectorise_positions(Nim(dice=True))
    vector = vectorise_positions(TapnSwap())
    positions = vector.positions
    states = vector.initial(2)
    after, _, _ = vector.step(states, positions.action[[0, positions.rows(0)[-1]]])
    assert states.tolist() == [[0], [0]]
    assert after[:, 0].tolist() == positions.after[[0, positions.rows(0)[-1]]].tolist()
    assert [positions.states[number].player for number in after[:, 0].tolist()] == vector.player(after).tolist()
