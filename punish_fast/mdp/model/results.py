"""Results of solvers as tables, data frames and files, with names of states and actions."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from punish_fast.mdp.arrays.construction import numbers
from punish_fast.mdp.arrays.names import UNNAMED, Names, state_name
from punish_fast.mdp.arrays.policy import check_policy, taking
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.process import Process
from punish_fast.runtime.errors import ArgumentError, as_float, check_allowed, shown
from punish_fast.runtime.results import html_table, save_columns, to_frame, value_text


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows of an MDP: their states, actions and names.

    Attributes:
        state_ptr: int64 ``[n_states + 1]``, row offsets of the states.
        action: ``[n_rows]``, action labels, or None if they are not known.
        names: Names of states and actions.
        policy: float64 ``[n_rows]``, policy that was evaluated, or None if the values are optimal.
    """

    state_ptr: np.ndarray
    action: np.ndarray | None = None
    names: Names = UNNAMED
    policy: np.ndarray | None = None


def row_probabilities(mdp: Process, policy: Any) -> np.ndarray:
    """Convert a policy in one of the forms that `MDP.under` accepts to row probabilities, float64 ``[n_rows]``.

    Raises:
        SolveError: If the policy is invalid, or a state or action is unknown.
    """
    if not isinstance(policy, Mapping):
        given, begins, ends = numbers("policy", policy, SolveError), mdp.state_ptr[:-1], mdp.state_ptr[1:]
        is_choice = np.asarray(policy).dtype.kind in "iu" and given.shape == begins.shape
        if is_choice and not (wrong := (given < begins) | (given >= ends)).any():
            return taking(int(ends[-1]), given.astype(np.int64))
        if is_choice and mdp.n_rows > mdp.n_states:
            k = int(wrong.argmax())
            told = f"{given[k]:.0f} in state {state_name(mdp.names, k)} is not allowed"
            raise SolveError(f"policy: {told}; it must be a row from {begins[k]} to {ends[k] - 1}")
        return check_policy(mdp.state_ptr, given, SolveError, mdp.names)
    states = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr)).tolist()
    names = ((mdp.names.state(s), mdp.names.action(a)) for s, a in zip(states, mdp.action.tolist(), strict=True))
    row_of, found = dict(zip(names, range(mdp.n_rows), strict=True)), np.zeros(mdp.n_rows)
    every_state = dict.fromkeys(map(mdp.names.state, range(mdp.n_states)))
    for state, chosen in policy.items():
        told = f"the state {shown(state)}"
        check_allowed(state in every_state, SolveError, "policy", told, f"a state such as {shown(mdp.names.state(0))}")
        for action, p in chosen.items() if isinstance(chosen, Mapping) else [(chosen, 1.0)]:
            known = isinstance(action, Hashable) and (state, action) in row_of
            check_allowed(known, SolveError, "policy", f"{shown(action)} in {shown(state)}", "an action of the state")
            found[row_of[state, action]] = as_float(p)
    for state in every_state:
        check_allowed(state in policy, SolveError, "policy", f"no action in {shown(state)}", "an action of each state")
    return check_policy(mdp.state_ptr, found, SolveError, mdp.names)


def rows_of(mdp: Process, policy: Any = None) -> ModelRows:
    """Return the rows of an MDP. ``policy`` is the policy that was evaluated, if any."""
    return ModelRows(mdp.state_ptr, mdp.action, mdp.names, None if policy is None else row_probabilities(mdp, policy))


class ValueRange(NamedTuple):
    """Lower and upper limits on all values."""

    least: float
    most: float


ANY = ValueRange(-np.inf, np.inf)
PROBABILITY = ValueRange(0.0, 1.0)


@np.errstate(over="ignore", invalid="ignore")
def bracketed_by(v: np.ndarray, error: Any, limits: ValueRange = ANY) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on values, which allow for rounding, clipped to ``limits``.

    ``error``, a number or float64 ``[n_states]``, bounds the errors of the values. Infinite values and values with an
    error of 0 are exact.
    """
    is_exact = np.isinf(v) | (error == 0)
    lower, upper = np.nextafter(v - error, -np.inf), np.nextafter(v + error, np.inf)
    return np.clip(np.where(is_exact, v, lower), *limits), np.clip(np.where(is_exact, v, upper), *limits)


class ResultTable:
    """Base class of results that can be printed as a table or saved.

    Examples:
        >>> from punish_fast.mdp import finite_horizon, from_rows
        >>> print(finite_horizon(from_rows([[(1.0, {0: 1.0}), (2.0, {0: 1.0})]]), n_steps=2).table())
        step  state  value  lower  upper  action
        0     0      4      4      4      1
        1     0      2      2      2      1
    """

    def _repr_html_(self: Any) -> str:
        return html_table(f"{self!r}, first lines", self._selected(range(min(self._n_lines(), 10))))

    def _n_lines(self: Any) -> int:
        return int(self.choice.size)

    def table(self: Any, most_rows: int = 20) -> str:
        """Return a table with a line for each state, in a finite horizon for each step and state.

        Args:
            most_rows: Maximum number of lines. If there are more, the lines in the middle are left out.

        Returns:
            Aligned text. The first line contains the names of the columns.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> print(solve(from_rows([[(1.0, {0: 1.0})], [(3.0, {0: 1.0})]]), discount=0.5).table())
            state  value  lower  upper  action
            0      2      2      2      0
            1      4      4      4      0
        """
        n, half = self._n_lines(), most_rows // 2
        columns = self._selected([*range(n)] if n <= most_rows else [*range(half), *range(n - half, n)])
        lines = [[*map(value_text, line)] for line in zip(*columns.values(), strict=True)]
        if n > most_rows:
            lines.insert(half, ["..."] * len(columns))
        lines.insert(0, [*columns])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def to_dict(self: Any) -> dict[str, list[Any]]:
        """Return the columns of the table.

        Returns:
            A list for each column: ``state``, ``value``, ``lower``, ``upper`` and ``action``, and ``step`` in a finite
            horizon. An `AverageReward` has ``gain`` and ``bias`` instead of ``value``, with bounds on the gain. A
            `StationaryDistribution` has ``p`` instead of ``value``, and no ``action``. States and actions are names, or
            indices and labels if they have no names.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> found = solve(from_rows([[(1.0, {0: 1.0})], [(3.0, {0: 1.0})]]), discount=0.5).to_dict()
            >>> found["state"], found["value"], found["action"]
            ([0, 1], [2.0, 4.0], [0, 0])
        """
        return dict(self._selected(range(self._n_lines())))

    def to_frame(self) -> Any:
        """Return the columns of `to_dict` as a data frame.

        Returns:
            A pandas ``DataFrame`` if pandas is installed, otherwise a polars ``DataFrame``. Names are converted to text
            unless all of them are text or numbers of one type.

        Raises:
            ExtraError: If neither pandas nor polars is installed.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> solve(from_rows([[(1.0, {0: 1.0})]]), discount=0.5).to_frame()  # needs pandas or polars
               state  value  lower  upper  action
            0      0    2.0    2.0    2.0       0
        """
        return to_frame(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the columns of `to_dict` to a file. An existing file is replaced only if writing succeeds.

        Args:
            path: Path of a file that ends with ``.csv``, ``.npz`` or ``.parquet``. Names are converted to text unless
                all of them are text or numbers of one type.

        Raises:
            ArgumentError: If the path has another ending.
            ExtraError: If packages for Parquet are not installed: pandas with pyarrow, or polars without pandas.
            OutputError: If ``path`` is not writable.
            WriteError: If writing fails.

        Examples:
            >>> import tempfile
            >>> from punish_fast.mdp import from_rows, solve
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     solve(from_rows([[(1.0, {0: 1.0})]]), discount=0.5).save(f"{folder}/values.npz")
            ...     np.load(f"{folder}/values.npz")["value"]
            array([2.])
        """
        save_columns(Path(path), self.to_dict())


class StateValues(ResultTable):
    """Base class of `Solution`, `BoundedValues` and `AverageReward`: values and policy of all states, by name.

    Examples:
        >>> from punish_fast.mdp import MDP, solve
        >>> rows = {"stay": (1.0, {"here": 1.0}), "go": (0.0, {"there": 1.0})}
        >>> mdp = MDP.from_function(lambda place: rows if place == "here" else 30.0, ["here"])
        >>> found = solve(mdp, discount=0.9)
        >>> found.value("here"), found.action("here"), found.policy
        (27.0, 'go', array([0., 1.]))
    """

    v: np.ndarray
    choice: np.ndarray
    rows: ModelRows
    error_bound: float
    tolerance: float | None
    # Attribute of each column with numbers.
    _columns: ClassVar = {"value": "v", "lower": "lower", "upper": "upper"}

    def __repr__(self) -> str:
        more = "" if self.converged else f" above the tolerance {self.tolerance:g}"
        return f"{type(self).__name__}({', '.join(self._parts())}, error bound {self.error_bound:.1e}{more})"

    def _parts(self) -> list[str]:
        """Return the parts of the representation that precede the error bound."""
        n, n_infinite = len(self.choice), int(np.isinf(self.v).sum())
        return [f"{n:,} state{'s' * (n != 1)}", *[f"{n_infinite:,} infinite"] * (n_infinite > 0)]

    @property
    def converged(self) -> bool:
        """True if the error bound is within the tolerance, or if no tolerance was set."""
        return self.tolerance is None or self.error_bound <= self.tolerance

    @property
    def state_ptr(self) -> np.ndarray:
        """Row offsets of the MDP's states, int64 ``[n_states + 1]``."""
        return self.rows.state_ptr

    @property
    def policy(self) -> np.ndarray:
        """Policy, optimal or given: probability of each row in its state, float64 ``[n_rows]``."""
        return taking(int(self.state_ptr[-1]), self.choice) if self.rows.policy is None else self.rows.policy

    def value(self, state: Any) -> float:
        """Return the value of a state.

        Args:
            state: Name of the state, or its index if states have no names.

        Returns:
            The value.

        Raises:
            ArgumentError: If the state is unknown or a terminal.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> solve(from_rows([[(1.0, {0: 1.0})]]), discount=0.5).value(0)
            2.0
        """
        return float(self.v[self._index(state)])

    def action(self, state: Any) -> Any:
        """Return the action of the policy in a state.

        Args:
            state: Name of the state, or its index if states have no names.

        Returns:
            Name of the action, or its label if actions have no names. If a given policy mixes actions, a dictionary
            with the probability of each.

        Raises:
            ArgumentError: If the state is unknown or a terminal.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> solve(from_rows([[(1.0, {0: 1.0}), (2.0, {0: 1.0})]]), discount=0.5).action(0)
            1
        """
        return self._action(self._index(state))

    def actions(self) -> dict[Hashable, Any]:
        """Return the action of the policy in each state.

        Returns:
            Names of actions by name of state. Names that do not exist are replaced as in `action`. The dictionary is a
            policy that `MDP.under` accepts, unless several rows of a state have the same action.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> mdp = from_rows([[(1.0, {0: 1.0}), (2.0, {0: 1.0})]])
            >>> solve(mdp, discount=0.5).actions()
            {0: 1}
        """
        return {self.rows.names.state(k): self._action(k) for k in range(len(self.choice))}

    def _index(self, state: Any) -> int:
        names, n = self.rows.names, len(self.choice)
        try:
            index = names.index[state] if len(names.states) else range(n).index(state)
        except (KeyError, TypeError, ValueError):
            known = f"the first state is {shown(names.state(0))}" if n else "there are none"
            raise ArgumentError(f"state: {shown(state)} is not a state of the MDP; {known}") from None
        allowed = "a state with actions, because the model or the goal determines the values of terminals"
        check_allowed(index < n, ArgumentError, "state", f"the terminal {shown(state)}", allowed)
        return index

    def _action(self, state: int) -> Any:
        """Return the action of the policy, or the probability of each action if a given policy mixes them."""
        rows, (begin, end) = self.rows, self.state_ptr[state : state + 2]
        labels = np.arange(end - begin) if rows.action is None else rows.action[begin:end]
        if rows.policy is None:
            return rows.names.action(labels[self.choice[state] - begin])
        mixed = zip(labels, rows.policy[begin:end].tolist(), strict=True)
        actions = {rows.names.action(label): p for label, p in mixed if p > 0}
        return actions if len(actions) > 1 else next(iter(actions))

    def _selected(self: Any, states: Any) -> dict[str, list[Any]]:
        """Return the columns of some states."""
        names, chosen = self.rows.names, np.array(states, dtype=np.int64)
        numbers_of = {name: getattr(self, of)[chosen].tolist() for name, of in self._columns.items()}
        return {"state": [*map(names.state, states)], **numbers_of, "action": [*map(self._action, states)]}
