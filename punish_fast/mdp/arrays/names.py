"""Names of states and actions in an MDP."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.runtime.errors import check_allowed, shown


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


UNNAMED = Names()


def check_type(names: Names) -> Names:
    """Return ``names`` if they have the right type."""
    check_allowed(isinstance(names, Names), ModelError, "names", type(names).__name__, "Names(states=..., actions=...)")
    return names


def check_names(names: Any, n_states: int, n_columns: int, n_labels: int) -> None:
    """Check the names of an MDP."""
    given = check_type(names)
    if len(given.states) not in (0, n_states, n_columns):
        allowed = " or ".join(map(str, sorted({n_states, n_columns})))
        raise ModelError(f"names: {len(given.states)} names of states; there must be {allowed}")
    if 0 < len(given.actions) < n_labels:
        told = f"there must be at least {n_labels}, one for each label"
        raise ModelError(f"names: {len(given.actions)} names of actions; {told}")
    for each in (given.states, given.actions):
        try:
            twice = [name for name, count in Counter(each).items() if count > 1]
        except TypeError as error:
            raise ModelError(f"names: {error}") from None
        if twice:
            raise ModelError(f"names: the name {shown(twice[0])} is given twice")


def state_name(names: Names, state: Any) -> str:
    """Return the name of a state for messages, or its index if it has no name."""
    return shown(names.state(state))


def row_name(names: Names, state_ptr: np.ndarray, action: np.ndarray | None, row: int) -> str:
    """Return the name of a row for messages."""
    state = np.searchsorted(state_ptr, row, side="right") - 1
    if action is None:
        return f"row {row} (of state {state_name(names, state)})"
    return pair_name(names, state, action[row])


def pair_name(names: Names, state: Any, label: Any) -> str:
    """Return the name of an action in a state for an error message."""
    return f"action {shown(names.action(label))} of state {state_name(names, state)}"


def entry_name(names: Names, column: int) -> str:
    """Return a phrase for messages that identifies the column of an entry."""
    return f"for the successor {state_name(names, column)}" if column < len(names.states) else f"in column {column}"
