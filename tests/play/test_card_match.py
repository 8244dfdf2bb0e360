"""Matches with chance and secrets: what they tell, and that nobody learns more than the rules allow."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedPlayer

from punish_fast.arena.players import PolicyPlayer
from punish_fast.games.contract import CHANCE
from punish_fast.games.gwent.game import Gwent, GwentVariant
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.incan_gold.state import LEAVE, STAY
from punish_fast.play.events import End, SharedEnd
from punish_fast.play.games.game_player import GamePresentation
from punish_fast.play.games.match import GameMatch
from punish_fast.play.games.policies import CARD_LEVELS, policy_at
from punish_fast.play.session import HumanPlayer, PlaySession, UndoError
from punish_fast.play.words import ending_of
from punish_fast.runtime.events import Moved, Step, Told

INCAN_GOLD = IncanGold()
THREE = ["you", "Ben", "Cleo"]


def begun(game, seats, seed=1):
    session = PlaySession(GameMatch(game, np.random.default_rng(seed)), seats)
    session.begin()
    return session


def words_of(game, state):
    """The actions in a state by their words."""
    if game.name == "gwent":
        return game.words(state)
    return {game.action_text(state, action): action for action in game.actions(state)}


def steps_of(game, text, words):
    """The steps of some words after a position."""
    state, steps = game.state_of(text), []
    for word in words.split():
        action = words_of(game, state)[word]
        steps.append(Step(state, action, game.apply(state, action)))
        state = steps[-1].after
    return steps


def told(events, names, seat=0, game=INCAN_GOLD):
    return [GamePresentation(game).event(event, seat, names)["words"] for event in events]


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("", "7", "Round 1 begins. Treasure 7: 2 for each of 3 players inside, 1 on the board."),
        (
            "7",
            "stay stay stay artifact",
            "You stay. Ben stays. Cleo stays. An artifact worth 5, for a player who leaves alone.",
        ),
        (
            "7 stay stay stay artifact",
            "leave stay stay 3",
            "You leave. Ben stays. Cleo stays. You take 8 points: 2 collected, 1 from the board, 5 for artifacts. "
            "Treasure 3: 1 for each of 2 players inside, 1 on the board.",
        ),
        (
            "7 stay stay stay fire",
            "stay leave stay fire 1",
            "You stay. Ben leaves. Cleo stays. Ben takes 3 points: 2 collected, 1 from the board. The second hazard of "
            "its kind: fire. The round is over. You lose 2 points. Cleo loses 2 points. Round 2 begins. "
            "Treasure 1: 0 for each of 3 players inside, 1 on the board.",
        ),
        (
            "11",
            "leave leave stay 14",
            "You leave. Ben leaves. Cleo stays. You take 4 points: 3 collected, 1 from the board. "
            "Ben takes 4 points: 3 collected, 1 from the board. Treasure 14: 14 for the player inside.",
        ),
    ],
)
def test_incan_gold_is_told_in_words(text, words, said):
    events = INCAN_GOLD.story(steps_of(INCAN_GOLD, text, words))
    assert " ".join(told(events, THREE)) == said
    # Nobody hears an answer before all have answered.
    assert INCAN_GOLD.story(steps_of(INCAN_GOLD, "7", "stay leave")) == []


def test_players_inside_decide_at_once_and_agents_after_people():
    seen = []

    def spy(view, legal):
        seen.append(view)
        return legal[1]

    session = begun(INCAN_GOLD, [ScriptedPlayer("first", spy), HumanPlayer("Ann"), ScriptedPlayer("last", spy)])
    assert session.waiting == [1]
    assert [session.legal(seat) for seat in range(3)] == [(LEAVE, STAY)] * 3
    session.choose(1, LEAVE)
    session.reveal()
    assert [INCAN_GOLD.player(view.state) for view in seen] == [0, 2]
    assert all(set(view.state.answers) <= {STAY} for view in seen)
    assert [event.words for event in session.events if isinstance(event, Moved)] == ["stay", "leave", "stay"]
    if session.is_on:
        with pytest.raises(UndoError, match="moves cannot be undone"):
            session.undo()


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_what_a_player_of_incan_gold_knows_does_not_depend_on_answers(seed, n):
    generator, state = np.random.default_rng(seed), INCAN_GOLD.initial()
    for _ in range(n):
        if not INCAN_GOLD.is_terminal(state):
            state = INCAN_GOLD.apply(state, int(generator.choice(INCAN_GOLD.actions(state))))
    for player in range(3):
        known = INCAN_GOLD.known_to(state, player)
        assert known == INCAN_GOLD.known_to(state._replace(answers=tuple(1 - each for each in state.answers)), player)
        assert known == INCAN_GOLD.known_to(state._replace(answers=()), player)
        if player in state.seats and not state.is_drawing:
            assert INCAN_GOLD.player(known) == player
    if INCAN_GOLD.player(state) != CHANCE and not INCAN_GOLD.is_terminal(state):
        known = INCAN_GOLD.known_to(state, INCAN_GOLD.player(state))
        assert INCAN_GOLD.player(known) == INCAN_GOLD.player(state)
        assert np.array_equal(INCAN_GOLD.features(known), INCAN_GOLD.features(state))


def game_events(game, level, seed):
    session = begun(game, [PolicyPlayer(level, policy_at(game, None, level))] * game.n_players, seed)
    while session.is_on:
        session.reveal()
    return session.events


@pytest.mark.parametrize("game", [INCAN_GOLD, Gwent(), Gwent(GwentVariant("random"))], ids=lambda game: game.name)
@pytest.mark.parametrize("level", CARD_LEVELS[:2])
def test_a_game_follows_from_its_seed_and_ends(game, level):
    events = game_events(game, level, 1)
    assert events == game_events(game, level, 1) != game_events(game, level, 2)
    assert isinstance(events[-1], End)
    said = [event for event in events if isinstance(event, Told)]
    if game is INCAN_GOLD:
        assert [event.about for event in said if event.kind == "round"] == [1, 2, 3, 4, 5]
    else:
        decks = [event.words for event in said if event.kind == "deck"]
        assert [len(words.split()) for words in decks] == [27] * (2 if game.n_dealt else 0)
    shown = [GamePresentation(game).event(event, 0, THREE) for event in events]
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize(
    ("cards", "held", "follows"),
    [
        ("13 14 15 11 11", 19, STAY),
        ("13 14 15 11 11 fire", 19, STAY),
        ("13 14 15 11 11 9 fire", 22, LEAVE),
        ("13 14 fire mummy", 8, LEAVE),
        ("13 9 fire mummy", 7, STAY),
    ],
)
def test_the_rule_of_thumb_leaves_by_hazards_and_is_broken_in_one_of_ten_decisions(cards, held, follows):
    state = INCAN_GOLD.state_of(" stay stay stay ".join(cards.split()))
    assert state.held == (held,) * 3
    weights = policy_at(INCAN_GOLD, None, "rule-of-thumb")(state).tolist()
    assert weights == pytest.approx([0.9, 0.1] if follows == LEAVE else [0.1, 0.9])


class Ended(IncanGold):
    """A game that is over before it begins, with given totals."""

    def __init__(self, totals):
        super().__init__()
        self.totals = totals

    def initial(self):
        state = super().initial()
        return state._replace(inside=(False,) * 3, totals=self.totals, is_drawing=False)


@pytest.mark.parametrize(
    ("totals", "end", "words"),
    [
        ((3, 5, 4), End(1), "Ben wins!"),
        ((5, 4, 5), SharedEnd(None, shared=(0, 2)), "You and Cleo share first place."),
        ((1, 5, 5), SharedEnd(None, shared=(1, 2)), "Ben and Cleo share first place."),
        ((5, 5, 5), End(None), "A draw."),
    ],
)
def test_the_end_tells_who_is_first(totals, end, words):
    match = GameMatch(Ended(totals), np.random.default_rng(1))
    assert match.begin()[-1] == end
    assert match.to_move == match.legal(0) == ()
    assert ending_of(end, THREE) == words


GWENT = Gwent()
# Hands of two of four cards; slots would tell what is in a hand.
SMALL = Gwent(GwentVariant("1 1 2 5 / 1 2 3 3", hand_size=2, draws=1, min_cards=4))
TWO = ["you", "Ben"]


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("", "1 5 2 3 second", "You draw 1 5. Ben draws 2 cards. Ben begins round 1."),
        ("1 5 2 3 second", "3", "Ben plays 3."),
        ("1 5 2 3 second 3 5", "pass", "Ben passes."),
        ("1 5 2 3 second 3 5 pass", "pass 2 1", "You pass. You win round 1, 5 to 3. You draw 2. Ben draws 1 card. "
         "You begin round 2."),
        ("1 5 2 3 second 3 5", "2", "Ben plays 2. Ben has no cards left."),
        ("1 2 1 2 second 2 2 1", "1 1 3", "You play 1. Round 1 is a tie at 3: it counts for both. You draw 1. "
         "Ben draws 1 card. You begin round 2."),
    ],
)  # fmt: skip
def test_gwent_is_told_in_words(text, words, said):
    assert " ".join(told(SMALL.story(steps_of(SMALL, text, words)), TWO, game=SMALL)) == said


def test_slots_and_drawn_cards_of_the_other_are_not_told():
    deal = [SMALL.story(steps_of(SMALL, "", f"1 5 {hand} first")) for hand in ("1 2", "2 3", "3 3")]
    assert [event.seen_by(1) for event in deal[0]] != [event.seen_by(1) for event in deal[1]]
    assert len({tuple(event.seen_by(0) for event in events) for events in deal}) == 1
    # A 3 from the first slot or the second: the other hears the same.
    plays = [steps_of(SMALL, f"1 5 {hand} second", "3") for hand in ("2 3", "3 3")]
    assert [steps[0].action for steps in plays] == [2, 1]
    first, second = (SMALL.story(steps) for steps in plays)
    assert first == second == [Moved(1, None, "play 3")]


def shuffled(state, player, generator):
    """A state that differs in what ``player`` does not know."""
    other = 1 - player
    cards = [*state.hands[other], *state.piles[other]]
    generator.shuffle(cards)
    n = len(state.hands[other])
    hands, piles = list(state.hands), list(state.piles)
    hands[other], piles[other] = tuple(sorted(cards[:n])), tuple(sorted(cards[n:]))
    return state._replace(hands=tuple(hands), piles=tuple(piles))


@given(st.integers(0, 2**32), st.integers(0, 40))
def test_nothing_that_a_player_of_gwent_sees_depends_on_the_hand_of_the_other(seed, n):
    generator, state = np.random.default_rng(seed), GWENT.initial()
    while GWENT.player(state) == CHANCE or (n := n - 1) > 0:
        if GWENT.is_terminal(state):
            break
        state = GWENT.apply(state, int(generator.choice(GWENT.actions(state))))
    face = GamePresentation(GWENT)
    for player in (0, 1):
        other = shuffled(state, player, generator)
        known = GWENT.known_to(state, player)
        assert known == GWENT.known_to(other, player)
        assert known.hands[player] == state.hands[player]
        shown = []
        for each in (state, other):
            match = GameMatch(GWENT, np.random.default_rng(seed))
            match._state = each
            shown.append((face.view(match.view(player)), face.moves(match.view(player))))
            if player in match.to_move:
                levels = CARD_LEVELS[:2]
                shown[-1] += tuple(match.draw_choice(player, policy_at(GWENT, None, level)) for level in levels)
        assert shown[0] == shown[1]
        if GWENT.player(state) == player:
            assert GWENT.actions(known) == GWENT.actions(state)
            assert np.array_equal(GWENT.features(known), GWENT.features(state))
