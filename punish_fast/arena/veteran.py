"""The veteran: a built-in opponent for the standard rules.

The veteran's policy is an approximate equilibrium under ``memoryless`` (``equilibrium/solver.py``, 80 iterations). To
save space, the policy covers only states that self-play visits at least once in ten million games on average. In all
other states, the policy is uniform. Probabilities are multiples of 1 / 15. The file, written by
``bench/make/veteran.py``, stores one bit per state, set if the state is covered, and then the probabilities in covered
states in units of 1 / 15. Both parts are in the order of `StateSpace` under ``tabletop``.
"""

from pathlib import Path

import numpy as np

from punish_fast.punish.rules import PRESETS, Rules, RulesError, name_of, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy

NAME = "veteran"

FILE = Path(__file__).with_name("veteran.npz")
UNITS = 15


def supports(rules: Rules) -> bool:
    """Return True if the veteran supports these rules: the standard rules with either redeal."""
    return true_rules(rules) == PRESETS["tabletop"]


def default_opponent(rules: Rules) -> str:
    """Return the name of the default opponent: the veteran if it supports these rules, otherwise ``naive``."""
    return NAME if supports(rules) else "naive"


def must_support(rules: Rules) -> None:
    """Raise `RulesError` if the veteran does not support these rules."""
    if not supports(rules):
        raise RulesError(f"{NAME}: plays only under the standard rules, not {name_of(rules)}; use naive instead")


def veteran_policy(space: StateSpace) -> np.ndarray:
    """Return the veteran's policy under ``memoryless``, float64 ``[n_rows]``."""
    must_support(space.rules)
    with np.load(FILE, allow_pickle=False) as file:
        support = np.unpackbits(file["covered"], count=space.n_states).astype(np.bool_)
        units = file["units"]
    policy = uniform_policy(space)
    policy[np.repeat(support, np.diff(space.state_ptr))] = units / UNITS
    return policy
