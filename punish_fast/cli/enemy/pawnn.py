"""``punish-fast enemy pawnn``: train a network on a strategy and save the network's strategy.

JSON keys:
    table (string): Strategy file used for training.
    states (integer): Number of states in the training data.
    training (object): Hyperparameters by name, and the random seed `seed`.
    *write_network
    mse (number): Mean squared error of the network on the training data.
    cross_validation (object): Errors of cross-validation, with `--cross-validate`.
        folds (integer): Number of folds.
        train_mse (number): Mean squared error on the training data.
        test_mse (number): Mean squared error on held-out states.
        train_mse_by_fold (list of numbers): Mean squared error on the training data of each fold.
        test_mse_by_fold (list of numbers): Mean squared error on the held-out states of each fold.
    seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
"""

from __future__ import annotations

from dataclasses import MISSING, asdict, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from punish_fast.cli.enemy.choices import write_network
from punish_fast.cli.frame.options import CommonOptions, FixedSeedOption, OutputOption, option, verb
from punish_fast.cli.frame.outputs import HDF5, default_strategy
from punish_fast.cli.frame.report import UsageError
from punish_fast.cli.frame.settings import changes_of
from punish_fast.punish.rules import rules_report
from punish_fast.runtime.errors import printable, require

if TYPE_CHECKING:
    from punish_fast.enemies.training import Trained, TrainingOptions

_PRESETS = (
    "final, initial, more-hidden, gradient-descent, mse, mse-more-hidden, mse-adam, no-softmax, dropouts, scaled, "
    "one-hot, longer"
)


class PawnnOptions(CommonOptions):
    """Options of ``enemy pawnn``."""

    source: Path = option("Strategy to learn.", "--from", metavar="PARLESS.h5", default=MISSING)
    preset: str = option(f"Hyperparameters of a published experiment: {_PRESETS}.", metavar="NAME", default="final")
    set: list[str] | None = option("Change one hyperparameter. Can be repeated.", metavar="NAME=VALUE")
    seed: FixedSeedOption = 0
    cross_validate: int | None = option("Measure the error by N-fold cross-validation. Write a strategy only with -o.")
    output: OutputOption = None

    def training(self) -> TrainingOptions:
        """Return the training options of the preset with the user's changes."""
        from punish_fast.enemies.training import PRESETS, TrainingOptions

        if self.preset not in PRESETS:
            raise UsageError(f"--preset: {printable(self.preset)!r} is not allowed; it must be one of {_PRESETS}")
        preset, changes = PRESETS[self.preset], changes_of(TrainingOptions, self.set or (), ("seed",))
        # The preset's list of dropout rates is too long if the user sets fewer layers.
        changes.setdefault("dropout", preset.dropout[: len(changes.get("hidden", preset.hidden))])
        return replace(preset, **changes, seed=self.seed)


@verb(
    "punish-fast enemy pawnn --from general.h5 -o pawnn.h5",
    "punish-fast enemy pawnn --from general.h5 --set encoding=one-hot --set epochs=200",
    "punish-fast enemy pawnn --from general.h5 --preset dropouts --cross-validate 5",
)
def pawnn(options: PawnnOptions) -> None:
    """Train the network PAWNN on a strategy and evaluate it on every state (needs the extra `learn`).

    Hyperparameters, with the values of the preset `final` and alternatives in parentheses: hidden=36,24,16,
    dropout=0.5, encoding=raw (scaled, one-hot), softmax=true (false), loss=mse (cross-entropy), optimizer=adam
    (descent), rate=0.001 (by default, 0.1 with descent), epochs=100, batch=1. The default output is named after the
    strategy file: general-pawnn.h5 for general.h5.
    """
    import numpy as np

    from punish_fast.enemies.pawnn import mean_squared_error
    from punish_fast.enemies.training import cross_validate, examples_of, train
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.store.reader import load

    require("jax", "optax")
    training, file, output = options.training(), load(options.source), options.output
    if file.kind != "strategy":
        raise UsageError(f"{options.source}: is of kind {file.kind}; it must be a strategy")
    name = file.attributes["name"]
    origin = {"method": "pawnn", "table": name, **asdict(training)}
    if output is None and options.cross_validate is None:
        output = default_strategy(Path(f"{options.source.stem}-pawnn.h5"), file.rules, origin)
    options.check_outputs(output, endings=HDF5)
    with options.stages("states"):
        space = StateSpace(file.rules)
        examples = examples_of(space, file.policy(space), np.flatnonzero(file.support(space)))
    report: dict[str, Any] = rules_report(space.rules) | {"table": str(options.source), "states": len(examples)}
    report["training"] = asdict(training)
    if options.cross_validate is not None:
        with options.stages("cross-validation"):
            on_epoch = options.stages.progress.steps("cross-validation")
            rounds = cross_validate(space.rules, examples, training, options.cross_validate, on_epoch)
            report["cross_validation"] = _validation_report(rounds)
    if output is not None:
        with options.stages("training"):
            on_epoch = options.stages.progress.steps("training")
            network = train(space.rules, examples, training, on_epoch=on_epoch).network
            mse = mean_squared_error(network, space.rules, examples.digits, examples.p)
        with options.stages.progress.stage("evaluation"):
            report |= write_network(options, space, network, f"PAWNN of {name}", origin | {"mse": mse}, output)
        report["mse"] = mse
    then = ("play", output) if output else ("enemy", "pawnn", "--from", options.source)
    options.print(report | {"seconds": options.stages.clock.seconds_in_all()}, then=then)


def _validation_report(rounds: list[Trained]) -> dict[str, Any]:
    errors = {part: [float(getattr(each, part)[-1, 1]) for each in rounds] for part in ("train", "test")}
    means = {f"{part}_mse": fmean(found) for part, found in errors.items()}
    return {"folds": len(rounds), **means, **{f"{part}_mse_by_fold": found for part, found in errors.items()}}
