"""Regret minimizers: algorithms that compute a strategy in every information state from regrets.

Both minimizers use the regrets of an iteration (``_regret_matching.py``). The result is a weighted mean over all
iterations.

`RegretMatching`, predictive regret matching+ (G. Farina, C. Kroer and T. Sandholm, AAAI 2021), predicts that the next
regrets equal the last ones. It converges fast in self-play, where the enemy changes as slowly as the player. The
strategies oscillate. Only their average, weighted by the player's contribution to reaching a state, is close to an
equilibrium.

`Hedge`, multiplicative weights (Y. Freund and R. Schapire, Games and Economic Behavior 29, 1999), takes steps of
decreasing size, and is robust against an enemy whose strategy changes suddenly. Against a best response, `Hedge` is a
form of gradient descent on exploitability: *exploitability descent* (E. Lockhart et al., "Computing Approximate
Equilibria in Sequential Adversarial Games by Exploitability Descent", IJCAI 2019). This method also works with
imperfect recall. Beliefs about the enemy's hand then depend on the player's choices, and off-policy moves have a small
weight in these beliefs. Since steps are small, the mean of the later strategies is similar to each of them. The
strategy played is halfway between the last strategy and this mean (``_hedge.py``).

With small steps, combining several steps in rarely reached states and for rarely played actions costs little accuracy.
Most iterations therefore run on a restricted game (``restricted_game.py``) with the deals of the last full iteration,
unless that game is too large to save time. The first sixteen iterations and every sixteenth later iteration run on the
whole graph. The later ones count sixteen times for rows outside the restricted game. If learning begins with a known
strategy, only the first of the sixteen iterations runs on the whole graph.
"""

from __future__ import annotations

import numpy as np

from punish_fast.equilibrium import _hedge, _regret_matching
from punish_fast.runtime.parallel import for_each

# Minimum weight of the player's moves in beliefs about the enemy's hand.
OFF_POLICY_WEIGHT = 0.01
# Initial learning rate. It decreases with the fourth root of the iteration number. A higher rate learns faster at
# first. A lower rate ends closer to an equilibrium.
FIRST_RATE = 2.0
# The weight of iteration t in the sum of strategies is t raised to this power.
_GROWTH = 5
# Initial variance of regrets. It prevents steps that are caused only by rounding errors.
_FIRST_VARIANCE = 1e-8
# Actions with a lower average probability are dropped from the result.
_LEAST_PROBABILITY = 1e-4
# Number of iterations that a known strategy stands for. Its learning begins with small steps.
_EARLIER = 200
# Number of full iterations at the beginning, and interval between later full iterations.
_FULL_ITERATIONS, _FULL_EVERY = 16, 16


class RegretMatching:
    """Regret minimizer that uses predictive regret matching+."""

    # Minimum weight of the player's choices in beliefs about the enemy's hand.
    off_policy_weight = 1.0
    # Actions with a lower average probability are dropped from the result.
    least_probability = 0.0

    def __init__(self, state_ptr: np.ndarray) -> None:
        """Start with zero regrets. ``state_ptr``, int64 ``[n_states + 1]``, contains the first row of each state."""
        n_rows = int(state_ptr[-1])
        self._state_ptr = state_ptr
        # Arrays that determine the next strategy, and ``strategy_sum``, the weighted sum of strategies.
        self.tables = {name: np.zeros(n_rows) for name in ("regret", "last_regret", "strategy_sum")}
        self.regret = self.tables["last_regret"]  # written by each iteration

    def is_full(self, iteration: int) -> bool:  # noqa: ARG002
        """Return True, because regrets change too much between iterations to be reused."""
        return True

    def learn(self, iteration: int, state_reach: np.ndarray, strategy: np.ndarray) -> None:
        """Update the tables from ``regret`` after an iteration (counted from 1), and compute the next ``strategy``."""
        args = (self._state_ptr, float(iteration) ** 2, self.regret, state_reach, strategy)
        for_each(
            _regret_matching.sum_regrets, len(state_reach), *args, self.tables["regret"], self.tables["strategy_sum"]
        )
        self.play(strategy)

    def play(self, strategy: np.ndarray) -> None:
        """Compute the strategy from the tables and write it to ``strategy``."""
        args = (self._state_ptr, self.tables["regret"], self.regret, strategy)
        for_each(_regret_matching.match_regrets, len(self._state_ptr) - 1, *args)


class Hedge:
    """Regret minimizer that uses multiplicative weights (``_hedge.py``). For the attributes, see `RegretMatching`."""

    off_policy_weight = OFF_POLICY_WEIGHT
    least_probability = _LEAST_PROBABILITY

    def __init__(self, state_ptr: np.ndarray, marks: np.ndarray | None = None, known: np.ndarray | None = None) -> None:
        """Start with uniform strategies, or with the strategy ``known``, float64 ``[n_rows]``.

        ``marks``, uint8 ``[n_rows]``, contains the marks of rows (``_restricted_game.py``), or is None.
        """
        n_rows = int(state_ptr[-1])
        self._state_ptr, self._marks = state_ptr, marks
        self._earlier = 0 if known is None else _EARLIER
        self.tables = {name: np.zeros(n_rows) for name in ("logit", "strategy_sum")}
        self.tables["variance"] = np.full(len(state_ptr) - 1, _FIRST_VARIANCE)
        self.regret = np.zeros(n_rows)
        if known is not None:
            self.tables["logit"][:] = np.log(np.maximum(known[:n_rows], np.exp(_hedge.LEAST_LOGIT)))

    def is_full(self, iteration: int) -> bool:
        """Return True if an iteration, counted from 1, must run on the whole graph."""
        return iteration <= (1 if self._earlier else _FULL_ITERATIONS) or iteration % _FULL_EVERY == 0

    def learn(self, iteration: int, state_reach: np.ndarray, strategy: np.ndarray) -> None:
        """Update the tables and compute the next ``strategy``. See `RegretMatching.learn` for the arguments."""
        tables = (self.tables["variance"], self.tables["logit"], self.tables["strategy_sum"])
        if iteration == 1 and self._earlier:
            # Assume that all earlier iterations had the same regrets.
            tables[0][:] += self._earlier * np.add.reduceat(strategy * self.regret**2, self._state_ptr[:-1])
        iteration += self._earlier
        steps = FIRST_RATE / iteration**0.25, float(iteration) ** _GROWTH, float(_FULL_EVERY)
        args = (self._state_ptr, steps, self._marks, self.regret, state_reach, strategy, tables)
        for_each(_hedge.follow_regrets, len(state_reach), *args)

    def restrict(self, states: np.ndarray, rows: np.ndarray, state_ptr: np.ndarray) -> Hedge:
        """Return a minimizer for a restricted game, with copies of this minimizer's tables.

        ``states`` and ``rows``, int64, are the indices of the game's states and rows in the whole graph.
        """
        part = Hedge(state_ptr)
        part._earlier = self._earlier
        for name, table in self.tables.items():
            part.tables[name][:] = table[states if name == "variance" else rows]
        return part

    def merge(self, part: Hedge, states: np.ndarray, rows: np.ndarray) -> None:
        """Copy the tables of ``part``, the minimizer of a restricted game, back to this minimizer."""
        for name, table in part.tables.items():
            self.tables[name][states if name == "variance" else rows] = table

    def play(self, strategy: np.ndarray) -> None:
        """Compute the strategy from the tables and write it to ``strategy``."""
        args = (self._state_ptr, self.tables["logit"], self.tables["strategy_sum"], strategy)
        for_each(_hedge.play_logits, len(self._state_ptr) - 1, *args)


RegretMinimizer = RegretMatching | Hedge
