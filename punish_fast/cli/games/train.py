"""``punish-fast games train``: train an agent by playing.

JSON keys:
    game (string): Name of the game.
    variant (object): Options of the variant, with their values.
    method (object): Hyperparameters by name, as described by `games methods`.
    seed (integer): Random seed.
    sessions (list of objects): Training sessions, with `--method q`.
        opponent (string): Opponent: `random` or `self`.
        games (integer): Number of games played.
        wanted (integer): Number of games planned.
    games (integer): Total number of games played.
    played (integer): Number of games played by this command.
    curve (list of objects): Learning curve.
        games (number): Number of games played.
        epsilon (number, from 0 to 1): For a network, share of random moves in training.
        *measure
        earlier (list of numbers): For a network, points against each earlier snapshot.
    evaluation (object or null): Strength of a deep Q-network. Null if the game is large or endless, or if the time
        limit is reached.
        *AgentEvaluation
    searches (list of objects): Strength of MuZero for several numbers of simulations.
        simulations (integer): Number of simulations. 0 for play without a search.
        *measure
        evaluation (object or null): Strength. Null if the game is large or endless.
            *AgentEvaluation
    digest (string): Digest of the training state. Agents with equal digests continue training identically.
    output (string): Agent file.
    plot (string or null): Plot file.
    seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from punish_fast.cli.frame.options import OutputOption, PictureOptions, PlotOption, option, verb
from punish_fast.cli.frame.outputs import HDF5, default_output
from punish_fast.cli.frame.progress import Progress
from punish_fast.cli.frame.report import UsageError, print_report, print_rows, print_text, say, thinned
from punish_fast.cli.frame.settings import changes_of
from punish_fast.cli.games.options import LearningOptions
from punish_fast.runtime.deadline import TimeLimitError, check_time, seconds_left, time_limit

if TYPE_CHECKING:
    from punish_fast.games.contract import Game
    from punish_fast.games.learn.agent_file import Trainer

_GAMES = 200_000
_SECONDS_BETWEEN_CHECKPOINTS = 30.0
# File kind of each method.
_KINDS = {"q": "learner", "dqn": "network", "muzero": "muzero"}


class TrainOptions(PictureOptions, LearningOptions):
    """Options of ``games train``."""

    method: Literal["q", "dqn", "muzero"] | None = option(
        "q (a table of values), dqn (a deep Q-network) or muzero (networks that also learn the rules and plan). "
        "dqn and muzero need the extra `learn`.  [default: the method of --from, or q, or dqn for large games]"
    )
    against: str | None = option(
        "With --method q: opponents of successive sessions, random or self.  [default: self]", metavar="OPPONENT,..."
    )
    games: int | None = option("Number of games.  [default: 200000, or those left of the agent of --from]", min=1)
    time: float | None = option("Time limit. Without --games, train networks until then.", metavar="SECONDS", min=0)
    former: Path | None = option(
        "Train this agent further, replacing its file unless -o is given. Without --games, --against and --time, "
        "complete an interrupted run if the file contains one.",
        "--from",
        metavar="FILE.h5",
        writes=True,
    )
    plot: PlotOption = None
    output: OutputOption = None


@verb(
    "punish-fast games train tapnswap",
    "punish-fast games train tapnswap --against random,self --games 50000 -o mine.h5",
    "punish-fast games train tapnswap --set scheme=author --plot curve.png -o author.h5",
    "punish-fast games train tictactoe --method dqn --set target=td --set illegal=punish",
    "punish-fast games train tictactoe --method muzero --games 1500 -o muzero.h5",
    "punish-fast games train connect4 --time 120",
)
def train(options: TrainOptions) -> None:
    """Train an agent by self-play or against the random player, and record its learning curve.

    The default output is named after the game, such as tapnswap.h5. During training, this file is a checkpoint that
    --from can resume.
    """
    from punish_fast.games.learn.agent_file import load_agent, save_agent

    game = options.make("train")
    output = options.output or options.former or Path(f"{game.name}.h5")
    options.check_outputs(output, endings=HDF5)
    clock, progress = options.stages.clock, options.stages.progress
    with clock("game"), progress.stage("game"):
        trainer, strength = _trainer(options, game)
    if options.output is None and options.former is None:
        settings = _settings(trainer) if options.time is None else None
        advice = f", or train that agent further with --from {output}"
        default_output(output, settings, lambda path: _settings(load_agent(path)), advice)
    before = trainer.games
    with clock("train"), progress.stage("train"):
        clock.seconds["games"] = _train(trainer, strength, output, options)
    with time_limit(math.inf):
        save_agent(output, trainer)
    if options.time is not None and not options.quiet:
        # The evaluation might exceed the time limit.
        say(f"{output} contains the agent after {trainer.games:,} games; train it further with --from {output}")
    with clock("evaluate"):
        judged = _evaluated(trainer, strength, progress)
    if options.plot is not None:
        from punish_fast.games.learn.plots import draw_learning, draw_strength

        (draw_learning if trainer.kind == _KINDS["q"] else draw_strength)(trainer.curve, trainer.name, options.plot)
    report = {
        **{name: value for name, value in trainer.to_mapping().items() if name in ("method", "seed", "sessions")},
        "games": trainer.games,
        "played": trainer.games - before,
        "curve": trainer.curve,
        **judged,
        "digest": trainer.digest,
        "output": output,
        "plot": options.plot,
    }
    # If mistakes are not counted, wins against random play reveal little, so suggest an evaluation.
    then = ("evaluate",) if trainer.curve[-1]["mistakes"] is None else ("play", "--agent")
    options.print_stages(game, report, _print_training, _result(report), *then, output)


def _train(trainer: Trainer, strength: Any, output: Path, options: TrainOptions) -> float:
    """Train the agent and save checkpoints in the file ``output``. Return the seconds of training."""
    from punish_fast.games.learn.agent_file import save_agent, train

    before, begin = trainer.games, time.perf_counter()
    # Duration in seconds of the latest round that included a measurement. This time is reserved for the final
    # measurement.
    saved, ended, measuring = begin, begin, 0.0

    def on_round() -> None:
        nonlocal saved, ended, measuring
        now = time.perf_counter()
        measuring, ended = (now - ended if trainer.is_point else measuring), now
        left = (now - begin) * (trainer.games_wanted - trainer.games) / max(trainer.games - before, 1)
        left = min(left, max(seconds_left() - measuring, 0.0))
        wins = f", wins {trainer.curve[-1]['win_share']:.1%} against random play" if trainer.curve else ""
        options.stages.progress.show(f"train: {trainer.games:,} games{wins}", left=left)
        if left == 0:
            trainer.drop_plans()
        if trainer.is_point or time.perf_counter() - saved >= _SECONDS_BETWEEN_CHECKPOINTS:
            kept = copy(trainer)
            # A resumed run might have no time limit, so the checkpoint must not contain the unlimited plan.
            if options.time is not None and options.games is None:
                kept.drop_plans()
            save_agent(output, kept)
            saved = time.perf_counter()

    try:
        return train(trainer, strength, on_round)
    except (KeyboardInterrupt, TimeLimitError):
        if trainer.games > before:
            if options.time is not None:
                trainer.drop_plans()
            with time_limit(math.inf):
                save_agent(output, trainer)
            say(f"{output} is a checkpoint; resume with --from {output}")
        raise


def _trainer(options: TrainOptions, game: Game) -> tuple[Trainer, Any]:
    """Return the agent with all training games planned, and an object that measures its strength."""
    from punish_fast.games.enumeration.retrograde import solve_game
    from punish_fast.games.learn.agent_file import load_agent
    from punish_fast.games.learn.hyperparameters import MAX_GAMES
    from punish_fast.games.learn.qlearning import QLearner
    from punish_fast.games.learn.strength import strength_of
    from punish_fast.games.learn.trainer import NetworkTrainer
    from punish_fast.games.registry import vector_game

    if options.former is None:
        trainer = _new(options, game)
    else:
        trainer = load_agent(options.former, game)
        if options.settings:
            raise UsageError("--set cannot be combined with --from, because the agent keeps its hyperparameters")
        if options.method is not None and trainer.kind != _KINDS[options.method]:
            raise UsageError(f"{options.former}: is not an agent of --method {options.method}")
    is_begun = trainer.games < trainer.games_wanted and (options.games, options.against, options.time) == (None,) * 3
    if isinstance(trainer, QLearner):
        for opponent in () if is_begun else (options.against or "self").split(","):
            trainer.plan(opponent.strip(), options.games or _GAMES)
        return trainer, solve_game(trainer.positions)
    if options.against is not None:
        raise UsageError("--against requires --method q")
    assert isinstance(trainer, NetworkTrainer)
    if not is_begun:
        trainer.drop_plans()
        trainer.plan(options.games or (_GAMES if options.time is None else MAX_GAMES))
    return trainer, strength_of(vector_game(game))


def _new(options: TrainOptions, game: Game) -> Any:
    from punish_fast.games.contract import GameError
    from punish_fast.games.learn.agent_file import positions_of
    from punish_fast.games.learn.dqn import DqnLearner
    from punish_fast.games.learn.muzero.learner import MuZeroLearner
    from punish_fast.games.learn.qlearning import Hyperparameters, hyperparameters, new_learner
    from punish_fast.games.registry import vector_game
    from punish_fast.runtime.errors import require

    settings = options.settings or ()
    if options.method in (None, "q"):
        try:
            positions = positions_of(game)
        except GameError as error:
            if options.method == "q":
                raise UsageError(f"{error}; to train a network instead of a table, use --method dqn") from None
        else:
            return new_learner(positions, hyperparameters(**changes_of(Hyperparameters, settings)), options.seed)
    learner = MuZeroLearner if options.method == "muzero" else DqnLearner
    require("jax", "optax", *["mctx"] * (learner is MuZeroLearner))
    vector, method = vector_game(game), learner.method_type
    return learner.new(vector, method.for_game(vector, **changes_of(method, settings)), options.seed)


def _settings(trainer: Trainer) -> dict[str, Any]:
    """Return the settings that determine the trained agent."""
    from punish_fast.games.registry import describe

    settings = {"game": describe(trainer.game), "method": asdict(trainer.method), "seed": trainer.seed}
    return settings | {"name": trainer.name, "games": trainer.games_wanted}


def _evaluated(trainer: Trainer, strength: Any, progress: Progress) -> dict[str, Any]:
    """Return the evaluation of a deep Q-network, or of MuZero by number of simulations. Empty for a table.

    Evaluations beyond the time limit are omitted.
    """
    from punish_fast.games.learn.qlearning import QLearner

    if isinstance(trainer, QLearner):
        return {}
    judged = []
    for simulations, values in trainer.value_functions().items():
        stage = "evaluate" if simulations is None else f"evaluate: {simulations} simulations, after compiling"
        with suppress(TimeLimitError), time_limit(has_overtime=False), progress.stage(stage):
            check_time()
            evaluation = {"evaluation": strength.evaluate(values, trainer.keeps_rules)}
            if simulations is None:
                return evaluation
            judged.append({"simulations": simulations} | strength.measure(values, trainer.keeps_rules) | evaluation)
    return {"searches": judged} if trainer.kind == _KINDS["muzero"] else {"evaluation": None}


def _result(report: dict[str, Any]) -> str:
    """Return the strength of the agent in words."""
    last = report["curve"][-1]
    told = f"After {last['games']:,.0f} games of training, {report['output']} wins {last['win_share']:.1%} of its games"
    told += " against random play" + (f" and draws {last['draw_share']:.1%}. " if last["draw_share"] > 5e-4 else ". ")
    if last["perfect"] is not None:
        mistakes = f"gives away a win or a draw in {1 - last['perfect']:.1%} of all positions"
        told += f"It {mistakes if last['mistakes'] else 'plays perfectly: it never gives away a win or a draw'}."
    return told + (" These numbers are for play without a search." if "searches" in report else "")


def _print_training(report: dict[str, Any]) -> None:
    """Print the learning curve and the settings."""
    columns, mistakes = {"won": "{win_share:.1%}", "drawn": "{draw_share:.1%}"}, ""
    if report["curve"][-1]["mistakes"] is not None:
        columns["mistakes"], mistakes = "{mistakes:,.0f}", ", and positions with a mistake,"
    for name, column in (("curve", "games"), ("searches", "simulations")):
        if report.get(name):
            print_text(f"games won and drawn against random play{mistakes} by number of {column}")
            print_rows(thinned(report[name]), {column: f"{{{column}:,.0f}}", **columns}, left=0, indent="  ")
            print()
    print_report({name: report[name] for name in ("game", "variant", "method", "seed", "played", "seconds", "plot")})
