"""How a strategy follows from regrets: two ways to learn in all information states at once.

Both get the regrets of an iteration (``punish/_regret.py``), and keep a weighted sum of all strategies, whose mean is
what they have learned. They differ in whom they are made for:

`RegretMatching`, predictive regret matching+ (G. Farina, C. Kroer and T. Sandholm, AAAI 2021), expects the last regrets
again. It is fast where the enemy changes as slowly as oneself, as in play against oneself. Its strategies leap, so only
their average is good. Each counts in it by how much the own choices contribute to being in a state.

`Hedge`, multiplicative weights (Y. Freund and R. Schapire, Games and Economic Behavior 29, 1999), goes a short step
from where it is, shorter with every iteration, and is good against an enemy that leaps. If the enemy is the best answer
to the strategy, that is to descend along the gradient of what the strategy concedes, which makes sense for players who
forget, too: *exploitability descent* (E. Lockhart et al., "Computing Approximate Equilibria in Sequential Adversarial
Games by Exploitability Descent", IJCAI 2019). So in what it believes of the enemy's hand, own choices count, and those
that are never made a little. Since steps are short, a plain mean of the later strategies is like them, and half of what
is played is that mean (``punish/_hedge.py``).

Its steps are short, so little is lost if some are taken several at a time: those in states that hardly matter, and of
actions that are hardly played. So most iterations are *hasty*: they play an excerpt of the game (``excerpt.py``) and
take the deals of the one before, which hardly change. Now and then a *thorough* one goes everywhere. For what hasty
ones left out, it counts for those before, too; that is about right, since what is seldom mostly stays so. (States that
are in an excerpt although no play of it leads to them are learned by thorough iterations alone, and slowly.)
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from punish_fast.equilibrium import _hedge, _regret_matching
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT
from punish_fast.runtime.parallel import for_each

# Of each information state, before regrets are divided by how much they varied, in the first iteration; it falls with
# the fourth root of their number. Larger steps learn faster at first, smaller ones come nearer in the end.
FIRST_RATE = 2.0
# Of iterations in the sum of all strategies, by the power of their number: early ones were far from the later ones.
_GROWTH = 5
# What regrets are taken to have varied at the beginning, so that rounding alone moves nothing.
_FIRST_VARIANCE = 1e-8
# Actions that are less likely on average are left out.
_LEAST_PROBABILITY = 1e-4
# Iterations up to this one are thorough, and of the others one in so many.
_FULL_ITERATIONS, _FULL_EVERY = 16, 16


class RegretMinimiser(Protocol):
    """What learns.

    Attributes:
        tables: All that its strategy follows from, and ``total``, the weighted sum of all strategies, by name: float64
            ``[n_rows]`` or ``[n_states]``.
        regret: float64 ``[n_rows]``, where the regrets of an iteration are written.
        off_policy_weight: The least weight of an own choice in what is believed of the enemy's hand.
        least_probability: Actions that are less likely on average are left out of what it has learned.
    """

    tables: dict[str, np.ndarray]
    regret: np.ndarray
    off_policy_weight: float
    least_probability: float

    def is_full(self, iteration: int) -> bool:
        """Whether the iteration, counted from 1, has to go everywhere."""

    def learn(self, iteration: int, seen: np.ndarray, strategy: np.ndarray) -> None:
        """Learn from `regret` of an iteration, and play what follows from it.

        Args:
            iteration: Its number, from 1.
            seen: float64 ``[n_states, 2]``, how likely the iteration came to each information state, in both ways of
                ``punish/_regret.py``.
            strategy: float64 ``[n_rows]``, the strategy that was played; the next one is written.
        """

    def play(self, strategy: np.ndarray) -> None:
        """Write the strategy that follows from the tables."""


class RegretMatching:
    """Predictive regret matching+."""

    off_policy_weight = 1.0
    least_probability = 0.0

    def __init__(self, state_ptr: np.ndarray) -> None:
        """Begin without regrets, for information states whose rows begin at ``state_ptr``, int64 ``[n_states + 1]``."""
        n_rows = int(state_ptr[-1])
        self._state_ptr = state_ptr
        self.tables = {name: np.zeros(n_rows) for name in ("regret", "last_regret", "total")}
        self.regret = self.tables["last_regret"]

    def is_full(self, iteration: int) -> bool:  # noqa: ARG002
        """See `RegretMinimiser`; regrets of one iteration are nothing like those of the next."""
        return True

    def learn(self, iteration: int, seen: np.ndarray, strategy: np.ndarray) -> None:
        """See `RegretMinimiser`."""
        args = (self._state_ptr, float(iteration) ** 2, self.regret, seen, strategy)
        for_each(_regret_matching.sum_regrets, len(seen), *args, self.tables["regret"], self.tables["total"])
        self.play(strategy)

    def play(self, strategy: np.ndarray) -> None:
        """See `RegretMinimiser`."""
        args = (self._state_ptr, self.tables["regret"], self.regret, strategy)
        for_each(_regret_matching.match_regrets, len(self._state_ptr) - 1, *args)


class Hedge:
    """Multiplicative weights, and what is halfway between the last of them and their mean."""

    off_policy_weight = OFF_POLICY_WEIGHT
    least_probability = _LEAST_PROBABILITY

    def __init__(self, state_ptr: np.ndarray, marks: np.ndarray | None = None) -> None:
        """Begin with all actions alike, for information states as those of `RegretMatching`.

        Args:
            state_ptr: int64 ``[n_states + 1]``, where the rows of each information state begin.
            marks: uint8 ``[n_rows]``, which rows hasty iterations learn; none for those of an excerpt.
        """
        n_rows = int(state_ptr[-1])
        self._state_ptr, self._marks = state_ptr, marks
        self.tables = {name: np.zeros(n_rows) for name in ("logit", "total")}
        self.tables["variance"] = np.full(len(state_ptr) - 1, _FIRST_VARIANCE)
        self.regret = np.zeros(n_rows)

    def is_full(self, iteration: int) -> bool:
        """See `RegretMinimiser`."""
        return iteration <= _FULL_ITERATIONS or iteration % _FULL_EVERY == 0

    def learn(self, iteration: int, seen: np.ndarray, strategy: np.ndarray) -> None:
        """See `RegretMinimiser`."""
        tables = (self.tables["variance"], self.tables["logit"], self.tables["total"])
        rate, weight = FIRST_RATE / iteration**0.25, float(iteration) ** _GROWTH
        args = (self._state_ptr, rate, weight, self._marks, float(_FULL_EVERY), self.regret, seen, strategy, *tables)
        for_each(_hedge.follow_regrets, len(seen), *args)

    def part(self, states: np.ndarray, rows: np.ndarray, state_ptr: np.ndarray) -> Hedge:
        """What it has learned of an excerpt, to go on with there.

        Args:
            states: int64 ``[k]``, information states.
            rows: int64 ``[n]``, rows of theirs.
            state_ptr: int64 ``[k + 1]``, where those of each begin.
        """
        part = Hedge(state_ptr)
        for name, table in self.tables.items():
            part.tables[name][:] = table[states if name == "variance" else rows]
        return part

    def take_back(self, part: Hedge, states: np.ndarray, rows: np.ndarray) -> None:
        """Take over what a `part` has learned meanwhile."""
        for name, table in part.tables.items():
            self.tables[name][states if name == "variance" else rows] = table

    def play(self, strategy: np.ndarray) -> None:
        """See `RegretMinimiser`."""
        args = (self._state_ptr, self.tables["logit"], self.tables["total"], strategy)
        for_each(_hedge.play_logits, len(self._state_ptr) - 1, *args)
