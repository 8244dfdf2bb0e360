"""``punish-fast solve MODEL.umb``: an objective in a model of Storm, PRISM or Modest."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.outputs import check_outputs
from punish_fast.cli.frame.report import (
    Progress,
    Stopwatch,
    check_error_bound,
    finite,
    peak_memory,
)
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    from punish_fast.cli.solving.solve import SolveOptions
    from punish_fast.mdp.conversion.named_process import NamedProcess
    from punish_fast.mdp.conversion.objective_text import ObjectiveValues

_SUFFIX = ".umb"
# What goes with such a model; everything else belongs to the game.
_ALLOWED = {
    "tensor",
    "objective",
    "discount",
    "tolerance",
    "output",
    "normalize",
    "threads",
    "quiet",
    "as_json",
}


def is_imported(path: Path | None) -> bool:
    """Whether a file is a model of another program, by its name."""
    return path is not None and path.suffix.lower() == _SUFFIX


def solve_imported(options: SolveOptions) -> None:
    """Find the values of the objective, and print those of the initial states."""
    from punish_fast.mdp.conversion.objective_text import answer, parse_objective
    from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, check_options
    from punish_fast.runtime._jit import threads
    from punish_fast.store.formats.answers import save_answer
    from punish_fast.store.formats.umb_import import import_umb

    assert options.tensor is not None
    for field in fields(options):
        if field.name not in _ALLOWED and getattr(options, field.name) != field.default:
            raise UsageError(f"--{field.name.replace('_', '-')} does not go with a model of another program")
    tolerance = DEFAULT_TOLERANCE if options.tolerance is None else options.tolerance
    check_options(options.discount, tolerance=tolerance)
    objective = None if options.objective is None else parse_objective(options.objective)
    check_outputs([options.output], [options.tensor], "solve")
    clock, progress = Stopwatch(), Progress(options.quiet)
    with clock("read"), progress.stage("read"):
        process = import_umb(options.tensor, options.normalize)
    if objective is None:
        raise UsageError(f"--objective is missing, such as 'max P [F \"goal\"]'; {_names(process)}")
    with clock("solve"), progress.stage("solve"):
        found = answer(process, objective, options.discount, tolerance)
    report = _report(options, process, found) | {"tolerance": tolerance, "threads": threads()}
    if options.output is not None:
        with clock("write"):
            save_answer(options.output, process, str(options.objective), found)
        report |= {"output": options.output, "output_bytes": options.output.stat().st_size}
    report |= {"seconds": clock.seconds | {"total": clock.total()}, "peak_memory_bytes": peak_memory()}
    progress.clear()
    options.print(report)
    check_error_bound(found.error_bound, tolerance, found.v, options.tolerance is not None, options.output)


def _names(process: NamedProcess) -> str:
    """What the model has names for."""
    labels, rewards = (", ".join(f'"{name}"' for name in names) for names in (process.labels, process.rewards))
    return printable(f"labels {labels}; rewards {rewards or 'none'}", 300)


def _report(options: SolveOptions, process: NamedProcess, found: ObjectiveValues) -> dict[str, Any]:
    from punish_fast.mdp.solve_options import DEFAULT_DISCOUNT, DEFAULT_TOLERANCE

    mdp = process.mdp
    tolerance = DEFAULT_TOLERANCE if options.tolerance is None else options.tolerance
    discount = DEFAULT_DISCOUNT if options.discount is None else options.discount
    is_discounted = "[" not in str(options.objective)
    return {
        "file": options.tensor,
        "states": mdp.n_states,
        "rows": mdp.n_rows,
        "nonzeros": mdp.n_entries,
        "labels": {name: int(states.sum()) for name, states in process.labels.items()},
        "rewards": list(process.rewards),
        "objective": options.objective,
        "discount": discount if is_discounted else None,
        "method": found.reason or None,
        "error_bound": finite(found.error_bound),
        "converged": found.error_bound <= tolerance,
        "initial": [_state(process, found, state) for state in process.initial.tolist()],
    }


def _state(process: NamedProcess, found: ObjectiveValues, state: int) -> dict[str, Any]:
    action = int(process.mdp.action[found.choice[state]])
    name = process.actions[action] if process.actions else str(action)
    value = float(found.v[state])
    return {"state": state, "value": value if math.isfinite(value) else str(value), "action": name}
