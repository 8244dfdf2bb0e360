"""TapnSwap against a model that moves hands instead of fingers."""

from __future__ import annotations

from itertools import product

import pytest

from games.laws import check_game
from punish_fast.games.contract import GameError
from punish_fast.games.tapnswap import TapnSwap, TapnSwapState, Variant

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
    """The positions after every move of every hand, straight from the rules."""
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


@pytest.mark.parametrize("variant", VARIANTS[1:3], ids=NAMES[1:3])
def test_the_laws_of_games_hold(variant):
    assert check_game(TapnSwap(variant), 300, 5) > 100


@pytest.mark.parametrize("variant", VARIANTS, ids=NAMES)
def test_moves_are_those_of_the_rules(variant):
    game = TapnSwap(variant)
    pairs = [pair for pair in product(range(variant.limit), repeat=2) if any(pair)]
    for own, other in product(pairs, repeat=2):
        state = TapnSwapState(own, other, 0)
        after = [game.apply(state, action) for action in game.actions(state)]
        assert all(each.player == 1 for each in after)
        found = [(tuple(sorted(each.own)), tuple(sorted(each.other))) for each in after]
        assert len(set(found)) == len(found) or variant.rolls_over or 0 in [min(pair) for pair, _ in found]
        assert set(found) == successors(variant, own, other)


def test_left_and_right_hands_told_apart_make_540_layouts():
    assert TapnSwap().counts() == {"raw_states": 540}


def test_moves_keep_left_and_right_hands_in_place():
    game = TapnSwap()
    state = TapnSwapState((3, 1), (2, 4), 0)
    shown = {game.action_text(state, action): game.apply(state, action) for action in game.actions(state)}
    assert shown == {
        "tap 1 on 2": TapnSwapState((3, 4), (3, 1), 1),
        "tap 1 on 4": TapnSwapState((2, 0), (3, 1), 1),
        "tap 3 on 2": TapnSwapState((0, 4), (3, 1), 1),
        "tap 3 on 4": TapnSwapState((2, 0), (3, 1), 1),
        "swap to 4-0": TapnSwapState((2, 4), (4, 0), 1),
        "swap to 2-2": TapnSwapState((2, 4), (2, 2), 1),
    }


def test_the_winner_has_a_live_hand():
    game = TapnSwap()
    assert game.returns(TapnSwapState((0, 0), (1, 0), 0)) == (-1, 1)
    assert game.returns(TapnSwapState((0, 0), (1, 0), 1)) == (1, -1)
    assert game.returns(TapnSwapState((3, 0), (0, 0), 0)) == (1, -1)


def test_features_have_one_mark_for_every_hand():
    features = TapnSwap().features(TapnSwapState((1, 3), (0, 4), 1))
    assert features.reshape(4, 5).argmax(axis=1).tolist() == [3, 1, 4, 0]
    assert features.sum() == 4


@pytest.mark.parametrize("text", ["3-1 2-4", "31/24", "31 24", "3124", " 3-1, 2-4 ", "3 - 1 / 2 - 4"])
def test_states_are_read_from_text(text):
    assert TapnSwap().state_of(text) == TapnSwapState((3, 1), (2, 4), 0)


@pytest.mark.parametrize("text", ["", "3-1", "5-0 1-1", "0-0 0-0", "1-1 1-1 1-1", "a-b c-d", "31-24", "-1-1 1-1"])
def test_other_texts_are_refused(text):
    with pytest.raises(GameError, match=r"^position: .* is wrong, allowed: the mover's hands .* such as \"3-1 2-4\"$"):
        TapnSwap().state_of(text)


@pytest.mark.parametrize("limit", [1, 17])
def test_impossible_limits_are_refused(limit):
    with pytest.raises(GameError, match=rf"^limit: {limit} is not allowed, it must be from 2 to 16$"):
        TapnSwap(Variant(limit=limit))


def test_actions_that_are_not_legal_are_refused():
    game = TapnSwap()
    with pytest.raises(GameError, match=r"^action: 5 is illegal, legal: \[0, 16\]$"):
        game.apply(game.initial(), 5)


PICTURE = """\
Ben             4            dead
            (=======)     (=======)
             | | | |       n n n n
             | | | |

             | | |         |
             | | | n       | n n n
            (=======)     (=======)
Anna            3             1"""


@pytest.mark.parametrize("state", [TapnSwapState((3, 1), (4, 0), 0), TapnSwapState((4, 0), (3, 1), 1)])
def test_the_viewer_is_drawn_below(state):
    assert TapnSwap().draw(state, 0, ("Anna", "Ben")) == PICTURE


@pytest.mark.parametrize(
    ("variant", "rule", "name"),
    [
        (Variant(), "A hand that reaches 5 fingers dies", "TapnSwap, limit 5"),
        (
            Variant(rolls_over=True, limit=6),
            "A hand with exactly 6 fingers dies",
            "TapnSwap, limit 6, fingers roll over",
        ),
        (Variant(may_empty=False), "You may not empty a hand.", "TapnSwap, limit 5, no emptying"),
        (Variant(swaps=False), "There are no swaps.", "TapnSwap, limit 5, taps only"),
    ],
)
def test_the_rules_fit_the_variant(variant, rule, name):
    assert rule in TapnSwap(variant).rules_text()
    assert TapnSwap(variant).variant_text() == name


def test_a_page_is_told_the_hands_of_both_players():
    game = TapnSwap(Variant(limit=6))
    state = TapnSwapState((3, 0), (1, 4), 1)
    assert game.board(state, 1) == {"own": [3, 0], "other": [1, 4], "limit": 6}
    assert game.board(state, 0) == {"own": [1, 4], "other": [3, 0], "limit": 6}
