"""Games played at random by the slow model of ``twin.py``, as logs record them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import twin

from punish_fast.punish.codes import State, to_decimal
from punish_fast.punish.rules import PRESETS, Rules
from punish_fast.records.logs import RecordedGame, Side

# The tiny game with the true redeal.
RULES = PRESETS["tiny"]._replace(redeal="reshuffle")
FIRST_ID = 1_600_000_000


class Breath(NamedTuple):
    """Both views of a breath, the winner's first, and what both did."""

    own: twin.TwinState
    enemy: twin.TwinState
    actions: tuple[int, int]


def _move(action: int, deck: list[int]) -> twin._Move:
    kind, is_feint = twin._decode(action)
    return twin._Move(kind, deck.pop() if is_feint else None)


def _deal(rules: Rules, generator: np.random.Generator, hands: Sequence[twin.Pile]) -> tuple[list, twin.Pile, list]:
    """Hands filled up, revealed cards and deck."""
    left = [count - sum(held) for count, *held in zip(rules.copies, *hands, strict=True)]
    deck = generator.permutation(np.repeat(range(5), left)).tolist()
    full = []
    for hand in hands:
        drawn = [deck.pop() for _ in range(rules.hand_size - sum(hand))]
        full.append(twin._plus(hand, twin._pile(drawn)))
    return full, twin._pile([deck.pop() for _ in range(rules.reveal_size)]), deck


def play(rules: Rules, generator: np.random.Generator) -> list[Breath]:
    """The breaths of a game between players who choose at random."""
    hands, revealed, deck = _deal(rules, generator, [(0,) * 5, (0,) * 5])
    view = twin.TwinState(1, hands[0], rules.hp, 0, 0, rules.hp, rules.hand_size, 0, 0, revealed)
    breaths = []
    while True:
        views = view, twin.mirror(view, hands[1])
        actions = tuple(int(generator.choice(twin.actions(rules, each))) for each in views)
        breaths.append(Breath(*views, actions))
        moves = [_move(action, deck) for action in actions]
        after = twin._after(rules, view, *moves)
        if isinstance(after, str):
            return breaths if after == twin.WIN else [Breath(b.enemy, b.own, b.actions[::-1]) for b in breaths]
        hands = [after.hand, twin._minus(hands[1], twin._pile([moves[1].picked]))]
        if after.breath > rules.breaths:
            hands, revealed, deck = _deal(rules, generator, hands)
            after = after._replace(breath=1, hand=hands[0], enemy_hand=sum(hands[1]), discard=revealed)
        view = after


def follows(rules: Rules, breath: Breath, after: Breath | None) -> bool:
    """Whether a breath can lead to another one, or to the win if there is none; by trying all draws."""
    own, enemy = (twin._decode(action) for action in breath.actions)
    deck = twin._minus(twin._unseen(rules, breath.own), breath.enemy.hand)
    for draws in product(*(range(5) if is_feint else [None] for _, is_feint in (own, enemy))):
        if min(twin._minus(deck, twin._pile(draws))) < 0:
            continue
        successor = twin._after(rules, breath.own, twin._Move(own[0], draws[0]), twin._Move(enemy[0], draws[1]))
        if isinstance(successor, str) or after is None:
            if successor == twin.WIN and after is None:
                return True
            continue
        kept = successor.hand, twin._minus(breath.enemy.hand, twin._pile([enemy[0]]))
        if successor.breath > rules.breaths:
            more = [
                twin._minus(hand, held) for hand, held in zip((after.own.hand, after.enemy.hand), kept, strict=True)
            ]
            pool = twin._minus(twin._minus(tuple(rules.copies), kept[0]), kept[1])
            if rules.redeal == "discard":
                pool = successor.discard
            fits = min(min(pile) for pile in more) >= 0
            fits &= min(twin._minus(twin._minus(twin._minus(pool, more[0]), more[1]), after.own.discard)) >= 0
            fresh = successor._replace(
                breath=1, hand=after.own.hand, enemy_hand=after.own.enemy_hand, discard=after.own.discard
            )
            if fits and fresh == after.own:
                return True
        elif successor == after.own and kept[1] == after.enemy.hand:
            return True
    return False


def side_of(name: str, views: Sequence[twin.TwinState], actions: Sequence[int]) -> Side:
    states = tuple(to_decimal(State(*view)) for view in views)
    return Side(name, tuple(range(len(states))), states, tuple(actions))


def game_of(number: int, names: tuple[str, str], breaths: Sequence[Breath]) -> RecordedGame:
    own, enemy, actions = zip(*breaths, strict=True)
    ours, theirs = zip(*actions, strict=True)
    return RecordedGame(number, side_of(names[0], own, ours), side_of(names[1], enemy, theirs))


def some_games(
    n: int, seed: int = 0, names: Sequence[str] = ("Ann", "Ben", "Cay", "naive"), rules: Rules = RULES
) -> list[RecordedGame]:
    """Games a minute apart, between two of the players each."""
    generator = np.random.default_rng(seed)
    games = []
    for k in range(n):
        pair = generator.permutation(len(names))[:2]
        games.append(game_of(FIRST_ID + 60 * k, (names[pair[0]], names[pair[1]]), play(rules, generator)))
    return games


def with_side(game: RecordedGame, **changes: object) -> RecordedGame:
    """``game`` with another side of the winner."""
    return replace(game, winner=replace(game.winner, **changes))
