"""``punish-fast enemy validate``: cross-validate enemies on recorded games.

JSON keys:
    *rules_report
    origin (object): Selection of the games.
    games (integer): Number of games.
    choices (integer): Number of recorded choices.
    measured (integer): Number of choices between at least two legal actions.
    folds (integer): Number of folds.
    seed (integer): Random seed of the folds.
    reference (string): Model that the other models are compared with.
    models (object of objects by model): Losses of each model on held-out choices.
        nats (object): Mean negative log likelihood of a choice.
            *_to_json
        above_reference (object): Mean negative log likelihood minus the mean of the reference.
            *_to_json
    seconds (number, seconds): Duration of the command.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from punish_fast.cli.enemy.choices import ChoicesOptions
from punish_fast.cli.frame.options import option, verb
from punish_fast.cli.frame.report import UsageError
from punish_fast.punish.rules import rules_report

if TYPE_CHECKING:
    from punish_fast.enemies.cross_validation import GameMean

_MODELS = ("uniform", "parless", "pawnn", "logit")


class ValidateOptions(ChoicesOptions):
    """Options of ``enemy validate``."""

    models: str = option(
        "Models to compare. The last is the reference for the differences. pawnn needs the extra `learn`.",
        metavar="NAME,...",
        default=",".join(_MODELS),
    )

    def names(self) -> list[str]:
        """Return the models in the given order, without duplicates."""
        from punish_fast.runtime.errors import require

        names = list(dict.fromkeys(name.strip() for name in self.models.split(",")))
        for name in names:
            if name not in _MODELS:
                raise UsageError(f"--models: {name!r} is unknown; the models are {', '.join(_MODELS)}")
        if "pawnn" in names:
            require("jax", "optax")
        return names


@verb(
    "punish-fast enemy validate --db games.db",
    "punish-fast enemy validate --db games.db --models uniform,parless,logit --json",
)
def validate(options: ValidateOptions) -> None:
    """Measure how well enemies predict human players in held-out games: log loss in nats per choice.

    Each game is held out as a whole, so no game is in both the training and the test set.
    """
    from punish_fast.enemies.choice_model import FOLDS
    from punish_fast.enemies.counts import locate_choices
    from punish_fast.enemies.cross_validation import Located, free_choices, games_needed, held_out_losses, mean_by_games

    progress = options.stages.progress
    names = options.names()
    space, recorded = options.read(games_needed(names, FOLDS))
    choices = Located(*locate_choices(space, recorded.decimal, recorded.action), recorded.game)

    def on_fold(model: str, done: int, folds: int) -> None:
        progress.step(model, done, folds)
        if done == folds:
            progress.start()

    progress.start()
    losses = held_out_losses(space, choices, names, on_fold=on_fold)
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
        **rules_report(space.rules),
        "origin": options.note(),
        "games": recorded.n_games,
        "choices": len(choices.state),
        "measured": len(game),
        "folds": FOLDS,
        "seed": 0,
        "reference": names[-1],
        "models": models,
        "seconds": options.stages.clock.total(),
    }
    best = min(models, key=lambda name: models[name]["nats"]["mean"])
    above = {name: mean_by_games(loss - losses[best], game) for name, loss in losses.items() if name != best}
    # NaN if there are too few games for an interval.
    equal = [name for name, mean in above.items() if not mean.interval[0] > 0]
    result = f"{best} predicts best: {models[best]['nats']['mean']:.3f} nats per choice."
    if equal:
        told = f"the 95% interval of its lead over {' and '.join(equal)} contains 0"
        result = f"No model is clearly best. {best} has the lowest loss, but {told}. More games would help."
    options.print(report, result=result, then=("enemy", "logit", *options.given("models")))


def _to_json(mean: GameMean) -> dict[str, Any]:
    """Return a mean as JSON values, without an interval if the error is unknown.

    JSON keys:
        mean (number, nats): Mean over the choices.
        error (number or null, nats): Standard error, clustered by game.
        interval (list of optional numbers, nats): Lower and upper end of the 95% interval.
    """
    interval = mean.interval if math.isfinite(mean.error) else None
    return {"mean": mean.value, "error": mean.error, "interval": interval}
