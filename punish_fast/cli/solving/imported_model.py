"""``punish-fast solve MODEL.umb``: compute an objective for a model from Storm, PRISM or Modest.

JSON keys:
    file (string): Model file.
    states (integer): Number of states.
    rows (integer): Number of choices.
    nnz (integer): Number of transitions.
    labels (object of integers by label): Number of states with each label.
    rewards (list of strings): Names of the rewards.
    objective (string): Objective, as given.
    discount (number or null): Discount factor. Null if the objective has none.
    method (string or null): For discounted rewards, solvers that were tried, with the reason why each but the last
        failed. Otherwise null.
    tolerance (number, values): Maximum error bound.
    error_bound (number or null, values): Proven bound on the error of every value.
    converged (boolean): True if the error bound is within the tolerance.
    initial (list of objects): Initial states.
        state (integer): Index of the state.
        value (number or string): Value of the objective. `inf` or `-inf` if it is infinite.
        action (string): Name of the best action.
    *work_report
    *check_outputs
"""

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

from punish_fast.cli.frame.report import UsageError
from punish_fast.cli.solving.options import SolveOptions
from punish_fast.cli.solving.solution_report import check_error_bound
from punish_fast.mdp.conversion import objective_text
from punish_fast.mdp.conversion.objective_text import NamedProcess
from punish_fast.mdp.model.limits import DEFAULT_DISCOUNT, DEFAULT_TOLERANCE, check_options
from punish_fast.mdp.model.solution import BoundedValues, Solution
from punish_fast.runtime.errors import printable
from punish_fast.store.formats.npz import export_values
from punish_fast.store.formats.umb_import import import_umb

# Options allowed with imported models. Other options apply only to Punish.
_ALLOWED = {"tensor", "objective", "discount", "tolerance", "output", "normalize", "verbose"}
_ALLOWED |= {"threads", "quiet", "as_json"}
# Fields printed without --verbose.
_SHOWN = {"file", "states", "objective", "error_bound", "initial", "seconds", "output", "output_bytes"}


def solve_imported(options: SolveOptions, file: Path) -> None:
    """Compute the values of the objective, and print the values of the initial states."""
    for field in fields(options):
        if field.name not in _ALLOWED and getattr(options, field.name) != field.default:
            raise UsageError(f"{field.name}: does not apply to models of other programs")
    tolerance = DEFAULT_TOLERANCE if options.tolerance is None else options.tolerance
    check_options(options.discount, tolerance=tolerance)
    objective = options.objective
    if objective is not None:
        objective_text.parse_objective(objective)
    options.check_outputs(options.output, endings=(".npz",))
    with options.stages("read"):
        process = import_umb(file, options.normalize)
    if objective is None:
        raise UsageError(f"--objective is missing, such as 'max P [F \"goal\"]'; {_names(process)}")
    with options.stages("solve"):
        found = process.solve(objective, options.discount, tolerance)
    if options.output is not None:
        with options.stages("write"):
            export_values(options.output, process, objective, found)
    discount = DEFAULT_DISCOUNT if options.discount is None else options.discount
    report = {
        "file": file,
        "states": process.mdp.n_states,
        "rows": process.mdp.n_rows,
        "nnz": process.mdp.nnz,
        "labels": {name: int(states.sum()) for name, states in process.labels.items()},
        "rewards": list(process.rewards),
        "objective": objective,
        "discount": None if "[" in objective else discount,
        "method": getattr(found, "reason", "") or None,
        "tolerance": tolerance,
        "error_bound": found.error_bound,
        "converged": found.error_bound <= tolerance,
        "initial": [_state(found, state) for state in process.initial.tolist()],
        **options.work_report(options.output),
    }
    values = found.v[process.initial]
    span = " to ".join(dict.fromkeys(f"{value:.6g}" for value in (values.min(), values.max())))
    result = f"Values of the initial states: {span}, with an error of at most {found.error_bound:.1e}."
    then = ("solve", file, "--objective", objective, "-o", file.with_suffix(".npz").name)
    shown = _SHOWN if report["discount"] is None else {*_SHOWN, "discount"}
    hidden = () if options.verbose else report.keys() - shown
    options.print(report, hidden=hidden, result=result, then=() if options.output else then)
    check_error_bound(found.error_bound, tolerance, found.v, options.tolerance is not None, options.output)


def _names(process: NamedProcess) -> str:
    labels, rewards = (", ".join(f'"{name}"' for name in names) for names in (process.labels, process.rewards))
    return printable(f"labels {labels}; rewards {rewards or 'none'}", 300)


def _state(found: BoundedValues | Solution, state: int) -> dict[str, Any]:
    value = found.value(state)
    return {"state": state, "value": value if math.isfinite(value) else str(value), "action": str(found.action(state))}
