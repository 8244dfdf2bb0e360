from __future__ import annotations

from itertools import product

import pytest
from houses import house_rules
from hypothesis import given
from hypothesis import strategies as st

from bench import reference
from punish_fast.punish._clash import (
    LOSS,
    REST,
    WIN,
    damage_taken,
    is_exhausting,
    next_status,
    rank,
    winner,
)
from punish_fast.punish._codes import mirror_status, split_between_status, split_status
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS, Rules

STANDARD = PRESETS["notebook"]
GUARD, RUSH, DODGE, STRIKE, PUNISH = range(5)
RESOLVED = range(6)

resolved = st.integers(0, REST)
# The status and feints of a breath, cut down to fit the rules.
positions = st.tuples(st.integers(0, 10**6), st.integers(0, 1), st.integers(0, 1))


def position(rules, numbers):
    """A status, and whether each player feints, if it has a feint left."""
    layout = layout_of(rules)
    status = split_status(layout, numbers[0] % layout.n_statuses)
    own_feints = numbers[1] if status.own_feinted < rules.feints else 0
    enemy_feints = numbers[2] if status.enemy_feinted < rules.feints else 0
    return layout, status, own_feints, enemy_feints


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


def test_standard_damage():
    # Rows: the attack, guard to rest; columns: the card that the other player resolved, guard to rest.
    expected = [
        [0, 0, 0, 0, 0, 0],
        [0, 0, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0],
        [1, 2, 0, 0, 2, 2],
        [2, 3, 0, 3, 0, 3],
        [0, 0, 0, 0, 0, 0],
    ]
    assert [[damage_taken(STANDARD, attack, defence) for defence in RESOLVED] for attack in RESOLVED] == expected


@given(house_rules(), resolved, resolved)
def test_damage_is_that_of_the_exact_model(rules, own, enemy):
    assert damage_taken(rules, enemy, own) == reference.damage(rules, card_of(enemy), card_of(own))


@given(house_rules(), resolved)
def test_equal_cards_do_nothing(rules, card):
    assert damage_taken(rules, card, card) == 0


def test_damage_is_never_negative():
    rules = Rules(guard_reduction=99)
    assert [damage_taken(rules, attack, GUARD) for attack in RESOLVED] == [0] * 6


def test_standard_priority_is_the_order_of_the_cards_with_rest_lowest():
    assert sorted(RESOLVED, key=lambda card: rank(STANDARD, card)) == [REST, GUARD, RUSH, DODGE, STRIKE, PUNISH]


def test_only_punish_exhausts_under_the_standard_rules():
    assert [is_exhausting(STANDARD, card) for card in RESOLVED] == [0, 0, 0, 0, 1, 0]


def test_rest_never_exhausts():
    assert is_exhausting(Rules(exhausting=(1, 1, 1, 1, 1)), REST) == 0


@pytest.mark.parametrize(
    ("own_hp", "enemy_hp", "own", "enemy", "expected"),
    [
        (1, 1, STRIKE, PUNISH, 0),
        (1, 0, PUNISH, STRIKE, WIN),
        (1, -2, PUNISH, STRIKE, WIN),
        (0, 1, STRIKE, PUNISH, LOSS),
        (-1, 2, STRIKE, PUNISH, LOSS),
        (0, 0, STRIKE, PUNISH, WIN),
        (-2, 0, STRIKE, PUNISH, WIN),
        (0, -2, PUNISH, STRIKE, LOSS),
        (0, 0, RUSH, STRIKE, WIN),
    ],
)
def test_the_player_left_standing_or_of_lower_priority_wins(own_hp, enemy_hp, own, enemy, expected):
    assert winner(STANDARD, own_hp, enemy_hp, own, enemy) == expected


@given(house_rules(), positions, resolved, resolved, st.booleans())
def test_status_after_a_clash_is_that_of_the_exact_model(rules, numbers, own, enemy, is_last):
    layout, status, own_feints, enemy_feints = position(rules, numbers)
    own, enemy = min(own, REST - own_feints), min(enemy, REST - enemy_feints)
    after = next_status(rules, layout, status, is_last, own, enemy, own_feints, enemy_feints)
    if after in (WIN, LOSS):
        found = reference.WIN if after == WIN else reference.LOSS
    else:
        found = split_between_status(layout, after) if is_last else split_status(layout, after)
    moves = (move(own, own_feints), move(enemy, enemy_feints))
    assert found == expected_status(rules, status, is_last, moves)


@given(house_rules(), positions, resolved, resolved)
def test_mirrored_clash_has_the_mirrored_result(rules, numbers, own, enemy):
    layout, status, own_feints, enemy_feints = position(rules, numbers)
    after = next_status(rules, layout, status, False, own, enemy, own_feints, enemy_feints)
    mirrored = split_status(layout, mirror_status(layout, status))
    back = next_status(rules, layout, mirrored, False, enemy, own, enemy_feints, own_feints)
    swapped = {WIN: LOSS, LOSS: WIN}
    assert back == (swapped[after] if after in swapped else mirror_status(layout, split_status(layout, after)))


def test_healing_stops_at_full_hp_and_clears_the_statuses():
    layout = layout_of(STANDARD)
    statuses = [split_status(layout, code) for code in range(layout.n_statuses)]
    for status, (own, enemy) in product(statuses, [(GUARD, GUARD), (REST, REST)]):
        own_hp, enemy_hp, _, own_feinted, _, enemy_feinted = status
        after = next_status(STANDARD, layout, status, True, own, enemy, 0, 0)
        healed = (min(3, own_hp + 1), min(3, enemy_hp + 1))
        assert split_between_status(layout, after) == (*healed, own_feinted + enemy_feinted)
