"""Openings: initial deals, their probabilities, and the value of each card.

A hand ``D`` is dealt from all cards ``M``, and cards ``R`` are revealed from the rest, uniformly at random::

    P(D, R) = prod_k C(M_k, D_k) / C(|M|, |D|)  *  prod_k C(M_k - D_k, R_k) / C(|M| - |D|, |R|)

The value of a card consists of the conditional expectations ``E[v | n copies of the card]``, where the copies are in
hand or among the revealed cards, and of their average step, the slope of the weighted least squares line through these
expectations.
"""

from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np

from punish_fast.punish.codes import CodedStates, digits_of
from punish_fast.punish.rules import CARDS
from punish_fast.runtime.results import to_frame


class Openings(NamedTuple):
    """All openings of a game, in the order of their codes.

    Attributes:
        state: int64 ``[n]``, indices of the openings' states.
        hand: int64 ``[n, 5]``, dealt hands: copies of guard, rush, dodge, strike and punish.
        revealed: int64 ``[n, 5]``, revealed cards.
        p: float64 ``[n]``, probabilities.
    """

    state: np.ndarray
    hand: np.ndarray
    revealed: np.ndarray
    p: np.ndarray

    def to_frame(self, v: np.ndarray | None = None) -> Any:
        """Return a data frame with a row for each opening.

        Args:
            v: float64 ``[n_states]``, values of all states, such as ``Solution.v``. By default, the frame has no
                values.

        Returns:
            A pandas ``DataFrame`` if pandas is installed, otherwise a polars ``DataFrame``. The columns are ``state``,
            the number of copies of each card (``hand_guard`` to ``revealed_punish``), ``probability`` and ``value``.

        Raises:
            ExtraError: If neither pandas nor polars is installed.

        Examples:
            >>> from punish_fast import StateSpace, load_rules, openings
            >>> openings(StateSpace(load_rules("tiny"))).to_frame().shape  # needs pandas or polars
            (46, 12)
        """
        cards = {"hand": self.hand, "revealed": self.revealed}
        counts = {f"{name}_{card}": of[:, k] for name, of in cards.items() for k, card in enumerate(CARDS)}
        values = {} if v is None else {"value": v[self.state]}
        return to_frame({"state": self.state, **counts, "probability": self.p, **values})


@dataclass(frozen=True)
class Worth:
    """Expected value of the openings, by a card's number of copies in hand or among the revealed cards."""

    copies: np.ndarray  # int64 [m], possible numbers of copies, ascending
    mean: np.ndarray  # float64 [m], expected value of the openings, by number of copies
    step: float  # average gain from one more copy, or NaN if all openings have the same number of copies


def openings(states: CodedStates) -> Openings:
    """Return the openings of a game: states in breath 1 with full HP on both sides.

    Args:
        states: States of the game: a memoryless `StateSpace` or a `SolutionFile`.

    Returns:
        The openings and their probabilities.

    Raises:
        InformationError: If the information model is not ``memoryless``.

    Examples:
        >>> from punish_fast import StateSpace, load_rules, openings
        >>> dealt = openings(StateSpace(load_rules("tiny")))
        >>> len(dealt.p), round(float(dealt.p.sum()), 10)
        (46, 1.0)
    """
    rules, layout = states.rules, states.layout
    end = int(np.searchsorted(states.code, np.uint64(layout.n_cards_codes * layout.n_statuses)))
    digits = digits_of(states, np.arange(end)).astype(np.int64)
    state = np.flatnonzero((digits[:, 6] == rules.hp) & (digits[:, 9] == rules.hp))
    hand, revealed = digits[state, 1:6], digits[state, 13:18]
    copies = np.array(rules.copies)
    choose = np.array([[float(comb(n, k)) for k in range(copies.max() + 1)] for n in range(copies.max() + 1)])
    ways = (choose[copies, hand] * choose[copies - hand, revealed]).prod(axis=1)
    n_cards = int(copies.sum())
    total = comb(n_cards, rules.hand_size) * comb(n_cards - rules.hand_size, rules.reveal_size)
    return Openings(state, hand, revealed, ways / total)


def worth(counts: np.ndarray, p: np.ndarray, value: np.ndarray) -> Worth:
    """Return the expected value of the openings, by a card's number of copies.

    For each opening, ``counts`` contains the number of copies in hand or among the revealed cards, ``p`` the
    probability, and ``value`` the value (``[n]`` each).
    """
    copies, place = np.unique(counts, return_inverse=True)
    share = np.bincount(place, weights=p)
    mean = np.bincount(place, weights=p * value) / share
    from_mean = copies - share @ copies
    spread = share @ from_mean**2
    step = float(share @ (from_mean * mean) / spread) if len(copies) > 1 else np.nan
    return Worth(copies, mean, step)


def worth_of_cards(counts: np.ndarray, p: np.ndarray, value: np.ndarray) -> dict[str, Worth]:
    """Return the value of each card. ``counts``, ``[n, 5]``, contains the number of copies in each opening."""
    return {card: worth(copies, p, value) for card, copies in zip(CARDS, counts.T, strict=True)}
