"""Training of networks: learning curves, and snapshots that meet all earlier ones.

Points of the curve are at 1,000 games, twice as many, and so on, and at the end of each training. At each point the
network is measured (``strength.py``), and its weights are kept as a *snapshot*, which meets all earlier snapshots.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.learn.movers import Values
from punish_fast.learn.strength import Strength

_FIRST_POINT = 1000

# Called after each round, with whether the round ended in a point of the curve.
OnRound = Callable[[bool], None]


class NetworkMethod(Protocol):
    """What all methods of networks have."""

    @property
    def games(self) -> int:
        """Games of a round."""


class NetworkLearner(Protocol):
    """A network that learns in rounds of games, such as `dqn.DqnLearner` and `muzero.learner.MuZeroLearner`.

    Attributes:
        vector: The game.
        seed: Its random seed.
        weights: float32 ``[n_weights]``.
        rounds: Rounds finished.
        wanted: Rounds to finish in all.
        curve: The learning curve: mappings with ``games`` and measures of strength.
        snapshots: The weights at the points of the curve.
    """

    vector: VectorGame
    seed: int
    weights: np.ndarray
    rounds: int
    wanted: int
    curve: list[dict[str, Any]]
    snapshots: list[np.ndarray]

    @property
    def method(self) -> NetworkMethod:
        """The hyperparameters, a dataclass."""

    @property
    def name(self) -> str:
        """A name for people."""

    @property
    def games(self) -> int:
        """Games played in all."""

    @property
    def epsilon(self) -> float:
        """The probability of a random action in self-play."""

    @property
    def keeps_rules(self) -> bool:
        """Whether it considers legal actions only."""

    @property
    def digest(self) -> str:
        """A fingerprint: learners of the same digest continue alike."""

    def values_of(self, weights: np.ndarray) -> Values:
        """The values of actions by other weights."""

    def plan(self, n_games: int) -> None:
        """Plan further games, in whole rounds.

        Raises:
            LearnError: The number is out of range.
        """

    def add_snapshot(self, point: dict[str, Any]) -> None:
        """Keep the weights as those of a new point of the learning curve."""

    def learn(self) -> None:
        """Play a round and learn from it. An interrupt leaves the learner as it was before.

        Raises:
            LearnError: The weights have left all bounds.
        """


def is_point(learner: NetworkLearner) -> bool:
    """Whether the curve has a point after the rounds that the learner has finished."""
    rounds, games = learner.rounds, learner.method.games
    if rounds == 0:
        return False
    doublings = max(learner.games // _FIRST_POINT, 1).bit_length() - 1
    return rounds == learner.wanted or rounds == -(-(_FIRST_POINT << doublings) // games)


def train(learner: NetworkLearner, strength: Strength, on_round: OnRound | None = None) -> float:
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


def _settle(learner: NetworkLearner, strength: Strength) -> None:
    """Add a point to the learning curve if one is due and missing."""
    if not is_point(learner) or (learner.curve and learner.curve[-1]["games"] == learner.games):
        return
    own = learner.values_of(learner.weights)
    measures = strength.measure(own, learner.keeps_rules)
    earlier = strength.points(own, [learner.values_of(weights) for weights in learner.snapshots])
    learner.add_snapshot({"games": learner.games, "epsilon": learner.epsilon} | measures | {"earlier": earlier})
