"""Regret minimisers: algorithms that compute a strategy in every information state from regrets.

Both minimisers read the regrets of an iteration (``_regret_matching.py``) and keep a weighted sum of all strategies,
whose mean is the result.

`RegretMatching`, predictive regret matching+ (G. Farina, C. Kroer and T. Sandholm, AAAI 2021), predicts that the next
regrets equal the last. It converges fast in self-play, where the enemy changes as slowly as the player. Single
strategies jump, so only the average is good; each strategy is weighted by the player's own contribution to reaching a
state.

`Hedge`, multiplicative weights (Y. Freund and R. Schapire, Games and Economic Behavior 29, 1999), makes steps that
shrink from iteration to iteration, and is robust against an enemy whose strategy jumps. `Hedge` against a best response
is gradient descent on exploitability, which also works with imperfect recall: *exploitability descent* (E. Lockhart et
al., "Computing Approximate Equilibria in Sequential Adversarial Games by Exploitability Descent", IJCAI 2019). So
beliefs about the enemy's hand depend on own choices, with a small weight for off-policy moves. Since steps are short, a
plain mean of the later strategies resembles them, and half of the played strategy is that mean (``_hedge.py``).

With short steps, little is lost by combining several of them in rarely reached states and for rarely played actions.
So most iterations run on a restricted game (``restricted_game.py``) with the deals of the previous iteration. Every
sixteenth is a full iteration, which counts several times for everything outside the restricted game. This is a good
approximation, since rare states mostly stay rare. (States of a restricted game that its play never reaches learn only
in full iterations, and slowly.)
"""

from __future__ import annotations

import numpy as np

from punish_fast.equilibrium import _hedge, _regret_matching
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT
from punish_fast.runtime.parallel import for_each

# Learning rate of the first iteration; it falls with the fourth root of the iteration. A higher rate learns faster
# at first, a lower one ends closer to an equilibrium.
FIRST_RATE = 2.0
# The weight of an iteration in the sum of strategies is its number to this power.
_GROWTH = 5
# Initial variance of regrets; prevents steps caused by rounding errors.
_FIRST_VARIANCE = 1e-8
# Actions with a lower average probability are dropped.
_LEAST_PROBABILITY = 1e-4
# Number of full iterations at the beginning, and the interval between later ones.
_FULL_ITERATIONS, _FULL_EVERY = 16, 16


class RegretMatching:
    """Predictive regret matching+.

    Attributes:
        tables: Arrays that determine the strategy, and ``total``, the weighted sum of strategies, by name: float64
            ``[n_rows]`` or ``[n_states]``.
        regret: float64 ``[n_rows]``, written by each iteration.
    """

    # Minimum weight of the player's own choices in beliefs about the enemy's hand.
    off_policy_weight = 1.0
    # Actions with a lower average probability are dropped from the result.
    least_probability = 0.0

    def __init__(self, state_ptr: np.ndarray) -> None:
        """Start with zero regrets; ``state_ptr``, int64 ``[n_states + 1]``, holds the first row of each state."""
        n_rows = int(state_ptr[-1])
        self._state_ptr = state_ptr
        self.tables = {name: np.zeros(n_rows) for name in ("regret", "last_regret", "total")}
        self.regret = self.tables["last_regret"]

    def is_full(self, iteration: int) -> bool:  # noqa: ARG002
        """Return True: regrets change too much between iterations to be reused."""
        return True

    def learn(self, iteration: int, state_reach: np.ndarray, strategy: np.ndarray) -> None:
        """Update the tables from `regret`, and write the next strategy.

        Args:
            iteration: Iteration number, from 1.
            state_reach: float64 ``[n_states, 2]``, reach of each information state in the iteration.
            strategy: float64 ``[n_rows]``, the strategy that was played; overwritten with the next.
        """
        args = (self._state_ptr, float(iteration) ** 2, self.regret, state_reach, strategy)
        for_each(_regret_matching.sum_regrets, len(state_reach), *args, self.tables["regret"], self.tables["total"])
        self.play(strategy)

    def play(self, strategy: np.ndarray) -> None:
        """Compute the strategy from the tables and write it to ``strategy``."""
        args = (self._state_ptr, self.tables["regret"], self.regret, strategy)
        for_each(_regret_matching.match_regrets, len(self._state_ptr) - 1, *args)


class Hedge:
    """Multiplicative weights, mixed in equal parts with their mean; attributes as in `RegretMatching`."""

    off_policy_weight = OFF_POLICY_WEIGHT
    least_probability = _LEAST_PROBABILITY

    def __init__(self, state_ptr: np.ndarray, marks: np.ndarray | None = None) -> None:
        """Start with uniform strategies.

        Args:
            state_ptr: int64 ``[n_states + 1]``, the first row of each information state.
            marks: uint8 ``[n_rows]``, marks of the rows that restricted iterations update; None in a restricted game.
        """
        n_rows = int(state_ptr[-1])
        self._state_ptr, self._marks = state_ptr, marks
        self.tables = {name: np.zeros(n_rows) for name in ("logit", "total")}
        self.tables["variance"] = np.full(len(state_ptr) - 1, _FIRST_VARIANCE)
        self.regret = np.zeros(n_rows)

    def is_full(self, iteration: int) -> bool:
        """Return True if an iteration, counted from 1, must run on the whole graph."""
        return iteration <= _FULL_ITERATIONS or iteration % _FULL_EVERY == 0

    def learn(self, iteration: int, state_reach: np.ndarray, strategy: np.ndarray) -> None:
        """Update the tables; arguments as in `RegretMatching.learn`."""
        tables = (self.tables["variance"], self.tables["logit"], self.tables["total"])
        steps = FIRST_RATE / iteration**0.25, float(iteration) ** _GROWTH, float(_FULL_EVERY)
        args = (self._state_ptr, steps, self._marks, self.regret, state_reach, strategy, tables)
        for_each(_hedge.follow_regrets, len(state_reach), *args)

    def restrict(self, states: np.ndarray, rows: np.ndarray, state_ptr: np.ndarray) -> Hedge:
        """Copy the tables to a minimiser for a restricted game.

        Args:
            states: int64 ``[k]``, indices of its information states in the whole graph.
            rows: int64 ``[n]``, indices of its rows.
            state_ptr: int64 ``[k + 1]``, the first row of each of its states.
        """
        part = Hedge(state_ptr)
        for name, table in self.tables.items():
            part.tables[name][:] = table[states if name == "variance" else rows]
        return part

    def merge(self, part: Hedge, states: np.ndarray, rows: np.ndarray) -> None:
        """Copy back the tables of a restricted game."""
        for name, table in part.tables.items():
            self.tables[name][states if name == "variance" else rows] = table

    def play(self, strategy: np.ndarray) -> None:
        """Compute the strategy from the tables and write it to ``strategy``."""
        args = (self._state_ptr, self.tables["logit"], self.tables["total"], strategy)
        for_each(_hedge.play_logits, len(self._state_ptr) - 1, *args)


RegretMinimiser = RegretMatching | Hedge
