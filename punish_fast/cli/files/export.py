"""``punish-fast export``: write files in the formats of other programs.

JSON keys:
    file (string): Exported file, or name of a built-in agent.
    format (string): Format of the output.
    kind (string): Kind of the exported file, or `built-in`.
    *rules_report
    enemy (object): Enemy of a tensor or an agent.
        *enemy_text
    states (integer): Number of states in the output, including win and loss except in tables.
    rows (integer): Number of state-action pairs, if the format has them.
    nnz (integer): Number of transitions, if the format has them.
    values (string or null): Unit of the values, in words. Null if the format has no values.
    *work_report
    *check_outputs
"""

from __future__ import annotations

from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from punish_fast.cli.frame.options import CommonOptions, OutputOption, argument, complete_agents, option, verb
from punish_fast.cli.frame.outputs import default_output
from punish_fast.cli.frame.progress import Stopwatch
from punish_fast.cli.frame.report import UsageError
from punish_fast.punish.rules import Rules, load_rules, rules_report

if TYPE_CHECKING:
    from punish_fast.arena.players import Player
    from punish_fast.store.reader import SolutionFile

_SUFFIXES = {"umb": ".umb", "npz": ".npz", "notebook-json": ".json", "csv": ".csv", "parquet": ".parquet"}


class ExportOptions(CommonOptions):
    """Options of ``export``."""

    file: str = argument(
        "FILE.h5",
        "A tensor, or an agent with its tensor. For notebook-json, csv and parquet, an agent, a strategy or a built-in "
        "agent.",
        complete_agents,
    )
    target: Literal["umb", "npz", "notebook-json", "csv", "parquet"] = option(
        "umb (Unified Markov Binary, for Storm, PRISM and Modest), npz (NumPy and SciPy), notebook-json (the original "
        "notebook's values or strategy), or csv or parquet (a table of all actions).",
        "--to",
        default=MISSING,
    )
    output: OutputOption = None


@verb(
    "punish-fast export naive.h5 --to umb",
    "punish-fast export naive.h5 --to npz -o tensor.npz",
    "punish-fast export naive.h5 --to notebook-json -o q_naive.json",
    "punish-fast export careful --to csv",
    stage="export",
)
def export(options: ExportOptions) -> None:
    """Write states and transitions, or values, in the format of another program.

    The default output is named after the input file, with the suffix of the format.
    """
    from punish_fast.arena.players import Player, is_built_in
    from punish_fast.store.reader import load

    with options.stages.clock("read"):
        file = Player(options.file) if is_built_in(options.file) else load(options.file)
    suffix = _SUFFIXES[options.target]
    output = options.output or default_output(Path(options.file).with_suffix(suffix))
    options.check_outputs(output, endings=[suffix])
    rules = file.rules or load_rules("tabletop")
    if options.target == "notebook-json":
        counts = _export_content(file, rules, output, options.stages.clock)
    elif options.target in ("csv", "parquet"):
        counts = _export_table(file, rules, output, options.stages.clock)
    elif isinstance(file, Player):
        raise UsageError(f"{options.file}: is built in and has no tensor; write one first: punish-fast build")
    else:
        counts = _export_process(file, options, output)
    kind = "built-in" if isinstance(file, Player) else file.kind
    report = {"file": options.file, "format": options.target, "kind": kind, **rules_report(rules)}
    then = ("solve", output, "--objective", 'max P [F "win"]') if options.target == "umb" else ("show", options.file)
    options.print(report | counts | options.work_report(output), then=then)


def _export_process(file: SolutionFile, options: ExportOptions, output: Path) -> dict[str, Any]:
    from punish_fast.store.formats.npz import export_npz
    from punish_fast.store.formats.umb import export_punish_umb

    with options.stages.clock("read"):
        mdp = file.mdp()
    with options.stages.clock("write"):
        (export_punish_umb if options.target == "umb" else export_npz)(output, file, mdp, file.enemy)
    counts = {"enemy": file.enemy, "states": mdp.n_columns, "rows": mdp.n_rows, "nnz": mdp.nnz}
    return counts | ({"values": None} if file.kind == "agent" else {})


def _export_content(file: SolutionFile | Player, rules: Rules, output: Path, clock: Stopwatch) -> dict[str, Any]:
    import numpy as np

    from punish_fast.arena.players import Player
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.store.formats.notebook_json import NotebookStrategy, NotebookValues, content_of, export_notebook

    with clock("read"):
        space = StateSpace(rules)
        if isinstance(file, Player):
            support = np.ones(space.n_states, dtype=np.bool_)
            content: NotebookValues | NotebookStrategy = NotebookStrategy(file.policy(space), support)
        else:
            content = content_of(file, space)
    with clock("write"):
        export_notebook(output, space, content)
    if isinstance(content, NotebookStrategy):
        return {"states": int(content.support.sum())}
    assert not isinstance(file, Player)
    solution = file.solution()
    values = "win probability minus loss probability, from -1 to 1"
    if solution.objective == "discounted":
        values = f"rewards at discount {solution.discount:g}"
    states = space.n_states + len(content.terminals)
    return {"enemy": file.enemy, "states": states, "rows": len(content.q), "values": values}


def _export_table(file: SolutionFile | Player, rules: Rules, output: Path, clock: Stopwatch) -> dict[str, Any]:
    import numpy as np

    from punish_fast.arena.players import Player
    from punish_fast.punish.codes import decimals_of
    from punish_fast.punish.encoding import encode
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.strategy import COLUMN
    from punish_fast.runtime.results import save_columns

    counts: dict[str, Any] = {"values": None}
    with clock("read"):
        space = StateSpace(rules)
        encoding, state = encode(space), np.repeat(np.arange(space.n_states), np.diff(space.state_ptr))
        columns = {"state": decimals_of(space)[state]}
        digits = zip(encoding.feature_names, encoding.features.T, strict=True)
        columns |= {name: values[state] for name, values in digits}
        columns["action"] = np.array(encoding.action_names)[COLUMN[space.action]]
        columns["probability"] = file.policy(space)
        if not isinstance(file, Player) and file.kind == "agent":
            solution = file.solution()
            columns["value"] = solution.q
            counts = {"enemy": file.enemy, "values": f"{solution.objective}, discount {solution.discount:g}"}
    with clock("write"):
        save_columns(output, columns)
    return {"states": space.n_states, "rows": len(state)} | counts
