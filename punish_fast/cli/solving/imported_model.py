"""``punish-fast solve MODEL.umb``: solve an objective of a model of Storm, PRISM or Modest."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.errors import CheckError, UsageError, say
from punish_fast.cli.frame.outputs import check_outputs
from punish_fast.cli.frame.progress import Progress, Stopwatch
from punish_fast.cli.frame.report import work_report
from punish_fast.runtime.printable import printable

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.cli.solving.solve import SolveOptions
    from punish_fast.mdp.conversion.named_process import NamedProcess
    from punish_fast.mdp.solution import ObjectiveValues, Solution

# If no tolerance is set, error bounds up to this fraction of the largest value are only reported.
_ROUNDING = 1e-9
# Options allowed with imported models; the others apply only to the game.
_ALLOWED = {"tensor", "objective", "discount", "tolerance", "output", "normalize", "threads", "quiet", "as_json"}


def is_imported(path: Path | None) -> bool:
    """Return True if a file is a model of another program, judging by its name."""
    return path is not None and path.suffix.lower() == ".umb"


def solve_imported(options: SolveOptions) -> None:
    """Compute the values of the objective, and print the values of the initial states."""
    from punish_fast.mdp.conversion.objective_text import parse_objective, solve_objective
    from punish_fast.mdp.solve_options import DEFAULT_DISCOUNT, DEFAULT_TOLERANCE, check_options
    from punish_fast.store.formats.npz import export_values
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
        found = solve_objective(process, objective, options.discount, tolerance)
    if options.output is not None:
        with clock("write"):
            export_values(options.output, process, str(options.objective), found)
    discount = DEFAULT_DISCOUNT if options.discount is None else options.discount
    report = {
        "file": options.tensor,
        "states": process.mdp.n_states,
        "rows": process.mdp.n_rows,
        "nonzeros": process.mdp.n_entries,
        "labels": {name: int(states.sum()) for name, states in process.labels.items()},
        "rewards": list(process.rewards),
        "objective": options.objective,
        "discount": None if "[" in str(options.objective) else discount,
        "method": getattr(found, "reason", "") or None,
        "tolerance": tolerance,
        "error_bound": found.error_bound,
        "converged": found.error_bound <= tolerance,
        "initial": [_state(process, found, state) for state in process.initial.tolist()],
        **work_report(clock, options.output),
    }
    options.print(report)
    check_error_bound(found.error_bound, tolerance, found.v, options.tolerance is not None, options.output)


def _names(process: NamedProcess) -> str:
    labels, rewards = (", ".join(f'"{name}"' for name in names) for names in (process.labels, process.rewards))
    return printable(f"labels {labels}; rewards {rewards or 'none'}", 300)


def _state(process: NamedProcess, found: ObjectiveValues | Solution, state: int) -> dict[str, Any]:
    action = int(process.mdp.action[found.choice[state]])
    name = process.actions[action] if process.actions else str(action)
    value = float(found.v[state])
    return {"state": state, "value": value if math.isfinite(value) else str(value), "action": name}


def check_error_bound(
    error_bound: float, tolerance: float, values: np.ndarray, is_set: bool, output: Path | None
) -> None:
    """Report a missed tolerance on stderr; raise CheckError if it is set or rounding does not explain the miss.

    If the tolerance is not ``is_set``, an error bound up to 1e-9 of the largest finite absolute value (``values`` are
    float64 ``[n]``) is only reported. ``output`` is the file that contains the values, if any.
    """
    import numpy as np

    if error_bound <= tolerance:
        return
    missed = f"the error bound {error_bound:.2e} is as low as rounding allows, above the tolerance {tolerance:g}"
    if output is not None:
        missed += f"; {output} holds the best values found"
    if not is_set and error_bound <= _ROUNDING * np.abs(values).max(initial=0.0, where=np.isfinite(values)):
        say(missed)
        return
    # Doubled, so that rounding to one digit cannot give less than the bound.
    accepted = 2 * error_bound
    raise CheckError(f"{missed}; accept it with --tolerance {accepted:.0e}" if math.isfinite(accepted) else missed)
