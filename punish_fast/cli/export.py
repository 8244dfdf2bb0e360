"""The command ``export``: files in the formats of other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from punish_fast.cli.errors import UsageError
from punish_fast.cli.outputs import output_beside
from punish_fast.cli.report import Stopwatch, in_units, peak_memory, print_json
from punish_fast.punish.rules import name_of
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyTable
from punish_fast.store.formats.notebook_json import content_of, export_notebook
from punish_fast.store.formats.npz import export_npz
from punish_fast.store.formats.umb import export_umb
from punish_fast.store.reader import load

# States and transitions, by the format's name.
_PROCESSES: dict[str, Callable[..., None]] = {"umb": export_umb, "npz": export_npz}
# The file's suffix of each format.
FORMATS = {"umb": ".umb", "npz": ".npz", "notebook-json": ".json"}


def export_command(path: Path, target: str, output: Path | None, as_json: bool) -> None:
    """Run ``punish-fast export``."""
    if target not in FORMATS:
        *most, last = FORMATS
        raise UsageError(f"--to is {target!r}, allowed are {', '.join(most)} and {last}")
    job = _Job(path, target, output)
    counts = job.process() if target in _PROCESSES else job.content()
    report = {
        "file": str(path),
        "format": target,
        "kind": job.file.kind,
        "rules": name_of(job.file.rules),
        **counts,
        "seconds": job.clock.seconds | {"total": job.clock.total()},
        "peak_memory": peak_memory(),
        "output": str(job.output),
        "output_bytes": job.output.stat().st_size,
    }
    if as_json:
        print_json(report)
    else:
        _print_report(report)


class _Job:
    """One export."""

    def __init__(self, path: Path, target: str, output: Path | None) -> None:
        self.clock = Stopwatch()
        self._target = target
        with self.clock("read"):
            self.file = load(path)
            if target in _PROCESSES:
                self.file.must_have_transitions()
            self.output = output_beside(path, FORMATS[target], output, "export")

    def process(self) -> dict[str, Any]:
        """Write states and transitions; return what to tell of them."""
        with self.clock("read"):
            mdp = self.file.mdp()
        with self.clock("write"):
            _PROCESSES[self._target](self.output, self.file, mdp, self.file.enemy)
        counts: dict[str, Any] = {"states": mdp.n_columns, "rows": mdp.n_rows, "nonzeros": mdp.n_entries}
        if self.file.kind == "agent":
            counts["values"] = None
        return {"enemy": self.file.enemy, **counts}

    def content(self) -> dict[str, Any]:
        """Write values or a strategy; return what to tell of them."""
        with self.clock("read"):
            space = StateSpace(self.file.rules)
            content = content_of(self.file, space)
        with self.clock("write"):
            export_notebook(self.output, space, content)
        if isinstance(content, StrategyTable):
            return {"states": len(content.state)}
        counts = {"states": space.n_states + len(content.terminals), "rows": len(content.q)}
        return {"enemy": self.file.enemy, **counts, "values": self._values()}

    def _values(self) -> str:
        """What the values written are."""
        solution = self.file.solution()
        if solution.objective == "discounted":
            return f"rewards at discount {solution.discount:g}"
        return "chances to win less chances to lose, from -1 to 1"


def _print_report(report: dict[str, Any]) -> None:
    units = {"states": "states", "rows": "state-action rows", "nonzeros": "nonzeros"}
    print(", ".join(f"{report[name]:,} {unit}" for name, unit in units.items() if name in report))
    if "values" in report:
        print(f"values: {report['values'] or 'none, a process has rewards only, +1 for a win and -1 for a loss'}")
    print(f"wrote {report['output']} ({in_units(report['output_bytes'], 'B')})")
