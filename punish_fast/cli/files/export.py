"""``punish-fast export``: write files in the formats of other programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from punish_fast.cli.frame.options import CommonOptions, OutputOption, argument, option, verb
from punish_fast.cli.frame.outputs import default_output, output_beside
from punish_fast.cli.frame.progress import Stopwatch
from punish_fast.cli.frame.report import rules_report, work_report

if TYPE_CHECKING:
    from punish_fast.store.reader import Artefact

_SUFFIXES = {"umb": ".umb", "npz": ".npz", "notebook-json": ".json"}


@dataclass(frozen=True, kw_only=True)
class ExportOptions(CommonOptions):
    """Options of ``export``."""

    file: Annotated[
        Path, argument("FILE.h5", "A tensor, or an agent with its tensor; for notebook-json, an agent or a strategy.")
    ]
    target: Annotated[
        Literal["umb", "npz", "notebook-json"],
        option(
            "umb: Unified Markov Binary, for Storm, PRISM and Modest; npz: NumPy and SciPy; notebook-json: the "
            "original notebook's values or strategy.",
            "--to",
        ),
    ]
    output: OutputOption = None


@verb(
    "punish-fast export naive.h5 --to umb",
    "punish-fast export naive.h5 --to npz -o tensor.npz",
    "punish-fast export naive.h5 --to notebook-json -o q_naive.json",
    stage="export",
)
def export(options: ExportOptions) -> None:
    """Write states and transitions, or values, in the format of another program.

    The default output is named after the input file, with the suffix .umb, .npz or .json.
    """
    from punish_fast.store.reader import load

    clock = Stopwatch()
    with clock("read"):
        file = load(options.file)
    output = output_beside(options.file, _SUFFIXES[options.target], options.output, "export")
    if options.output is None:
        default_output(output)
    counts = (_export_content if options.target == "notebook-json" else _export_process)(file, options, output, clock)
    report = {"file": options.file, "format": options.target, "kind": file.kind, **rules_report(file.rules)}
    options.print(report | counts | work_report(clock, output))


def _export_process(file: Artefact, options: ExportOptions, output: Path, clock: Stopwatch) -> dict[str, Any]:
    from punish_fast.store.formats.npz import export_npz
    from punish_fast.store.formats.umb import export_umb

    with clock("read"):
        mdp = file.mdp()
    with clock("write"):
        (export_umb if options.target == "umb" else export_npz)(output, file, mdp, file.enemy)
    counts = {"enemy": file.enemy, "states": mdp.n_columns, "rows": mdp.n_rows, "nonzeros": mdp.n_entries}
    return counts | ({"values": None} if file.kind == "agent" else {})


def _export_content(file: Artefact, _options: ExportOptions, output: Path, clock: Stopwatch) -> dict[str, Any]:
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.store.formats.notebook_json import Probabilities, content_of, export_notebook

    with clock("read"):
        space = StateSpace(file.rules)
        content = content_of(file, space)
    with clock("write"):
        export_notebook(output, space, content)
    if isinstance(content, Probabilities):
        return {"states": int(content.covered.sum())}
    solution = file.solution()
    values = "win probability minus loss probability, from -1 to 1"
    if solution.objective == "discounted":
        values = f"rewards at discount {solution.discount:g}"
    states = space.n_states + len(content.terminals)
    return {"enemy": file.enemy, "states": states, "rows": len(content.q), "values": values}
