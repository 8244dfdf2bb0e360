"""Names of states and actions in an MDP."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.runtime.errors import shown


@dataclass(frozen=True, eq=False)
class Names:
    """Names of states and actions in an MDP: hashable values without duplicates.

    Attributes:
        states: Names of the states and, optionally, of the terminals that follow them. Empty if states have no names.
        actions: Names of the action labels in `MDP.action`. Empty if actions have no names.

    Examples:
        >>> names = Names(states=["good", "worn"], actions=["run", "replace"])
        >>> names.state(1), names.action(0), names.index["worn"]
        ('worn', 'run', 1)
    """

    states: Sequence[Hashable] = ()
    actions: Sequence[Hashable] = ()

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """Index of each name in ``states``."""
        return dict(zip(self.states, range(len(self.states)), strict=True))

    def state(self, column: int) -> Any:
        """Return the name of a state or terminal.

        Args:
            column: Index of the column. Terminals follow the states.

        Returns:
            The name, or the index if it has no name.

        Examples:
            >>> Names(["good", "worn"]).state(0)
            'good'
        """
        return self.states[column] if column < len(self.states) else int(column)

    def action(self, label: int) -> Any:
        """Return the name of an action.

        Args:
            label: Action label.

        Returns:
            The name, or the label if it has no name.

        Examples:
            >>> Names(actions=["run", "replace"]).action(1)
            'replace'
        """
        return self.actions[label] if label < len(self.actions) else int(label)


def flaw_of_names(names: Any, n_states: int, n_columns: int, n_labels: int) -> str | None:
    """Describe the first invalid name of an MDP, or return None if all names are valid."""
    if not isinstance(names, Names):
        return f"{type(names).__name__} is not allowed; it must be Names(states=..., actions=...)"
    if len(names.states) not in (0, n_states, n_columns):
        allowed = " or ".join(map(str, sorted({n_states, n_columns})))
        return f"{len(names.states)} names of states; there must be {allowed}"
    if 0 < len(names.actions) < n_labels:
        return f"{len(names.actions)} names of actions; there must be at least {n_labels}, one for each label"
    for given in (names.states, names.actions):
        try:
            twice = [name for name, count in Counter(given).items() if count > 1]
        except TypeError as error:
            return str(error)
        if twice:
            return f"the name {shown(twice[0])} is given twice"
    return None


def state_name(names: Names | None, state: Any) -> str:
    """Return the name of a state for messages, or its index if it has no name."""
    return shown(names.state(int(state))) if isinstance(names, Names) and len(names.states) else str(state)


def action_name(names: Names | None, label: Any) -> str:
    """Return the name of an action for messages, or its label if it has no name."""
    return shown(names.action(int(label))) if isinstance(names, Names) and len(names.actions) else str(label)


def row_name(names: Names | None, state_ptr: np.ndarray, action: np.ndarray | None, row: int) -> str:
    """Return the name of a row for messages."""
    state = np.searchsorted(state_ptr, row, side="right") - 1
    if action is None:
        return f"row {row} (of state {state_name(names, state)})"
    return pair_name(names, state, action[row])


def pair_name(names: Names | None, state: Any, label: Any) -> str:
    """Return the name of an action in a state for an error message."""
    return f"action {action_name(names, label)} of state {state_name(names, state)}"


def entry_name(names: Names | None, column: int) -> str:
    """Return a phrase for messages that identifies the column of an entry."""
    is_named = names is not None and column < len(names.states)
    return f"for the successor {state_name(names, column)}" if is_named else f"in column {column}"
