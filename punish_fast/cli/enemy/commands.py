"""The commands of ``punish-fast enemy`` that learn more than counts, and how well they do.

Nothing heavy is imported here.
"""

from pathlib import Path
from typing import Annotated

import typer

from punish_fast.cli.enemy.group import DatabaseOption, PlayerOption, SinceOption, UntilOption, WinnersOption, enemy
from punish_fast.cli.plain_options import JsonOption, OutputOption, QuietOption, RulesOption
from punish_fast.cli.startup import prepare_kernels

# With this file imported, the group is whole.
group = enemy

SeedOption = Annotated[
    int, typer.Option(metavar="N", envvar="PUNISH_FAST_SEED", help="What everything random follows from.")
]


@enemy.command(
    epilog="Examples: punish-fast enemy pawnn --from general.h5 -o pawnn.h5; "
    "punish-fast enemy pawnn --from general.h5 --encoding one-hot --epochs 200; "
    "punish-fast enemy pawnn --from general.h5 --preset dropouts --cross-validate 5 --plot curves.png --log curves.json"
)
def pawnn(  # noqa: PLR0913, PLR0917 - every option of the command is a parameter
    source: Annotated[
        Path, typer.Option("--from", metavar="PARLESS.h5", envvar="PUNISH_FAST_FROM", help="The strategy to learn.")
    ],
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="PUNISH_FAST_PRESET",
            help="A published experiment to start from: final, initial, more-hidden, gradient-descent, mse, "
            "mse-more-hidden, mse-adam, no-softmax, dropouts, scaled, one-hot, longer.",
        ),
    ] = "final",
    hidden: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", envvar="PUNISH_FAST_HIDDEN", help="Units of each hidden layer: 36,24,16."),
    ] = None,
    dropout: Annotated[
        str | None,
        typer.Option(
            metavar="R,R,...",
            envvar="PUNISH_FAST_DROPOUT",
            help="Dropout after each hidden layer; 0.5 is after the first.",
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="raw|scaled|one-hot", envvar="PUNISH_FAST_ENCODING", help="How the digits are fed in."),
    ] = None,
    softmax: Annotated[
        bool | None, typer.Option("--softmax/--no-softmax", envvar="PUNISH_FAST_SOFTMAX", help="End in a softmax.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="mse|cross-entropy", envvar="PUNISH_FAST_LOSS", help="What to lessen.")
    ] = None,
    optimiser: Annotated[
        str | None, typer.Option(metavar="adam|descent", envvar="PUNISH_FAST_OPTIMISER", help="How to lessen it.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(metavar="R", envvar="PUNISH_FAST_RATE", help="Learning rate: 0.001 for adam, 0.1 for descent."),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", envvar="PUNISH_FAST_EPOCHS", help="How often to use every state.")
    ] = None,
    batch: Annotated[int | None, typer.Option(metavar="N", envvar="PUNISH_FAST_BATCH", help="States per step.")] = None,
    seed: SeedOption = 0,
    cross_validate: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            envvar="PUNISH_FAST_CROSS_VALIDATE",
            help="Deal the states into K folds and measure on what was held out; makes a strategy only with --output.",
        ),
    ] = None,
    swapped: Annotated[
        bool,
        typer.Option(
            "--swapped",
            envvar="PUNISH_FAST_SWAPPED",
            help="Train on one fold and test on all others, as the published experiments did by mistake.",
        ),
    ] = False,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE.json", envvar="PUNISH_FAST_LOG", help="Write the losses here.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png|svg", envvar="PUNISH_FAST_PLOT", help="Draw the losses here (extra plot)."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", envvar="PUNISH_FAST_WEIGHTS", help="Write the weights as the original does."),
    ] = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train the network PAWNN on a strategy, and let it play every state (extra learn).

    Options left out are the preset's; the preset final is the published final model. By default written to
    PARLESS-pawnn.h5.
    """
    prepare_kernels()
    from punish_fast.cli.enemy import pawnn

    changes = {
        "hidden": hidden,
        "dropout": dropout,
        "encoding": encoding,
        "softmax": softmax,
        "loss": loss,
        "optimiser": optimiser,
        "rate": rate,
        "epochs": epochs,
        "batch": batch,
        "seed": seed,
    }
    validation = pawnn.Validation(cross_validate, swapped, log, plot)
    pawnn.pawnn_command(source, pawnn.method_of(preset, changes), validation, weights, output, as_json, quiet)


@enemy.command(
    "import-flux",
    epilog="Example: punish-fast enemy import-flux general_pawnn_parameters.json -o general-pawnn.h5",
)
def import_flux(
    parameters: Annotated[
        Path, typer.Argument(metavar="PARAMS.json", help="Weights and biases of each layer in order, as Flux has them.")
    ],
    rules: RulesOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a strategy of the original's published weights, or of any network of relus and a softmax.

    By default written to PARAMS.h5.
    """
    prepare_kernels()
    from punish_fast.cli.enemy import pawnn

    pawnn.import_command(parameters, rules, output, as_json)


@enemy.command(
    epilog="Examples: punish-fast enemy model --db games.db -o habit.h5; "
    "punish-fast enemy model --db games.db --winners --until 1668358800 -o habit.h5"
)
def model(  # noqa: PLR0913, PLR0917
    database: DatabaseOption,
    winners: WinnersOption = False,
    since: SinceOption = None,
    until: UntilOption = None,
    player: PlayerOption = None,
    ridge: Annotated[
        float,
        typer.Option(
            metavar="R", envvar="PUNISH_FAST_RIDGE", help="Penalty on the weights; more makes habits plainer."
        ),
    ] = 5.0,
    lapse: Annotated[
        float,
        typer.Option(
            metavar="E",
            envvar="PUNISH_FAST_LAPSE",
            help="Share of choices that could have been any; more is more careful.",
        ),
    ] = 0.01,
    folds: Annotated[
        int,
        typer.Option(
            metavar="K", envvar="PUNISH_FAST_FOLDS", help="Folds of games, to find how far to trust the model."
        ),
    ] = 5,
    seed: SeedOption = 0,
    rules: RulesOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the enemy habit: a model of what people do in what they see, corrected by what they did in each state.

    Of all enemies learned from recorded games it predicts people best; see: punish-fast enemy validate. By default
    written to habit.h5.
    """
    prepare_kernels()
    from punish_fast.cli.enemy import model
    from punish_fast.cli.enemy.source import Source

    source = Source(database, winners, since, until, player)
    model.model_command(source, model.Fit(ridge, lapse, folds, seed), rules, output, as_json)


@enemy.command(
    epilog="Examples: punish-fast enemy validate --db games.db; "
    "punish-fast enemy validate --db games.db --models uniform,parless,habit --folds 10 --json"
)
def validate(  # noqa: PLR0913, PLR0917
    database: DatabaseOption,
    winners: WinnersOption = False,
    since: SinceOption = None,
    until: UntilOption = None,
    player: PlayerOption = None,
    models: Annotated[
        str,
        typer.Option(
            metavar="NAME,...", envvar="PUNISH_FAST_MODELS", help="Which to compare; pawnn needs the extra learn."
        ),
    ] = "uniform,parless,pawnn,habit",
    folds: Annotated[int, typer.Option(metavar="K", envvar="PUNISH_FAST_FOLDS", help="Folds of games.")] = 5,
    seed: SeedOption = 0,
    rules: RulesOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure how well enemies predict what people chose in games that they have not seen, in nats per choice.

    Whole games are held out, so the states of one game are never on both sides.
    """
    prepare_kernels()
    from punish_fast.cli.enemy import model
    from punish_fast.cli.enemy.source import Source

    source = Source(database, winners, since, until, player)
    model.validate_command(source, model.Comparison(models, folds, seed), rules, as_json, quiet)
