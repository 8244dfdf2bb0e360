"""Training of deep Q-networks: learning curves, and snapshots that meet all earlier ones.

Points of the curve are at 1,000 games, twice as many, and so on, and at the end of each training. At each point the
network is measured (``strength.py``), and its weights are kept as a *snapshot*, which meets all earlier snapshots.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from punish_fast.learn.dqn import DqnLearner
from punish_fast.learn.strength import Strength

_FIRST_POINT = 1000

# Called after each round, with whether the round ended in a point of the curve.
OnRound = Callable[[bool], None]


def is_point(learner: DqnLearner) -> bool:
    """Whether the curve has a point after the rounds that the learner has finished."""
    rounds, games = learner.rounds, learner.method.games
    if rounds == 0:
        return False
    doublings = max(learner.games // _FIRST_POINT, 1).bit_length() - 1
    return rounds == learner.wanted or rounds == -(-(_FIRST_POINT << doublings) // games)


def train(learner: DqnLearner, strength: Strength, on_round: OnRound | None = None) -> float:
    """Play all rounds that are planned, and add a point to the learning curve wherever one is due.

    An exception from ``on_round``, or an interrupt, ends training; calling again resumes it.

    Args:
        learner: The learner.
        strength: Measures at its game.
        on_round: Called after each round, for progress and checkpoints.

    Returns:
        Seconds spent in rounds, without measurements and ``on_round``.

    Raises:
        LearnError: The weights have left all bounds.
        ExtraError: JAX or Optax is not installed.
    """
    seconds = 0.0
    _settle(learner, strength)
    while learner.rounds < learner.wanted:
        begin = time.perf_counter()
        learner.learn()
        seconds += time.perf_counter() - begin
        _settle(learner, strength)
        if on_round is not None:
            on_round(is_point(learner))
    return seconds


def _settle(learner: DqnLearner, strength: Strength) -> None:
    """Add a point to the learning curve if one is due and missing."""
    if not is_point(learner) or (learner.curve and learner.curve[-1]["games"] == learner.games):
        return
    architecture, method = learner.architecture, learner.method
    measures = strength.measure(architecture, learner.weights, learner.keeps_rules)
    earlier = strength.points(architecture, learner.weights, learner.snapshots)
    learner.add_snapshot(
        {"games": learner.games, "epsilon": method.epsilon_after(learner.games)} | measures | {"earlier": earlier}
    )
