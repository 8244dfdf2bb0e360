"""``punish-fast games train`` with a network that learns in self-play: a deep Q-network, or MuZero."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.games.judged_agents import searches
from punish_fast.cli.games.train import print_end, say_finished, say_new, shown_points
from punish_fast.cli.outputs import default_output
from punish_fast.cli.report import Progress, Stopwatch, print_table

if TYPE_CHECKING:
    from punish_fast.cli.games.train import TrainOptions
    from punish_fast.games.contract import TableGame, VectorGame
    from punish_fast.learn.network_training import NetworkLearner
    from punish_fast.learn.strength import Strength

_SECONDS_BETWEEN_CHECKPOINTS = 30.0


def train_network(options: TrainOptions, game: TableGame, output: Path) -> None:
    """Learn a network, with checkpoints in the output."""
    from punish_fast.games.registry import vectorise
    from punish_fast.learn.network_training import train
    from punish_fast.learn.strength import strength_of
    from punish_fast.runtime.extras import require

    require("learn", "jax", "optax", *["mctx"] * (options.method == "muzero"))
    clock, progress = Stopwatch(), Progress(options.quiet)
    with clock("game"), progress.stage("game"):
        vector = vectorise(game)
        strength = strength_of(vector)
    learner = _learner(options, vector, output)
    if options.output is None and not options.resume:
        default_output(output, _settings(learner), lambda path: _settings(_load(options, path)))
    before, saved = learner.games, time.perf_counter()

    def on_round(is_point: bool) -> None:
        nonlocal saved
        progress.show(
            f"train: {learner.games:,} of {learner.wanted * learner.method.games:,} games{_strength(learner)}"
        )
        if is_point or time.perf_counter() - saved >= _SECONDS_BETWEEN_CHECKPOINTS:
            _save(output, learner)
            saved = time.perf_counter()

    with clock("train"), progress.stage("train: JAX compiles the first round"):
        try:
            clock.seconds["games"] = train(learner, strength, on_round)
        except KeyboardInterrupt:
            progress.clear()
            # Rounds are whole, also after an interrupt.
            if learner.games > before:
                _save(output, learner)
                say(f"{output} is a checkpoint; resume with --resume")
            raise
    _save(output, learner)
    with clock("judge"):
        judged = _judged(learner, strength, progress)
    progress.clear()
    _draw(learner, options.plot)
    report = {
        "game": game.name,
        "variant": game.parameters(),
        "method": asdict(cast(Any, learner.method)),
        "seed": learner.seed,
        "games": learner.games,
        "played": learner.games - before,
        "curve": learner.curve,
        **judged,
        "digest": learner.digest,
        "output": output,
        "plot": options.plot,
        "seconds": clock.seconds,
    }
    text = f"{learner.method}\n{len(learner.weights):,} weights, {learner.games:,} games of self-play"
    options.print(report, lambda report: _print(report, text))


def _judged(learner: NetworkLearner, strength: Strength, progress: Progress) -> dict[str, Any]:
    """The judgement of a deep Q-network, or those of MuZero by simulations."""
    from punish_fast.learn.agent_file import judged_values
    from punish_fast.learn.muzero.learner import MuZeroLearner

    if not isinstance(learner, MuZeroLearner):
        with progress.stage("judge"):
            return {"judgement": strength.judge(learner.values_of(learner.weights), learner.keeps_rules)}
    judged = []
    for simulations, values in judged_values(learner).items():
        with progress.stage(f"judge: {searches(simulations)}; JAX compiles first"):
            measures = strength.measure(values, learner.keeps_rules)
            judgement = strength.judge(values, learner.keeps_rules)
        judged.append({"simulations": simulations} | measures | {"judgement": judgement})
    return {"searches": judged}


def _method(options: TrainOptions, vector: VectorGame) -> Any:
    """The method of the options."""
    from punish_fast.learn.dqn import method_for
    from punish_fast.learn.muzero.method import muzero_method_for

    is_muzero = options.method == "muzero"
    given = options.given("epsilon", "discount", *(_OF_MUZERO if is_muzero else _OF_Q_NETWORKS))
    if options.model == "rules" and options.unroll is not None:
        raise UsageError("--unroll goes with --model learned only; with the rules no model is unrolled")
    if options.rate is not None:
        given["rate"] = _number(options.rate)
    given |= {name: _layers(name, text) for name, text in options.given(*_LAYERS).items()}
    return muzero_method_for(vector, **given) if is_muzero else method_for(vector, **given)


def _load(options: TrainOptions, path: Path, game: TableGame | None = None) -> NetworkLearner:
    """The learner of a file, of the method of the options."""
    from punish_fast.learn.muzero.checkpoint import load_muzero
    from punish_fast.learn.network_file import load_dqn

    if options.method != "muzero":
        return load_dqn(path, game)
    learner = load_muzero(path, game)
    learner.device = options.device or learner.device
    return learner


def _save(path: Path, learner: NetworkLearner) -> None:
    from punish_fast.learn import network_file
    from punish_fast.learn.dqn import DqnLearner
    from punish_fast.learn.muzero.checkpoint import save_muzero
    from punish_fast.learn.muzero.learner import MuZeroLearner

    if isinstance(learner, MuZeroLearner):
        save_muzero(path, learner)
    elif isinstance(learner, DqnLearner):
        network_file.save_dqn(path, learner)


_OF_MUZERO = ("model", "search", "simulations", "unroll", "width", "opening", "priority", "reanalysed")
_OF_Q_NETWORKS = ("target", "illegal", "temperature")
_LAYERS = ("filters", "hidden")


def _number(text: str) -> float:
    with suppress(ValueError):
        return float(text)
    raise UsageError(f"rate: {text!r} is not allowed, it must be a number; visits goes with --method q")


def _layers(name: str, text: str) -> tuple[int, ...]:
    """The numbers of ``"64,64"``; none for ``"none"``."""
    if text == "none":
        return ()
    with suppress(ValueError):
        return tuple(int(each) for each in text.split(","))
    raise UsageError(f"{name}: {text!r} is not allowed, it must be whole numbers such as 64,64, or none")


def _learner(options: TrainOptions, vector: VectorGame, output: Path) -> NetworkLearner:
    """The learner with all games planned."""
    game, method = cast("TableGame", vector.game), _method(options, vector)
    if options.resume and output.exists():
        learner = _load(options, output, game)
        _check_resumed(options, learner, method, output)
        games, wanted = learner.games, learner.wanted * learner.method.games
        if games == wanted:
            say_finished(output)
        elif not options.quiet:
            say(f"{output}: has {games:,} of the {wanted:,} games that it began with")
        return learner
    if options.resume:
        say_new(output)
    learner = _new(options, vector, method) if options.former is None else _load(options, options.former, game)
    # What an unfinished agent had planned is not played.
    learner.wanted = learner.rounds
    learner.plan(options.games)
    return learner


def _check_resumed(options: TrainOptions, learner: NetworkLearner, method: Any, output: Path) -> None:
    """Check that options that were given are those of the file.

    Raises:
        UsageError: One is not.
    """
    found, wanted = asdict(cast(Any, learner.method)), asdict(method)
    for name in options.given("epsilon", "discount", "rate", *_LAYERS, *_OF_MUZERO, *_OF_Q_NETWORKS):
        if name in found and found[name] != wanted[name]:
            raise UsageError(f"{output}: has the {name} {found[name]}, not {wanted[name]}")
    if options.seed not in (0, learner.seed):
        raise UsageError(f"{output}: has the seed {learner.seed}, not {options.seed}")


def _new(options: TrainOptions, vector: VectorGame, method: Any) -> NetworkLearner:
    """A learner with random weights."""
    from punish_fast.learn.dqn import new_dqn
    from punish_fast.learn.muzero.learner import new_muzero

    if options.method != "muzero":
        return new_dqn(vector, method, options.seed)
    learner = new_muzero(vector, method, options.seed)
    learner.device = options.device or learner.device
    return learner


def _settings(learner: NetworkLearner) -> dict[str, Any]:
    """What decides how an agent will play."""
    from punish_fast.games.registry import describe

    game, method = describe(learner.vector.game), asdict(cast(Any, learner.method))
    return {"game": game, "method": method, "seed": learner.seed, "rounds": learner.wanted}


def _strength(learner: NetworkLearner) -> str:
    if not learner.curve:
        return ""
    point = learner.curve[-1]
    return f", wins {point['win_share']:.1%} and loses {point['loss_share']:.1%} against random play"


def _draw(learner: NetworkLearner, plot: Path | None) -> None:
    if plot is not None:
        from punish_fast.learn.plots import draw_strength

        draw_strength(learner.curve, learner.name, plot)


def _print(report: dict[str, Any], text: str) -> None:
    from punish_fast.learn.strength import SEATS

    print(text)
    print()
    print("against random play (an illegal move loses)")
    points = shown_points(report["curve"])
    seats = [seat for seat in SEATS if points and seat in points[0]]
    by_seat = [name for seat in seats for name in (f"{seat}: wins", "losses")]
    head = ["games", *by_seat, "points against earlier", "mistakes"]
    rows = [_row(point, seats) for point in points]
    print_table([head, *rows], left=0)
    print()
    if report.get("judgement") is not None:
        _print_judgement(report["judgement"])
    if "searches" in report:
        _print_searches(report["searches"])
    print_end(report)


def _row(point: dict[str, Any], seats: list[str]) -> list[str]:
    shares = [
        f"{number:.4f}"
        for seat in seats
        for number in (point[seat]["win"], point[seat]["loss"] + point[seat]["illegal"])
    ]
    earlier, mistakes = point["earlier"], point["mistakes"]
    mean = f"{sum(earlier) / len(earlier):.3f}" if earlier else "-"
    return [f"{point['games']:,}", *shares, mean, "-" if mistakes is None else f"{mistakes:,}"]


def _print_judgement(judgement: dict[str, Any]) -> None:
    for seat in ("first", "second"):
        endings = judgement[seat]
        told = ", ".join(f"{name} {endings[name]:.6f}" for name in ("win", "draw", "loss", "illegal"))
        lines = judgement["losing_lines"][seat]
        print(f"exactly, moving {seat}: {told}; {lines:,} lines of play are lost")
    kept, chosen = judgement["keeps_value"], judgement["keeps_choice"]
    print(f"keeps the value in {kept:.4%} of all positions, and in {chosen:.4%} of those where it matters")
    print()


def _print_searches(searches: list[dict[str, Any]]) -> None:
    """How strong MuZero is without a search and with searches of several sizes."""
    head = ["simulations", "wins", "losses", "mistakes", "keeps the value", "losing lines, first", "second"]
    rows = []
    for each in searches:
        judgement, perfect = each["judgement"], each["perfect"]
        lines = ["-", "-"] if judgement is None else [f"{n:,}" for n in judgement["losing_lines"].values()]
        kept = ["-", "-"] if perfect is None else [f"{each['mistakes']:,}", f"{perfect:.4f}"]
        shares = [f"{each[name]:.4f}" for name in ("win_share", "loss_share")]
        rows.append([f"{each['simulations'] or 'policy alone'}", *shares, *kept, *lines])
    print("without a search, and with searches")
    print_table([head, *rows])
    print()
