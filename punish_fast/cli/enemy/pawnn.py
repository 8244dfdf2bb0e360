"""The commands ``enemy pawnn`` and ``enemy import-flux``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.errors import UsageError
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.report import Progress, Stopwatch, in_units, print_json
from punish_fast.enemies.learning_curves import FoldLosses, cross_validate, draw_losses
from punish_fast.enemies.pawnn import Network, NetworkError, mean_squared_error, network_of, network_policy
from punish_fast.enemies.training import Examples, examples_of, train
from punish_fast.enemies.training_options import PRESETS, TrainingOptions
from punish_fast.punish.rules import Rules, load_rules, name_of
from punish_fast.punish.space import StateSpace
from punish_fast.runtime.extras import require
from punish_fast.runtime.figures import check_picture
from punish_fast.runtime.files import explain, replacing
from punish_fast.store.formats.flux import read_flux, write_flux
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load


@dataclass(frozen=True)
class Validation:
    """Whether and how to cross-validate, and what to write of it."""

    folds: int | None
    swapped: bool
    log: Path | None
    plot: Path | None

    def check(self) -> None:
        """Insist that the options go together.

        Raises:
            UsageError: they do not.
            ExtraError: there is something to draw, and Matplotlib is not installed.
        """
        if self.folds is None:
            for name in ("swapped", "log", "plot"):
                if getattr(self, name):
                    raise UsageError(f"--{name} goes with --cross-validate only")
        if self.plot is not None:
            check_picture(self.plot)


def method_of(preset: str, changes: dict[str, Any]) -> TrainingOptions:
    """The method of a preset with what the user changed; None stands for no change.

    Raises:
        UsageError: there is no such preset, or a list is no list of numbers.
        NetworkError: an option is out of range.
    """
    if preset not in PRESETS:
        raise UsageError(f"--preset is {preset!r}, allowed are {', '.join(PRESETS)}")
    wanted = {name: value for name, value in changes.items() if value is not None}
    for name, kind in (("hidden", int), ("dropout", float)):
        if name in wanted:
            wanted[name] = _numbers(name, wanted[name], kind)
    if "hidden" in wanted and "dropout" not in wanted:
        # Fewer layers than the preset has leave no room for all of its dropout.
        wanted["dropout"] = PRESETS[preset].dropout[: len(wanted["hidden"])]
    return replace(PRESETS[preset], **wanted)


def _numbers(name: str, text: str, kind: Callable[[str], Any]) -> tuple[Any, ...]:
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UsageError(f"--{name} is {text!r}, allowed are numbers with commas between them") from None


def pawnn_command(
    source: Path,
    method: TrainingOptions,
    validation: Validation,
    weights: Path | None,
    output: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run ``punish-fast enemy pawnn``."""
    clock, progress = Stopwatch(), Progress(quiet)
    require("learn", "jax", "optax")
    validation.check()
    if weights is not None and (method.encoding != "raw" or not method.softmax):
        raise UsageError("--weights goes with raw digits and a softmax only: the original's files know nothing else")
    makes_strategy = validation.folds is None or output is not None or weights is not None
    output = output or Path(f"{source.stem}-pawnn.h5")
    wanted = (output if makes_strategy else None, weights, validation.log, validation.plot)
    check_outputs([path for path in wanted if path is not None], [source], "learn from")
    file = load(source)
    if file.kind != "strategy":
        raise UsageError(f"{source}: is a file of kind {file.kind}, allowed is a strategy")
    with clock("states"):
        space = StateSpace(file.rules)
        examples = examples_of(space, file.policy(space), np.flatnonzero(file.covered(space)))
    report: dict[str, Any] = {
        "rules": name_of(space.rules),
        "rules_digest": space.rules.digest,
        "table": str(source),
        "states": len(examples),
        "training": asdict(method),
    }
    if validation.folds is not None:
        with clock("cross-validation"):
            report["cross_validation"] = _cross_validate(space.rules, examples, method, validation, progress)
    if makes_strategy:
        report |= _make(space, examples, file.attributes["name"], method, output, weights, clock, progress)
    progress.clear()
    report["seconds"] = clock.seconds | {"total": clock.total()}
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _make(
    space: StateSpace,
    examples: Examples,
    table_name: str,
    method: TrainingOptions,
    output: Path,
    weights: Path | None,
    clock: Stopwatch,
    progress: Progress,
) -> dict[str, Any]:
    """Train on the whole table and write what comes of it."""
    with clock("training"):
        progress.start()
        trained = train(
            space.rules,
            examples,
            method,
            on_epoch=lambda done, total: progress.step("training", done, total),
        )
    error = mean_squared_error(trained.network, space.rules, examples.digits, examples.p)
    origin = {"method": "pawnn", "table": table_name, **asdict(method), "mse": error}
    report = _write_strategy(space, trained.network, f"PAWNN of {table_name}", origin, output, clock)
    if weights is not None:
        write_flux(weights, trained.network.layers)
        report["weights"] = str(weights)
    return report | {"mse": error}


def _write_strategy(
    space: StateSpace, network: Network, name: str, origin: dict[str, Any], output: Path, clock: Stopwatch
) -> dict[str, Any]:
    with clock("evaluation"):
        policy = network_policy(space, network)
    with clock("store"):
        save_policy(output, space, policy, name=name, origin=origin)
    return {
        "name": name,
        "origin": origin,
        "evaluated": space.n_states,
        "output": str(output),
        "output_bytes": output.stat().st_size,
    }


def _cross_validate(
    rules: Rules, examples: Examples, method: TrainingOptions, validation: Validation, progress: Progress
) -> dict[str, Any]:
    assert validation.folds is not None
    progress.start()
    curves = cross_validate(
        rules,
        examples,
        method,
        validation.folds,
        validation.swapped,
        lambda done, total: progress.step("cross-validation", done, total),
    )
    final = {part: [float(getattr(curve, part)[-1, 1]) for curve in curves] for part in ("train", "test")}
    report: dict[str, Any] = {"folds": validation.folds, "swapped": validation.swapped}
    report |= {f"{part}_mse": float(np.mean(errors)) for part, errors in final.items()}
    report |= {f"{part}_mse_by_fold": errors for part, errors in final.items()}
    if validation.log is not None:
        _write_log(validation.log, {"training": asdict(method), **report}, curves)
        report["log"] = str(validation.log)
    if validation.plot is not None:
        draw_losses(curves, _title(validation), validation.plot)
        report["plot"] = str(validation.plot)
    return report


def _title(validation: Validation) -> str:
    how = "trained on one, tested on all others (swapped)" if validation.swapped else "each held out once"
    return f"PAWNN, {validation.folds} folds, {how}"


def _write_log(path: Path, report: dict[str, Any], curves: list[FoldLosses]) -> None:
    text = json.dumps(report | {"curves": [curve.to_mapping() for curve in curves]}, indent=1, allow_nan=False)
    with replacing(path) as temporary:
        try:
            temporary.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise explain(path, error) from None


def import_command(parameters: Path, rules: str | None, output: Path | None, as_json: bool) -> None:
    """Run ``punish-fast enemy import-flux``."""
    clock = Stopwatch()
    output = output or Path(f"{parameters.stem}.h5")
    check_outputs([output], [parameters], "learn from")
    chosen = load_rules(rules or "notebook")
    layers = read_flux(parameters)
    try:
        network = network_of(chosen, layers)
    except NetworkError as error:
        raise NetworkError(f"{parameters}: {error}") from None
    with clock("states"):
        space = StateSpace(chosen)
    origin = {"method": "import-flux", "file": parameters.name}
    report: dict[str, Any] = {
        "rules": name_of(chosen),
        "rules_digest": chosen.digest,
        "units": [len(network.layers[0][0]), *(len(bias) for _, bias in network.layers)],
        **_write_strategy(space, network, parameters.stem, origin, output, clock),
    }
    report["seconds"] = clock.seconds | {"total": clock.total()}
    if as_json:
        print_json(report)
    else:
        print(f"a network of {'-'.join(map(str, report['units']))} units")
        _print_strategy(report)


def _print_report(report: dict[str, Any]) -> None:
    if "cross_validation" in report:
        found = report["cross_validation"]
        print(f"{found['folds']} folds{', trained on one and tested on all others' if found['swapped'] else ''}")
        print(f"mean squared error {found['train_mse']:.7f} on what was trained on, {found['test_mse']:.7f} held out")
        for key in ("log", "plot"):
            if key in found:
                print(f"wrote {found[key]}")
    if "mse" in report:
        print(f"{report['states']:,} states, {report['training']['epochs']} epochs, {_seconds(report, 'training')}")
        print(f"mean squared error {report['mse']:.7f}")
        _print_strategy(report)
        if "weights" in report:
            print(f"wrote {report['weights']}")


def _print_strategy(report: dict[str, Any]) -> None:
    print(f"evaluated {report['evaluated']:,} states in {_seconds(report, 'evaluation')}")
    print(f"wrote {report['name']} to {report['output']} ({in_units(report['output_bytes'], 'B')})")


def _seconds(report: dict[str, Any], stage: str) -> str:
    return f"{report['seconds'][stage]:.1f} s"
