"""The command ``export``: states and transitions in the formats of other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from punish_fast.cli.errors import UsageError
from punish_fast.cli.report import Stopwatch, in_units, peak_memory, print_json
from punish_fast.punish.rules import name_of
from punish_fast.store.files import check_output
from punish_fast.store.npz import export_npz
from punish_fast.store.reader import load
from punish_fast.store.umb import export_umb

FORMATS: dict[str, Callable[..., None]] = {"umb": export_umb, "npz": export_npz}


def export_command(path: Path, target: str, output: Path | None, as_json: bool) -> None:
    """Run ``punish-fast export``."""
    if target not in FORMATS:
        raise UsageError(f"--to is {target!r}, allowed are {' and '.join(FORMATS)}")
    clock = Stopwatch()
    with clock("read"):
        file = load(path)
        file.must_have_transitions()
        output = _output(path, target, output)
        mdp = file.mdp()
    with clock("write"):
        FORMATS[target](output, file, mdp, file.enemy)
    report = {
        "file": str(path),
        "format": target,
        "rules": name_of(file.rules),
        "enemy": file.enemy,
        "states": mdp.n_columns,
        "rows": mdp.n_rows,
        "nonzeros": mdp.n_entries,
        "seconds": clock.seconds | {"total": clock.total()},
        "peak_memory": peak_memory(),
        "output": str(output),
        "output_bytes": output.stat().st_size,
    }
    if as_json:
        print_json(report)
    else:
        _print_report(report)


def _output(path: Path, target: str, output: Path | None) -> Path:
    """The file to write, which must not be the one to read."""
    output = output or path.with_suffix(f".{target}")
    check_output(output)
    if output.exists() and output.samefile(path):
        raise UsageError(f"{output}: is the file to export, choose another with --output")
    return output


def _print_report(report: dict[str, Any]) -> None:
    print(f"{report['states']:,} states, {report['rows']:,} state-action rows, {report['nonzeros']:,} nonzeros")
    print(f"wrote {report['output']} ({in_units(report['output_bytes'], 'B')})")
