from itertools import product

import pytest
from houses import house_rules
from hypothesis import given
from hypothesis import strategies as st

from bench import reference
from punish_fast.duel.breath import clash_effects
from punish_fast.punish._clash import LOSS, REST, WIN, next_status
from punish_fast.punish._codes import split_between_status, split_status
from punish_fast.punish.codes import layout_of
from punish_fast.punish.rules import PRESETS

pytestmark = pytest.mark.kernels

STANDARD = PRESETS["notebook"]
GUARD, PUNISH = 0, 4
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
    assert effects.taken.tolist() == taken
    assert not effects.healed.any()
    assert effects.exhausted.tolist() == [[int(own == PUNISH)] * 6 for own in RESOLVED]
    after = clash_effects(STANDARD, is_last=True)
    assert (after.taken.tolist(), after.healed.min(), after.healed.max()) == (taken, 1, 1)
    assert not after.exhausted.any()


@given(house_rules(), positions, st.booleans())
def test_statuses_after_clashes_are_those_of_the_exact_model(rules, numbers, is_last):
    for number, pair in enumerate(product(RESOLVED, repeat=2), numbers[0]):
        layout, status, own_feints, enemy_feints = position(rules, (number, *numbers[1:]))
        own, enemy = min(pair[0], REST - own_feints), min(pair[1], REST - enemy_feints)
        after = next_status(rules, layout, status, is_last, own, enemy, own_feints, enemy_feints)
        if after in (WIN, LOSS):
            found = reference.WIN if after == WIN else reference.LOSS
        else:
            found = split_between_status(layout, after) if is_last else split_status(layout, after)
        moves = (move(own, own_feints), move(enemy, enemy_feints))
        assert found == expected_status(rules, status, is_last, moves)
