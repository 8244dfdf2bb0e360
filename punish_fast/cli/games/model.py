"""``punish-fast games model``: what the model of a MuZero agent has learned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.games.options import VariantOptions
from punish_fast.cli.options import FixedSeedOption, PlotOption, argument, option, verb
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.report import Progress, Stopwatch, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class GamesModelOptions(VariantOptions):
    """Options of ``games model``."""

    file: Annotated[Path, argument("FILE.h5", "An agent that `games train --method muzero` has written.")]
    states: Annotated[int, option("States to begin from.", metavar="N", min=1, max=10_000)] = 500
    actions: Annotated[int, option("Actions to follow.", metavar="N", min=1, max=50)] = 10
    seed: FixedSeedOption = 0
    plot: PlotOption = None


@verb(
    "punish-fast games model tictactoe tictactoe.h5",
    "punish-fast games model tictactoe tictactoe.h5 --actions 5 --plot model.png",
)
def model(options: GamesModelOptions) -> None:
    """Hold the model that MuZero has learned against the rules and perfect play.

    From states of the game, random moves are followed in the game and in the model, which sees the first state alone.
    Then searches show how often they follow illegal moves, or go on after the end.
    """
    import numpy as np

    from punish_fast.games.registry import oracle_of
    from punish_fast.learn.muzero.checkpoint import load_muzero
    from punish_fast.learn.muzero.model_errors import sampled_states, searched_nodes, unrolled_errors
    from punish_fast.runtime.extras import require

    clock, progress, game = Stopwatch(), Progress(options.quiet), options.make("model")
    check_outputs([], [options.file], "judge", options.plot)
    require("learn", "jax", "optax", "mctx")
    learner, generator = load_muzero(options.file, game), np.random.default_rng(options.seed)
    states = sampled_states(learner.board, options.states, generator)
    with clock("unroll"), progress.stage("unroll"):
        unrolled = unrolled_errors(learner, oracle_of(game), states, options.actions, generator)
    with clock("search"), progress.stage("search"):
        nodes = searched_nodes(learner, states)
    if options.plot is not None:
        from punish_fast.learn.muzero.model_plot import draw_model

        draw_model(unrolled, nodes, learner.method.unroll, options.plot)
    report = {
        "game": game.name,
        "variant": game.parameters(),
        "agent": options.file,
        "states": len(states),
        "unroll": learner.method.unroll,
        "unrolled": _told(unrolled),
        "nodes": _told(nodes),
        "plot": options.plot,
        "seconds": clock.seconds,
    }
    options.print(report, _print)


def _told(rows: Sequence[NamedTuple]) -> list[dict[str, Any]]:
    """Rows as JSON values, None for what is unknown."""
    return [
        {name: None if isinstance(number, float) and math.isnan(number) else number for name, number in fields.items()}
        for fields in (row._asdict() for row in rows)
    ]


def _print(report: dict[str, Any]) -> None:
    print(f"from {report['states']:,} states, after moves that the model followed (it learned {report['unroll']})")
    head = ["moves", "games left", "value", "if seen", "reward", "keeps", "if seen", "illegal", "if uniform"]
    names = ("value", "value_if_seen", "reward", "keeps_value", "keeps_value_if_seen", "illegal", "illegal_if_uniform")
    rows = [
        [str(each["actions"]), f"{each['states']:,}", *(_share(each[name]) for name in (*names, *_PAST))]
        for each in report["unrolled"]
    ]
    print_table([[*head, "past the end: value", "reward"], *rows], left=0)
    print("mean errors of values and rewards; shares of best moves that keep the value, and of illegal moves;")
    print("if seen: if the model sees the state that the moves lead to; if uniform: if all moves were equally probable")
    print()
    print("nodes of searches")
    nodes = [
        [str(each["depth"]), f"{each['nodes']:,}", _share(each["illegal"]), _share(each["past"])]
        for each in report["nodes"]
    ]
    print_table([["depth", "nodes", "illegal", "past the end"], *nodes], left=0)
    if report["plot"] is not None:
        print()
        print(f"wrote {report['plot']}")


_PAST = ("past_value", "past_reward")


def _share(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"
