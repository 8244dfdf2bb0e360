"""A process without a discount and without layers, solved component by component once its end components are collapsed.

Values, bounds and policy come from ``component_brackets.py``; if play can go on for ever, from those of a quotient
(``end_components.py``). All states are backed up once more at the end, for the values of rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from punish_fast.mdp.component_brackets import PROBABILITY, Payoff, bracketed, values_of_rows
from punish_fast.mdp.end_components import collapsed
from punish_fast.mdp.graph import endless_states
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solution import Solution
from punish_fast.mdp.value_iteration import Log


def solve_by_component(
    original: MDP, endless: np.ndarray, objective: str, tolerance: float, progress: Callable[[int, float], None]
) -> Solution | None:
    """Solve a process without layers and without a discount, one component after the other.

    Args:
        original: The process, not compact.
        endless: bool ``[n_states]``, the states from which some policy goes on for ever.
        objective: As in `punish_fast.mdp.solver.solve`.
        tolerance: The error bound to reach.
        progress: Called with the number of sweeps so far, and the error bound.

    Returns:
        The solution; None if play can be paid for ever, or sweeps prove no bound.
    """
    pays, begin = objective == "discounted", time.perf_counter()
    quotient = collapsed(original, endless, pays) if endless.any() else None
    mdp = original if quotient is None else quotient.mdp
    # Without rewards, all end components were collapsed.
    if pays and quotient is not None and endless_states(mdp).any():
        return None
    if pays:
        reward = Payoff(mdp.reward, np.zeros(len(mdp.terminal_reward)))
    else:
        reward = Payoff(np.zeros(mdp.n_rows), (mdp.terminal_reward > 0).astype(np.float64), PROBABILITY)
    # Values that are backed up once more stay between the bounds, so they change by their error bound at most.
    found = bracketed(mdp, reward, tolerance / 2, lambda sweeps: progress(sweeps, np.inf))
    if found is None:
        return None
    q, v = values_of_rows(mdp, reward, found), found.v
    best = q[found.choice]
    if quotient is not None:
        _, q = quotient.lifted(best, q)
        # Where the policy stays, which no row stands for, the rows of the state are two ties below its value.
        best, v = np.maximum.reduceat(q, original.state_ptr[:-1]), v[quotient.number]
    change = float(np.abs(best - v).max())
    bound = float(np.nextafter(found.error_bound + change, np.inf))
    progress(found.rounds, bound)
    log = Log(residual=[change], seconds=[time.perf_counter() - begin])
    return Solution(
        v=best,
        q=q,
        state_ptr=original.state_ptr,
        objective=objective,
        discount=1.0,
        method="auto",
        tolerance=tolerance,
        sweeps=found.rounds,
        residual=change,
        error_bound=bound,
        log=log,
        reason="topological",
    )
