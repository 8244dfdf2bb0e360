"""How well models predict choices that they have not seen.

Games are dealt into folds. Each model learns from all folds but one and predicts the choices of that one; since whole
games are dealt, the states of one game are never on both sides. A choice costs ``- log p`` nats, ``p`` being the
probability that the model gave it. Choices where only one action is legal cost nothing under any model and are left
out.

The mean over ``n`` choices is a quotient of sums over games, and choices of one game are no independent draws. So its
standard error counts games, as for any ratio estimator (Cochran, Sampling Techniques, 1977): with the cost ``c_g`` and
the number ``n_g`` of the choices of game ``g``, and the mean ``m``, it is

    sqrt(G / (G - 1) sum_g (c_g - m n_g)^2) / n.

The interval of 95 % is the mean and 1.96 standard errors on either side. Models are compared by the costs of the same
choices, so what makes a game hard for all of them cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from punish_fast.enemies.choice_model import fit_habit, habit_probabilities
from punish_fast.enemies.counts import CountsError, count_located
from punish_fast.enemies.folds import folds_of
from punish_fast.enemies.parless import parless
from punish_fast.enemies.pawnn import probabilities
from punish_fast.enemies.training import examples_of, train
from punish_fast.enemies.training_options import TrainingOptions
from punish_fast.punish.codes import digits_of
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import legal_mask, table_of_policy

QUANTILE = 1.96  # of the normal distribution, for an interval of 95 %


@dataclass(frozen=True)
class Located:
    """Recorded choices with their places in a strategy table.

    Attributes:
        row: int64 ``[n]``, rows of the states, from `locate_choices`.
        column: int64 ``[n]``, columns of the actions, likewise.
        game: int64 ``[n]``, the game that each choice belongs to.
    """

    row: np.ndarray
    column: np.ndarray
    game: np.ndarray

    def part(self, which: np.ndarray) -> Located:
        """Some of the choices."""
        return Located(self.row[which], self.column[which], self.game[which])


@dataclass(frozen=True)
class Mean:
    """A mean over choices.

    Attributes:
        value: The mean.
        error: Its standard error, by games.
    """

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of 95 %."""
        return self.value - QUANTILE * self.error, self.value + QUANTILE * self.error


# From rows of states and their legal actions to probabilities.
Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]
Learn = Callable[[StateSpace, Located], Predict]


def _learn_nothing(_space: StateSpace, _choices: Located) -> Predict:
    return lambda _rows, legal: np.asarray(legal / legal.sum(axis=1, keepdims=True))


def _learn_parless(space: StateSpace, choices: Located) -> Predict:
    policy = parless(space, count_located(space, choices.row, choices.column))
    return lambda rows, _legal: table_of_policy(space, policy, rows)


def _learn_pawnn(space: StateSpace, choices: Located) -> Predict:
    counts = count_located(space, choices.row, choices.column)
    network = train(space.rules, examples_of(space, parless(space, counts), counts.state), TrainingOptions()).network
    return lambda rows, legal: probabilities(network, space.rules, digits_of(space, rows), legal)


def _learn_habit(space: StateSpace, choices: Located) -> Predict:
    habit = fit_habit(space, choices.row, choices.column, choices.game)
    return lambda rows, legal: habit_probabilities(space, habit, rows, legal)


MODELS: dict[str, Learn] = {
    "uniform": _learn_nothing,
    "parless": _learn_parless,
    "pawnn": _learn_pawnn,
    "habit": _learn_habit,
}


def free_choices(space: StateSpace, choices: Located) -> np.ndarray:
    """Which choices are measured, bool ``[n]``: legal ones where more than one action is legal."""
    n_legal = legal_mask(space)[choices.row].sum(axis=1)
    return np.asarray((choices.column >= 0) & (n_legal > 1))


def held_out_costs(
    space: StateSpace,
    choices: Located,
    models: Iterable[str] = tuple(MODELS),
    n_folds: int = 5,
    seed: int = 0,
    on_fold: Callable[[str, int, int], None] | None = None,
) -> dict[str, np.ndarray]:
    """What each free choice costs under each model that has not seen its game.

    Args:
        space: The states of the game.
        choices: Recorded choices.
        models: Names of `MODELS`.
        n_folds: Into how many folds the games are dealt.
        seed: What the deal follows from.
        on_fold: Called with the model, the number of folds done and of all, after each.

    Returns:
        By model, nats, float64 ``[n_free]``, in the order of `free_choices`.

    Raises:
        CountsError: there is no such model, or nothing to learn from or to predict.
        FoldsError: more folds than games.
        ExtraError: a model needs JAX, and it is not installed.
    """
    fold = folds_of(choices.game, n_folds, seed)
    is_free = free_choices(space, choices)
    if not is_free.any():
        raise CountsError("choices: none was made where more than one action is legal, so there is nothing to predict")
    costs = {}
    for name in models:
        if name not in MODELS:
            raise CountsError(f"model: {name!r} is not known, allowed are {', '.join(MODELS)}")
        cost = np.zeros(len(fold))
        for number in range(n_folds):
            test = (fold == number) & is_free
            predict = MODELS[name](space, choices.part(fold != number))
            p = predict(choices.row[test], legal_mask(space)[choices.row[test]])
            cost[test] = -np.log(p[np.arange(len(p)), choices.column[test]])
            if on_fold is not None:
                on_fold(name, number + 1, n_folds)
        costs[name] = cost[is_free]
    return costs


def mean_by_games(cost: np.ndarray, game: np.ndarray) -> Mean:
    """The mean cost of a choice and its standard error.

    Args:
        cost: float64 ``[n]``, at least one.
        game: ``[n]``, the game that each choice belongs to; with a single game the error is infinite.
    """
    _, place = np.unique(game, return_inverse=True)
    number = np.bincount(place)
    mean = float(cost.mean())
    deviation = np.bincount(place, weights=cost) - mean * number
    n_games = len(number)
    if n_games == 1:
        return Mean(mean, float("inf"))
    return Mean(mean, float(np.sqrt(n_games / (n_games - 1) * (deviation**2).sum()) / len(cost)))
