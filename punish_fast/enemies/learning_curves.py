"""Learning curves: the losses of a network after every epoch, on its training examples and on held-out ones.

The examples are split into folds. Each round trains on all folds but one and tests on that one. The published
experiments did it the other way round: their networks were trained on one fifth of the examples and tested on the other
four. ``swapped`` does the same, for comparison with the published figures; it only makes networks look worse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.enemies.folds import folds_of
from punish_fast.enemies.training import Examples, train
from punish_fast.enemies.training_options import TrainingOptions
from punish_fast.punish.rules import Rules
from punish_fast.runtime.figures import picture
from punish_fast.runtime.plot_style import BLUE, FAINT, VERMILION, set_headline


@dataclass(frozen=True)
class FoldLosses:
    """Losses of one round of cross-validation.

    Attributes:
        n_train: Number of training examples.
        n_test: Number of held-out examples.
        train: float64 ``[epochs, 2]``, the loss and the mean squared error on the training examples after each epoch.
        test: The same on the held-out examples.
    """

    n_train: int
    n_test: int
    train: np.ndarray
    test: np.ndarray

    def to_mapping(self) -> dict[str, Any]:
        """The losses as they stand in a JSON log."""
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
    options: TrainingOptions,
    n_folds: int = 5,
    swapped: bool = False,
    on_epoch: Callable[[int, int], None] | None = None,
) -> list[FoldLosses]:
    """Train and test a network once for each fold.

    Args:
        rules: The rules of the game.
        examples: States and their action probabilities; each is in one fold.
        options: How to train; the split follows from the same random seed.
        n_folds: Number of folds.
        swapped: Train on one fold and test on all others.
        on_epoch: Called after each epoch with the number of epochs done and the total, over all rounds.

    Raises:
        FoldsError: more folds than examples.
        NetworkError: an option is out of range, or training diverged.
        ExtraError: JAX or Optax is not installed.
    """
    fold = folds_of(np.arange(len(examples)), n_folds, options.seed, "states")
    rounds = []
    for number in range(n_folds):

        def count(done: int, _all: int, before: int = number * options.epochs) -> None:
            if on_epoch is not None:
                on_epoch(before + done, n_folds * options.epochs)

        held_out = (fold == number) != swapped
        trained = train(rules, examples.part(~held_out), options, examples.part(held_out), count)
        rounds.append(FoldLosses(int((~held_out).sum()), int(held_out.sum()), trained.train, trained.test))
    return rounds


def draw_losses(rounds: Sequence[FoldLosses], title: str, path: Path) -> None:
    """Draw mean squared errors by epoch into a PNG or SVG file: each round thin, their mean thick.

    Raises:
        FigureError: the suffix is neither .png nor .svg.
        OutputError: the file cannot be written there.
        WriteError: it could not be written to its end.
        ExtraError: matplotlib is not installed.
    """
    train, test = (np.stack([getattr(each, name)[:, 1] for each in rounds]) for name in ("train", "test"))
    epochs = np.arange(1, train.shape[1] + 1)
    with picture(path, "losses") as figure:
        figure.set_size_inches(7.5, 4.5)
        axes = figure.subplots()
        for label, colour, line, errors in (("training", BLUE, "-", train), ("held out", VERMILION, "--", test)):
            axes.plot(epochs, errors.T, color=colour, linestyle=line, linewidth=0.6, alpha=0.5)
            mean = errors.mean(axis=0)
            axes.plot(epochs, mean, color=colour, linestyle=line, linewidth=2.2, label=f"{label}: {mean[-1]:.5f}")
        ends = train[:, -1].mean(), test[:, -1].mean()
        set_headline(
            figure, f"The held-out error ends at {ends[1]:.4f}, {ends[1] / ends[0]:.1f} times the training error"
        )
        axes.set(title=title, xlabel="epoch", ylabel="mean squared error of action probabilities")
        axes.locator_params(axis="x", integer=True)
        axes.grid(color=FAINT)
        axes.legend(title="after the last epoch", alignment="left")
