"""Incan Gold against a table with cards in lists, and each clause of its rules."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.incan_gold_twin import HAZARDS, Table
from games.laws import LawError, check_game
from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.incan_gold.game import (
    ARTIFACT,
    CARDS,
    COPIES,
    HAZARD_COPIES,
    LEAVE,
    STAY,
    TREASURES,
    IncanGold,
    IncanGoldVariant,
)
from punish_fast.games.solve.positions import enumerate_positions

GAME = IncanGold()
PRINTED = IncanGold(IncanGoldVariant("taken"))
# A round in which player 1 takes the artifact.
FIRST_TAKES = "artifact leave stay stay fire leave leave "
ROUND_OF_NOTHING = "fire leave leave leave "


def card_of(kind: int) -> int | str:
    return TREASURES[kind] if kind < len(TREASURES) else CARDS[kind]


def deck_of(state) -> list[str]:
    return sorted(str(card_of(kind)) for kind, count in enumerate(state.deck) for _ in range(count))


def compare(state, table: Table) -> None:
    """Compare a state with a table."""
    assert deck_of(state) == sorted(map(str, table.deck))
    assert list(state.totals) == table.points()
    assert list(state.inside) == [player.is_inside for player in table.players]
    assert list(state.held) == [player.purse for player in table.players]
    assert (state.round, state.treasure, state.taken) == (table.n_rounds, table.loose, table.n_taken)
    assert sorted(map(str, table.path)) == sorted(
        str(card_of(kind)) for kind, count in enumerate(state.drawn) for _ in range(count)
    )


def test_it_obeys_the_laws():
    assert check_game(GAME, max_states=300, seed=3) > 1000
    assert check_game(PRINTED, max_states=50, seed=4) > 500


def test_a_game_that_tells_the_answers_of_others_breaks_the_laws():
    class Loud(IncanGold):
        def features(self, state):
            return super().features(state) + np.float32(sum(state.answers))

    with pytest.raises(LawError, match="law 10"):
        check_game(Loud(), max_states=300)


@pytest.mark.parametrize("game", [GAME, PRINTED], ids=["drawn", "taken"])
@pytest.mark.parametrize("seed", range(12))
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


def test_the_deck_has_all_cards():
    assert sum(COPIES) == 14
    assert sorted(value for value, n in zip(TREASURES, COPIES, strict=True) for _ in range(n)) == [
        *(1, 2, 3, 4, 5, 5, 7, 7, 9, 11, 11, 13, 14, 15)
    ]
    state = GAME.initial()
    assert sum(state.deck) == 14 + 5 * HAZARD_COPIES + 1
    assert (GAME.player(state), len(GAME.actions(state))) == (CHANCE, 17)


def test_treasure_is_shared_and_the_rest_stays_on_the_board():
    state = GAME.state_of("11")
    assert (state.held, state.treasure) == ((3, 3, 3), 2)
    state = GAME.state_of("11 stay stay stay 2")
    assert (state.held, state.treasure) == ((3, 3, 3), 4)
    # Two are left, and what lay on the board before is not shared anew.
    state = GAME.state_of("11 leave stay stay 5")
    assert (state.held, state.treasure, state.totals) == ((0, 5, 5), 1, (5, 0, 0))


def test_players_who_leave_share_the_board_in_whole_numbers():
    state = GAME.state_of("11 stay stay stay 14 leave leave stay")
    assert (state.totals, state.treasure) == ((9, 9, 0), 0)
    state = GAME.state_of("11 stay stay stay 15 stay stay stay 1 leave leave stay")
    assert (state.totals, state.treasure, state.held) == ((9, 9, 0), 1, (0, 0, 8))
    state = GAME.state_of("11 stay stay stay 14 leave leave leave")
    assert (state.totals, state.round) == ((8, 8, 8), 2)


def test_artifacts_go_to_a_player_who_leaves_alone():
    assert GAME.state_of("artifact leave stay stay").totals == (5, 0, 0)
    state = GAME.state_of("artifact leave leave stay")
    assert (state.totals, state.artifacts, state.taken) == ((0, 0, 0), (1, 0), 0)
    # Who is left goes alone.
    assert GAME.state_of("artifact leave leave stay 7 leave").totals == (0, 0, 12)
    # Nobody takes it, and it does not return.
    state = GAME.state_of("artifact leave leave leave")
    assert (state.totals, state.deck[ARTIFACT], state.taken) == ((0, 0, 0), 1, 0)


def test_the_fourth_artifact_drawn_after_three_were_taken_is_worth_ten():
    state = GAME.state_of(FIRST_TAKES * 3 + "artifact leave stay stay")
    assert (state.totals, state.taken, state.round) == ((25, 0, 0), 4, 4)


def test_the_value_of_artifacts_is_fixed_when_drawn_or_when_taken():
    # In round 4, three artifacts lie on the board, of which one was taken before.
    words = FIRST_TAKES + ROUND_OF_NOTHING * 2 + "artifact stay stay stay artifact stay stay stay artifact "
    for game, worth in ((GAME, 15), (PRINTED, 20)):
        state = game.state_of(words)
        assert (state.round, state.taken, state.deck[ARTIFACT]) == (4, 1, 0)
        assert state.artifacts == ((3, 0) if game is GAME else (2, 1))
        state = game.state_of(words + "stay stay leave")
        assert (state.totals, state.taken) == ((5, 0, worth), 4)


def test_the_second_hazard_of_a_kind_ends_the_round_and_leaves_the_game():
    state = GAME.state_of("11 leave stay stay fire stay stay mummy stay stay")
    assert state.round == 1
    after = GAME.apply(state, CARDS.index("fire"))
    assert (after.round, after.totals, after.held, after.treasure) == (2, (5, 0, 0), (0, 0, 0), 0)
    assert deck_of(after).count("fire") == 2
    assert deck_of(after).count("mummy") == 3
    assert deck_of(after).count("11") == 2
    assert deck_of(after).count("artifact") == 2
    assert sum(after.deck) == 14 + 14 + 2


def test_two_hazards_of_a_kind_in_a_row_leave_two_cards_that_cannot_kill_twice():
    state = GAME.initial()
    for _ in range(2):
        state = GAME.apply(state, CARDS.index("fire"))
        for _ in range(3):
            state = GAME.apply(state, STAY)
        state = GAME.apply(state, CARDS.index("fire"))
    assert (state.round, deck_of(state).count("fire")) == (3, 1)


def test_artifacts_on_the_board_are_lost_at_a_hazard():
    state = GAME.state_of("artifact stay stay stay fire stay stay stay fire")
    assert (state.deck[ARTIFACT], state.taken, state.artifacts) == (1, 0, (0, 0))


@pytest.mark.parametrize(
    ("takers", "totals", "returns"),
    [
        ((0, 0, 0, 1, 1), (15, 20, 0), (-1, 1, -1)),
        ((0, 1, 2, 2, None), (5, 5, 15), (-1, -1, 1)),
        ((0, None, 1, None, None), (5, 5, 0), (0, 0, -1)),
    ],
)
def test_most_points_alone_win(takers, totals, returns):
    words = ""
    for taker in takers:
        answers = " ".join("leave" if player == taker else "stay" for player in range(3))
        words += ROUND_OF_NOTHING if taker is None else f"artifact {answers} fire leave leave "
    state = GAME.state_of(words)
    assert GAME.is_terminal(state)
    assert (state.totals, GAME.returns(state)) == (totals, returns)


def test_returns_follow_from_the_totals():
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


def test_answers_of_others_are_hidden_until_all_have_answered():
    before = GAME.state_of("7 stay stay stay artifact")
    for answers in product((LEAVE, STAY), repeat=2):
        state = before
        for answer in answers:
            state = GAME.apply(state, answer)
        same = GAME.apply(GAME.apply(before, STAY), STAY)
        assert GAME.player(state) == 2
        assert GAME.information(state) == GAME.information(same)
        assert np.array_equal(GAME.features(state), GAME.features(same))
        assert GAME.draw(state, 2, ("a", "b", "c")) == GAME.draw(same, 2, ("a", "b", "c"))
        assert GAME.board(state, 2) == GAME.board(same, 2)
        assert state == same or GAME.text(state) != GAME.text(same)
    with pytest.raises(GameError, match=r"^action: 2 is illegal, legal: \[0, 1\]$"):
        GAME.apply(state, 2)


def test_features_are_shares_and_the_same_from_every_seat():
    state = GAME.state_of("11 leave stay stay artifact stay stay 7")
    # Player 2, with player 3 inside and player 1 outside.
    everything = 5 + 6 + 6
    expected = [6 / everything, 0, 0, 5 / everything, 6 / everything, 0, 0, 1, 1 / 5]
    expected += [1 / 17, 1 / 3, 0, 0, 0, 0, 0, 0, 2 / 3]
    n_cards = sum(state.deck)
    expected += [count / n_cards for count in state.deck]
    assert GAME.features(state) == pytest.approx(expected)
    assert len(expected) == GAME.n_features
    other = GAME.apply(state, STAY)
    assert np.array_equal(GAME.features(other), GAME.features(state))


@given(st.permutations(range(3)), st.integers(0, 2**32))
def test_features_do_not_tell_seats_of_opponents(order, seed):
    generator, state = random.Random(seed), GAME.initial()
    for _ in range(generator.randrange(40)):
        actions = GAME.actions(state)
        if actions:
            state = GAME.apply(state, generator.choice(actions))
    if GAME.player(state) == CHANCE or GAME.is_terminal(state):
        return
    state = state._replace(answers=())
    moved = state._replace(
        **{name: tuple(getattr(state, name)[k] for k in order) for name in ("inside", "held", "totals")}
    )
    views = [
        {tuple(GAME.features(each._replace(answers=(STAY,) * number)).tolist()) for number in range(len(each.seats))}
        for each in (state, moved)
    ]
    assert views[0] == views[1]


def test_positions_are_cards_and_answers_from_the_beginning():
    with pytest.raises(GameError, match=r"^position: word 2, 'go', is wrong, allowed: leave, stay$"):
        GAME.state_of("7 go")
    with pytest.raises(GameError, match=r"^position: word 21, '7', is wrong, allowed: nothing, the game is over$"):
        GAME.state_of(ROUND_OF_NOTHING * 5 + "7")
    with pytest.raises(GameError, match="only zero-sum games of two players can be enumerated"):
        enumerate_positions(GAME)


def test_unknown_variants_are_refused():
    with pytest.raises(GameError, match=r"^artifact_value: 'found' is not allowed, it must be drawn or taken$"):
        IncanGold(IncanGoldVariant("found"))


def test_pictures_show_the_table():
    text = GAME.draw(GAME.state_of("11 leave stay stay artifact"), 1, ("Ann", "Ben"))
    assert text.splitlines() == [
        "round 1 of 5: 11 artifact",
        "on the board: treasure 0, artifacts 5",
        "Ann: outside, safe 5",
        "Ben (you): inside with 3, safe 0",
        "player 3: inside with 3, safe 0",
    ]
    assert set(HAZARDS) <= set(CARDS)
