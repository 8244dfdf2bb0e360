"""Passes over full states as in the exact model, and simulated games."""

from collections import defaultdict

import duel_twin
import numpy as np
import pytest
from duel_twin import Node, Position
from houses import house_rules
from hypothesis import given, settings
from policies import mixed
from positions import nodes_of, positions_of

from bench import reference
from punish_fast.duel import _simulator
from punish_fast.duel import simulator as simulator_module
from punish_fast.duel.graph import DuelError, GameGraph
from punish_fast.duel.simulator import Simulator
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.information import MODELS
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime import _random
from tests.kernels import calling

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def policies(graph):
    return mixed(graph.space, 1), mixed(graph.space, 2)


@pytest.fixture(scope="module")
def laws(graph, policies):
    """The distribution over successors of every position under the policies."""
    space, rules = graph.space, graph.space.rules
    rows = np.repeat(np.arange(len(graph.full.ptr) - 1), np.diff(graph.full.ptr))

    def chosen(policy, row):
        return {int(space.action[r]): policy[r] for r in range(*space.state_ptr[row : row + 2])}

    laws = {}
    for number, position in enumerate(positions_of(graph)):
        law = defaultdict(float)
        for own, x in chosen(policies[0], rows[number]).items():
            for enemy, y in chosen(policies[1], graph.full.enemy_row[number]).items():
                for then, p in duel_twin.breath(rules, position, own, enemy).items():
                    law[then] += x * y * float(p)
        laws[position] = law
    return laws


def test_values_are_backed_up_as_in_the_exact_model(graph, policies, laws):
    v = np.random.default_rng(3).random((graph.n_full + graph.n_nodes + 2, 2))
    ends = [*nodes_of(graph), reference.WIN, reference.LOSS]
    value = dict(zip(ends, v[graph.n_full :].tolist(), strict=True))
    for position in reversed(list(laws)):
        worth, length = np.sum([np.multiply(p, value[then]) for then, p in laws[position].items()], axis=0)
        value[position] = [worth, 1 + length]
    nodes = graph.back_up(*policies, v)
    assert v[: graph.n_full] == pytest.approx(np.array([value[position] for position in laws]), abs=1e-13)
    for node, found in zip(nodes_of(graph), nodes, strict=True):
        deals = duel_twin.deal(graph.space.rules, node)
        assert found == pytest.approx(np.sum([np.multiply(float(p), value[t]) for t, p in deals.items()], axis=0))


def test_probabilities_are_passed_on_as_in_the_exact_model(graph, policies, laws):
    n_dealt = int(graph.full.ptr[graph.space.layer_ptr[1]])
    reach = np.zeros(graph.n_full)
    reach[:n_dealt] = np.random.default_rng(4).random(n_dealt)
    expected = defaultdict(float, dict(zip(laws, reach.tolist(), strict=True)))
    ended = defaultdict(float)
    for position, law in laws.items():
        for then, p in law.items():
            if isinstance(then, Position | Node):
                expected[then] += expected[position] * p
            else:
                ended[position.view.breath, then] += expected[position] * p
    nodes, ends = graph.propagate_reach(*policies, reach)
    assert reach == pytest.approx(np.array([expected[position] for position in laws]), abs=1e-12)
    assert nodes == pytest.approx(np.array([expected[node] for node in nodes_of(graph)]), abs=1e-12)
    breaths = range(1, graph.space.rules.breaths + 1)
    assert ends == pytest.approx(
        np.array([[ended[n, reference.WIN], ended[n, reference.LOSS]] for n in breaths]), abs=1e-12
    )
    dealt = graph.deal_again(nodes)
    again = defaultdict(float)
    for node in nodes_of(graph):
        for position, p in duel_twin.deal(graph.space.rules, node).items():
            again[position] += float(p) * expected[node]
    assert dealt == pytest.approx(np.array([again[position] for position in list(laws)[:n_dealt]]), abs=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=6)
@given(rules=house_rules(largest_hp=2))
def test_parts_have_every_state_once_and_share_no_successor_in_a_buffer(name, rules):
    graph = GameGraph(StateSpace(rules, name))
    for number in range(rules.breaths):
        parts, layer_ptr = graph.parts[number], graph.space.layer_ptr
        rows = [row for first, last in parts.spans.tolist() for row in range(first, last)]
        assert sorted(rows) == list(range(*layer_ptr[number : number + 2]))
        owner = {}
        for part, buffer in enumerate(parts.buffer.tolist()):
            for first, last in parts.spans[parts.ptr[part] : parts.ptr[part + 1]]:
                entries = graph.full.after[graph.full.entry_ptr[first] : graph.full.entry_ptr[last]]
                # Each part has its own win and loss.
                for then in np.unique(entries[entries < graph.targets_of(number)[1]]).tolist():
                    assert owner.setdefault((buffer, then), part) == part


def test_an_unreachable_breath_passes_on_nothing():
    # A hit decides the game and no two cards are equal, so every game ends in its first breath.
    rules = PRESETS["tiny"]._replace(
        copies=(1, 1, 1, 1, 1), hp=1, feints=0, damage=(1, 1, 1, 1, 1), guard_reduction=0, dodge_stops=(0, 0, 0, 0, 0)
    )
    graph = GameGraph(StateSpace(rules))
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    reach = np.zeros(graph.n_full)
    reach[graph.opening[0]] = graph.opening[1]
    nodes, ends = graph.propagate_reach(own, enemy, reach)
    assert len(nodes) == 0
    assert ends[0].sum() == pytest.approx(1, abs=1e-14)
    assert not ends[1].any()


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
    assert calling(_random.draw_words)(np.uint64(low), counter[2], counter[3], np.uint64(high)) == words


def test_thresholds_are_cumulative_probabilities(simulator):
    space = simulator.space
    policy = mixed(space, 1)
    threshold = simulator.thresholds(policy).astype(np.float64) / _simulator.CERTAIN
    begins = space.state_ptr[:-1]
    first = np.zeros(len(policy), dtype=bool)
    first[begins] = True
    before = np.where(first, 0.0, np.roll(threshold, 1))
    assert threshold - before == pytest.approx(policy, abs=2**-30)
    assert (threshold[policy == 0] == before[policy == 0]).all()
    assert (threshold[space.state_ptr[1:] - 1] == 1).all()


def test_thresholds_end_at_one_despite_rounding(simulator):
    space = simulator.space
    row = int(np.argmax(np.diff(space.state_ptr)))
    rows = slice(*space.state_ptr[row : row + 2])
    policy = mixed(space, 2)
    policy[rows] = 0.0
    policy[rows.start : rows.start + 2] = 0.5 - 1e-10
    threshold = simulator.thresholds(policy)[rows]
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
    simulator = Simulator(GameGraph(StateSpace(PRESETS["tiny"]._replace(damage=(0, 0, 0, 0, 0)))))
    policy = simulator.thresholds(mixed(simulator.space, 5))
    with pytest.raises(DuelError, match="may never end"):
        simulator.play(policy, policy, 0, 10, 1)


def test_traces_have_the_states_and_rows_of_each_breath_from_the_opening_on(graph, simulator):
    space = graph.space
    weights = mixed(space, 6), mixed(space, 7)
    own, enemy = (simulator.thresholds(policy) for policy in weights)
    trace = simulator.trace(own, enemy, 10, 200, 1)
    assert same(trace.games, simulator.play(own, enemy, 10, 200, 1))
    assert np.array_equal(np.diff(trace.ptr), trace.games.breaths)
    for side, policy in enumerate(weights):
        rows, states = trace.rows[:, side], trace.states[:, side]
        assert ((rows >= space.state_ptr[states]) & (rows < space.state_ptr[states + 1])).all()
        assert (policy[rows] > 0).all()
    assert np.array_equal(graph.full.enemy_row[trace.full], trace.states[:, 1])
