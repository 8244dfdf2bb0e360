"""``punish-fast games train``: an agent that learns by playing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.games.options import GamesOption, VariantOptions, draw_curves
from punish_fast.cli.options import FixedSeedOption, OutputOption, PlotOption, option, verb
from punish_fast.cli.outputs import check_outputs, default_output
from punish_fast.cli.report import Progress, Stopwatch, in_units, print_table
from punish_fast.cli.streams import must_have_input

if TYPE_CHECKING:
    from punish_fast.games.contract import Game, TableGame
    from punish_fast.games.positions import Positions
    from punish_fast.learn.qlearning import QLearner

# What only some of the methods have.
_OF_TABLES_ALONE = ("against", "scheme", "play_every")
_OF_Q_NETWORKS = ("target", "illegal", "temperature", "hidden")
_OF_MUZERO = ("model", "search", "simulations", "unroll", "width", "opening", "priority", "reanalysed", "device")
# What each method has not.
_OTHERS = {
    "q": (*_OF_Q_NETWORKS, "filters", *_OF_MUZERO),
    "dqn": (*_OF_TABLES_ALONE, *_OF_MUZERO),
    "muzero": (*_OF_TABLES_ALONE, *_OF_Q_NETWORKS),
}
_OF_TABLES = ("scheme", "epsilon", "rate", "discount")
# All but the device, which an agent does not keep.
_HYPERPARAMETERS = (*_OF_TABLES, *(name for name in _OTHERS["q"] if name != "device"))
# Rows of the learning curve to print.
_MAX_ROWS = 12


@dataclass(frozen=True, kw_only=True)
class TrainOptions(VariantOptions):
    """Options of ``games train``."""

    method: Annotated[
        Literal["q", "dqn", "muzero"],
        option(
            "Learn a table of values; or, in self-play, a deep Q-network, or networks that learn the rules, too, and "
            "plan (both need the extra `learn`)."
        ),
    ] = "q"
    against: Annotated[
        str | None,
        option(
            "Of q: the opponent of each session: random, self, or several.  [default: self]", metavar="OPPONENT,..."
        ),
    ] = None
    games: GamesOption = 200_000
    scheme: Annotated[
        Literal["negamax", "author"] | None,
        option("Of q: learn from legal replies, or from all as the game's author did.  [default: negamax]"),
    ] = None
    epsilon: Annotated[
        float | None,
        option(
            "Probability of a random move (epsilon-greedy), the last one of dqn.  [default: 0.5 for q, 0.2 for dqn and "
            "muzero, with other ones for some games]",
            metavar="E",
        ),
    ] = None
    rate: Annotated[
        str | None,
        option(
            "Learning rate; visits for one over the visits of a move.  "
            "[default: 1 for negamax, visits for author, 0.001 for dqn, 0.003 for muzero]",
            metavar="R|visits",
        ),
    ] = None
    discount: Annotated[
        float | None,
        option(
            "Discount of each move.  [default: 0.95 for q and dqn, 1 for author and muzero, with other ones for some "
            "games]",
            metavar="G",
        ),
    ] = None
    target: Annotated[
        Literal["mc", "td"] | None,
        option("Of dqn: learn from the ends of games, or from the next values of a target network.  [default: mc]"),
    ] = None
    illegal: Annotated[
        Literal["mask", "punish"] | None,
        option("Of dqn: take legal moves only, or lose the game by an illegal one.  [default: mask]"),
    ] = None
    temperature: Annotated[
        float | None,
        option(
            "Of dqn: draw moves by softmax of their values at this temperature; 0 takes the best.  [default: 0.1 for "
            "card games, else 0]",
            metavar="T",
        ),
    ] = None
    filters: Annotated[
        str | None,
        option(
            "Of dqn and muzero: 3 x 3 filters of each convolution.  [default: 24,24 for large boards, 32,32 with "
            "muzero, else none]",
            metavar="N,...",
        ),
    ] = None
    hidden: Annotated[
        str | None,
        option("Of dqn: units of each hidden layer.  [default: 64 for large boards, else 128,128]", metavar="N,..."),
    ] = None
    model: Annotated[
        Literal["learned", "rules"] | None,
        option("Of muzero: plan in the model that it learns, or in the rules (AlphaZero).  [default: learned]"),
    ] = None
    search: Annotated[
        Literal["gumbel", "puct"] | None, option("Of muzero: how a search chooses moves.  [default: gumbel]")
    ] = None
    simulations: Annotated[
        int | None, option("Of muzero: simulations of a search.  [default: 25]", metavar="N", min=1, max=1000)
    ] = None
    unroll: Annotated[
        int | None,
        option("Of muzero: moves that the model learns to follow.  [default: 5]", metavar="N", min=0, max=20),
    ] = None
    width: Annotated[
        int | None,
        option("Of muzero: numbers of a hidden state.  [default: 128 for large boards, else 64]", metavar="N", min=2),
    ] = None
    opening: Annotated[
        int | None,
        option("Of muzero: begin games with up to N random moves.  [default: 38 for connect4, else 0]", metavar="N"),
    ] = None
    priority: Annotated[
        float | None,
        option(
            "Of muzero: learn from states in proportion to this power of the error of their value.  [default: 0]",
            metavar="P",
        ),
    ] = None
    reanalysed: Annotated[
        float | None,
        option(
            "Of muzero: in each round, search old games again, so many for each new one.  [default: 0]", metavar="S"
        ),
    ] = None
    device: Annotated[Literal["cpu", "gpu"] | None, option("Of muzero: where to compute.  [default: cpu]")] = None
    seed: FixedSeedOption = 0
    former: Annotated[Path | None, option("Train this agent further.", "--from", metavar="FILE.h5")] = None
    resume: Annotated[bool, option("Resume the unfinished sessions of the output.", "--resume")] = False
    play_every: Annotated[int | None, option("Play a game against the agent every N games.", metavar="N", min=1)] = None
    plot: PlotOption = None
    output: OutputOption = None

    def given(self, *names: str) -> dict[str, Any]:
        """The options among these that were given, by name."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def refuse(self, *names: str) -> None:
        """Check that no option of the other method was given.

        Raises:
            UsageError: One was.
        """
        for name in self.given(*names):
            raise UsageError(f"--{name.replace('_', '-')} does not go with --method {self.method}")


@verb(
    "punish-fast games train tapnswap",
    "punish-fast games train tapnswap --against random,self --games 50000 -o mine.h5",
    "punish-fast games train tapnswap --from mine.h5 --against self -o better.h5",
    "punish-fast games train tapnswap --scheme author --epsilon 0.2 --plot curve.png",
    "punish-fast games train tictactoe --method dqn",
    "punish-fast games train tictactoe --method dqn --target td --illegal punish",
    "punish-fast games train tictactoe --method muzero --games 1500",
    "punish-fast games train tictactoe --method muzero --model rules --games 1000 -o alphazero.h5",
)
def train(options: TrainOptions) -> None:
    """Train an agent by self-play or against the random player, and draw its learning curve.

    By default written to GAME.h5, which is a checkpoint during training.
    """
    game = options.make("train")
    output = options.output or Path(f"{game.name}.h5")
    _check(options, output)
    if options.method != "q":
        from punish_fast.cli.games.train_network import train_network

        train_network(options, game, output)
    else:
        _train_table(options, game, output)


def _train_table(options: TrainOptions, game: TableGame, output: Path) -> None:
    """Learn a table of values."""
    from punish_fast.games.contract import GameError
    from punish_fast.games.positions import enumerate_positions
    from punish_fast.games.retrograde import solve_game
    from punish_fast.learn import training
    from punish_fast.learn.agent_file import load_checkpoint, save_checkpoint

    clock, progress = Stopwatch(), Progress(options.quiet)
    try:
        positions = enumerate_positions(game)
    except GameError as error:
        raise UsageError(f"{error}, too many for a table; learn a network: --method dqn") from None
    learner = _learner(options, positions, output)
    if options.output is None and not options.resume:
        default_output(output, _settings(game, learner), lambda path: _settings(*load_checkpoint(path)))
    before = learner.games

    def on_point(done: int, wanted: int) -> None:
        progress.step("train", done, wanted)
        save_checkpoint(output, game, learner)

    def play() -> None:
        from punish_fast.cli.games.play import play_at_terminal
        from punish_fast.games.registry import oracle_of
        from punish_fast.play.game_policies import table_policy
        from punish_fast.play.players import HumanPlayer, PolicyPlayer

        progress.clear()
        say(f"after {learner.games:,} games")
        seats = HumanPlayer("you"), PolicyPlayer("learner", table_policy(positions, learner.policy(positions)))
        play_at_terminal(game, oracle_of(game), seats, options.seed, options.as_json)

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
    options.refuse(*_OTHERS[options.method])
    if options.play_every is not None:
        must_have_input("moves")
    if options.former is not None and options.given(*_HYPERPARAMETERS):
        raise UsageError("--from keeps the agent's hyperparameters, such as epsilon and rate; they cannot be given")


def _learner(options: TrainOptions, positions: Positions, output: Path) -> QLearner:
    """The learner with all sessions planned."""
    from punish_fast.learn.agent_file import load_checkpoint
    from punish_fast.learn.qlearning import hyperparameters, new_learner

    method = hyperparameters(**options.given(*_OF_TABLES))
    if options.resume and output.exists():
        _, learner = load_checkpoint(output, positions.game)
        if options.given(*_OF_TABLES) and learner.method != method:
            raise UsageError(f"{output}: has {learner.method}, not {method}")
        if all(session.games >= session.wanted for session in learner.sessions):
            say_finished(output)
        return learner
    if options.resume:
        say_new(output)
    if options.former is not None:
        _, learner = load_checkpoint(options.former, positions.game)
    else:
        learner = new_learner(positions, method, options.seed)
    for opponent in (options.against or "self").split(","):
        learner.plan(opponent.strip(), options.games)
    return learner


def say_new(output: Path) -> None:
    """Say that there is no file to resume."""
    say(f"{output}: there is no such file to resume, so training begins anew")


def say_finished(output: Path) -> None:
    """Say that there is nothing to resume."""
    say(f"{output}: nothing is unfinished; train it further with --from {output}")


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
    shown = shown_points(report["curve"])
    rows = [[f"{point['games']:,.0f}", f"{point['win_share']:.6f}", f"{point['mistakes']:.0f}"] for point in shown]
    print_table([["games", "wins against random", "mistakes"], *rows], left=0)
    print()
    print_end(report)


def shown_points(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some points of a learning curve, evenly spread, and the last one."""
    return [*curve[:-1][:: max(-(-len(curve) // _MAX_ROWS), 1)], *curve[-1:]]


def print_end(report: dict[str, Any]) -> None:
    """Print how long training took, and the files that it wrote."""
    seconds, played = report["seconds"]["games"], report["played"]
    speed = f" ({in_units(played / max(seconds, 1e-9))} games/s)" if played else ""
    print(f"{played:,} games in {seconds:.1f} s{speed}, {report['seconds']['train']:.1f} s with measurements")
    for key in ("output", "plot"):
        if report[key] is not None:
            print(f"wrote {report[key]}")
