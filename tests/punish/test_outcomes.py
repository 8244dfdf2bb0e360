from collections import defaultdict
from itertools import product

import pytest
from houses import house_rules
from hypothesis import given
from hypothesis import strategies as st

from bench import reference
from punish_fast.punish._codes import split_between_status, split_status
from punish_fast.punish._multisets import ADDED
from punish_fast.punish.clash import LOSS, REST, WIN, clash_effects, status_tables
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.outcomes import (
    DRAW_OF,
    FEINT,
    FEINTS_OF,
    N_ENEMY_PLAYS,
    N_PLAYS,
    N_WAYS,
    PICK_OF,
    RESOLVED_OF,
)
from punish_fast.punish.states.space import StateSpace, outcomes_of
from tests.kernels import calling

pytestmark = pytest.mark.kernels

NUMBER = {tuple(counts): number for number, counts in enumerate(ADDED.tolist())}


def next_status(rules, code, is_last, own, enemy, own_feints, enemy_feints):
    return int(status_tables(rules)[int(is_last), code, 2 * own + own_feints, 2 * enemy + enemy_feints])


def possible_plays(space, status, way):
    """Own draws (None without a feint) and enemy plays that a status allows, as numbered in ``outcomes.py``."""
    status = split_status(space.layout, status)
    if way == FEINT and status.own_feinted == space.rules.feints:
        return
    for own_draw in range(5) if way == FEINT else [None]:
        for play in range(N_ENEMY_PLAYS):
            rests = PICK_OF[play] == REST
            if rests == bool(status.enemy_exhausted) and status.enemy_feinted + FEINTS_OF[play] <= space.rules.feints:
                yield own_draw, play


def expected_outcomes(space, code, way, is_last):
    """Plays and multisets by next status and joined cards (None if the game is decided)."""
    expected = defaultdict(list)
    for own_draw, play in possible_plays(space, code, way):
        own = way if own_draw is None else own_draw
        joined = tuple([own_draw, PICK_OF[play], DRAW_OF[play]].count(kind) for kind in range(5))
        feints = int(own_draw is not None), FEINTS_OF[play]
        after = next_status(space.rules, code, is_last, own, RESOLVED_OF[play], *feints)
        number = N_ENEMY_PLAYS * (0 if own_draw is None else own_draw + 1) + play
        expected[after, None if after < 0 else NUMBER[joined]].append((number, NUMBER[joined]))
    return expected


def listed_outcomes(outcomes, status, way):
    """Entries of the tables in order: next status, joined cards, bit mask, plays."""
    index = status * N_WAYS + way
    for k in range(outcomes.ptr[index], outcomes.ptr[index + 1]):
        plays = outcomes.play[outcomes.play_ptr[k] : outcomes.play_ptr[k + 1]].tolist()
        after = int(outcomes.status[k])
        yield after, None if after < 0 else int(outcomes.joined[k]), int(outcomes.mask[k]), plays


def assert_outcomes(space, is_last, statuses):
    outcomes = outcomes_of(space, space.rules.breaths - 1 if is_last else -1)
    for status in statuses:
        for way in range(N_WAYS):
            expected = expected_outcomes(space, status, way, is_last)
            listed = list(listed_outcomes(outcomes, status, way))
            assert len(listed) == len(expected)
            for after, added, mask, plays in listed:
                assert sorted(plays) == sorted(number for number, _ in expected[after, added])
                assert mask == sum({1 << joined for _, joined in expected[after, added]})
            # Undecided outcomes in the order of their successors' codes, then win, then loss.
            order = [(added, after) for after, added, _, _ in listed if after >= 0]
            assert order == sorted(order)
            ends = [after for after, _, _, _ in listed][len(order) :]
            assert ends == sorted(ends, reverse=True)
            assert set(ends) <= {WIN, LOSS}


def test_enemy_plays_are_rest_five_picks_and_twenty_five_feints():
    plays = list(zip(PICK_OF.tolist(), DRAW_OF.tolist(), RESOLVED_OF.tolist(), FEINTS_OF.tolist(), strict=True))
    assert plays[0] == (REST, REST, REST, 0)
    assert plays[1:6] == [(pick, 5, pick, 0) for pick in range(5)]
    assert plays[6:] == [(pick, draw, draw, 1) for pick in range(5) for draw in range(5)]
    assert len(plays) == N_ENEMY_PLAYS
    assert N_PLAYS == 6 * N_ENEMY_PLAYS <= 256, "a play fits in a byte"


@pytest.mark.parametrize("is_last", [False, True])
def test_every_possible_play_is_listed_once_under_its_outcome(is_last):
    space = StateSpace(PRESETS["tiny"])
    assert_outcomes(space, is_last, range(0, space.layout.n_statuses, 5))


@given(house_rules(), st.integers(0, 10**6), st.booleans())
def test_outcomes_of_random_house_rules_are_exact(rules, number, is_last):
    space = StateSpace(rules)
    assert_outcomes(space, is_last, [number % space.layout.n_statuses])


STANDARD = PRESETS["notebook"]
GUARD, PUNISH = 0, 4
RESOLVED = range(6)

resolved = st.integers(0, REST)
# The status and feints of a breath, cut down to fit the rules.
positions = st.tuples(st.integers(0, 10**6), st.integers(0, 1), st.integers(0, 1))


def position(rules, numbers):
    """A status, and whether each player feints, if it has a feint left."""
    layout = layout_of(rules)
    code = numbers[0] % layout.n_statuses
    status = split_status(layout, code)
    own_feints = numbers[1] if status.own_feinted < rules.feints else 0
    enemy_feints = numbers[2] if status.enemy_feinted < rules.feints else 0
    return layout, code, status, own_feints, enemy_feints


def card_of(kind):
    """A resolved kind as a card of the exact model."""
    return 0 if kind == REST else kind + 1


def move(kind, feints):
    return reference.Play(card_of(GUARD), card_of(kind)) if feints else reference.Play(card_of(kind), 0)


def expected_status(rules, status, is_last, moves):
    """The status after the same clash in the exact model, as its parts."""
    own_hp, enemy_hp, own_exhausted, own_feinted, enemy_exhausted, enemy_feinted = status
    cards = (1,) * 5
    state = reference.State(
        rules.breaths if is_last else 0,
        cards,
        *(own_hp, own_exhausted, own_feinted),
        *(enemy_hp, 5, enemy_exhausted, enemy_feinted),
        cards,
    )
    after = reference.play(rules, state, *moves)
    if isinstance(after, str):
        return after
    if is_last:
        drawn = own_feinted + enemy_feinted + sum(one.drawn > 0 for one in moves)
        return after.own_hp, after.enemy_hp, drawn
    parts = (after.own_exhausted, after.own_feinted, after.enemy_exhausted, after.enemy_feinted)
    return after.own_hp, after.enemy_hp, *parts


def test_standard_effects():
    # Rows: the card that a player resolved, guard to rest; columns: the card of the other player, guard to rest.
    taken = [
        [0, 0, 0, 1, 2, 0],
        [0, 0, 0, 2, 3, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 1, 0, 0, 3, 0],
        [0, 1, 0, 2, 0, 0],
        [0, 1, 0, 2, 3, 0],
    ]
    effects = clash_effects(STANDARD)
    assert {table.shape for table in effects} == {(6, 6)}
    assert effects.taken.tolist() == taken
    assert not effects.healed.any()
    assert effects.exhausted.tolist() == [[int(own == PUNISH)] * 6 for own in RESOLVED]
    after = clash_effects(STANDARD, is_last=True)
    assert (after.taken.tolist(), after.healed.min(), after.healed.max()) == (taken, 1, 1)
    assert not after.exhausted.any()


@given(house_rules(), positions, st.booleans())
def test_statuses_after_clashes_are_those_of_the_exact_model(rules, numbers, is_last):
    for number, pair in enumerate(product(RESOLVED, repeat=2), numbers[0]):
        layout, code, status, own_feints, enemy_feints = position(rules, (number, *numbers[1:]))
        own, enemy = min(pair[0], REST - own_feints), min(pair[1], REST - enemy_feints)
        after = next_status(rules, code, is_last, own, enemy, own_feints, enemy_feints)
        if after in (WIN, LOSS):
            found = reference.WIN if after == WIN else reference.LOSS
        else:
            found = calling(split_between_status)(layout, after) if is_last else split_status(layout, after)
        moves = (move(own, own_feints), move(enemy, enemy_feints))
        assert found == expected_status(rules, status, is_last, moves)
