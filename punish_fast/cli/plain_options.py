"""Options that several commands share, as types of their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="R",
        envvar="PUNISH_FAST_RULES",
        help="notebook, tabletop, tiny, or a TOML file that names what differs from notebook.  [default: notebook]",
    ),
]
EnemyOption = Annotated[
    str | None,
    typer.Option(
        "--enemy",
        metavar="E",
        envvar="PUNISH_FAST_ENEMY",
        help="naive, a strategy file, or an agent file (its greedy policy).  [default: naive]",
    ),
]
TemperatureOption = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        metavar="T",
        envvar="PUNISH_FAST_TEMPERATURE",
        help="Let an agent file play by softmax at this temperature instead, in the unit of its values: "
        "0.05 is five percentage points of a chance to win.",
    ),
]
ArenaRulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="R",
        envvar="PUNISH_FAST_RULES",
        help="A preset or a TOML file; the redeal is always the true one.  [default: those of the first file]",
    ),
]
ArenaTemperatureOption = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        metavar="T",
        envvar="PUNISH_FAST_TEMPERATURE",
        help="Let agents play by softmax at this temperature, in the unit of their values, instead of greedily.",
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", envvar="PUNISH_FAST_THREADS", help="Threads to compute with.  [default: all]"
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", envvar="PUNISH_FAST_OUTPUT", help="The file to write."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", envvar="PUNISH_FAST_JSON", help="Print one JSON object instead of text.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", envvar="PUNISH_FAST_QUIET", help="Report no progress.")]
