"""``punish-fast games train --method dqn``: a deep Q-network that learns in self-play."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.games.train import print_end, say_finished, shown_points
from punish_fast.cli.outputs import default_output
from punish_fast.cli.report import Progress, Stopwatch, print_table

if TYPE_CHECKING:
    from punish_fast.cli.games.train import TrainOptions
    from punish_fast.games.contract import TableGame, VectorGame
    from punish_fast.learn.dqn import DqnLearner, DqnMethod

_SECONDS_BETWEEN_CHECKPOINTS = 30.0


def train_network(options: TrainOptions, game: TableGame, output: Path) -> None:
    """Learn a network, with checkpoints in the output."""
    from punish_fast.games.registry import vectorise
    from punish_fast.learn.network_file import load_dqn, save_dqn
    from punish_fast.learn.network_training import train
    from punish_fast.learn.strength import strength_of
    from punish_fast.runtime.extras import require

    require("learn", "jax", "optax")
    clock, progress = Stopwatch(), Progress(options.quiet)
    with clock("game"), progress.stage("game"):
        vector = vectorise(game)
        strength = strength_of(vector)
    learner = _learner(options, vector, output)
    if options.output is None and not options.resume:
        default_output(output, options.force, _settings(learner), lambda path: _settings(load_dqn(path)))
    before, saved = learner.games, time.perf_counter()

    def on_round(is_point: bool) -> None:
        nonlocal saved
        progress.show(
            f"train: {learner.games:,} of {learner.wanted * learner.method.games:,} games{_strength(learner)}"
        )
        if is_point or time.perf_counter() - saved >= _SECONDS_BETWEEN_CHECKPOINTS:
            save_dqn(output, learner)
            saved = time.perf_counter()

    progress.start()
    with clock("train"):
        try:
            clock.seconds["games"] = train(learner, strength, on_round)
        except KeyboardInterrupt:
            progress.clear()
            # Rounds are whole, also after an interrupt.
            if learner.games > before:
                save_dqn(output, learner)
                say(f"{output} is a checkpoint; resume with --resume")
            raise
    progress.clear()
    save_dqn(output, learner)
    _draw(learner, options.plot)
    report = {
        "game": game.name,
        "variant": game.parameters(),
        "method": asdict(learner.method),
        "seed": learner.seed,
        "games": learner.games,
        "played": learner.games - before,
        "curve": learner.curve,
        "judgement": strength.judge(learner.values_of(learner.weights), learner.keeps_rules),
        "digest": learner.digest,
        "output": output,
        "plot": options.plot,
        "seconds": clock.seconds,
    }
    text = f"{learner.method}\n{len(learner.weights):,} weights, {learner.games:,} games of self-play"
    options.print(report, lambda report: _print(report, text))


def _method(options: TrainOptions, vector: VectorGame) -> DqnMethod:
    """The method of the options."""
    from punish_fast.learn.dqn import method_for

    given = options.given("target", "illegal", "epsilon", "temperature", "discount")
    if options.rate is not None:
        given["rate"] = _number(options.rate)
    return method_for(vector, **given | {name: _layers(name, text) for name, text in options.given(*_LAYERS).items()})


_LAYERS = ("filters", "hidden")


def _number(text: str) -> float:
    with suppress(ValueError):
        return float(text)
    raise UsageError(f"rate: {text!r} is not allowed, it must be a number")


def _layers(name: str, text: str) -> tuple[int, ...]:
    """The numbers of ``"64,64"``; none for ``"none"``."""
    if text == "none":
        return ()
    with suppress(ValueError):
        return tuple(int(each) for each in text.split(","))
    raise UsageError(f"{name}: {text!r} is not allowed, it must be whole numbers such as 64,64, or none")


def _learner(options: TrainOptions, vector: VectorGame, output: Path) -> DqnLearner:
    """The learner with all games planned."""
    from punish_fast.learn.dqn import new_dqn
    from punish_fast.learn.network_file import load_dqn

    method = _method(options, vector)
    if options.resume and output.exists():
        learner = load_dqn(output, vector.game)
        changed = [name for name, value in asdict(method).items() if asdict(learner.method)[name] != value]
        if given := [name for name in changed if getattr(options, name, None) is not None]:
            raise UsageError(f"{output}: has {learner.method}, not another {given[0]}")
        if learner.rounds == learner.wanted:
            say_finished(output)
        return learner
    if options.former is not None:
        learner = load_dqn(options.former, vector.game)
    else:
        learner = new_dqn(vector, method, options.seed)
    learner.plan(options.games)
    return learner


def _settings(learner: DqnLearner) -> dict[str, Any]:
    """What decides how an agent will play."""
    from punish_fast.games.registry import describe

    game, method = describe(learner.vector.game), asdict(learner.method)
    return {"game": game, "method": method, "seed": learner.seed, "rounds": learner.wanted}


def _strength(learner: DqnLearner) -> str:
    if not learner.curve:
        return ""
    point = learner.curve[-1]
    return f", wins {point['win_share']:.1%} and loses {point['loss_share']:.1%} against random play"


def _draw(learner: DqnLearner, plot: Path | None) -> None:
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
    if report["judgement"] is not None:
        _print_judgement(report["judgement"])
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
        told = ", ".join(f"{name} {endings[name]}" for name in ("win", "draw", "loss", "illegal"))
        lines = judgement["losing_lines"][seat]
        print(f"exactly, moving {seat}: {told}; {lines:,} lines of play are lost")
    kept, chosen = judgement["keeps_value"], judgement["keeps_choice"]
    print(f"keeps the value in {kept:.4%} of all positions, and in {chosen:.4%} of those where it matters")
    print()
