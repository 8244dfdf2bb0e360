"""Recorded games of people who play at random, with their information states."""

from typing import NamedTuple

import duel_twin
import numpy as np
from seen import Key, Seen, key_of

from bench import reference
from punish_fast.punish.codes import State, to_decimal
from punish_fast.punish.rules import Rules
from punish_fast.records.games import Choices


class Played(NamedTuple):
    game: int
    is_first: bool
    decimal: int
    action: int
    key: Key


def play_games(rules: Rules, n_games: int, model: str = "memoryless", seed: int = 0) -> tuple[Choices, list[Key]]:
    """Recorded choices and their information states under a model, as `seen.key_of` writes them."""
    generator = np.random.default_rng(seed)
    choices: list[tuple[bool, Played]] = []
    for game in range(n_games):
        played, first_wins = _play(rules, 1000 + game, model, generator)
        for is_winner in (True, False):
            choices += [(is_winner, each) for each in played if (each.is_first == first_wins) == is_winner]
    won, all_played = zip(*choices, strict=True)
    return Choices(
        np.array([each.decimal for each in all_played], dtype=np.int64),
        np.array([each.action for each in all_played], dtype=np.uint8),
        np.array([each.game for each in all_played], dtype=np.int64),
        np.array(won),
        np.array(["Ann" if each.is_first else "Ben" for each in all_played]),
    ), [each.key for each in all_played]


def part_of(choices: Choices, which: np.ndarray) -> Choices:
    return Choices(*(getattr(choices, name)[which] for name in ("decimal", "action", "game", "won", "player")))


def _play(rules: Rules, game: int, model: str, generator: np.random.Generator) -> tuple[list[Played], bool]:
    played: list[Played] = []
    after = duel_twin.begin(rules)
    while True:
        if isinstance(after, duel_twin.Node):
            position = _draw(duel_twin.deal(rules, after), generator)
            seen = Seen(position.view.discard)
        views = position.view, duel_twin.enemy_view(position)
        actions = [int(generator.choice(reference.legal_actions(rules, view))) for view in views]
        for view, what, action, is_first in zip(views, (seen, seen.mirrored), actions, (True, False), strict=True):
            key = key_of(model, view, what)
            played.append(Played(game, is_first, to_decimal(State(*view)), action, key))
        moves = list(reference.clashes(*actions, duel_twin.deck_of(rules, position)))
        own, enemy, _ = moves[generator.choice(len(moves), p=[float(p) for *_, p in moves])]
        after = duel_twin.after(rules, position, own, enemy)
        if isinstance(after, str):
            return played, after == reference.WIN
        seen = seen.after(own, enemy)
        if isinstance(after, duel_twin.Position):
            position = after


def _draw(law: dict, generator: np.random.Generator) -> duel_twin.Position:
    positions = list(law)
    return positions[generator.choice(len(positions), p=[float(law[each]) for each in positions])]
