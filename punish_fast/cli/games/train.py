"""``punish-fast games train``: an agent that learns by playing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.games.options import GamesOption, VariantOptions, draw_curves
from punish_fast.cli.options import FixedSeedOption, ForceOption, OutputOption, PlotOption, option, verb
from punish_fast.cli.outputs import check_outputs, default_output
from punish_fast.cli.report import Progress, Stopwatch, in_units, print_table
from punish_fast.cli.streams import must_have_input

if TYPE_CHECKING:
    from punish_fast.games.contract import Game
    from punish_fast.games.positions import Positions
    from punish_fast.learn.qlearning import QLearner

# Rows of the learning curve to print.
_MAX_ROWS = 12


@dataclass(frozen=True, kw_only=True)
class TrainOptions(VariantOptions):
    """Options of ``games train``."""

    against: Annotated[
        str, option("The opponent of each session: random, self, or several.", metavar="OPPONENT,...")
    ] = "self"
    games: GamesOption = 200_000
    scheme: Annotated[
        Literal["negamax", "author"] | None,
        option("Learn from legal replies, or from all as the game's author did.  [default: negamax]"),
    ] = None
    epsilon: Annotated[
        float | None, option("Probability of a random move (epsilon-greedy).  [default: 0.5]", metavar="E")
    ] = None
    rate: Annotated[
        str | None,
        option(
            "Learning rate; visits for one over the visits of a move.  [default: 1 for negamax, visits for author]",
            metavar="R|visits",
        ),
    ] = None
    discount: Annotated[
        float | None, option("Discount of each move.  [default: 0.95 for negamax, 1 for author]", metavar="G")
    ] = None
    seed: FixedSeedOption = 0
    former: Annotated[Path | None, option("Train this agent further.", "--from", metavar="FILE.h5")] = None
    resume: Annotated[bool, option("Resume the unfinished sessions of the output.", "--resume")] = False
    play_every: Annotated[int | None, option("Play a game against the agent every N games.", metavar="N", min=1)] = None
    plot: PlotOption = None
    output: OutputOption = None
    force: ForceOption = False

    @property
    def method(self) -> dict[str, Any]:
        """The hyperparameters that were given."""
        names = ("scheme", "epsilon", "rate", "discount")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@verb(
    "punish-fast games train tapnswap",
    "punish-fast games train tapnswap --against random,self --games 50000 -o mine.h5",
    "punish-fast games train tapnswap --from mine.h5 --against self -o better.h5",
    "punish-fast games train tapnswap --scheme author --epsilon 0.2 --plot curve.png",
)
def train(options: TrainOptions) -> None:
    """Train an agent by self-play or against the random player, and draw its learning curve.

    By default written to GAME.h5, which is a checkpoint during training.
    """
    from punish_fast.games.positions import enumerate_positions
    from punish_fast.games.retrograde import solve_game
    from punish_fast.learn import training
    from punish_fast.learn.agent_file import load_checkpoint, save_checkpoint

    game = options.make("train")
    output = options.output or Path(f"{game.name}.h5")
    _check(options, output)
    clock, progress = Stopwatch(), Progress(options.quiet)
    positions = enumerate_positions(game)
    learner = _learner(options, positions, output)
    if options.output is None and not options.resume:
        default_output(output, options.force, _settings(game, learner), lambda path: _settings(*load_checkpoint(path)))
    before = learner.games

    def on_point(done: int, wanted: int) -> None:
        progress.step("train", done, wanted)
        save_checkpoint(output, game, learner)

    def play() -> None:
        from punish_fast.cli.games.play import play_at_terminal
        from punish_fast.play.seats import Agent, Person

        progress.clear()
        say(f"after {learner.games:,} games")
        seats = Person("you"), Agent("learner", learner.policy(positions))
        play_at_terminal(game, positions, seats, options.seed, options.as_json)

    pause = None if options.play_every is None else (options.play_every, play)
    with clock("train"):
        try:
            clock.seconds["games"] = training.train(positions, solve_game(positions), [learner], on_point, pause)
        except KeyboardInterrupt:
            progress.clear()
            if learner.games > before and output.exists():
                say(f"{output} is a checkpoint; resume with --resume")
            raise
    progress.clear()
    save_checkpoint(output, game, learner)
    draw_curves({learner.name: learner.curve}, options.plot)
    report = _report(options, learner, output, learner.games - before) | {"seconds": clock.seconds}
    method = str(learner.method)
    options.print({"game": game.name, "variant": game.parameters()} | report, lambda report: _print(report, method))


def _check(options: TrainOptions, output: Path) -> None:
    """Check files and options before any work."""
    check_outputs([output], [options.former], "train further", options.plot)
    if options.play_every is not None:
        must_have_input("moves")
    if options.former is not None and options.method:
        raise UsageError("--from keeps the agent's scheme, epsilon, rate and discount; they cannot be given")


def _learner(options: TrainOptions, positions: Positions, output: Path) -> QLearner:
    """The learner with all sessions planned."""
    from punish_fast.learn.agent_file import load_checkpoint
    from punish_fast.learn.qlearning import hyperparameters, new_learner

    method = hyperparameters(**options.method)
    if options.resume and output.exists():
        _, learner = load_checkpoint(output, positions.game)
        if options.method and learner.method != method:
            raise UsageError(f"{output}: has {learner.method}, not {method}")
        return learner
    if options.former is not None:
        _, learner = load_checkpoint(options.former, positions.game)
    else:
        learner = new_learner(positions, method, options.seed)
    for opponent in options.against.split(","):
        learner.plan(opponent.strip(), options.games)
    return learner


def _settings(game: Game, learner: QLearner) -> dict[str, Any]:
    """What decides how an agent will play."""
    from punish_fast.games.registry import describe

    sessions = [[session.opponent, session.wanted] for session in learner.sessions]
    return {"game": describe(game), "method": asdict(learner.method), "seed": learner.seed, "sessions": sessions}


def _report(options: TrainOptions, learner: QLearner, output: Path, played: int) -> dict[str, Any]:
    return {
        "method": asdict(learner.method),
        "seed": learner.seed,
        "sessions": [asdict(session) for session in learner.sessions],
        "games": learner.games,
        "played": played,
        "curve": learner.curve,
        "digest": learner.digest,
        "output": output,
        "plot": options.plot,
    }


def _print(report: dict[str, Any], method: str) -> None:
    print(method)
    for session in report["sessions"]:
        print(f"{session['games']:,} games against {session['opponent']}")
    print()
    curve = report["curve"]
    shown = [*curve[:-1][:: max(-(-len(curve) // _MAX_ROWS), 1)], *curve[-1:]]
    rows = [[f"{point['games']:,.0f}", f"{point['win_share']:.6f}", f"{point['mistakes']:.0f}"] for point in shown]
    print_table([["games", "wins against random", "mistakes"], *rows], left=0)
    print()
    seconds, played = report["seconds"]["games"], report["played"]
    speed = f" ({in_units(played / max(seconds, 1e-9))} games/s)" if played else ""
    print(f"{played:,} games in {seconds:.1f} s{speed}, {report['seconds']['train']:.1f} s with measurements")
    for key in ("output", "plot"):
        if report[key] is not None:
            print(f"wrote {report[key]}")
