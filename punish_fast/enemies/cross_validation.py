"""Cross-validation of models of recorded choices.

Games are split into folds. For each fold, a model is fitted to all other folds and predicts the choices in this fold.
Folds consist of whole games, so no game is used both to fit and to test the same model. The log loss of a choice is
``- log p`` nats, where ``p`` is the probability that the model assigns to the choice. Choices in states with a single
legal action have no loss and are omitted.

The choices of one game are not independent, so the mean ``m`` over ``n`` choices is treated as a ratio estimator over
``G`` games (Cochran, Sampling Techniques, 1977). If game ``g`` has ``n_g`` choices with a total loss of ``c_g``, the
standard error of ``m`` is

    sqrt(G / (G - 1) sum_g (c_g - m n_g)^2) / n.

The 95% interval is the mean plus or minus 1.96 standard errors. All models predict the same choices, so differences in
difficulty between games cancel out when models are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np

from punish_fast.enemies.choice_model import FOLDS, choice_probabilities, fit_choice_model
from punish_fast.enemies.counts import count_located, folds_of, require_folds
from punish_fast.enemies.parless import parless
from punish_fast.enemies.pawnn import probabilities
from punish_fast.enemies.training import TrainingOptions, examples_of, train
from punish_fast.punish.codes import digits_of
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask, table_of_policy
from punish_fast.runtime.errors import ArgumentError
from punish_fast.runtime.results import Z_95


@dataclass(frozen=True)
class Located:
    """Recorded choices with the indices of their states and actions."""

    state: np.ndarray  # int64 ``[n]``, indices of the states, from `locate_choices`
    column: np.ndarray  # int64 ``[n]``, columns of the actions, from `locate_choices`
    game: np.ndarray  # int64 ``[n]``, the game of each choice

    def part(self, which: np.ndarray) -> Located:
        """Return the choices selected by an index array or a mask."""
        return Located(self.state[which], self.column[which], self.game[which])


@dataclass(frozen=True)
class GameMean:
    """A mean over choices, with a standard error that accounts for dependence within games."""

    value: float
    error: float  # standard error of the mean

    @property
    def interval(self) -> tuple[float, float]:
        """95% confidence interval, as its lower and upper limit."""
        return self.value - Z_95 * self.error, self.value + Z_95 * self.error


# A function that maps indices of states and a mask of their legal actions to action probabilities.
Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]
Learn = Callable[[StateSpace, Located], Predict]


def _learn_nothing(_space: StateSpace, _choices: Located) -> Predict:
    return lambda _rows, legal: np.asarray(legal / legal.sum(axis=1, keepdims=True))


def _learn_parless(space: StateSpace, choices: Located) -> Predict:
    policy = parless(space, count_located(space, choices.state, choices.column))
    return lambda rows, _legal: table_of_policy(space, policy, rows)


def _learn_pawnn(space: StateSpace, choices: Located) -> Predict:
    counts = count_located(space, choices.state, choices.column)
    network = train(space.rules, examples_of(space, parless(space, counts), counts.state), TrainingOptions()).network
    return lambda rows, legal: probabilities(network, space.rules, digits_of(space, rows), legal)


def _learn_choice_model(space: StateSpace, choices: Located) -> Predict:
    model = fit_choice_model(space, choices.state, choices.column, choices.game)
    return lambda rows, legal: choice_probabilities(space, model, rows, legal)


MODELS: dict[str, Learn] = {
    "uniform": _learn_nothing,
    "parless": _learn_parless,
    "pawnn": _learn_pawnn,
    "logit": _learn_choice_model,
}


def free_choices(space: StateSpace, choices: Located) -> np.ndarray:
    """Return a mask of the legal choices between at least two legal actions, bool ``[n]``."""
    n_legal = legal_mask(space)[choices.state].sum(axis=1)
    return np.asarray((choices.column >= 0) & (n_legal > 1))


def games_needed(models: Iterable[str], n_folds: int) -> int:
    """Return the minimum number of games for `held_out_losses`.

    The choice model needs more games than other models, because it splits its training games into folds as well.
    """
    require_folds(n_folds)
    inner = FOLDS if "logit" in models else 1
    return next(n for n in count(n_folds) if n - -(-n // n_folds) >= inner)


def held_out_losses(
    space: StateSpace,
    choices: Located,
    models: Iterable[str] = tuple(MODELS),
    n_folds: int = 5,
    seed: int = 0,
    on_fold: Callable[[str, int, int], None] | None = None,
) -> dict[str, np.ndarray]:
    """Return the log loss of each choice in `free_choices` under models that were fitted to other games only.

    Args:
        space: The states of the game.
        choices: Recorded choices.
        models: Names of models in `MODELS`.
        n_folds: Number of folds. Games are not divided between folds.
        seed: Random seed of the folds.
        on_fold: Called after each fold with the model, the number of folds done and the total.

    Returns:
        A dictionary from the name of each model to its losses in nats, float64 ``[n_free]``, in the order of the
        choices that `free_choices` selects.
    """
    models = tuple(models)
    fold = folds_of(choices.game, n_folds, seed, "games", games_needed(models, n_folds))
    is_free = free_choices(space, choices)
    if not is_free.any():
        n = len(is_free)
        raise ArgumentError(
            f"choices: 0 of {n:,} were between two or more legal actions; at least 1 is needed to predict"
        )
    losses = {}
    for name in models:
        if name not in MODELS:
            raise ArgumentError(f"model: {name!r} is unknown; the models are {', '.join(MODELS)}")
        loss = np.zeros(len(fold))
        for number in range(n_folds):
            test = (fold == number) & is_free
            predict = MODELS[name](space, choices.part(fold != number))
            p = predict(choices.state[test], legal_mask(space)[choices.state[test]])
            loss[test] = -np.log(p[np.arange(len(p)), choices.column[test]])
            if on_fold is not None:
                on_fold(name, number + 1, n_folds)
        losses[name] = loss[is_free]
    return losses


def mean_by_games(loss: np.ndarray, game: np.ndarray) -> GameMean:
    """Return the mean loss per choice and its standard error. The error is infinite for a single game.

    Args:
        loss: float64 ``[n]``, losses of the choices. ``n`` is at least 1.
        game: ``[n]``, the game of each choice.
    """
    _, place = np.unique(game, return_inverse=True)
    number = np.bincount(place)
    mean = float(loss.mean())
    deviation = np.bincount(place, weights=loss) - mean * number
    n_games = len(number)
    if n_games == 1:
        return GameMean(mean, float("inf"))
    return GameMean(mean, float(np.sqrt(n_games / (n_games - 1) * (deviation**2).sum()) / len(loss)))
