"""Rewards that a solver maximizes, and results of the rungs of the ladder (``ladder.py``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.model.results import ANY, ValueRange
from punish_fast.mdp.model.solution import Log


class Payoff(NamedTuple):
    """Rewards of rows and terminals, and limits on the total reward."""

    row: np.ndarray  # float64 [n_rows], rewards of rows
    end: np.ndarray  # float64 [n_terminals], values of terminals
    value_range: ValueRange = ANY  # smallest and largest possible total
    scale: float = 0.0  # ties are relative to the largest value or, if larger, to this scale


@dataclass(frozen=True, eq=False)
class Exact:
    """Optimal values and a policy, with an error bound."""

    v: np.ndarray  # float64 [n_states], values, or float64 [n_components] in the problem `Gains`
    choice: np.ndarray  # int64 [n_states], row that the policy takes in each state
    # Upper bound on the error of `v`, and on `v` minus the values of the policy. It is infinite if no bound was proved.
    error_bound: float
    rounds: int  # number of sweeps plus number of policies evaluated
    policies: int = 0  # number of policies evaluated, or 0 if sweeps were sufficient
    q: np.ndarray | None = None  # float64 [n_rows], values of rows, if they were computed
    reason: str = ""  # names of the rungs tried
    log: Log = field(default_factory=Log)  # statistics of each sweep, if they were recorded


@dataclass(frozen=True, eq=False)
class Unsolved:
    """Failure of a rung: the reason, and the values found before."""

    reason: str
    found: Any = None  # values found so far with a finite or infinite bound, or None if nothing was computed
