"""PARLESS: possible actions reweighted by limited empirical strategic samples.

Let ``s`` be a state with legal actions ``A(s)``, and let ``n(s, a)`` be the number of times that action ``a`` was
chosen there. The prior of the unknown strategy is a symmetric Dirichlet distribution with a total of ``c``
pseudo-counts. Its posterior mean is

    p(a | s) = (n(s, a) + c / |A(s)|) / (n(s) + c),        n(s) = sum_a n(s, a).

In a state without recorded choices, the strategy is uniform. With many choices, it approaches their relative
frequencies. The prior has the same weight as ``c`` choices. Counts of all choices result in the *general* enemy, and
counts of the winners' choices result in the *champion*.
"""

import math

import numpy as np

from punish_fast.enemies.counts import Counts
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of_table
from punish_fast.runtime.errors import ArgumentError, check_allowed

PRIOR = 3.0


def parless(space: StateSpace, counts: Counts, prior: float = PRIOR) -> np.ndarray:
    """Return the PARLESS policy: the posterior mean of a strategy, given counts of its choices.

    In each state the prior is a symmetric Dirichlet distribution over the legal actions. The policy is uniform in
    states without counts, and approaches the relative frequencies of actions in states with many choices.

    Args:
        space: States of the game that was counted.
        counts: Counts of choices.
        prior: Sum of the prior's pseudo-counts in a state, above 0. The prior has the same weight as this number of
            choices.

    Returns:
        float64 ``[n_rows]``, probability of each action in ``space.action``.

    Raises:
        ArgumentError: If ``prior`` is not a positive number.

    Examples:
        >>> from punish_fast import StateSpace, count_choices, load_rules, parless
        >>> space = StateSpace(load_rules("tiny"))
        >>> counts = count_choices(space, [100011200220000010] * 3, [40, 40, 50])
        >>> policy = parless(space, counts, prior=1.0)
        >>> policy[space.state_ptr[0] : space.state_ptr[1]].round(4).tolist()
        [0.5625, 0.0625, 0.3125, 0.0625]
    """
    check_prior(prior)
    n_legal = counts.legal.sum(axis=1, keepdims=True)
    weight = np.where(counts.legal, counts.count + prior / n_legal, 0.0)
    return policy_of_table(space, counts.state, weight / weight.sum(axis=1, keepdims=True))


def check_prior(prior: float) -> None:
    """Check that the prior is finite and above 0."""
    check_allowed(math.isfinite(prior) and prior > 0, ArgumentError, "prior", prior, "above 0")
