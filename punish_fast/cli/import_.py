"""The command ``import``: from the notebook's JSON files to ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from punish_fast.cli.errors import UsageError
from punish_fast.cli.outputs import output_beside
from punish_fast.cli.report import Stopwatch, in_units, print_json
from punish_fast.mdp.solver import check_options
from punish_fast.punish.rules import load_rules, name_of
from punish_fast.punish.strategy import StrategyTable
from punish_fast.store.formats.notebook_json import KINDS, import_notebook


def import_command(
    path: Path, kind: str | None, rules: str | None, discount: float, output: Path | None, as_json: bool
) -> None:
    """Run ``punish-fast import``."""
    clock = Stopwatch()
    if kind is not None and kind not in KINDS:
        raise UsageError(f"--kind is {kind!r}, allowed are {' and '.join(KINDS)}")
    check_options(discount)
    house = load_rules(rules or "notebook")
    output = output_beside(path, ".h5", output, "import")
    content = import_notebook(path, output, house, kind, discount)
    report: dict[str, Any] = {"file": str(path), "rules": name_of(house), "rules_digest": house.digest}
    if isinstance(content, StrategyTable):
        report |= {"kind": "strategy", "states": len(content.state)}
    else:
        report |= {"kind": "agent", "values": len(content.q), "terminals": list(content.terminals)}
        report["discount"] = discount
    report |= {"seconds": clock.total(), "output": str(output), "output_bytes": output.stat().st_size}
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _print_report(report: dict[str, Any]) -> None:
    if report["kind"] == "agent":
        print(f"an agent with {report['values']:,} values at discount {report['discount']:g}")
    else:
        print(f"a strategy for {report['states']:,} states")
    print(f"wrote {report['output']} ({in_units(report['output_bytes'], 'B')})")
