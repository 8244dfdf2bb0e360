"""Reports of ``solve``: error bound, and win probability of the agent."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.report import CheckError, say
from punish_fast.store.schema import enemy_text

if TYPE_CHECKING:
    import numpy as np

    from punish_fast.mdp.model.process import Process
    from punish_fast.mdp.model.solution import Solution
    from punish_fast.store.tensors import ModelSource

# If the user sets no tolerance, missing the default tolerance is an error only if the error bound exceeds this fraction
# of the largest value.
_ROUNDING = 1e-9
# Tolerance for the win probability of an agent with discounted values.
_ENOUGH = 1e-6


def solution_report(solution: Solution) -> dict[str, Any]:
    """Return the settings of a solution, its error bound, and the values of a win and a loss.

    JSON keys:
        discount (number): Discount factor.
        objective (string): `discounted` or `reach-probability`.
        method (string): Method of the sweeps.
        tolerance (number or null, values): Maximum error bound. Null with `--sweeps`.
        sweeps (integer): Number of sweeps, including `policies`.
        residual (number, values): Largest change in the last sweep, or `error_bound` if the last step was not a sweep.
        error_bound (number or null, values): Proven bound on the error of every value. Null if no bound is known.
        converged (boolean): True if the error bound is within the tolerance or if `--sweeps` is used.
        policies (integer): Number of policies evaluated because sweeps converged too slowly.
        digest (string): Digest of the values.
        loss_value (number): Value of a loss.
        win_value (number): Value of a win.
    """
    from punish_fast.punish.transitions.tensor import final_values

    names = ("discount", "objective", "method", "tolerance", "sweeps", "residual", "error_bound", "converged")
    report = {name: getattr(solution, name) for name in (*names, "policies", "digest")}
    best, worst = final_values(solution.discount, solution.objective)
    return report | {"loss_value": worst, "win_value": best}


def opening_report(source: ModelSource, mdp: Process, solution: Solution) -> dict[str, Any]:
    """Return the agent's win probability before the deal and with the worst and the best opening.

    If the objective is reach-probability, bounds are included. Otherwise, the agent is evaluated. In this case, return
    no fields if the transitions are not in memory or games might never end.

    JSON keys:
        win_probability (number, from 0 to 1): Win probability of the agent before the deal. For the objective
            `discounted`, missing if games might never end, or if the transitions are not in memory.
        lower (number, from 0 to 1): Lower bound on `win_probability`, for the objective `reach-probability`.
        upper (number, from 0 to 1): Upper bound on `win_probability`, for the objective `reach-probability`.
        worst_opening (number, from 0 to 1): Win probability with the worst opening.
        worst_deal (string): Cards of the worst opening.
        best_opening (number, from 0 to 1): Win probability with the best opening.
        best_deal (string): Cards of the best opening.
    """
    from punish_fast.mdp.model.limits import SolveError
    from punish_fast.mdp.model.mdp import MDP
    from punish_fast.mdp.objectives.solver import evaluate
    from punish_fast.punish.rules import cards_text
    from punish_fast.punish.states.openings import openings

    found = openings(source.states)
    report: dict[str, Any] = {}
    if solution.objective == "reach-probability":
        v = solution.v
        report = {name: float(found.p @ getattr(solution, name)[found.state]) for name in ("lower", "upper")}
    elif isinstance(mdp, MDP):
        try:
            v = (1 + evaluate(mdp, solution.policy, discount=1.0, tolerance=_ENOUGH)) / 2
        except SolveError:
            return {}
    else:
        return {}
    report = {"win_probability": float(found.p @ v[found.state])} | report
    for name, k in (("worst", v[found.state].argmin()), ("best", v[found.state].argmax())):
        report[f"{name}_opening"] = v[found.state[k]]
        hand, revealed = (cards_text(cards[k].tolist()) for cards in (found.hand, found.revealed))
        report[f"{name}_deal"] = f"{hand}; revealed: {revealed}"
    return report


def result_text(report: dict[str, Any]) -> str:
    """Describe the agent's win probability or, if it is unknown, the error of the values."""
    if "win_probability" not in report:
        return f"The values in {report['output']} have an error of at most {report['error_bound']:.1e}."
    share = f"{report['win_probability']:.1%} of games against {enemy_text(report['enemy'])}"
    return (
        f"{report['output']} wins {share} in the one-player model (`arena` plays the two-player game): "
        f"{report['best_opening']:.1%} with the best opening ({report['best_deal']}) and "
        f"{report['worst_opening']:.1%} with the worst ({report['worst_deal']})."
    )


def check_error_bound(bound: float, tolerance: float, values: np.ndarray, is_set: bool, output: Path | None) -> None:
    """Check the error bound of values. If rounding explains a missed tolerance, only report it on stderr.

    Args:
        bound: Bound on the absolute error of the values.
        tolerance: Maximum error bound.
        values: Float64 array of shape (n,).
        is_set: True if the user set the tolerance, so that a miss is always an error.
        output: File that contains the values, or None.

    Raises:
        CheckError: If the tolerance is missed, and ``is_set`` is True or the error bound exceeds 1e-9 times the largest
            finite absolute value.
    """
    import numpy as np

    if bound <= tolerance:
        return
    missed = f"the error bound {bound:.2e} is above the tolerance {tolerance:g}, and rounding allows no lower one"
    if output is not None:
        missed += f"; {output} contains the best values found"
    if not is_set and bound <= _ROUNDING * np.abs(values).max(initial=0.0, where=np.isfinite(values)):
        say(missed)
        return
    # Double the bound, so that rounding to one digit does not make it too small.
    accepted = 2 * bound
    raise CheckError(f"{missed}; accept it with --tolerance {accepted:.0e}" if math.isfinite(accepted) else missed)
