"""``punish-fast enemy validate``: cross-validation of enemies on recorded games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.enemy.choices import ChoicesOptions
from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.options import option, verb
from punish_fast.cli.frame.progress import Progress, Stopwatch
from punish_fast.cli.frame.report import finite, print_table

if TYPE_CHECKING:
    from punish_fast.enemies.cross_validation import GameMean

_MODELS = ("uniform", "parless", "pawnn", "choice-model")


@dataclass(frozen=True, kw_only=True)
class ValidateOptions(ChoicesOptions):
    """Options of ``enemy validate``."""

    models: Annotated[
        str,
        option("Models to compare, the last one with all others; pawnn needs the extra `learn`.", metavar="NAME,..."),
    ] = ",".join(_MODELS)

    def names(self) -> list[str]:
        """The models, each once, in the order given."""
        from punish_fast.runtime.errors import require

        names = list(dict.fromkeys(name.strip() for name in self.models.split(",")))
        for name in names:
            if name not in _MODELS:
                raise UsageError(f"--models names {name!r}, allowed are {', '.join(_MODELS)}")
        if "pawnn" in names:
            require("learn", "jax", "optax")
        return names


@verb(
    "punish-fast enemy validate --db games.db",
    "punish-fast enemy validate --db games.db --models uniform,parless,choice-model --json",
)
def validate(options: ValidateOptions) -> None:
    """Measure how well enemies predict people in games they have not seen: log loss in nats per choice.

    Whole games are held out, so no game is in both the training and the test set.
    """
    import numpy as np

    from punish_fast.enemies.choice_model import FOLDS
    from punish_fast.enemies.counts import locate_choices
    from punish_fast.enemies.cross_validation import (
        Located,
        free_choices,
        games_needed,
        held_out_losses,
        mean_by_games,
    )
    from punish_fast.punish.rules import name_of

    clock, progress = Stopwatch(), Progress(options.quiet)
    names = options.names()
    space, recorded = options.read(games_needed(names, FOLDS))
    choices = Located(*locate_choices(space, recorded.decimal, recorded.action), recorded.game)

    def on_fold(model: str, done: int, folds: int) -> None:
        progress.step(model, done, folds)
        if done == folds:
            progress.start()

    progress.start()
    losses = held_out_losses(space, choices, names, on_fold=on_fold)
    progress.clear()
    game = choices.game[free_choices(space, choices)]
    reference = losses[names[-1]]
    models = {
        name: {
            "nats": _to_json(mean_by_games(loss, game)),
            "above_reference": _to_json(mean_by_games(loss - reference, game)),
        }
        for name, loss in losses.items()
    }
    report = {
        "rules": name_of(space.rules),
        "rules_digest": space.rules.digest,
        "origin": options.note(),
        "games": len(np.unique(choices.game)),
        "choices": len(choices.row),
        "measured": len(game),
        "folds": FOLDS,
        "seed": 0,
        "reference": names[-1],
        "models": models,
        "seconds": clock.total(),
    }
    options.print(report, _print_report)


def _to_json(mean: GameMean) -> dict[str, Any]:
    """A mean in JSON, which has no infinities."""
    error = finite(mean.error)
    return {"mean": finite(mean.value), "error": error, "interval": None if error is None else list(mean.interval)}


def _print_report(report: dict[str, Any]) -> None:
    print(f"{report['games']:,} games in {report['folds']} folds, {report['measured']:,} choices between legal actions")
    print("log loss in nats per choice, with 95% intervals by games")
    print()
    rows = [["model", "loss", "95%", f"above {report['reference']}", "95%"]]
    for name, entry in report["models"].items():
        above = ("", "") if name == report["reference"] else _cells(entry["above_reference"], "+")
        rows.append([name, *_cells(entry["nats"], ""), *above])
    print_table(rows)


def _cells(entry: dict[str, Any], sign: str) -> tuple[str, str]:
    mean = "infinite" if entry["mean"] is None else f"{entry['mean']:{sign}.4f}"
    return mean, "-" if entry["interval"] is None else "{:.4f} to {:.4f}".format(*entry["interval"])
