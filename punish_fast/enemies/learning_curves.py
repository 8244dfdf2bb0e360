"""Learning curves: losses of a network after every epoch, on what it is trained on and on what is held out.

The examples are dealt into folds. In each round the network is trained on all folds but one and tested on that one.
The published experiments had this the wrong way round: their networks were trained on one fifth of the examples and
tested on the other four. ``swapped`` does the same, so that they can be compared with what was published; otherwise it
only makes networks look worse than they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.enemies.folds import folds_of
from punish_fast.enemies.training import Examples, train
from punish_fast.enemies.training_options import Method
from punish_fast.punish.rules import Rules
from punish_fast.runtime.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

_SIZE = (7.0, 4.2)  # inches


@dataclass(frozen=True)
class Curve:
    """Losses of one round of cross-validation.

    Attributes:
        n_train: Examples trained on.
        n_test: Examples tested on.
        train: Losses after each epoch on the examples trained on, ``[epochs, 2]``: what was trained for, and mean
            squared error.
        test: The same on the examples held out.
    """

    n_train: int
    n_test: int
    train: np.ndarray
    test: np.ndarray

    def to_mapping(self) -> dict[str, Any]:
        """The curve as it stands in a JSON log."""
        return {
            "n_train": self.n_train,
            "n_test": self.n_test,
            "train_loss": self.train[:, 0].tolist(),
            "test_loss": self.test[:, 0].tolist(),
            "train_mse": self.train[:, 1].tolist(),
            "test_mse": self.test[:, 1].tolist(),
        }


def cross_validate(
    rules: Rules,
    examples: Examples,
    method: Method,
    n_folds: int = 5,
    swapped: bool = False,
    on_epoch: Callable[[int, int], None] | None = None,
) -> list[Curve]:
    """Train and test once for each fold.

    Args:
        rules: The rules of the game.
        examples: States and what to play there; each stands in one fold.
        method: How to train; the deal follows from its seed too.
        n_folds: How many folds.
        swapped: Train on the one fold and test on all others.
        on_epoch: Called with the number of epochs done and in all, all rounds together.

    Raises:
        FoldsError: more folds than examples.
        NetworkError: an option is out of range, or training diverged.
        ExtraError: JAX or Optax is not installed.
    """
    fold = folds_of(np.arange(len(examples)), n_folds, method.seed)
    curves = []
    for number in range(n_folds):

        def count(done: int, _all: int, before: int = number * method.epochs) -> None:
            if on_epoch is not None:
                on_epoch(before + done, n_folds * method.epochs)

        held_out = (fold == number) != swapped
        trained = train(rules, examples.part(~held_out), method, examples.part(held_out), count)
        curves.append(Curve(int((~held_out).sum()), int(held_out.sum()), trained.train, trained.test))
    return curves


def draw_curves(curves: Sequence[Curve], title: str) -> Figure:
    """A picture of mean squared errors by epoch: each round thin, their mean thick, test dashed.

    Raises:
        ExtraError: Matplotlib is not installed.
    """
    require("plot", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    kinds = {
        "trained on": ("0.0", "-", np.stack([curve.train[:, 1] for curve in curves])),
        "held out": ("0.45", "--", np.stack([curve.test[:, 1] for curve in curves])),
    }
    for label, (grey, dash, errors) in kinds.items():
        epochs = np.arange(1, errors.shape[1] + 1)
        axes.plot(epochs, errors.T, color=grey, linestyle=dash, linewidth=0.6, alpha=0.6)
        mean = errors.mean(axis=0)
        axes.plot(epochs, mean, color=grey, linestyle=dash, linewidth=2.2, label=f"{label}: {mean[-1]:.5f} at the end")
    axes.set(title=title, xlabel="epoch", ylabel="mean squared error")
    axes.legend()
    axes.grid(alpha=0.3)
    return figure
