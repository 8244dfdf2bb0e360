"""TapnSwap by its rules, against a model that moves hands rather than fingers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from punish_fast.games.contract import GameError
from punish_fast.games.laws import check_game
from punish_fast.games.tapnswap import Hands, TapnSwap, Variant, count_layouts

VARIANTS = [
    Variant(),
    Variant(rolls_over=True),
    Variant(may_empty=False),
    Variant(swaps=False),
    Variant(rolls_over=True, swaps=False),
    Variant(limit=2),
    Variant(limit=4, may_empty=False),
    Variant(limit=6),
]
NAMES = ["plain", "rolls-over", "no-emptying", "taps-only", "rolling-taps", "limit-2", "limit-4", "limit-6"]


def successors(variant: Variant, own: tuple[int, int], other: tuple[int, int]) -> set:
    """Positions after every move of every hand, written down as the rules are told."""
    found = set()
    for hand, target in product((0, 1), repeat=2):
        if own[hand] and other[target]:
            hit = list(other)
            hit[target] += own[hand]
            if hit[target] >= variant.limit:
                hit[target] = hit[target] % variant.limit if variant.rolls_over else 0
            found.add((tuple(sorted(hit)), tuple(sorted(own))))
    for left in range(sum(own) + 1) if variant.swaps else ():
        split = (left, sum(own) - left)
        fits = max(split) < variant.limit and (variant.may_empty or 0 not in split)
        if fits and sorted(split) != sorted(own):
            found.add((tuple(sorted(other)), tuple(sorted(split))))
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=NAMES)
def test_the_laws_of_games_hold(variant):
    assert check_game(TapnSwap(variant)) > 3


@pytest.mark.parametrize("variant", VARIANTS, ids=NAMES)
def test_moves_are_those_of_the_rules(variant):
    game = TapnSwap(variant)
    pairs = [pair for pair in product(range(variant.limit), repeat=2) if any(pair)]
    for own, other in product(pairs, repeat=2):
        state = Hands(own, other, 0)
        after = [game.apply(state, action) for action in game.actions(state)]
        assert all(each.player == 1 for each in after)
        found = [(tuple(sorted(each.own)), tuple(sorted(each.other))) for each in after]
        assert len(set(found)) == len(found) or variant.rolls_over or 0 in [min(pair) for pair, _ in found]
        assert set(found) == successors(variant, own, other)


def test_nobody_is_ever_without_a_move():
    for variant in VARIANTS:
        game = TapnSwap(variant)
        pairs = [pair for pair in product(range(variant.limit), repeat=2) if any(pair)]
        assert all(game.actions(Hands(own, other, 1)) for own, other in product(pairs, repeat=2))


# All swaps of the original program, which has no others; those of mirrored hands are mirrored, but for equal hands.
SWAPS = {
    (1, 1): [(0, 2)],
    (2, 0): [(1, 1)],
    (2, 1): [(3, 0)],
    (3, 0): [(2, 1)],
    (2, 2): [(1, 3), (0, 4)],
    (3, 1): [(2, 2), (4, 0)],
    (4, 0): [(3, 1), (2, 2)],
    (3, 2): [(4, 1)],
    (4, 1): [(3, 2)],
    (3, 3): [(2, 4)],
    (4, 2): [(3, 3)],
}


def layouts_after(own, other):
    """What the original program makes of both pairs of hands, left and right told apart."""
    for fingers, target in {(a, b) for a in own if a for b in other if b}:
        hit = list(other)
        hit[other.index(target)] = target + fingers if target + fingers < 5 else 0
        yield tuple(hit), own
    mirrored = own[0] < own[1]
    for split in SWAPS.get(own[::-1] if mirrored else own, []):
        yield other, split[::-1] if mirrored else split


def test_layouts_are_those_of_the_original_program():
    found = [((1, 1), (1, 1))]
    for own, other in found:
        if any(own) and any(other):
            found += [each for each in dict.fromkeys(layouts_after(own, other)) if each not in found]
    assert len(found) == count_layouts(TapnSwap()) == 540
    game = TapnSwap()
    for own, other in found:
        state = Hands(own, other, 0)
        after = {game.apply(state, action)[:2] for action in game.actions(state)}
        assert after == (set(layouts_after(own, other)) if any(own) and any(other) else set())


def test_the_first_move_is_one_tap_or_one_swap():
    game = TapnSwap()
    assert [game.action_text(game.initial(), action) for action in game.actions(game.initial())] == [
        "tap 1 on 1",
        "swap to 0-2",
    ]


def test_hands_stay_in_their_places():
    game = TapnSwap()
    state = Hands((3, 1), (2, 4), 0)
    shown = {game.action_text(state, action): game.apply(state, action) for action in game.actions(state)}
    assert shown == {
        "tap 1 on 2": Hands((3, 4), (3, 1), 1),
        "tap 1 on 4": Hands((2, 0), (3, 1), 1),
        "tap 3 on 2": Hands((0, 4), (3, 1), 1),
        "tap 3 on 4": Hands((2, 0), (3, 1), 1),
        "swap to 4-0": Hands((2, 4), (4, 0), 1),
        "swap to 2-2": Hands((2, 4), (2, 2), 1),
    }


@pytest.mark.parametrize(
    ("own", "splits"),
    [
        ((1, 0), []),
        ((0, 2), ["1-1"]),
        ((2, 1), ["3-0"]),
        ((1, 3), ["0-4", "2-2"]),
        ((2, 2), ["0-4", "1-3"]),
        ((2, 3), ["1-4"]),
        ((3, 3), ["2-4"]),
        ((4, 3), []),
    ],
)
def test_swaps_are_all_other_splits(own, splits):
    game = TapnSwap()
    state = Hands(own, (1, 0), 0)
    texts = [game.action_text(state, action) for action in game.actions(state)]
    assert [text.removeprefix("swap to ") for text in texts if text.startswith("swap")] == splits


def test_a_hand_that_is_hit_beyond_the_limit_dies_or_rolls_over():
    state = Hands((4, 0), (3, 1), 0)
    hit = {"dies": TapnSwap(), "rolls": TapnSwap(Variant(rolls_over=True))}
    assert hit["dies"].apply(state, 3 * 4 + 2).own == (0, 1)
    assert hit["rolls"].apply(state, 3 * 4 + 2).own == (2, 1)
    assert hit["rolls"].apply(state, 3 * 4 + 0).own == (3, 0)


def test_the_winner_is_who_has_a_live_hand():
    game = TapnSwap()
    assert game.returns(Hands((0, 0), (1, 0), 0)) == (-1, 1)
    assert game.returns(Hands((0, 0), (1, 0), 1)) == (1, -1)
    assert game.returns(Hands((3, 0), (0, 0), 0)) == (1, -1)


def test_features_have_one_mark_for_every_hand():
    features = TapnSwap().features(Hands((1, 3), (0, 4), 1))
    assert features.reshape(4, 5).argmax(axis=1).tolist() == [3, 1, 4, 0]
    assert features.sum() == 4


@pytest.mark.parametrize("text", ["3-1 2-4", "31/24", "31 24", "3124", " 3-1, 2-4 ", "3 - 1 / 2 - 4"])
def test_states_are_read_from_text(text):
    assert TapnSwap().state_of(text) == Hands((3, 1), (2, 4), 0)


@pytest.mark.parametrize("text", ["", "3-1", "5-0 1-1", "0-0 0-0", "1-1 1-1 1-1", "a-b c-d", "31-24", "-1-1 1-1"])
def test_what_is_no_state_is_refused_in_one_line(text):
    with pytest.raises(GameError, match=r"^state: .* is none, allowed are your two hands .* such as \"3-1 2-4\"$"):
        TapnSwap().state_of(text)


def test_hands_of_ten_fingers_are_read():
    assert TapnSwap(Variant(limit=12)).state_of("10-1 0-11") == Hands((10, 1), (0, 11), 0)


@pytest.mark.parametrize("limit", [1, 17])
def test_impossible_limits_are_refused(limit):
    with pytest.raises(GameError, match=rf"^limit: {limit} is not allowed, it must be from 2 to 16$"):
        TapnSwap(Variant(limit=limit))


def test_actions_that_are_not_legal_are_refused():
    game = TapnSwap()
    with pytest.raises(GameError, match=r"^action: 5 is not legal in 1-1 1-1 player 1, legal are \[0, 16\]$"):
        game.apply(game.initial(), 5)


def test_parameters_tell_variants_apart():
    assert TapnSwap(Variant(limit=6)).parameters() == {
        "limit": 6,
        "rolls_over": False,
        "may_empty": True,
        "swaps": True,
    }
    assert np.unique([repr(TapnSwap(variant).parameters()) for variant in VARIANTS]).size == len(VARIANTS)
