"""The command ``tapnswap train``: one agent that learns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.games.play import sit_down
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.plots import drawing, must_draw
from punish_fast.cli.report import Progress, Stopwatch, in_units, print_json, print_table
from punish_fast.games.positions import Positions, enumerate_positions
from punish_fast.games.retrograde import solve
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.learn.files import fetch_for, keep
from punish_fast.learn.qlearning import RATES, SCHEMES, Learner, Method, new_learner
from punish_fast.learn.training import Break, train
from punish_fast.play.terminal import Seat
from punish_fast.runtime.figures import check_picture

_DEFAULT_OUTPUT = Path("tapnswap.h5")
# What a table shows of a curve.
_MOST_ROWS = 12


@dataclass(frozen=True)
class Lesson:
    """What is to be learned and how; None where the user said nothing."""

    against: str
    games: int
    scheme: str | None
    epsilon: float | None
    rate: str | None
    discount: float | None
    seed: int
    former: Path | None
    resume: bool
    play_every: int | None
    plot: Path | None

    @property
    def has_method(self) -> bool:
        """Whether the user said how to learn."""
        return any(each is not None for each in (self.scheme, self.epsilon, self.rate, self.discount))


def method_of(lesson: Lesson) -> Method:
    """How to learn.

    Raises:
        UsageError: the rate is no number.
        LearnError: an option is out of range.
    """
    scheme = lesson.scheme or SCHEMES[0]
    rate, discount = RATES.get(scheme, (None, 1.0))
    if lesson.rate is not None:
        try:
            rate = None if lesson.rate == "visits" else float(lesson.rate)
        except ValueError:
            raise UsageError(f"--rate is {lesson.rate!r}, allowed are a number and visits") from None
    epsilon = Method.epsilon if lesson.epsilon is None else lesson.epsilon
    return Method(scheme, epsilon, rate, discount if lesson.discount is None else lesson.discount)


def train_command(variant: Variant, lesson: Lesson, output: Path | None, as_json: bool, quiet: bool) -> None:
    """Run ``punish-fast tapnswap train``."""
    output = output or _DEFAULT_OUTPUT
    _check(lesson, output)
    clock, progress = Stopwatch(), Progress(quiet)
    game = TapnSwap(variant)
    positions = enumerate_positions(game)
    outcomes = solve(positions)
    learner = _pupil(positions, lesson, output)
    before = learner.games

    def on_point(done: int, wanted: int) -> None:
        progress.step("train", done, wanted)
        keep(output, game, learner)

    def play() -> None:
        progress.clear()
        say(f"after {learner.games:,} games")
        seats = Seat("you"), Seat("learner", learner.policy(positions))
        sit_down(positions, seats, np.random.default_rng(lesson.seed), to_stderr=as_json)

    rest = None if lesson.play_every is None else Break(lesson.play_every, play)
    with clock("train"):
        try:
            clock.seconds["games"] = train(positions, outcomes, [learner], on_point, rest)
        except KeyboardInterrupt:
            progress.clear()
            if learner.games > before and output.exists():
                say(f"{output} holds what was learned so far; the same command with --resume goes on")
            raise
    progress.clear()
    keep(output, game, learner)
    if lesson.plot is not None:
        from punish_fast.learn.plots import draw_learning

        with drawing(lesson.plot):
            draw_learning({_name(learner): learner.curve}, lesson.plot)
    report = _report(learner, variant, output, lesson, learner.games - before) | {"seconds": clock.seconds}
    if as_json:
        print_json(report)
    else:
        _print(report)


def _check(lesson: Lesson, output: Path) -> None:
    """Refuse, before any work is done, what cannot be done."""
    sources = [] if lesson.former is None else [lesson.former]
    check_outputs([output, *([lesson.plot] if lesson.plot else [])], sources, "train on")
    if lesson.plot is not None:
        must_draw()
        check_picture(lesson.plot)
    if lesson.former is not None and lesson.has_method:
        raise UsageError("--scheme, --epsilon, --rate and --discount are those of the agent that is trained on")
    if lesson.play_every is not None and lesson.play_every < 1:
        raise UsageError(f"--play-every is {lesson.play_every}, allowed are 1 and more")


def _pupil(positions: Positions, lesson: Lesson, output: Path) -> Learner:
    """The learner, with all its sessions planned."""
    if lesson.resume and output.exists():
        learner = fetch_for(output, positions.game)
        if lesson.has_method and learner.method != method_of(lesson):
            raise UsageError(f"{output}: was begun with {learner.method}, not with {method_of(lesson)}")
        return learner
    if lesson.former is not None:
        learner = fetch_for(lesson.former, positions.game)
    else:
        learner = new_learner(positions, method_of(lesson), lesson.seed)
    for opponent in lesson.against.split(","):
        learner.plan(opponent.strip(), lesson.games)
    return learner


def _name(learner: Learner) -> str:
    against = "-".join(session.opponent for session in learner.sessions)
    return f"{learner.method.scheme}-e{learner.method.epsilon:g}-{against}"


def _report(learner: Learner, variant: Variant, output: Path, lesson: Lesson, played: int) -> dict[str, Any]:
    return {
        "variant": variant._asdict(),
        "method": asdict(learner.method),
        "seed": learner.seed,
        "sessions": [asdict(session) for session in learner.sessions],
        "games": learner.games,
        "played": played,
        "curve": learner.curve,
        "digest": learner.digest,
        "output": str(output),
        "plot": None if lesson.plot is None else str(lesson.plot),
    }


def _print(report: dict[str, Any]) -> None:
    method = report["method"]
    rate = "one over visits" if method["rate"] is None else f"{method['rate']:g}"
    print(f"scheme {method['scheme']}, epsilon {method['epsilon']:g}, rate {rate}, discount {method['discount']:g}")
    for session in report["sessions"]:
        print(f"{session['games']:,} games against {session['opponent']}")
    print()
    rows = [["games", "wins against random", "mistakes"]]
    curve = report["curve"]
    step = -(-len(curve) // _MOST_ROWS)
    rows += [
        [f"{int(point['games']):,}", f"{point['win_share']:.6f}", f"{int(point['mistakes'])}"]
        for point in [*curve[:-1][::step], *curve[-1:]]
    ]
    print_table(rows, left=0)
    print()
    seconds = report["seconds"]["games"]
    speed = f" ({in_units(report['played'] / max(seconds, 1e-9))} games/s)" if report["played"] else ""
    print(f"{report['played']:,} games in {seconds:.1f} s{speed}, {report['seconds']['train']:.1f} s with measurements")
    for key in ("output", "plot"):
        if report[key] is not None:
            print(f"wrote {report[key]}")
