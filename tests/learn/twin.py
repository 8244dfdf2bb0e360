"""Textbook Q-learning with dictionaries, on the same random numbers."""

from collections import defaultdict
from typing import Any

import numpy as np

from punish_fast.games.learn.qlearning import Hyperparameters
from punish_fast.runtime import _random
from tests.kernels import calling

_MASK = (1 << 64) - 1


class Dice:
    def __init__(self, seed: int, game: int) -> None:
        words = calling(_random.draw_words)(np.uint64(game), 0, 1, np.uint64(seed))
        self.state = (int(words[0]) << 32) | int(words[1]) | 1

    def next(self) -> int:
        x = self.state
        x ^= (x << 13) & _MASK
        x ^= x >> 7
        x ^= (x << 17) & _MASK
        self.state = x
        return x


class Table:
    def __init__(self) -> None:
        self.q: dict[Any, float] = defaultdict(float)
        self.visits: dict[Any, int] = defaultdict(int)

    def best(self, game, state) -> int:
        values = [self.q[game.position(state), action] for action in game.actions(state)]
        return game.actions(state)[values.index(max(values))]

    def move_towards(self, game, state, action, target, rate) -> None:
        key = game.position(state), action
        self.visits[key] += 1
        self.q[key] += (rate or 1 / self.visits[key]) * (target - self.q[key])


def choose(game, state, table: Table, is_learner: bool, epsilon: float, dice: Dice) -> int:
    word = dice.next()
    actions = game.actions(state)
    if not is_learner or (word >> 11) < int(epsilon * (1 << 53)):
        return actions[((word & 0xFFFFFFFF) * len(actions)) >> 32]
    return table.best(game, state)


def learn_negamax(game, table: Table, method: Hyperparameters, against_self: bool, seed: int, number: int) -> None:
    state, dice, seat = game.initial(), Dice(seed, number), number % 2
    while not game.is_terminal(state):
        mover = game.player(state)
        action = choose(game, state, table, against_self or mover == seat, method.epsilon, dice)
        after = game.apply(state, action)
        if game.is_terminal(after):
            target = game.returns(after)[mover]
        else:
            reply = max(table.q[game.position(after), b] for b in game.actions(after))
            target = method.discount * (reply if game.player(after) == mover else -reply)
        table.move_towards(game, state, action, target, method.rate)
        state = after


def learn_by_author(
    game, tables: list[Table], method: Hyperparameters, against_self: bool, seed: int, number: int
) -> None:
    """The learner has the first table; the other agent has the second and learns only in self-play."""
    state, dice, seat = game.initial(), Dice(seed, number), number % 2
    waiting: dict[int, tuple[Any, int]] = {}
    while not game.is_terminal(state):
        mover = game.player(state)
        own, other = (0, 1) if mover == seat else (1, 0)
        learns = [True, against_self]
        action = choose(game, state, tables[own], learns[own], method.epsilon, dice)
        after = game.apply(state, action)
        returns = game.returns(after)
        if game.is_terminal(after) and learns[own]:
            tables[own].move_towards(game, state, action, returns[mover], method.rate)
        if other in waiting and learns[other]:
            # All actions there are; those that are not legal were never learned.
            best = max(tables[other].q.get((game.position(after), b), 0.0) for b in range(game.n_actions))
            target = returns[1 - mover] if game.is_terminal(after) else method.discount * best
            tables[other].move_towards(game, *waiting[other], target, method.rate)
        waiting[own] = (state, action)
        state = after
