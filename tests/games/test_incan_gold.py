"""Incan Gold against a table with cards in lists."""

import random

import numpy as np
import pytest

from games.incan_gold_twin import HAZARDS, Table, features
from games.laws import check_game, check_vector_game
from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.incan_gold.game import IncanGold, IncanGoldVariant
from punish_fast.games.incan_gold.state import ARTIFACT, CARDS, LEAVE, STAY, TREASURES, words_of

GAME = IncanGold()
PRINTED = IncanGold(IncanGoldVariant("taken"))
ROUND_OF_NOTHING = "fire leave leave leave "


def card_of(kind: int) -> int | str:
    return TREASURES[kind] if kind < len(TREASURES) else CARDS[kind]


def deck_of(state) -> list[str]:
    return sorted(str(card_of(kind)) for kind, count in enumerate(state.deck) for _ in range(count))


def compare(state, table: Table) -> None:
    assert deck_of(state) == sorted(map(str, table.deck))
    assert list(state.totals) == table.points()
    assert list(state.inside) == [player.is_inside for player in table.players]
    assert list(state.held) == [player.purse for player in table.players]
    assert (state.round, state.treasure, state.taken) == (table.n_rounds, table.loose, table.n_taken)
    assert sorted(map(str, table.path)) == sorted(
        str(card_of(kind)) for kind, count in enumerate(state.drawn) for _ in range(count)
    )


def test_it_obeys_the_laws():
    assert check_game(PRINTED, max_states=50, n_walks=3) > 100
    assert check_vector_game(PRINTED.vector, 8) > 200


@pytest.mark.parametrize("game", [GAME, PRINTED], ids=["drawn", "taken"])
@pytest.mark.parametrize("seed", range(5))
def test_random_games_are_those_of_cards_in_lists(game, seed):
    generator, state = random.Random(seed), game.initial()
    table = Table(by_leaving=game is PRINTED)
    stays = generator.uniform(0.5, 0.95)
    while not game.is_terminal(state):
        compare(state, table)
        if game.player(state) == CHANCE:
            assert table.phase == "draw"
            card = generator.choice(table.deck)
            kind = CARDS.index(str(card))
            share = game.probabilities(state)[game.actions(state).index(kind)]
            assert share == pytest.approx(table.deck.count(card) / len(table.deck))
            table.draw(card)
            state = game.apply(state, kind)
            continue
        leaving = [player for player in state.seats if generator.random() > stays]
        for player in list(state.seats):
            assert game.player(state) == player
            state = game.apply(state, LEAVE if player in leaving else STAY)
        table.decide(leaving)
    assert table.phase == "over"
    assert list(state.totals) == table.points()
    best = max(table.points())
    alone = table.points().count(best) == 1
    assert list(game.returns(state)) == [(1 if alone else 0) if points == best else -1 for points in table.points()]


def test_returns_follow_from_the_totals_and_artifacts():
    over = GAME.state_of(ROUND_OF_NOTHING * 5)
    assert GAME.is_terminal(over)
    for totals, returns in {
        (0, 0, 0): (0, 0, 0),
        (3, 2, 1): (1, -1, -1),
        (3, 3, 1): (0, 0, -1),
        (1, 2, 9): (-1, -1, 1),
    }.items():
        assert GAME.returns(over._replace(totals=totals)) == returns
    assert GAME.returns(GAME.initial()._replace(totals=(1, 0, 0))) == (0, 0, 0)
    # In round 4, three artifacts lie on the board, of which one was taken before.
    words = (
        "artifact leave stay stay fire leave leave "
        + ROUND_OF_NOTHING * 2
        + "artifact stay stay stay artifact stay stay stay artifact "
    )
    for game, worth in ((GAME, 15), (PRINTED, 20)):
        state = game.state_of(words)
        assert (state.round, state.taken, state.deck[ARTIFACT]) == (4, 1, 0)
        assert state.artifacts == ((3, 0) if game is GAME else (2, 1))
        state = game.state_of(words + "stay stay leave")
        assert (state.totals, state.taken) == ((5, 0, worth), 4)


def test_positions_pictures_and_variants():
    with pytest.raises(GameError, match=r"^position: word 2, 'go', is wrong; use leave, stay$"):
        GAME.state_of("7 go")
    with pytest.raises(GameError, match=r"^position: word 21, '7', is wrong; the game is over$"):
        GAME.state_of(ROUND_OF_NOTHING * 5 + "7")
    with pytest.raises(GameError, match="only zero-sum games of two players can be enumerated"):
        enumerate_positions(GAME)
    with pytest.raises(GameError, match=r"^artifact_value: 'found' is not allowed; it must be drawn or taken$"):
        IncanGold(IncanGoldVariant("found"))
    state = GAME.state_of("11 leave stay stay artifact")
    assert GAME.board(state, 1) == {
        **{"round": 1, "drawn": ["11", "artifact"], "treasure": 0, "artifacts": [5], "own": 2},
        **{"inside": [False, True, True], "held": [0, 3, 3], "totals": [5, 0, 0]},
    }
    text = GAME.draw(state, 1, ("Ann", "Ben"))
    assert text.splitlines() == [
        "round 1 of 5: 11 artifact",
        "on the board: treasure 0, artifacts 5",
        "Ann: outside, safe 5",
        "Ben (you): inside with 3, safe 0",
        "player 3: inside with 3, safe 0",
    ]
    assert set(HAZARDS) <= set(CARDS)


@pytest.mark.parametrize("game", [GAME, PRINTED], ids=["drawn", "taken"])
def test_games_with_long_rounds_are_the_same_many_at_once(game):
    """Rounds that hazards end; the features are those that a list of numbers has."""
    vector, generator = game.vector, np.random.default_rng(2)
    for _ in range(4):
        single, states = game.initial(), vector.initial(1)
        while not game.is_terminal(single):
            if game.player(single) != CHANCE:
                assert np.array_equal(game.features(single), np.array(features(game, single), dtype=np.float32))
            shares = game.probabilities(single) or [0.1, 0.9]
            action = int(generator.choice(game.actions(single), p=shares))
            single = game.apply(single, action)
            states, returns, ended = vector.step(states, np.array([action]))
            assert np.array_equal(words_of(single), states[0])
            assert vector.player(states)[0] == game.player(single)
        assert ended.all()
        assert returns.tolist() == [list(game.returns(single))]
