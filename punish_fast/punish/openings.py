"""How a game can begin, how likely each beginning is, and what it is worth.

A hand ``D`` is dealt from all cards ``M`` and cards ``R`` are revealed from the rest, every way alike::

    P(D, R) = prod_k C(M_k, D_k) / C(|M|, |D|)  *  prod_k C(M_k - D_k, R_k) / C(|M| - |D|, |R|)

What a card is worth follows from the conditional expectation ``E[v | n copies of the card in hand]`` and its average
step, the slope of the weighted least squares line through these expectations.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from punish_fast.punish.decimal_codes import States, digits_of


class Openings(NamedTuple):
    """All beginnings of a game, by code.

    Attributes:
        row: int64 ``[n]``, rows of their states.
        hand: int64 ``[n, 5]``, hands dealt.
        revealed: int64 ``[n, 5]``, cards revealed.
        p: float64 ``[n]``, probabilities.
    """

    row: np.ndarray
    hand: np.ndarray
    revealed: np.ndarray
    p: np.ndarray


class Worth(NamedTuple):
    """What copies of a card are worth.

    Attributes:
        copies: int64 ``[m]``, numbers of copies that occur.
        p: float64 ``[m]``, how likely they are.
        mean: float64 ``[m]``, expected value of a game that begins with so many.
        step: What one more copy is worth on average; NaN if all beginnings have as many.
    """

    copies: np.ndarray
    p: np.ndarray
    mean: np.ndarray
    step: float


def openings(states: States) -> Openings:
    """The beginnings of a game: breath 1 with full HP on both sides.

    Args:
        states: The states: a `StateSpace` or a loaded file.
    """
    rules, layout = states.rules, states.layout
    end = int(np.searchsorted(states.code, np.uint64(layout.n_cards_codes * layout.n_statuses)))
    digits = digits_of(states, np.arange(end)).astype(np.int64)
    row = np.flatnonzero((digits[:, 6] == rules.hp) & (digits[:, 9] == rules.hp))
    hand, revealed = digits[row, 1:6], digits[row, 13:18]
    copies = np.array(rules.copies)
    choose = np.array([[float(comb(n, k)) for k in range(copies.max() + 1)] for n in range(copies.max() + 1)])
    ways = (choose[copies, hand] * choose[copies - hand, revealed]).prod(axis=1)
    n_cards = int(copies.sum())
    total = comb(n_cards, rules.hand_size) * comb(n_cards - rules.hand_size, rules.reveal_size)
    return Openings(row, hand, revealed, ways / total)


def worth(counts: np.ndarray, p: np.ndarray, value: np.ndarray) -> Worth:
    """What copies of a card are worth.

    Args:
        counts: ``[n]``, copies of the card in each beginning.
        p: float64 ``[n]``, probabilities of the beginnings.
        value: float64 ``[n]``, their values.
    """
    copies, place = np.unique(counts, return_inverse=True)
    share = np.bincount(place, weights=p)
    mean = np.bincount(place, weights=p * value) / share
    from_mean = copies - share @ copies
    spread = share @ from_mean**2
    step = float(share @ (from_mean * mean) / spread) if len(copies) > 1 else np.nan
    return Worth(copies, share, mean, step)
