"""Public states between two measures: what both players have seen of the cards at the end of a measure.

All discarded cards and both hand sizes are public. The *cards left* are the cards of both kept hands and of the deck,
so both players know their sum. A public state consists of these cards and the sizes of the player's and the enemy's
kept hand. From the enemy's point of view, the sizes are swapped: this is the *mirrored* public state. HP are public,
too, but already part of every information state.

Public states have indices. Index 0 stands for the beginning of a game, and for all public states that are not listed.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from punish_fast.punish._multisets import N_KINDS
from punish_fast.punish.codes import Layout
from punish_fast.runtime.errors import PunishFastError

# Radix of the counts in the code of a public state. Rules allow at most nine copies of a card and nine cards in a hand.
_RADIX = 10
# Number of policies that `LazyPolicies` keeps: of a public state and of the mirrored public state.
_N_KEPT = 2
# Unit of the probabilities of a `PolicyPart`: 1 / 255.
UNITS = 255


class PublicStateError(PunishFastError, ValueError):
    """Raised when public states are invalid or do not match."""


class PublicStates:
    """A list of public states.

    Attributes:
        rows: int64 ``[n, 7]``, distinct public states from index 1 onward: the counts of the cards left, and the sizes
            of the player's and the enemy's kept hand.
        mirror: int64 ``[n + 1]``, index of each mirrored public state.
    """

    def __init__(self, rows: np.ndarray | None = None) -> None:
        """List public states, by default none.

        Args:
            rows: int64 ``[n, 7]``, see `PublicStates`.

        Raises:
            PublicStateError: If a public state is repeated, or its mirrored public state is missing.

        Examples:
            >>> from punish_fast import PublicStates
            >>> PublicStates([[1, 0, 0, 1, 0, 0, 1], [1, 0, 0, 1, 0, 1, 0]]).mirror.tolist()
            [0, 2, 1]
        """
        self.rows = np.zeros((0, N_KINDS + 2), dtype=np.int64) if rows is None else np.array(rows, dtype=np.int64)
        codes = self.rows @ _RADIX ** np.arange(N_KINDS + 2)
        self._order = np.append(np.argsort(codes), 0)
        self._codes = np.append(codes[self._order[:-1]], -1)
        self.mirror = np.append(0, self._find(self.rows[:, [*range(N_KINDS), N_KINDS + 1, N_KINDS]]))
        if len(np.unique(codes)) < len(codes) or not self.mirror[1:].all():
            raise PublicStateError("rows: a public state is repeated, or its mirrored public state is missing")

    def __len__(self) -> int:
        """Return the number of indices, including 0."""
        return len(self.rows) + 1

    def indices_of(self, other: "PublicStates") -> np.ndarray:
        """Return the index in this list for each index of another list.

        Args:
            other: Other public states.

        Returns:
            int64 ``[len(other)]``, 0 for public states that are missing in this list.

        Examples:
            >>> from punish_fast import PublicStates
            >>> states = PublicStates([[1, 0, 0, 1, 0, 1, 1], [0, 0, 0, 2, 0, 1, 1]])
            >>> states.indices_of(PublicStates([[0, 0, 0, 2, 0, 1, 1]])).tolist()
            [0, 2]
        """
        return np.append(0, self._find(other.rows))

    def find(self, own: np.ndarray, enemy: np.ndarray, deck: np.ndarray) -> np.ndarray:
        """Return the indices of public states.

        Args:
            own: int64 ``[n, 5]``, counts of the cards in the player's kept hand.
            enemy: int64 ``[n, 5]``, counts of the cards in the enemy's kept hand.
            deck: int64 ``[n, 5]``, counts of the cards in the deck.

        Returns:
            int64 ``[n]``, 0 for public states that are not listed.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import PublicStates
            >>> guard, strike, empty = np.eye(5, dtype=int)[[0]], np.eye(5, dtype=int)[[3]], np.zeros((1, 5), dtype=int)
            >>> states = PublicStates([[1, 0, 0, 1, 0, 1, 1]])
            >>> states.find(guard, strike, empty).tolist(), states.find(guard, empty, strike).tolist()
            ([1], [0])
        """
        return self._find(np.column_stack([own + enemy + deck, own.sum(axis=1), enemy.sum(axis=1)]))

    def _find(self, rows: np.ndarray) -> np.ndarray:
        codes = rows @ _RADIX ** np.arange(N_KINDS + 2)
        place = np.searchsorted(self._codes[:-1], codes)
        return np.where(self._codes[place] == codes, self._order[place] + 1, 0)


def every_public_state(layout: Layout) -> PublicStates:
    """Return all public states for which a measure has enough cards, reachable or not."""
    sizes = range(layout.hand_size + 1)
    cards = np.array(list(product(*(range(copies + 1) for copies in layout.copies))))
    rows = np.array([(*each, *kept) for each in cards for kept in product(sizes, sizes)])
    deck = rows[:, :N_KINDS].sum(axis=1) - rows[:, N_KINDS:].sum(axis=1)
    return PublicStates(rows[(deck >= layout.deck_size - 2 * layout.feints) & (deck <= layout.deck_size)])


class PolicyPart(NamedTuple):
    """A policy in some information states, rounded to save memory. In all other states, it agrees with another policy.

    Rounding changes no probability of 0, and probabilities in a state still add up to 1.
    """

    state: np.ndarray  # int32 ``[n]``, information states, ascending
    units: np.ndarray  # uint8 ``[n_rows]``, probabilities of their rows, in units of 1 / 255

    @classmethod
    def rounded(cls, state_ptr: np.ndarray, policy: np.ndarray, state: np.ndarray) -> "PolicyPart":
        """Round a policy, float64 ``[n_rows]``, in some states."""
        rows, begins = rows_of(state_ptr, state)
        units = np.rint(policy[rows] * UNITS)
        if len(rows):
            # The most likely action takes up the rounding errors, so that rounding again changes nothing.
            most = np.maximum.reduceat(units, begins)
            first = np.flatnonzero(units == np.repeat(most, np.diff(begins, append=len(rows))))
            units[first[np.searchsorted(first, begins)]] += UNITS - np.add.reduceat(units, begins)
        return cls(state.astype(np.int32), units.astype(np.uint8))

    @classmethod
    def of_table(cls, state_ptr: np.ndarray, table: np.ndarray) -> "PolicyPart":
        """Return the states with nonzero entries of a table, uint8 ``[n_rows]``."""
        state = np.flatnonzero(np.maximum.reduceat(table, state_ptr[:-1]))
        return cls(state.astype(np.int32), table[rows_of(state_ptr, state)[0]])

    def table(self, state_ptr: np.ndarray) -> np.ndarray:
        """Return `units` as a table, uint8 ``[n_rows]``, with zeros in all other states."""
        table = np.zeros(int(state_ptr[-1]), dtype=np.uint8)
        table[rows_of(state_ptr, self.state)[0]] = self.units
        return table

    def policy(self, state_ptr: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the policy that agrees with ``other``, float64 ``[n_rows]``, in all other states."""
        rows, begins = rows_of(state_ptr, self.state)
        policy = other.copy()
        if len(rows):
            total = np.add.reduceat(self.units, begins, dtype=np.float64)
            policy[rows] = self.units / np.repeat(total, np.diff(begins, append=len(rows)))
        return policy


def rows_of(state_ptr: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of information states, int64 ``[n_rows]``, and the index of the first row of each state."""
    lengths = state_ptr[state.astype(np.int64) + 1] - state_ptr[state]
    begins = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(state_ptr[state] - begins, lengths), begins


class LazyPolicies(Sequence[np.ndarray]):
    """Policies that are computed on access. Only the last ones are kept, because all of them need much memory."""

    def __init__(self, n: int, policy: Callable[[int], np.ndarray]) -> None:
        self._numbers, self._policy = range(n), lru_cache(_N_KEPT)(policy)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        return self._policy(self._numbers[index])


class PublicPolicy:
    """A policy that depends on the public state at the beginning of a measure.

    Attributes:
        states: Public states with a policy of their own.
    """

    def __init__(self, states: PublicStates, policies: Sequence[np.ndarray]) -> None:
        """Combine policies over the same information states.

        Args:
            states: Public states.
            policies: Policy for each index of a public state, float64 ``[n_rows]`` each. The first policy is also used
                at the beginning of a game and after all other public states.

        Raises:
            PublicStateError: If there is not one policy for each index.

        Examples:
            >>> from punish_fast import GameGraph, Player, PublicPolicy, PublicStates, StateSpace, head_to_head
            >>> from punish_fast import load_rules, uniform_policy
            >>> space, public = StateSpace(load_rules("tiny")), PublicStates([[0, 1, 0, 1, 0, 0, 0]])
            >>> naive = Player("naive").policy(space)
            >>> policy = PublicPolicy(public, [naive, uniform_policy(space)])
            >>> head_to_head(GameGraph(space, public=public), policy, "naive").win_probability < 0.5
            True
        """
        if len(policies) != len(states):
            raise PublicStateError(f"policies: {len(policies)} policies for {len(states)} indices of public states")
        self.states, self._policies = states, policies

    def __getitem__(self, index: int) -> np.ndarray:
        """Return the policy of a public state."""
        return self._policies[index]

    def by_index(self, states: PublicStates) -> Sequence[np.ndarray]:
        """Return the policy for each index of a longer list of public states.

        Args:
            states: Public states.

        Returns:
            Policies, float64 ``[n_rows]`` each.

        Raises:
            PublicStateError: If a public state of this policy is missing in ``states``.

        Examples:
            >>> from punish_fast import PublicPolicy, PublicStates
            >>> policy = PublicPolicy(PublicStates(), ["first"])
            >>> list(policy.by_index(PublicStates([[0, 1, 0, 1, 0, 0, 0]])))
            ['first', 'first']
        """
        missing = np.flatnonzero(states.indices_of(self.states)[1:] == 0)
        if len(missing):
            raise PublicStateError(f"public state {self.states.rows[missing[0]].tolist()} is not divided by the graph")
        indices = self.states.indices_of(states).tolist()
        return LazyPolicies(len(states), lambda index: self._policies[indices[index]])
