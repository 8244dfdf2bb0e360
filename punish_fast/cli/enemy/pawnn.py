"""``punish-fast enemy pawnn``: a strategy from a network trained on another strategy."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from punish_fast.cli.enemy.network import print_network, write_network
from punish_fast.cli.errors import UsageError
from punish_fast.cli.options import CommonOptions, FixedSeedOption, OutputOption, option, verb
from punish_fast.cli.outputs import check_outputs, default_output
from punish_fast.cli.report import Progress, Stopwatch

if TYPE_CHECKING:
    from punish_fast.enemies.training import Examples
    from punish_fast.enemies.training_options import TrainingOptions
    from punish_fast.punish.rules import Rules

Preset = Literal[
    "final",
    "initial",
    "more-hidden",
    "gradient-descent",
    "mse",
    "mse-more-hidden",
    "mse-adam",
    "no-softmax",
    "dropouts",
    "scaled",
    "one-hot",
    "longer",
]
_FROM_PRESET = ("hidden", "dropout", "encoding", "softmax", "loss", "optimiser", "rate", "epochs", "batch", "seed")


@dataclass(frozen=True, kw_only=True)
class PawnnOptions(CommonOptions):
    """Options of ``enemy pawnn``; None stands for the preset's value."""

    source: Annotated[Path, option("The strategy to learn.", "--from", metavar="PARLESS.h5")]
    preset: Annotated[
        Preset, option(f"A published experiment to start from: {', '.join(get_args(Preset))}.", metavar="NAME")
    ] = "final"
    hidden: Annotated[str | None, option("Units of each hidden layer: 36,24,16.", metavar="N,N,...")] = None
    dropout: Annotated[str | None, option("Dropout rate after each hidden layer.", metavar="R,R,...")] = None
    encoding: Annotated[Literal["raw", "scaled", "one-hot"] | None, option("Encoding of the digits.")] = None
    softmax: Annotated[bool | None, option("End in a softmax.", "--softmax/--no-softmax")] = None
    loss: Annotated[Literal["mse", "cross-entropy"] | None, option("Loss.")] = None
    optimiser: Annotated[Literal["adam", "descent"] | None, option("Optimiser.")] = None
    rate: Annotated[float | None, option("Learning rate: 0.001 for adam, 0.1 for descent.", metavar="R")] = None
    epochs: Annotated[int | None, option("Passes over the states.", metavar="N")] = None
    batch: Annotated[int | None, option("States per step.", metavar="N")] = None
    seed: FixedSeedOption = 0
    cross_validate: Annotated[
        int | None,
        option(
            "Measure the error on held-out states, in K folds; trains a final network only with --output or --weights.",
            metavar="K",
        ),
    ] = None
    swapped: Annotated[
        bool, option("Train on one fold and test on all others, as the published experiments did by mistake.")
    ] = False
    log: Annotated[Path | None, option("Write the losses here.", metavar="FILE.json", writes=True)] = None
    plot: Annotated[
        Path | None, option("Plot the learning curves (with --cross-validate).", metavar="FILE", writes=True)
    ] = None
    weights: Annotated[
        Path | None, option("Write the weights in the original's format.", metavar="FILE.json", writes=True)
    ] = None
    output: OutputOption = None

    def training(self) -> TrainingOptions:
        """The options of training: the preset's, with the user's changes.

        Raises:
            UsageError: a list is not a list of numbers.
            NetworkError: an option is out of range.
        """
        from punish_fast.enemies.training_options import PRESETS

        wanted = {name: getattr(self, name) for name in _FROM_PRESET if getattr(self, name) is not None}
        for name, kind in (("hidden", int), ("dropout", float)):
            if name in wanted:
                wanted[name] = _numbers(name, wanted[name], kind)
        if "hidden" in wanted and "dropout" not in wanted:
            # Fewer layers than the preset has leave no room for all of its dropout.
            wanted["dropout"] = PRESETS[self.preset].dropout[: len(wanted["hidden"])]
        return replace(PRESETS[self.preset], **wanted)

    def check(self, training: TrainingOptions) -> Path | None:
        """Check options and outputs before any work; return the strategy file to write, if any.

        Raises:
            UsageError: options exclude each other, or an output is a file that is read.
            FigureError, OutputError: a file cannot be written.
            ExtraError: JAX, Optax or, for a plot, matplotlib is not installed.
        """
        from punish_fast.runtime.extras import require

        require("learn", "jax", "optax")
        for name in ("swapped", "log", "plot"):
            if self.cross_validate is None and getattr(self, name):
                raise UsageError(f"--{name} goes with --cross-validate only")
        if self.weights is not None and (training.encoding != "raw" or not training.softmax):
            raise UsageError("--weights goes with raw digits and a softmax only, the original's format has no others")
        makes_strategy = self.cross_validate is None or self.output is not None or self.weights is not None
        output = self.output or Path(f"{self.source.stem}-pawnn.h5") if makes_strategy else None
        check_outputs([output, self.weights, self.log], [self.source], "learn from", self.plot)
        return output

    def check_replaced(self, output: Path | None, rules: Rules, origin: dict[str, Any]) -> None:
        """Check that a default output does not replace a strategy made with other settings.

        Raises:
            UsageError: it would.
        """
        from punish_fast.punish.rules import name_of

        if output is not None and self.output is None:
            settings = {"kind": "strategy", "rules": name_of(rules), "information": "view"}
            default_output(output, settings | origin)


def _numbers(name: str, text: str, kind: Callable[[str], Any]) -> tuple[Any, ...]:
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UsageError(f"--{name} is {text!r}, allowed are numbers with commas between them") from None


@verb(
    "punish-fast enemy pawnn --from general.h5 -o pawnn.h5",
    "punish-fast enemy pawnn --from general.h5 --encoding one-hot --epochs 200",
    "punish-fast enemy pawnn --from general.h5 --preset dropouts --cross-validate 5 --plot curves.png",
)
def pawnn(options: PawnnOptions) -> None:
    """Train the network PAWNN on a strategy and evaluate it on every state (needs the extra `learn`).

    Options left out are the preset's; the preset final is the published final model. The default output is
    PARLESS-pawnn.h5.
    """
    import numpy as np

    from punish_fast.enemies.training import examples_of
    from punish_fast.punish.rules import name_of
    from punish_fast.punish.space import StateSpace
    from punish_fast.store.reader import load

    clock, progress = Stopwatch(), Progress(options.quiet)
    training = options.training()
    output = options.check(training)
    file = load(options.source)
    if file.kind != "strategy":
        raise UsageError(f"{options.source}: is a file of kind {file.kind}, allowed is a strategy")
    name = file.attributes["name"]
    origin = {"method": "pawnn", "table": name, **asdict(training)}
    options.check_replaced(output, file.rules, origin)
    with progress.stage("states"), clock("states"):
        space = StateSpace(file.rules)
        examples = examples_of(space, file.policy(space), np.flatnonzero(file.covered(space)))
    report: dict[str, Any] = {
        "rules": name_of(space.rules),
        "rules_digest": space.rules.digest,
        "table": str(options.source),
        "states": len(examples),
        "training": asdict(training),
    }
    if options.cross_validate is not None:
        with progress.stage("cross-validation"), clock("cross-validation"):
            report["cross_validation"] = _cross_validate(space.rules, examples, training, options, progress)
    if output is not None:
        with progress.stage("training"), clock("training"):
            trained = _train(space.rules, examples, training, progress)
        origin |= {"mse": trained["mse"]}
        with progress.stage("evaluation"):
            report |= write_network(space, trained["network"], f"PAWNN of {name}", origin, output, clock)
        report |= {"mse": trained["mse"]}
        if options.weights is not None:
            from punish_fast.store.formats.flux import write_flux

            write_flux(options.weights, trained["network"].layers)
            report["weights"] = str(options.weights)
    progress.clear()
    options.print(report | {"seconds": clock.seconds | {"total": clock.total()}}, _print_report)


def _train(rules: Rules, examples: Examples, training: TrainingOptions, progress: Progress) -> dict[str, Any]:
    """A network trained on all examples, and its mean squared error."""
    from punish_fast.enemies.pawnn import mean_squared_error
    from punish_fast.enemies.training import train

    progress.start()
    network = train(rules, examples, training, on_epoch=lambda *step: progress.step("training", *step)).network
    return {"network": network, "mse": mean_squared_error(network, rules, examples.digits, examples.p)}


def _cross_validate(
    rules: Rules, examples: Examples, training: TrainingOptions, options: PawnnOptions, progress: Progress
) -> dict[str, Any]:
    """Cross-validate; write the log and the plot."""
    from statistics import fmean

    from punish_fast.enemies.learning_curves import cross_validate, draw_losses
    from punish_fast.runtime.files import write_text

    folds = options.cross_validate or 0
    progress.start()
    rounds = cross_validate(
        rules, examples, training, folds, options.swapped, lambda *step: progress.step("cross-validation", *step)
    )
    errors = {part: [float(getattr(each, part)[-1, 1]) for each in rounds] for part in ("train", "test")}
    report: dict[str, Any] = {"folds": folds, "swapped": options.swapped}
    report |= {f"{part}_mse": fmean(found) for part, found in errors.items()}
    report |= {f"{part}_mse_by_fold": found for part, found in errors.items()}
    if options.log is not None:
        curves = [each.to_mapping() for each in rounds]
        log = {"training": asdict(training), **report, "curves": curves}
        write_text(options.log, json.dumps(log, indent=1, allow_nan=False) + "\n")
        report["log"] = str(options.log)
    if options.plot is not None:
        how = "trained on one, tested on all others (swapped)" if options.swapped else "each held out once"
        draw_losses(rounds, f"PAWNN, {folds} folds, {how}", options.plot)
        report["plot"] = options.plot
    return report


def _print_report(report: dict[str, Any]) -> None:
    if "cross_validation" in report:
        found = report["cross_validation"]
        print(f"{found['folds']} folds{', trained on one and tested on all others' if found['swapped'] else ''}")
        print(f"mean squared error {found['train_mse']:.7f} in training, {found['test_mse']:.7f} held out")
        for key in ("log", "plot"):
            if key in found:
                print(f"wrote {found[key]}")
    if "mse" in report:
        seconds = report["seconds"]["training"]
        print(f"{report['states']:,} states, {report['training']['epochs']} epochs, {seconds:.1f} s")
        print(f"mean squared error {report['mse']:.7f}")
        print_network(report)
        if "weights" in report:
            print(f"wrote {report['weights']}")
