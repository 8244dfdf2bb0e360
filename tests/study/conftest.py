"""A policy of the tiny game against itself."""

import numpy as np
import pytest
from lessons_twin import TwinPlay
from policies import mixed

from punish_fast.duel.graph import GameGraph
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import to_finer_model
from punish_fast.study.selfplay import SelfPlay, self_play


@pytest.fixture(scope="session")
def play(graph: GameGraph) -> SelfPlay:
    """Something is played in every state, so that all beliefs are known."""
    policy, ptr = mixed(graph.space, 3) + 0.01, graph.space.state_ptr
    return self_play(graph, policy / np.repeat(np.add.reduceat(policy, ptr[:-1]), np.diff(ptr)))


@pytest.fixture(scope="session")
def lifted(play: SelfPlay) -> SelfPlay:
    """The same policy of players with a memory."""
    view = play.graph.space
    fine = StateSpace(view.rules, "memory")
    return self_play(GameGraph(fine), to_finer_model(fine, view, play.policy))


@pytest.fixture(scope="session")
def exact(play: SelfPlay) -> TwinPlay:
    return TwinPlay(play.graph.space, play.policy)
