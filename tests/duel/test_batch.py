"""Games in batches: those of the simulator, whole or step by step, and what a batch refuses."""

import numpy as np
import pytest
from numba import config
from policies import mixed

from punish_fast.duel import batch
from punish_fast.duel.batch import GameBatch
from punish_fast.duel.evaluation import simulator_of
from punish_fast.duel.graph import GameGraph
from punish_fast.punish.encoding import encode
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import COLUMN
from punish_fast.runtime import limits
from punish_fast.runtime.errors import ArgumentError

N_GAMES = 20 if config.DISABLE_JIT else 300


@pytest.mark.parametrize("information", ["memoryless", "memory"])
def test_a_batch_plays_the_games_of_the_simulator(information, monkeypatch):
    space = StateSpace(PRESETS["tiny"], information)
    graph = GameGraph(space)
    own, enemy = mixed(space, 1), mixed(space, 2)
    simulator = simulator_of(graph)
    trace = simulator.trace(simulator.thresholds(own), simulator.thresholds(enemy), 0, N_GAMES, seed=7)
    games, encoding = GameBatch(graph, N_GAMES, seed=7), encode(space)
    columns, breath = COLUMN[space.action], 0
    while not games.is_over.all():
        monkeypatch.setattr(batch, "_MANY", 0 if breath % 2 else 10**6)
        steps = (trace.ptr[:-1] + breath)[on := ~games.is_over]
        actions = [games.sample(own, seat=0), games.sample(enemy, seat=1)]
        for seat, chosen in enumerate(actions):
            state = games.observe(seat)[on]
            assert np.array_equal(state, trace.states[steps, seat])
            assert np.array_equal(chosen[on], columns[trace.rows[steps, seat]])
            assert encoding.mask[state, chosen[on]].all()
        games.step(*actions)
        breath += 1
    assert np.array_equal(games.length, trace.games.breaths)
    assert np.array_equal(games.result == 1, trace.games.won)
    assert set(games.result) == {-1, 1}


def test_games_are_dealt_again(graph):
    n, policy = 8, mixed(graph.space, 1)
    games, later = GameBatch(graph, n, seed=3), GameBatch(graph, 2 * n, seed=3)
    while not games.is_over.any():
        games.step(games.sample(policy, 0), games.sample(policy, 1))
    before, is_over = games.observe(0), games.is_over
    # Actions of games that are over are ignored.
    mask = encode(graph.space).mask
    legal = [np.where(is_over, -7, mask[games.observe(seat)].argmax(axis=1)) for seat in (0, 1)]
    other = GameBatch(graph, n, seed=3)
    while not other.is_over.any():
        other.step(other.sample(policy, 0), other.sample(policy, 1))
    other.step(*legal)
    assert np.array_equal(other.length - games.length, ~is_over)
    games.deal(is_over)
    assert not games.is_over.any()
    assert (games.length == 0).tolist() == is_over.tolist()
    assert np.array_equal(games.observe(0), np.where(is_over, later.observe(0)[n:], before))
    games.deal()
    assert not games.length.any()


def test_illegal_actions_change_nothing(graph):
    games, mask = GameBatch(graph, 5), encode(graph.space).mask
    legal = [mask[games.observe(seat)].argmax(axis=1) for seat in (0, 1)]
    wrong, illegal = legal[1].copy(), (~mask[games.observe(1)]).argmax(axis=1)
    wrong[3] = illegal[3]
    before = games.observe(0)
    with pytest.raises(
        ArgumentError, match=r"^action: \d \([a-z ]+\) of seat 1 is illegal in game 3; use \d+ \([a-z ]+\), "
    ):
        games.step(legal[0], wrong)
    for bad in (-1, 11, 2**62, -(2**62)):
        wrong = np.where(np.arange(5) == 3, bad, legal[0])
        with pytest.raises(ArgumentError, match=rf"^action: {bad} of seat 0 is illegal in game 3"):
            games.step(wrong, legal[1])
    assert np.array_equal(games.observe(0), before)
    assert not games.length.any()


def test_wrong_arguments_are_refused(graph):
    games, policy = GameBatch(graph, 5), mixed(graph.space, 1)
    actions = games.sample(policy, 0)
    for wrong in (actions[:4], actions.astype(float), actions[:, np.newaxis], actions > 3, 6):
        with pytest.raises(ArgumentError, match=r"^enemy: .* is not allowed; it must be int \(5,\)"):
            games.step(actions, wrong)
    for wrong in (np.ones(4, dtype=bool), np.ones(5), [0]):
        with pytest.raises(ArgumentError, match=r"^which: .* it must be bool \(5,\)"):
            games.deal(wrong)
    for call in (games.observe, lambda seat: games.sample(policy, seat)):
        with pytest.raises(ArgumentError, match=r"^seat: 2 is not allowed; it must be 0 or 1"):
            call(2)
    with pytest.raises(ArgumentError, match=r"^policy: shape \(910,\) is not allowed; it must be \(911,\)"):
        games.sample(policy[1:], 0)
    for numbers, name in (((0, 0), "n_games"), ((5, -1), "seed"), ((5, 2**64), "seed"), ((2.5, 0), "n_games")):
        with pytest.raises(ArgumentError, match=f"^{name}: "):
            GameBatch(graph, *numbers)
    with pytest.raises(TypeError):
        GameBatch(graph.space, 5)


def test_batches_that_exceed_the_memory_are_refused(graph, monkeypatch):
    monkeypatch.setattr(limits, "total_memory", lambda: 10**4)
    with pytest.raises(MemoryError, match=r"^1,000 games would take"):
        GameBatch(graph, 1000)
