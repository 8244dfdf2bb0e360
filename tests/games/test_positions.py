"""The positions of games and the successors of actions."""

from __future__ import annotations

import pytest

from games.small import Nim
from games.test_tapnswap import NAMES, VARIANTS
from punish_fast.games.contract import GameError
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.tapnswap import TapnSwap, TapnSwapState, Variant


@pytest.fixture(scope="module")
def tapnswap():
    return enumerate_positions(TapnSwap())


def test_tapnswap_has_191_positions_of_which_14_end_it(tapnswap):
    assert (len(tapnswap), int(tapnswap.is_terminal.sum()), tapnswap.n_rows) == (191, 14, 539)


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


def test_without_folding_every_state_is_a_position(tapnswap):
    plain = enumerate_positions(TapnSwap(), is_folded=False)
    assert plain.states == list(dict.fromkeys(plain.states))
    assert {plain.game.position(state) for state in plain.states} == set(tapnswap.number)
    assert plain.find(TapnSwapState((1, 1), (2, 1), 1)) != plain.find(TapnSwapState((1, 1), (1, 2), 1))
    assert plain.digest != tapnswap.digest


def test_different_games_have_different_digests():
    games = [TapnSwap(variant) for variant in VARIANTS] + [Nim(5), Nim(6)]
    digests = [enumerate_positions(game).digest for game in games]
    assert len(set(digests)) == len(games)
    assert enumerate_positions(TapnSwap(Variant())).digest == digests[0]


def test_games_of_chance_are_refused():
    with pytest.raises(GameError, match=r"^coin-nim: games with chance states cannot be enumerated$"):
        enumerate_positions(Nim(dice=True))


def test_too_large_games_are_refused(monkeypatch):
    monkeypatch.setattr("punish_fast.games.solve.positions._MAX_POSITIONS", 100)
    with pytest.raises(GameError, match=r"^tapnswap: has more than 100 positions$"):
        enumerate_positions(TapnSwap())
