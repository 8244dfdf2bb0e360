from itertools import product

import numpy as np
import pytest
from playing import RULES, Breath, follows, play

from punish_fast.punish.codes import State, split_digits, to_decimal
from punish_fast.punish.states.space import StateSpace
from punish_fast.records import legality
from punish_fast.records.legality import FITS, REASONS, judge


def judged(space: StateSpace, pairs: list[tuple[Breath, Breath | None]]) -> list[int]:
    """The verdict on each breath, given what came after it."""
    breaths = [breath for breath, _ in pairs] + [after or breath for breath, after in pairs]
    digits = [split_digits(np.array([to_decimal(State(*breath[k])) for breath in breaths])) for k in (0, 1)]
    after = [len(pairs) + k if pair[1] else -1 for k, pair in enumerate(pairs)] + [-1] * len(pairs)
    actions = np.array([breath.actions for breath in breaths])
    return judge(space, *digits, actions, np.array(after))[: len(pairs)].tolist()


def successions(game: list[Breath]) -> list[tuple[Breath, Breath | None]]:
    return list(zip(game, [*game[1:], None], strict=True))


@pytest.fixture(scope="module")
def space():
    return StateSpace(RULES)


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
    verdicts = judged(StateSpace(rules), pairs)
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
    assert judged(space, [(first, case) for case in cases.values()]) == list(cases)
    deadly = Breath(own._replace(enemy_hp=1), enemy._replace(own_hp=1), (40, 10))
    assert judged(space, [(deadly, None), (deadly, second)]) == [FITS, legality.OVER]
    fatal = Breath(deadly.enemy, deadly.own, (10, 40))
    assert judged(space, [(fatal, None)]) == [legality.LOST]
