"""How a strategy follows from regrets: two ways to learn in all information states at once.

Both get the regrets of an iteration (``punish/_regret.py``), and keep a weighted sum of all strategies, whose mean is
what they have learned. They differ in whom they are made for:

`Regrets`, predictive regret matching+ (G. Farina, C. Kroer and T. Sandholm, AAAI 2021), expects the last regrets again.
It is fast where the enemy changes as slowly as oneself, as in play against oneself. Its strategies leap, so only their
average is good. Each counts in it by how much the own choices contribute to being in a state.

`Hedge`, multiplicative weights (Y. Freund and R. Schapire, Games and Economic Behavior 29, 1999), goes a short step
from where it is, shorter with every iteration, and is good against an enemy that leaps. If the enemy is the best answer
to the strategy, that is to descend along the gradient of what the strategy concedes, which makes sense for players who
forget, too: *exploitability descent* (E. Lockhart et al., "Computing Approximate Equilibria in Sequential Adversarial
Games by Exploitability Descent", IJCAI 2019). So in what it believes of the enemy's hand, own choices count, and those
that are never made a little. Since steps are short, a plain mean of the later strategies is like them, and half of what
is played is that mean (``punish/_hedge.py``).

Its steps are short, so little is lost if those of a state that hardly matters are taken several at a time. In a finer
model, chance and the enemy lead to most states less than once in ten million games. So most iterations are *hasty*:
they pass over such states, and take the deals of the one before, which hardly change; that is about half of the time.
Now and then a *thorough* one goes everywhere. In states that are so seldom in it, it counts for those before, too; that
is about right, since what is seldom mostly stays so.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from punish_fast.arena.answer import STRAY_WEIGHT
from punish_fast.chunks import for_each
from punish_fast.punish import _hedge, _regret

# Of each information state, before regrets are divided by how much they varied, in the first iteration; it falls with
# the fourth root of their number. Larger steps learn faster at first, smaller ones come nearer in the end.
FIRST_RATE = 2.0
# Of iterations in the sum of all strategies, by the power of their number: early ones were far from the later ones.
_GROWTH = 5
# What regrets are taken to have varied at the beginning, so that rounding alone moves nothing.
_FIRST_VARIANCE = 1e-8
# Actions that are less likely on average are left out.
_LEAST_KEPT = 1e-4
# Iterations up to this one are thorough, and of the others one in so many.
_FIRST_THOROUGH, _THOROUGH = 16, 16


class Care(NamedTuple):
    """What an iteration looks at: how likely it must be, by C (``punish/_regret.py``); 0 is to go everywhere.

    Attributes:
        states: Information states of which regrets are worked out.
        full_states: Full states that are passed on, to whichever of player and answer they are likelier, and those
            that are answered.
        deals: Whether the deals that follow the measure are worked out.
    """

    states: float = 0.0
    full_states: float = 0.0
    deals: bool = True


_HASTY = Care(1e-7, 1e-9, deals=False)


def _is_thorough(iteration: int) -> bool:
    """Whether an iteration of `Hedge` goes everywhere."""
    return iteration <= _FIRST_THOROUGH or iteration % _THOROUGH == 0


class Learner(Protocol):
    """What learns.

    Attributes:
        tables: All that its strategy follows from, and ``total``, the weighted sum of all strategies, by name: float64
            ``[n_rows]`` or ``[n_states]``.
        regret: float64 ``[n_rows]``, where the regrets of an iteration are written; those of states that it passes over
            are old ones.
        stray: The least weight of an own choice in what is believed of the enemy's hand.
        least_kept: Actions that are less likely on average are left out of what it has learned.
    """

    tables: dict[str, np.ndarray]
    regret: np.ndarray
    stray: float
    least_kept: float

    def care(self, iteration: int) -> Care:
        """What the iteration, counted from 1, may pass over."""

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


class Regrets:
    """Predictive regret matching+."""

    stray = 1.0
    least_kept = 0.0

    def __init__(self, state_ptr: np.ndarray) -> None:
        """Begin without regrets, for information states whose rows begin at ``state_ptr``, int64 ``[n_states + 1]``."""
        n_rows = int(state_ptr[-1])
        self._state_ptr = state_ptr
        self.tables = {name: np.zeros(n_rows) for name in ("regret", "last_regret", "total")}
        self.regret = self.tables["last_regret"]

    def care(self, iteration: int) -> Care:  # noqa: ARG002
        """See `Learner`; regrets of one iteration are nothing like those of the next."""
        return Care()

    def learn(self, iteration: int, seen: np.ndarray, strategy: np.ndarray) -> None:
        """See `Learner`."""
        args = (self._state_ptr, float(iteration) ** 2, self.regret, seen, strategy)
        for_each(_regret.sum_regrets, len(seen), *args, self.tables["regret"], self.tables["total"])
        self.play(strategy)

    def play(self, strategy: np.ndarray) -> None:
        """See `Learner`."""
        args = (self._state_ptr, self.tables["regret"], self.regret, strategy)
        for_each(_regret.match_regrets, len(self._state_ptr) - 1, *args)


class Hedge:
    """Multiplicative weights, and what is halfway between the last of them and their mean."""

    stray = STRAY_WEIGHT
    least_kept = _LEAST_KEPT

    def __init__(self, state_ptr: np.ndarray) -> None:
        """Begin with all actions alike, for information states as those of `Regrets`."""
        n_rows = int(state_ptr[-1])
        self._state_ptr = state_ptr
        self.tables = {name: np.zeros(n_rows) for name in ("logit", "total")}
        self.tables["variance"] = np.full(len(state_ptr) - 1, _FIRST_VARIANCE)
        self.regret = np.zeros(n_rows)

    def care(self, iteration: int) -> Care:
        """See `Learner`."""
        return Care() if _is_thorough(iteration) else _HASTY

    def learn(self, iteration: int, seen: np.ndarray, strategy: np.ndarray) -> None:
        """See `Learner`."""
        times = float(_is_thorough(iteration))
        if iteration > _FIRST_THOROUGH:
            times *= _THOROUGH
        tables = (self.tables["variance"], self.tables["logit"], self.tables["total"])
        rate, weight = FIRST_RATE / iteration**0.25, float(iteration) ** _GROWTH
        args = (self._state_ptr, rate, weight, _HASTY.states, times, self.regret, seen, strategy, *tables)
        for_each(_hedge.follow_regrets, len(seen), *args)

    def play(self, strategy: np.ndarray) -> None:
        """See `Learner`."""
        args = (self._state_ptr, self.tables["logit"], self.tables["total"], strategy)
        for_each(_hedge.play_logits, len(self._state_ptr) - 1, *args)
