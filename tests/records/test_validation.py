from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from playing import RULES, Breath, follows, game_of, play, some_games, with_side

from punish_fast.punish.codes import State, split_digits, to_decimal
from punish_fast.punish.states.space import StateSpace
from punish_fast.records import validation as legality
from punish_fast.records.logs import Side
from punish_fast.records.validation import (
    FEINTS,
    FITS,
    ILLEGAL,
    REASONS,
    SUCCESSION,
    UNREACHABLE,
    VIEWS,
    breath_verdicts,
    check_games,
)


def kinds(space, game):
    (faults,) = check_games(space, [game])
    return [fault.kind for fault in faults]


def with_digit(game, breath, place, digit):
    """``game`` with another digit in the winner's state of a breath."""
    states = [str(state) for state in game.winner.states]
    states[breath] = states[breath][:place] + str(digit) + states[breath][place + 1 :]
    return with_side(game, states=tuple(map(int, states)))


@pytest.fixture(scope="module")
def long_game():
    return next(game for game in some_games(100, seed=3) if len(game.winner.number) >= 3)


def test_games_that_were_played_have_no_fault(space):
    assert check_games(space, some_games(40, seed=2)) == [[]] * 40
    assert check_games(space, []) == []


def test_unreachable_states_and_illegal_actions_are_fatal(space, long_game):
    for state in (0, 999999999999999999, 301010200220000001, 12):
        assert kinds(space, with_side(long_game, states=(state, *long_game.winner.states[1:]))) == [UNREACHABLE]
    for action in (0, 91, 60, 92, 99):
        wrong = with_side(long_game, actions=(action, *long_game.winner.actions[1:]))
        ((fault,),) = check_games(space, [wrong])
        assert (fault.kind, fault.is_fatal) == (ILLEGAL, True)
        assert fault.reason.startswith(f"breath 1 of {wrong.winner.name}: action {action} (")
    both = with_side(long_game, actions=(91, *long_game.winner.actions[1:]), states=(*long_game.winner.states[:-1], 1))
    assert kinds(space, both) == [UNREACHABLE]
    between = space.state(int(space.layer_ptr[-2]))
    assert between.breath == space.rules.breaths + 1
    wrong = with_side(long_game, states=(to_decimal(between), *long_game.winner.states[1:]))
    assert kinds(space, wrong) == [UNREACHABLE]


def test_views_must_mirror_each_other(space, long_game):
    found = []
    for breath, place in product(range(len(long_game.winner.states)), range(6, 18)):
        digit = int(str(long_game.winner.states[breath])[place])
        changed = [with_digit(long_game, breath, place, other) for other in range(3) if other != digit]
        what = ["HP", "exhausted", "feinted", "HP", "the size of a hand", "exhausted", "feinted"][place - 6 : place - 5]
        text = f"breath {breath + 1}: the views " + (f"differ in {what[0]}" if what else "have different discard piles")
        found += [(faults[0], text) for faults in check_games(space, changed) if not faults[0].is_fatal]
    assert len(found) >= 3
    assert all((fault.kind, fault.reason) == (VIEWS, text) for fault, text in found)
    other = next(g for g in some_games(50, seed=9) if g.winner.states[0] % 10**5 != long_game.winner.states[0] % 10**5)
    swapped = with_side(
        long_game,
        states=(other.winner.states[0], *long_game.winner.states[1:]),
        actions=(other.winner.actions[0], *long_game.winner.actions[1:]),
    )
    assert VIEWS in kinds(space, swapped)
    empty = Side(long_game.loser.name, (), (), ())
    (faults,) = check_games(space, [replace(long_game, loser=empty)])
    assert [fault.kind for fault in faults] == [VIEWS]
    assert faults[0].reason == f"breath 1: {empty.name}'s view is missing"


def without_breath(game, k):
    def without(side):
        parts = {name: getattr(side, name) for name in ("number", "states", "actions")}
        return replace(side, **{name: part[:k] + part[k + 1 :] for name, part in parts.items()})

    return replace(game, winner=without(game.winner), loser=without(game.loser))


def test_games_are_whole(space, long_game):
    (faults,) = check_games(space, [without_breath(long_game, 1)])
    assert [(fault.kind, fault.reason) for fault in faults] == [(SUCCESSION, "breath 2 is missing")]
    late = without_breath(long_game, 0)
    assert kinds(space, late) == [SUCCESSION]
    sides = [replace(side, number=tuple(n - 1 for n in side.number)) for side in (late.winner, late.loser)]
    (faults,) = check_games(space, [replace(late, winner=sides[0], loser=sides[1])])
    assert [fault.reason for fault in faults] == ["breath 1: the game begins with breath 2"]
    (found,) = kinds(space, replace(long_game, winner=long_game.loser, loser=long_game.winner))
    assert found in (SUCCESSION, FEINTS)
    cut = without_breath(long_game, len(long_game.winner.number) - 1)
    (faults,) = check_games(space, [cut])
    assert [fault.reason for fault in faults] == [
        f"after breath {len(cut.winner.number)}: the game ends but nobody has won"
    ]


def test_a_game_begins_with_all_hp():
    """A log that has lost the first measure begins with breath 1 too."""
    rules = RULES._replace(hp=3)
    space, generator = StateSpace(rules), np.random.default_rng(0)
    reasons = []
    for number in range(60):
        breaths = play(rules, generator)
        games = [game_of(number, ("Ann", "Ben"), breaths[k:]) for k, each in enumerate(breaths) if each.own.breath == 1]
        for game, faults in zip(games, check_games(space, games), strict=True):
            hp = {int(str(game.winner.states[0])[place]) for place in (6, 9)}
            assert [fault.kind for fault in faults] == [SUCCESSION] * (hp != {3})
            reasons += [fault.reason for fault in faults]
    assert len(reasons) > 2
    assert set(reasons) == {"breath 1: the game does not begin with full HP"}


def test_breaths_must_follow_from_each_other(space):
    games = [game for game in some_games(60, seed=4) if len(game.winner.number) >= 3]

    def joined(one, two):
        states, actions = one.states[:1] + two.states[1:], one.actions[:1] + two.actions[1:]
        return replace(one, states=states, actions=actions, number=two.number)

    found = set()
    for one, two in pairwise(games):
        mixed = replace(one, winner=joined(one.winner, two.winner), loser=joined(one.loser, two.loser))
        found.update(kinds(space, mixed))
    assert SUCCESSION in found
    assert found <= {SUCCESSION, FEINTS}


def test_feints_written_to_the_wrong_player_are_a_fault_of_their_own(space):
    """The fault of the original: one player's feint stands in both players' choices."""
    shared = []
    for game in some_games(120, seed=5):
        k = next((k for k, a in enumerate(game.winner.actions[:-1]) if a % 10), None)
        if k is None or game.loser.actions[k] % 10 or game.loser.actions[k] == 90:
            continue
        if str(game.loser.states[k])[8] != "1":
            actions = list(game.loser.actions)
            actions[k] += 1
            shared.append(replace(game, loser=replace(game.loser, actions=tuple(actions))))
    assert len(shared) >= 5
    assert {tuple(fault.kind for fault in faults) for faults in check_games(space, shared)} == {(FEINTS,)}


def verdicts_on(space: StateSpace, pairs: list[tuple[Breath, Breath | None]]) -> list[int]:
    """The verdict on each breath, given what came after it."""
    breaths = [breath for breath, _ in pairs] + [after or breath for breath, after in pairs]
    digits = [split_digits(np.array([to_decimal(State(*breath[k])) for breath in breaths])) for k in (0, 1)]
    after = [len(pairs) + k if pair[1] else -1 for k, pair in enumerate(pairs)] + [-1] * len(pairs)
    actions = np.array([breath.actions for breath in breaths])
    return breath_verdicts(space, *digits, actions, np.array(after))[: len(pairs)].tolist()


def successions(game: list[Breath]) -> list[tuple[Breath, Breath | None]]:
    return list(zip(game, [*game[1:], None], strict=True))


@pytest.mark.parametrize("redeal", ["discard", "reshuffle"])
def test_what_may_follow_agrees_with_trying_all_draws(redeal):
    """Breaths of different games, and the same breaths with other actions, in every combination."""
    rules = RULES._replace(redeal=redeal)
    generator = np.random.default_rng(2)
    pairs = []
    for _ in range(40):
        for breath, after in successions(play(RULES, generator)):
            options = [{10 * (a // 10), 10 * (a // 10) + 1} if a != 90 else {90} for a in breath.actions]
            others = [breath._replace(actions=actions) for actions in product(*options)]
            legal = [b for b in others if all(a % 10 == 0 or not v.own_feinted for a, v in zip(b[2], b, strict=False))]
            pairs += [(other, next_one) for other in legal for next_one in (after, None)]
    openings = [(breath, after) for breath, _ in pairs[:40] for _, after in pairs[40:400:9] if after]
    pairs += openings
    expected = [follows(rules, breath, after) for breath, after in pairs]
    assert 50 < sum(expected) < len(pairs) - 50
    verdicts = verdicts_on(StateSpace(rules), pairs)
    assert [verdict == FITS for verdict in verdicts] == expected
    assert set(verdicts) - {FITS} <= set(REASONS)
    assert len(set(verdicts)) >= 6


def test_each_fault_is_named(space):
    """One breath of the tiny game: rush and strike against guard and dodge, punish revealed."""
    own = State(1, (0, 1, 0, 1, 0), 2, 0, 0, 2, 2, 0, 0, (0, 0, 0, 0, 1))
    enemy = own._replace(hand=(1, 0, 1, 0, 0))
    # Strike meets guard and does 1 damage.
    after = State(2, (0, 1, 0, 0, 0), 2, 0, 0, 1, 1, 0, 0, (1, 0, 0, 1, 1))
    against = State(2, (0, 0, 1, 0, 0), 1, 0, 0, 2, 1, 0, 0, (1, 0, 0, 1, 1))
    first = Breath(own, enemy, (40, 10))
    second = Breath(after, against, (20, 30))
    whole = after._replace(enemy_hp=2), against._replace(own_hp=2)
    other = after._replace(hand=(0, 0, 0, 1, 0), discard=(1, 1, 0, 0, 1))
    cases = {
        FITS: second,
        legality.NOT_OVER: None,
        legality.OTHER_STATUS: Breath(*whole, (20, 30)),
        legality.OTHER_BREATH: first,
        legality.OTHER_HAND: Breath(other, against._replace(discard=other.discard), (40, 30)),
        legality.OTHER_CARDS: Breath(
            after._replace(discard=(1, 1, 0, 0, 1)), against._replace(discard=(1, 1, 0, 0, 1)), (20, 30)
        ),
    }
    assert verdicts_on(space, [(first, case) for case in cases.values()]) == list(cases)
    # A card that nobody drew.
    more = Breath(after._replace(hand=(0, 1, 1, 0, 0)), against, (20, 30))
    assert verdicts_on(space, [(first, more)]) == [legality.OTHER_HAND]
    deadly = Breath(own._replace(enemy_hp=1), enemy._replace(own_hp=1), (40, 10))
    assert verdicts_on(space, [(deadly, None), (deadly, second)]) == [FITS, legality.OVER]
    fatal = Breath(deadly.enemy, deadly.own, (10, 40))
    assert verdicts_on(space, [(fatal, None)]) == [legality.LOST]
