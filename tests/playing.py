"""Random games by the slow model of ``bench/reference.py``, as in logs."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from bench import reference
from punish_fast.punish.codes import State, to_decimal
from punish_fast.punish.rules import PRESETS, Rules
from punish_fast.records.logs import BOTS, RecordedGame, Side, write_log

# The tiny game with the true redeal.
RULES = PRESETS["tiny"]._replace(redeal="reshuffle")
FIRST_ID = 1_600_000_000


class Breath(NamedTuple):
    """Both views of a breath, the winner's first, and both plays."""

    own: reference.State
    enemy: reference.State
    actions: tuple[int, int]


def _play(action: int, deck: list[int]) -> reference.Play:
    return reference.plays_of(action, deck.pop() if reference.is_feint(action) else reference.NO_CARD)


def without(cards: Sequence[int], *piles: reference.Counts) -> reference.Counts:
    """The cards that are left without some piles."""
    return tuple(count - sum(held) for count, *held in zip(cards, *piles, strict=True))


def _deal(
    rules: Rules, generator: np.random.Generator, hands: Sequence[reference.Counts]
) -> tuple[list, reference.Counts, list]:
    deck = generator.permutation(np.repeat(reference.CARDS, without(rules.copies, *hands))).tolist()
    full = []
    for hand in hands:
        drawn = [deck.pop() for _ in range(rules.hand_size - sum(hand))]
        full.append(reference.plus(hand, reference.counts_of(drawn)))
    return full, reference.counts_of([deck.pop() for _ in range(rules.reveal_size)]), deck


def play(rules: Rules, generator: np.random.Generator) -> list[Breath]:
    """The breaths of a game between two random players."""
    hands, revealed, deck = _deal(rules, generator, [(0,) * 5, (0,) * 5])
    view = reference.State(1, hands[0], rules.hp, 0, 0, rules.hp, rules.hand_size, 0, 0, revealed)
    breaths = []
    while True:
        views = view, reference.mirror(view, hands[1])
        actions = tuple(int(generator.choice(reference.legal_actions(rules, each))) for each in views)
        breaths.append(Breath(*views, actions))
        moves = [_play(action, deck) for action in actions]
        after = reference.play(rules, view, *moves)
        if isinstance(after, str):
            return breaths if after == reference.WIN else [Breath(b.enemy, b.own, b.actions[::-1]) for b in breaths]
        hands = [after.hand, reference.minus(hands[1], reference.counts_of([moves[1].picked]))]
        if after.breath > rules.breaths:
            hands, revealed, deck = _deal(rules, generator, hands)
            after = after._replace(breath=1, hand=hands[0], enemy_hand=sum(hands[1]), discard=revealed)
        view = after


def follows(rules: Rules, breath: Breath, after: Breath | None) -> bool:
    """Whether a breath can lead to ``after``, or to the win if that is None, by trying all draws."""
    deck = reference.minus(reference.unseen_cards(rules, breath.own), breath.enemy.hand)
    drawn = [reference.CARDS if reference.is_feint(action) else [reference.NO_CARD] for action in breath.actions]
    for draws in product(*drawn):
        if min(reference.minus(deck, reference.counts_of(draws))) < 0:
            continue
        own, enemy = map(reference.plays_of, breath.actions, draws)
        successor = reference.play(rules, breath.own, own, enemy)
        if isinstance(successor, str) or after is None:
            if successor == reference.WIN and after is None:
                return True
            continue
        kept = successor.hand, reference.minus(breath.enemy.hand, reference.counts_of([enemy.picked]))
        if successor.breath > rules.breaths:
            dealt = list(map(reference.minus, (after.own.hand, after.enemy.hand), kept))
            pool = without(rules.copies, *kept) if rules.redeal != "discard" else successor.discard
            fits = min(*dealt[0], *dealt[1], *without(pool, *dealt, after.own.discard)) >= 0
            fresh = {name: getattr(after.own, name) for name in ("hand", "enemy_hand", "discard")}
            if fits and successor._replace(breath=1, **fresh) == after.own:
                return True
        elif successor == after.own and kept[1] == after.enemy.hand:
            return True
    return False


def side_of(name: str, views: Sequence[reference.State], actions: Sequence[int]) -> Side:
    states = tuple(to_decimal(State(*view)) for view in views)
    return Side(name, tuple(range(len(states))), states, tuple(actions))


def game_of(number: int, names: tuple[str, str], breaths: Sequence[Breath]) -> RecordedGame:
    own, enemy, actions = zip(*breaths, strict=True)
    ours, theirs = zip(*actions, strict=True)
    return RecordedGame(number, side_of(names[0], own, ours), side_of(names[1], enemy, theirs))


def some_games(
    n: int, seed: int = 0, names: Sequence[str] = ("Ann", "Ben", "Cay", "naive"), rules: Rules = RULES
) -> list[RecordedGame]:
    """Games a minute apart, each between two of the players."""
    generator = np.random.default_rng(seed)
    games = []
    for k in range(n):
        pair = generator.permutation(len(names))[:2]
        games.append(game_of(FIRST_ID + 60 * k, (names[pair[0]], names[pair[1]]), play(rules, generator)))
    return games


def with_side(game: RecordedGame, **changes: object) -> RecordedGame:
    """``game`` with another side of the winner."""
    return replace(game, winner=replace(game.winner, **changes))


LAYOUTS = ("breaths", "games")


def written(games: Sequence[RecordedGame], layout: str, state_type: type = int) -> str:
    """Games as a log; in the layout by game, states are numbers or text."""
    if layout == "breaths":
        return write_log(games)
    return "[" + ",\n".join(json.dumps(_entry(game, state_type)) for game in games) + "]\n"


def _entry(game: RecordedGame, state_type: type) -> dict[str, object]:
    entry: dict[str, object] = {"play_timestamp": game.second}
    for key, side in (("winner", game.winner), ("loser", game.loser)):
        is_bot = side.is_bot or side.name in BOTS
        entry[key] = {
            "username": side.name,
            "states": [state_type(state) for state in side.states],
            "actions": side.actions,
            "bot_parameters": {"temperature": side.temperature} if is_bot else None,
        }
    return entry if game.played is None else entry | {"game_id": game.id}
