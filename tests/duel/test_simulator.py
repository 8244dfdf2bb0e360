import numpy as np
import pytest
from policies import mixed

from punish_fast.duel import _simulator
from punish_fast.duel import simulator as simulator_module
from punish_fast.duel.graph import DuelError, Graph
from punish_fast.duel.simulator import Simulator
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime import _random

pytestmark = pytest.mark.kernels

# Counter, key and words, low word first, as published with the generator.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.fixture(scope="module")
def simulator(graph):
    return Simulator(graph)


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_random_words_are_those_of_philox(counter, key, words):
    low, high = counter[0] | counter[1] << 32, key[0] | key[1] << 32
    assert _random.draw_words(np.uint64(low), counter[2], counter[3], np.uint64(high)) == words


def test_thresholds_are_cumulative_probabilities(simulator):
    space = simulator.space
    weight = mixed(space, 1)
    threshold = simulator.thresholds(weight).astype(np.float64) / _simulator.CERTAIN
    begins = space.state_ptr[:-1]
    first = np.zeros(len(weight), dtype=bool)
    first[begins] = True
    before = np.where(first, 0.0, np.roll(threshold, 1))
    assert threshold - before == pytest.approx(weight, abs=2**-30)
    assert (threshold[weight == 0] == before[weight == 0]).all()
    assert (threshold[space.state_ptr[1:] - 1] == 1).all()


def test_thresholds_end_at_one_despite_rounding(simulator):
    space = simulator.space
    row = int(np.argmax(np.diff(space.state_ptr)))
    rows = slice(*space.state_ptr[row : row + 2])
    weight = mixed(space, 2)
    weight[rows] = 0.0
    weight[rows.start : rows.start + 2] = 0.5 - 1e-10
    threshold = simulator.thresholds(weight)[rows]
    assert threshold[0] == pytest.approx(_simulator.CERTAIN / 2, abs=1)
    assert (threshold[1:] == _simulator.CERTAIN).all()


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_other_seeds_and_game_numbers_give_other_games(simulator):
    own, enemy = (simulator.thresholds(mixed(simulator.space, seed)) for seed in (3, 4))
    first = simulator.play(own, enemy, 0, 100, 7)
    for begin, seed in ((100, 7), (0, 8), (1 << 32, 7), (0, 7 + (1 << 32))):
        assert not same(first, simulator.play(own, enemy, begin, 100, seed))


def test_games_that_may_never_end_are_an_error(monkeypatch):
    monkeypatch.setattr(simulator_module, "_MAX_BREATHS", 500)
    simulator = Simulator(Graph(StateSpace(PRESETS["tiny"]._replace(damage=(0, 0, 0, 0, 0)))))
    policy = simulator.thresholds(mixed(simulator.space, 5))
    with pytest.raises(DuelError, match="may never end"):
        simulator.play(policy, policy, 0, 10, 1)


def test_traces_have_the_states_and_rows_of_each_breath_from_the_opening_on(graph, simulator):
    space = graph.space
    weights = mixed(space, 6), mixed(space, 7)
    own, enemy = (simulator.thresholds(weight) for weight in weights)
    trace = simulator.trace(own, enemy, 10, 200, 1)
    assert same(trace.games, simulator.play(own, enemy, 10, 200, 1))
    assert np.array_equal(np.diff(trace.ptr), trace.games.breaths)
    assert np.array_equal(trace.full[trace.ptr[:-1]], trace.games.opening)
    for side, weight in enumerate(weights):
        rows, states = trace.rows[:, side], trace.states[:, side]
        assert ((rows >= space.state_ptr[states]) & (rows < space.state_ptr[states + 1])).all()
        assert (weight[rows] > 0).all()
    assert np.array_equal(graph.full.enemy_row[trace.full], trace.states[:, 1])
