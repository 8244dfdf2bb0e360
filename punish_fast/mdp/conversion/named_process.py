"""A process whose states, actions and rewards have names, as model checkers write it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.printable import printable

# Names that a message lists.
_MOST_LISTED = 8


class NameUnknownError(PunishFastError, ValueError):
    """A name that the process does not have; the message lists those that it has."""


@dataclass(frozen=True, eq=False)
class NamedProcess:
    """A process with names. It has no terminals: a state in which play ends leads to itself.

    Attributes:
        mdp: The process; its rewards are 0, and ``mdp.action`` numbers the ``actions``.
        labels: The states with each label, bool ``[n_states]``.
        rewards: The expected immediate rewards of rows under each name, float64 ``[n_rows]``.
        initial: int64, the initial states.
        actions: The names of actions; empty if they have numbers only.
    """

    mdp: MDP
    labels: dict[str, np.ndarray]
    rewards: dict[str, np.ndarray]
    initial: np.ndarray
    actions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"NamedProcess({self.mdp!r}, labels {list(self.labels)}, rewards {list(self.rewards)})"

    def labelled(self, name: str) -> np.ndarray:
        """The states with a label, bool ``[n_states]``."""
        if name not in self.labels:
            raise NameUnknownError(f"label {_quoted(name)} is not in the model, which has {_listed(self.labels)}")
        return self.labels[name]

    def paying(self, name: str | None = None) -> MDP:
        """The process with the rewards of a name; without one, with the only rewards that there are."""
        if name is None and len(self.rewards) == 1:
            (name,) = self.rewards
        if name is None:
            raise NameUnknownError(
                f"the model has several rewards, name one of {_listed(self.rewards)}"
                if self.rewards
                else "the model has no rewards"
            )
        if name not in self.rewards:
            raise NameUnknownError(f"reward {_quoted(name)} is not in the model, which has {_listed(self.rewards)}")
        return replace(self.mdp, reward=self.rewards[name])


def _listed(names: Iterable[str]) -> str:
    quoted = [_quoted(name) for name in names]
    rest = len(quoted) - _MOST_LISTED
    return ", ".join(quoted[:_MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "") or "none"


def _quoted(name: str) -> str:
    return f'"{printable(name, 60)}"'
