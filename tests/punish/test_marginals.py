from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from exact import random_policy, strategy_of, twin_of
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from bench import reference
from punish_fast.punish import _multisets
from punish_fast.punish._actions import PICKS, PICKS_OR_FEINTS, RESTS, deck_left, enemy_mode
from punish_fast.punish._codes import split_status
from punish_fast.punish.codes import ACTIONS, State, layout_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states import _space
from punish_fast.punish.states._outcomes import DRAW_OF, FEINTS_OF, N_ENEMY_PLAYS, N_PLAYS, PICK_OF
from punish_fast.punish.transitions import _marginals
from punish_fast.punish.transitions._marginals import UNIT
from punish_fast.punish.transitions._tensor import PolicyEnemy

NOTEBOOK = layout_of(PRESETS["notebook"])

piles = st.tuples(*[st.integers(0, 3)] * 5)
small_piles = st.lists(st.integers(0, 4), min_size=1, max_size=6).map(
    lambda kinds: tuple(kinds.count(kind) for kind in range(5))
)


def uniform_play(mode, hand):
    """The enemy's actions as (pick, feint) with their probabilities."""
    if mode == RESTS:
        return {(5, False): Fraction(1)}
    legal = [(kind, feint) for kind in sorted(set(hand)) for feint in (False, True)[:mode]]
    return dict.fromkeys(legal, Fraction(1, len(legal)))


def expected_marginal(unseen, n_hand, mode):
    """Probabilities of all plays, from every order of the unseen cards: enemy hand first, then deck."""
    cards = [kind for kind, count in enumerate(unseen) for _ in range(count)]
    orders = list(permutations(cards))
    expected = defaultdict(Fraction)
    for order in orders:
        hand, deck = order[:n_hand], order[n_hand:]
        for (pick, feint), p in uniform_play(mode, hand).items():
            weight = p / len(orders)
            if not feint:
                play = 0 if pick == 5 else 1 + pick
                expected[play] += weight
                if deck:
                    expected[N_ENEMY_PLAYS * (deck[0] + 1) + play] += weight
                continue
            expected[6 + 5 * pick + deck[0]] += weight
            if len(deck) > 1:
                expected[N_ENEMY_PLAYS * (deck[0] + 1) + 6 + 5 * pick + deck[1]] += weight
    return expected


def uniform_marginal(unseen, n_hand, mode):
    marginal = np.zeros(N_PLAYS)
    _marginals.uniform_marginal(np.array(unseen, dtype=np.int64), n_hand, mode, marginal)
    return marginal


def plays_on(unseen, n_hand, mode):
    """Whether an enemy with so many cards can play in a mode."""
    deck = sum(unseen) - n_hand
    return deck >= 0 and (mode == RESTS or n_hand > 0) and (mode < PICKS_OR_FEINTS or deck > 0)


@given(small_piles, st.integers(0, 5), st.sampled_from([RESTS, PICKS, PICKS_OR_FEINTS]))
def test_uniform_marginal_counts_the_orders_of_the_unseen_cards(unseen, n_hand, mode):
    if not plays_on(unseen, n_hand, mode):
        n_hand, mode = 0, RESTS
    deck = sum(unseen) - n_hand
    marginal = uniform_marginal(unseen, n_hand, mode)
    expected = expected_marginal(unseen, n_hand, mode)
    total = _marginals.denominator(n_hand, deck)
    assert [Fraction(weight) / Fraction(total) for weight in marginal] == [expected[play] for play in range(N_PLAYS)]


@given(piles, st.integers(0, 5), st.sampled_from([RESTS, PICKS, PICKS_OR_FEINTS]))
def test_uniform_marginals_are_whole_numbers_and_add_up_to_the_denominator(unseen, n_hand, mode):
    if not plays_on(unseen, n_hand, mode):
        n_hand, mode = 0, RESTS
    deck = sum(unseen) - n_hand
    marginal = uniform_marginal(unseen, n_hand, mode)
    assert (marginal == np.rint(marginal)).all()
    total = _marginals.denominator(n_hand, deck)
    assert marginal[:N_ENEMY_PLAYS].sum() == total
    if deck >= 2:
        assert marginal[N_ENEMY_PLAYS:].sum() == total


def test_enemy_without_cards_rests():
    marginal = uniform_marginal((1, 1, 0, 0, 0), 0, RESTS)
    assert np.flatnonzero(marginal).tolist() == [0, N_ENEMY_PLAYS, 2 * N_ENEMY_PLAYS]


@pytest.mark.parametrize(
    ("hand", "mode", "expected"),
    [
        ((2, 0, 0, 1, 0), PICKS, {10: 1260, 40: 1260}),
        ((2, 0, 0, 1, 0), PICKS_OR_FEINTS, {10: 630, 11: 630, 40: 630, 41: 630}),
        ((1, 1, 1, 1, 1), PICKS_OR_FEINTS, dict.fromkeys(ACTIONS[:-1], 252)),
        ((2, 0, 0, 1, 0), RESTS, {90: 2520}),
        ((0, 0, 0, 0, 0), RESTS, {90: 2520}),
    ],
)
def test_uniform_weights_are_whole_parts_of_2520(hand, mode, expected):
    weights = np.full(len(ACTIONS), np.nan)
    _marginals.uniform_weights(np.array(hand, dtype=np.int64), mode, weights)
    assert {ACTIONS[k]: weight for k, weight in enumerate(weights) if weight} == expected
    assert UNIT == 2520


def test_denominator_counts_hands_and_draws():
    assert _marginals.denominator(5, 2) == comb(7, 5) * 2 * 1 * 2520
    assert _marginals.denominator(3, 1) == comb(4, 3) * 2520
    assert _marginals.denominator(3, 0) == 2520
    assert _marginals.denominator(np.int64(3), np.int64(0)) == 2520


@given(piles)
def test_unseen_code_is_a_bijection(unseen):
    found = np.zeros(5, dtype=np.int64)
    code = _marginals.unseen_code(NOTEBOOK, np.array(unseen, dtype=np.int64))
    assert 0 <= code < 4**5
    assert _marginals.decode_unseen(NOTEBOOK, code, found) == sum(unseen)
    assert found.tolist() == list(unseen)


def test_uniform_keys_are_all_different():
    keys = {
        _marginals.uniform_key(NOTEBOOK, code, deck, mode)
        for code in range(1024)
        for deck in range(3)
        for mode in range(3)
    }
    assert keys == set(range(1024 * 3 * 3))


def test_uniform_marginals_are_filled_by_key():
    keys = np.array([_marginals.uniform_key(NOTEBOOK, 1023, 2, mode) for mode in range(3)])
    marginals = np.full((3, N_PLAYS), np.nan)
    _marginals.fill_uniform_marginals(0, 3, NOTEBOOK, keys, marginals)
    for mode in range(3):
        assert np.array_equal(marginals[mode], uniform_marginal((3,) * 5, 13, mode))


@njit
def table_row(layout, layer, enemy, status, mode, unseen, hands, marginal):
    """A compiled wrapper of `policy_marginal`, which is inlined into kernels."""
    kinds = np.zeros(5, dtype=np.int64)
    _marginals.policy_marginal(layout, layer, enemy, status, mode, unseen, hands, kinds, marginal)


def policy_marginal(space, enemy, row):
    """The marginal of a state against a policy, as probabilities."""
    number = int(np.searchsorted(space.layer_ptr, row, side="right")) - 1
    layer = space.layers[number]
    block = int(np.searchsorted(layer.first, row, side="right")) - 1
    status = split_status(space.layout, layer.status[row - layer.first[0]])
    piles = np.zeros((3, 5), dtype=np.int64)
    sizes = _space.open_block(space.layout, layer, block, piles)
    n_hand = int(_space.count_enemy_hand(space.layout, status, sizes))
    marginal = np.zeros(N_PLAYS)
    hands = _marginals.room_for_hands(space.layout)
    _marginals.list_hands(space.layout, layer, piles[1], piles[2], hands)
    mode = enemy_mode(space.layout, status, sizes)
    table_row(space.layout, layer, enemy, status, mode, piles[2], hands, marginal)
    return marginal / _marginals.denominator(n_hand, deck_left(space.layout, status))


@given(piles, st.integers(0, 15))
def test_subsets_are_counted(unseen, deck):
    pile = np.array(unseen, dtype=np.int64)
    expected = len(set(combinations([kind for kind, count in enumerate(unseen) for _ in range(count)], deck)))
    assert _multisets.count_subsets(pile, deck) == expected


@pytest.mark.slow
def test_tables_of_hands_have_room_for_all_hands(tiny):
    hands = _marginals.room_for_hands(tiny.layout)
    layer = tiny.layers[0]
    piles = np.zeros((3, 5), dtype=np.int64)
    most = 0
    for block in range(len(layer.cards)):
        _space.open_block(tiny.layout, layer, block, piles)
        _marginals.list_hands(tiny.layout, layer, piles[1], piles[2], hands)
        most = max(most, hands.n_hands.max())
        n = hands.n_hands[0]
        assert (hands.deck[0, :n].sum(axis=1) == tiny.layout.deck_size).all()
        assert (hands.block[0, :n] >= 0).all()
        assert hands.ways[0, :n].sum() == comb(piles[2].sum(), tiny.layout.deck_size)
    assert most <= hands.deck.shape[1]


def test_policy_marginals_come_from_the_mirrored_state_of_every_hand(tiny):
    policy = random_policy(tiny, 6)
    strategy = strategy_of(tiny, policy)
    enemy = PolicyEnemy(tiny.state_ptr, UNIT * policy)
    action_of = 10 * (PICK_OF + 1) + FEINTS_OF
    action_of[0] = 90
    for row in range(0, tiny.layer_ptr[-2], 7):
        state = twin_of(tiny.state(row))
        expected = defaultdict(Fraction)
        for hand, p_hand in reference.hands(reference.unseen_cards(tiny.rules, state), state.enemy_hand).items():
            view = reference.mirror(state, hand)
            for action, p in reference.behaviour(tiny.rules, strategy)(view).items():
                expected[action] += p_hand * p
        marginal = policy_marginal(tiny, enemy, row)[:N_ENEMY_PLAYS]
        played = {action: marginal[action_of == action].sum() for action in ACTIONS}
        assert played == pytest.approx({action: float(expected[action]) for action in ACTIONS}, abs=1e-14)


def test_the_mirror_of_a_state_is_a_state_for_every_hand_of_the_enemy(tiny):
    for row in range(tiny.layer_ptr[-2]):
        state = twin_of(tiny.state(row))
        for hand in reference.hands(reference.unseen_cards(tiny.rules, state), state.enemy_hand):
            view = reference.mirror(state, hand)
            assert twin_of(tiny.state(tiny.row(State(*view)))) == view


def test_plays_without_a_feint_draw_nothing():
    assert (DRAW_OF[:6] == 5).all()
