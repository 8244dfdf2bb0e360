"""TapnSwap against a model that moves hands instead of fingers."""

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


def test_moves_and_layouts_of_plain_tapnswap():
    game = TapnSwap()
    assert game.counts() == {"raw_states": 540}
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
    assert game.returns(TapnSwapState((0, 0), (1, 0), 0)) == (-1, 1)
    assert game.returns(TapnSwapState((0, 0), (1, 0), 1)) == (1, -1)
    assert game.returns(TapnSwapState((3, 0), (0, 0), 0)) == (1, -1)
    features = game.features(TapnSwapState((1, 3), (0, 4), 1))
    assert features.reshape(4, 5).argmax(axis=1).tolist() == [3, 1, 4, 0]
    assert features.sum() == 4
    with pytest.raises(GameError, match=r"^action: 5 is illegal; legal: \[0, 16\]$"):
        game.apply(game.initial(), 5)


def test_states_are_read_from_text():
    game = TapnSwap()
    for text in ("3-1 2-4", "31/24", "31 24", "3124", " 3-1, 2-4 ", "3 - 1 / 2 - 4"):
        assert game.state_of(text) == TapnSwapState((3, 1), (2, 4), 0)
    message = r"^position: .* is wrong; use the mover's hands .* such as \"3-1 2-4\"$"
    for text in ("", "3-1", "5-0 1-1", "0-0 0-0", "1-1 1-1 1-1", "a-b c-d", "31-24", "-1-1 1-1"):
        with pytest.raises(GameError, match=message):
            game.state_of(text)


PICTURE = """\
Ben             4            dead
            (=======)     (=======)
             | | | |       n n n n
             | | | |

             | | |         |
             | | | n       | n n n
            (=======)     (=======)
Anna            3             1"""


def test_pictures_and_boards_show_the_hands_of_both_players():
    for state in (TapnSwapState((3, 1), (4, 0), 0), TapnSwapState((4, 0), (3, 1), 1)):
        assert TapnSwap().draw(state, 0, ("Anna", "Ben")) == PICTURE
    game, state = TapnSwap(Variant(limit=6)), TapnSwapState((3, 0), (1, 4), 1)
    assert game.board(state, 1) == {"own": [3, 0], "other": [1, 4], "limit": 6}
    assert game.board(state, 0) == {"own": [1, 4], "other": [3, 0], "limit": 6}


def test_the_rules_fit_the_variant():
    for variant, rule, name in (
        (Variant(), "A hand that reaches 5 fingers dies", "limit 5"),
        (Variant(rolls_over=True, limit=6), "A hand with exactly 6 fingers dies", "limit 6, fingers roll over"),
        (Variant(may_empty=False), "You must not empty a hand.", "limit 5, no emptying"),
        (Variant(swaps=False), "There are no swaps.", "limit 5, taps only"),
    ):
        assert rule in TapnSwap(variant).rules_text()
        assert TapnSwap(variant).variant_text() == f"TapnSwap, {name}"
    for limit in (1, 17):
        with pytest.raises(GameError, match=rf"^limit: {limit} is not allowed; it must be from 2 to 16$"):
            TapnSwap(Variant(limit=limit))
