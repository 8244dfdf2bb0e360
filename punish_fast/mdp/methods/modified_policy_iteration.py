"""Modified policy iteration: sweeps over the rows of the greedy policy between backups of all rows.

[Puterman and Shin 1978]. Such a sweep reads one row a state, so it costs a fraction of a backup. Sweeps of one policy
end when the span of their changes has fallen by a factor, since more would serve a policy that is about to change
[Dembo, Eisenstat and Steihaug 1982 call this inexact solution forcing], or at a limit that adapts: it doubles while the
policy hardly changes, and halves while it changes much.
"""

from __future__ import annotations

from punish_fast.mdp.bounds.improvement import Improvement, digits_lost

FORCING = 0.1
_FEWEST, _MOST = 8, 512
# Shares of states whose choice changed.
_FEW, _MANY = 0.01, 0.2


class ModifiedPolicyIteration:
    """Sweeps of the greedy policy."""

    def __init__(self) -> None:
        self._limit = _FEWEST

    def advance(self, point: Improvement) -> float:
        """Sweep until the changes are alike enough, or the limit is reached; return the digits that their span lost."""
        assert point.bound is not None
        chain, n = point.greedy_chain(), point.mdp.n_states
        self._adapt(point.n_changed / n)
        has_ends = point.mdp.n_columns > n
        goal = max(FORCING * point.bound.span, point.goal_of_changes)
        v, out = point.v, point.v.copy()
        for _ in range(self._limit):
            low, high = chain.back_up(v, out)
            v, out = out, v
            point.work += chain.n_entries
            if has_ends:
                low, high = min(low, 0.0), max(high, 0.0)
            if high - low <= goal:
                break
        point.v = v
        return digits_lost(point.bound.span, high - low)

    def _adapt(self, changed: float) -> None:
        if changed <= _FEW:
            self._limit = min(2 * self._limit, _MOST)
        elif changed >= _MANY:
            self._limit = max(self._limit // 2, _FEWEST)
