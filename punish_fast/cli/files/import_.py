"""``punish-fast import``: convert the original notebook's JSON files to agents or strategies.

JSON keys:
    file (string): Imported file.
    *rules_report
    kind (string): Kind of the output: `agent` or `strategy`.
    values (integer): For an agent, number of values.
    terminals (list of numbers, values): For an agent, values of a win and a loss.
    discount (number): For an agent, discount factor.
    states (integer): Number of states covered by a strategy.
    *work_report
    *check_outputs
"""

from pathlib import Path
from typing import Any

from punish_fast.cli.frame.options import CommonOptions, OutputOption, RulesOption, argument, option, verb
from punish_fast.cli.frame.outputs import HDF5, check_inputs, default_output
from punish_fast.punish.rules import load_rules, name_of, rules_report


class ImportOptions(CommonOptions):
    """Options of ``import``."""

    file: Path = argument("FILE.json", "Values or a strategy, written by the original notebook.")
    rules: RulesOption = None
    discount: float = option("Discount factor of the agent's values.", default=0.95)
    output: OutputOption = None


@verb(
    "punish-fast import q_naive.json",
    "punish-fast import general_parless_strategies.json -o general.h5",
    stage="import",
)
def import_(options: ImportOptions) -> None:
    """Convert a JSON file written by the original Julia notebook to an agent or a strategy.

    A file of values, with a negative value for a loss, becomes an agent. Any other file becomes a strategy. The default
    output is named after the input file, with the suffix .h5. The error of an imported agent's values is unknown.
    """
    from punish_fast.mdp.model.limits import check_options
    from punish_fast.store.formats.notebook_json import NotebookStrategy, import_notebook

    check_inputs(options.file)
    check_options(options.discount)
    rules = load_rules(options.rules or "notebook")
    settings = {"rules": name_of(rules), "file": options.file.name, "discount": options.discount}
    output = options.output or options.file.with_suffix(".h5")
    options.check_outputs(output, endings=HDF5)
    if options.output is None:
        default_output(output, settings, lambda path: settings | _imported_with(path))
    content = import_notebook(options.file, output, rules, discount=options.discount)
    report: dict[str, Any] = {"file": options.file, **rules_report(rules)}
    if isinstance(content, NotebookStrategy):
        report |= {"kind": "strategy", "states": content.support.sum()}
    else:
        report |= {"kind": "agent", "values": len(content.q), "terminals": content.terminals}
        report["discount"] = options.discount
    options.print(report | options.work_report(output), then=("play", output))


def _imported_with(path: Path) -> dict[str, Any]:
    """Return the import settings recorded in a file. Only agents have a discount."""
    from punish_fast.store.reader import load

    file = load(path)
    rules = {"rules": name_of(file.rules)}
    if file.kind != "agent":
        return rules | {"file": (file.origin or {}).get("file")}
    return rules | {"file": file.enemy.get("imported_from"), "discount": file.attributes["discount"]}
