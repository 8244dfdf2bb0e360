"""``punish-fast games model``: what the model of a MuZero agent has learned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from punish_fast.cli.errors import UsageError
from punish_fast.cli.games.options import VariantOptions
from punish_fast.cli.options import PlotOption, argument, option, verb
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.report import Progress, Stopwatch, count, print_table, print_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class GamesModelOptions(VariantOptions):
    """Options of ``games model``."""

    file: Annotated[Path, argument("FILE.h5", "An agent that `games train --method muzero` has written.")]
    states: Annotated[int, option("States to begin from.", metavar="N", min=1, max=10_000)] = 500
    actions: Annotated[int, option("Actions to follow.", metavar="N", min=1, max=50)] = 10
    seed: Annotated[int, option("Random seed.", metavar="N", min=0, max=(1 << 64) - 1)] = 0
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
    if not learner.method.is_learned:
        raise UsageError(f"{options.file}: plans in the rules of the game, so there is no model to judge")
    states = sampled_states(learner.board, options.states, generator)
    with clock("unroll"), progress.stage("unroll: JAX compiles the networks"):
        unrolled = unrolled_errors(learner, oracle_of(game), states, options.actions, generator)
    with clock("search"), progress.stage("search: JAX compiles it first"):
        nodes = searched_nodes(learner, states)
    progress.clear()
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


# Tables of errors: the title, the columns by their names in a report, and what they are.
_TABLES = (
    (
        "values and rewards, from -1 to 1: mean errors",
        {
            "value": "value",
            "value_if_seen": "value if seen",
            "reward": "reward",
            "past_value": "value past the end",
            "past_reward": "reward past the end",
        },
        "if seen: if the model saw the state that the moves lead to; past the end, both should be 0",
    ),
    (
        "policy",
        {
            "keeps_value": "best move keeps the value",
            "keeps_value_if_seen": "if seen",
            "illegal": "illegal moves",
            "illegal_if_uniform": "if all moves were alike",
        },
        "the share of best legal moves that give away neither win nor draw; the probability of illegal moves, and what "
        "it is if all moves are equally probable",
    ),
)


def _print(report: dict[str, Any]) -> None:
    followed = count(report["unroll"], "move")
    print_text(f"from {count(report['states'], 'state')}, after moves in the model, which learned to follow {followed}")
    print()
    for title, columns, note in _TABLES:
        print(title)
        rows = [[f"{each['actions']}", f"{each['states']:,}", *_shares(each, columns)] for each in report["unrolled"]]
        print_table([["moves", "games left", *columns.values()], *rows], left=0)
        print_text(note)
        print()
    print_text("nodes of searches: the share that illegal moves, or moves past the end of the game, lead to")
    nodes = [
        [f"{each['depth']}", f"{each['nodes']:,}", *_shares(each, ("illegal", "past"))] for each in report["nodes"]
    ]
    print_table([["depth", "nodes", "illegal", "past the end"], *nodes], left=0)
    if report["plot"] is not None:
        print()
        print(f"wrote {report['plot']}")


def _shares(row: Mapping[str, float | None], names: Iterable[str]) -> list[str]:
    """Some numbers of a row as texts."""
    return ["-" if row[name] is None else f"{row[name]:.3f}" for name in names]
