"""MDPs with named states, actions and rewards, as written by model checkers."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.printable import printable

# Maximum number of names listed in a message.
_MOST_LISTED = 8


class NameUnknownError(PunishFastError, ValueError):
    """Raised for an unknown label or reward; the message lists the known names."""


@dataclass(frozen=True, eq=False)
class NamedProcess:
    """MDP with names and without terminals: a state in which play ends leads to itself."""

    mdp: MDP  # the MDP; its rewards are 0, and its action labels are indices into `actions`
    labels: dict[str, np.ndarray]  # states with each label, bool [n_states]
    rewards: dict[str, np.ndarray]  # expected immediate rewards by name, float64 [n_rows]
    initial: np.ndarray  # int64, initial states
    actions: tuple[str, ...]  # names of actions; empty if actions are only numbered

    def __repr__(self) -> str:
        return f"NamedProcess({self.mdp!r}, labels {list(self.labels)}, rewards {list(self.rewards)})"

    def labelled(self, name: str) -> np.ndarray:
        """Return the states with a label, bool ``[n_states]``."""
        if name not in self.labels:
            raise NameUnknownError(f"label {_quoted(name)} is not in the model, which has {_listed(self.labels)}")
        return self.labels[name]

    def paying(self, name: str | None = None) -> MDP:
        """Return the MDP with the named rewards; the name is optional if the process has only one kind of reward."""
        if name is None and len(self.rewards) == 1:
            (name,) = self.rewards
        if name is None:
            raise NameUnknownError(
                f"the model has several rewards; name one of {_listed(self.rewards)}"
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
