"""Made-up games: players of the tiny game with a taste, some of whose choices are not even legal."""

import numpy as np

from punish_fast.enemies.counts import Counts, count_located
from punish_fast.punish.codes import digits_of
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask


def taste(space: StateSpace, rows: np.ndarray) -> np.ndarray:
    """What the made-up players play, ``[k, 11]``: strikes when the enemy is weak, few feints, else dodges."""
    weak = digits_of(space, rows)[:, 9:10] == 1
    liking = np.array([0.3, 0.1, 0.6, 0.1, 2.0, 0.2, 0.5, 0.1, 0.4, 0.1, 1.0])
    hunting = np.array([0.1, 0.1, 2.0, 0.4, 0.1, 0.1, 4.0, 1.0, 0.7, 0.2, 1.0])
    weight = np.where(weak, hunting, liking) * legal_mask(space)[rows]
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def recorded(
    space: StateSpace, n_games: int = 120, per_game: int = 8, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and games of choices."""
    generator = np.random.default_rng(seed)
    row = generator.integers(0, space.layer_ptr[-2], n_games * per_game)
    p = taste(space, row)
    column = (p.cumsum(axis=1) > generator.random(len(row))[:, np.newaxis]).argmax(axis=1)
    return row, column, np.repeat(1_668_000_000 + np.arange(n_games), per_game)


def recorded_counts(space: StateSpace, **options: int) -> Counts:
    """The same, counted."""
    row, column, _ = recorded(space, **options)
    return count_located(space, row, column)
