"""Sessions: secret choices, what each seat is told, and events that follow the rules."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ScriptedPlayer

from bench import reference
from punish_fast.play.events import Clash, Damage, End, Exhaustion, Heal, Reshuffle, Reveal
from punish_fast.play.game_data import GameData, view_of
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import ChoiceError, HumanPlayer, PlaySession, UndoError
from punish_fast.play.words import words_of
from punish_fast.punish import clash
from punish_fast.punish.clash import DODGE, GUARD, clash_effects
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

RULES = PRESETS["tiny"]._replace(redeal="reshuffle", hp=3)
PEOPLE = HumanPlayer("Ann"), HumanPlayer("Ben")


@pytest.fixture(scope="module")
def table():
    return GameData(StateSpace(RULES))


def begun(table, seats=PEOPLE, seed=0, game=0):
    session = PlaySession(PunishMatch(table, seed, game), seats)
    session.begin()
    return session


def with_other_secrets(session, generator):
    """The same session, but with other cards in the hand of seat 1, out of what seat 0 does not see."""
    other = deepcopy(session)
    match, view = other._match, session.view(0)
    cards = generator.permutation(np.repeat(np.arange(5), view.unseen))
    hand = np.bincount(cards[view.deck :], minlength=5)
    match._states[1] = match._states[1]._replace(hand=tuple(hand.tolist()))
    deck = np.bincount(cards[: view.deck], minlength=5)
    match._deck = int(np.flatnonzero((match.data.draws.copies == deck).all(axis=1))[0])
    match._memories[1] = match.data.space.places.mirror[match._memories[0], hand]
    return other


def known_to(session):
    """The view and the events of seat 0."""
    return session.view(0), [event.seen_by(0) for event in session.events]


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_a_view_says_nothing_of_the_enemys_hand_or_pick(table, seed):
    generator = np.random.default_rng(seed)
    session = begun(table, seed=seed)
    while session.is_on:
        before = known_to(session)
        other = with_other_secrets(session, generator)
        assert known_to(other) == before
        other.choose(1, int(generator.choice(other.legal(1))))
        assert known_to(other) == before
        for seat in session.waiting:
            session.choose(seat, int(generator.choice(session.legal(seat))))
        assert known_to(session) == before
        session.reveal()


def test_choices_can_be_taken_back_until_they_are_revealed_and_agents_choose_then(table):
    asked = []
    agent = ScriptedPlayer("bot", lambda view, legal: asked.append(view) or legal[0])
    session = begun(table, (HumanPlayer("Ann"), agent))
    first, second = session.legal(0)[:2]
    session.choose(0, first)
    with pytest.raises(ChoiceError, match="has already chosen; take the choice back first"):
        session.choose(0, second)
    session.take_back(0)
    assert session.waiting == [0]
    session.choose(0, second)
    assert asked == session.waiting == []
    session.reveal()
    assert len(asked) == 1
    assert next(event for event in session.events if isinstance(event, Reveal)).actions[0] == second
    with pytest.raises(ChoiceError, match="no choice to take back"):
        session.take_back(0)


def test_what_the_rules_or_the_moment_forbid_is_refused(table):
    session = begun(table)
    for error, text, call, arguments in (
        (UndoError, "there is no move to undo", session.undo, ()),
        (ChoiceError, "action 90: is illegal; use one of", session.choose, (0, 90)),
        (ChoiceError, "seat 2: has nothing to choose", session.choose, (2, 10)),
        (ChoiceError, "seat 0: has not chosen", session.reveal, ()),
    ):
        with pytest.raises(error, match=text):
            call(*arguments)
    for seat in session.waiting:
        session.choose(seat, session.legal(seat)[0])
    session.reveal()
    before = list(session.events), session.view(0)
    with pytest.raises(UndoError, match="a breath that was revealed cannot be undone"):
        session.undo()
    assert (session.events, session.view(0)) == before
    generator = np.random.default_rng(1)
    while session.is_on:
        for seat in session.waiting:
            session.choose(seat, int(generator.choice(session.legal(seat))))
        session.reveal()
    with pytest.raises(ChoiceError, match="the game is over"):
        session.reveal()
    with pytest.raises(ChoiceError, match="seat 0: has nothing to choose"):
        session.choose(0, 10)


@pytest.mark.parametrize("seed", range(3))
def test_every_change_of_hp_is_told(monkeypatch, seed):
    """A rule can heal within a measure (see ``CONTRIBUTING.md``): here, guards and dodges heal."""

    def healing_effects(rules, is_last=False):
        effects = clash_effects(rules, is_last)
        healed = effects.healed.copy()
        healed[[GUARD, DODGE]] += 2
        return effects._replace(healed=healed)

    rules = RULES._replace(hp=5, breaths=4, hand_size=3, copies=(2, 2, 2, 2, 1))
    clash.status_tables.cache_clear()
    monkeypatch.setattr(clash, "clash_effects", healing_effects)
    try:
        session, told = begun(GameData(StateSpace(rules)), seed=seed), []
        generator = np.random.default_rng(seed)
        while session.is_on:
            hp = [session.view(seat).state.own_hp for seat in (0, 1)]
            for seat in (0, 1):
                session.choose(seat, int(generator.choice(session.legal(seat))))
            since = len(session.events)
            session.reveal()
            for event in session.events[since:]:
                if isinstance(event, Damage | Heal):
                    hp[event.seat] += event.amount * (-1 if isinstance(event, Damage) else 1)
                    assert event.hp == hp[event.seat]
                    told.append(words_of(event, rules, ("you", "Ben")))
                elif isinstance(event, Reshuffle):
                    hp = [before + more for before, more in zip(hp, event.healed, strict=True)]
            if session.is_on:
                assert hp == [session.view(seat).state.own_hp for seat in (0, 1)]
    finally:
        clash.status_tables.cache_clear()
    assert any(" HP (" in words for words in told)


@pytest.mark.parametrize("seed", range(6))
def test_breaths_follow_the_slow_model(table, seed):
    """Every breath leads to the view that ``bench/reference.py`` computes, and events tell of the same."""
    session = begun(table, seed=seed)
    generator = np.random.default_rng(seed)
    while session.is_on:
        views = [reference.State(*session.view(seat).state) for seat in (0, 1)]
        assert reference.mirror(views[0], views[1].hand) == views[1]
        for seat in (0, 1):
            assert view_of(table.space, session.view(seat).state) == replace(session.view(seat), measure=None)
            assert list(session.legal(seat)) == list(reference.legal_actions(RULES, views[seat]))
            session.choose(seat, int(generator.choice(session.legal(seat))))
        since = len(session.events)
        session.reveal()
        reveal, clash, *events = session.events[since:]
        draws = [0 if card is None else card + 1 for card in reveal.drawn]
        moves = [reference.plays_of(action, draw) for action, draw in zip(reveal.actions, draws, strict=True)]
        assert clash == Clash(tuple(5 if move.resolved == 0 else move.resolved - 1 for move in moves))
        after = reference.play(RULES, views[0], *moves)
        hurt = {event.seat: event.hp for event in events if isinstance(event, Damage)}
        assert all(event.amount > 0 for event in events if isinstance(event, Damage))
        if isinstance(after, str):
            fell = len(hurt) == 2 and max(hurt.values()) <= 0
            assert events[-1] == End(0 if after == reference.WIN else 1, fell)
            assert session.winner == events[-1].winner
            assert min(hurt.values()) <= 0
        elif after.breath <= RULES.breaths:
            assert reference.State(*session.view(0).state) == after
            assert {e.seat for e in events if isinstance(e, Exhaustion)} == {
                seat for seat, is_so in enumerate((after.own_exhausted, after.enemy_exhausted)) if is_so
            }
        else:
            redeal, deal = events[-2:]
            assert isinstance(redeal, Reshuffle)
            assert redeal.hp == (after.own_hp, after.enemy_hp)
            left = [hurt.get(seat, hp) for seat, hp in enumerate((views[0].own_hp, views[0].enemy_hp))]
            assert redeal.healed == tuple(hp - was for hp, was in zip(redeal.hp, left, strict=True))
            assert min(np.subtract(deal.hands[0], after.hand)) >= 0
            state = session.view(0).state
            assert (state.breath, state.hand, state.discard) == (1, deal.hands[0], deal.revealed)
