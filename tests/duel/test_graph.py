from __future__ import annotations

import duel_twin
import numpy as np
import pytest
import twin
from duel_twin import Node, Position
from exact import twin_of
from houses import house_rules
from hypothesis import given
from policies import mixed
from positions import decks_of, nodes_of, positions_of
from seen import keys_of

from punish_fast.duel.graph import Graph
from punish_fast.punish.information_space import InformationSpace
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.runtime._jit import set_threads


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(PRESETS["tiny"]))


def test_full_states_and_nodes_are_all_that_a_game_can_come_to(graph):
    layers, nodes = duel_twin.everything(graph.space.rules)
    assert graph.full_by_breath == [len(layer) for layer in layers]
    assert set(positions_of(graph)) == set().union(*layers)
    assert set(nodes_of(graph)) == nodes
    assert graph.n_nodes == len(nodes)


def test_the_enemy_sees_the_mirrored_state(graph):
    for number, position in enumerate(positions_of(graph)):
        state = graph.space.state(int(graph.full.enemy_row[number]))
        assert twin_of(state) == duel_twin.enemy_view(position)


def test_successors_are_those_of_the_exact_model(graph):
    rules = graph.space.rules
    positions, nodes = positions_of(graph), nodes_of(graph)
    number_of = {after: number for number, after in enumerate([*positions, *nodes, twin.WIN, twin.LOSS])}
    expected = [
        number_of[duel_twin.after(rules, position, *moves)]
        for position in positions
        for own in twin.actions(rules, position.view)
        for enemy in twin.actions(rules, duel_twin.enemy_view(position))
        for *moves, _ in twin._moves(duel_twin.deck_of(rules, position), own, enemy)
    ]
    assert graph.full.after.tolist() == expected


def test_redeals_are_those_of_the_exact_model(graph):
    positions, redeal = positions_of(graph), graph.redeal
    for number, node in enumerate(nodes_of(graph)):
        deals = range(*redeal.ptr[redeal.node_pair[number] : redeal.node_pair[number] + 2])
        found = {}
        for k in deals:
            deal = redeal.deal[k]
            found[positions[redeal.first[deal] + redeal.node_status[number] * redeal.stride[deal]]] = redeal.p[k]
        exact = duel_twin.deal(graph.space.rules, node)
        assert found == pytest.approx({position: float(p) for position, p in exact.items()}, abs=1e-15)


def test_a_game_begins_with_any_deal(graph):
    numbers, p = graph.opening
    positions = positions_of(graph)
    exact = duel_twin.deal(graph.space.rules, duel_twin.begin(graph.space.rules))
    found = dict(zip([positions[number] for number in numbers], p.tolist(), strict=True))
    assert found == pytest.approx({position: float(chance) for position, chance in exact.items()}, abs=1e-15)


@pytest.mark.parametrize("rules", [PRESETS["tiny"], PRESETS["tiny"]._replace(breaths=1, copies=(3, 2, 1, 1, 1))])
def test_what_is_spent_is_what_the_discard_pile_shows_at_the_end_of_a_measure(rules):
    graph = Graph(InformationSpace(rules, "carried"))
    keys, nodes, spent = keys_of(graph.space), nodes_of(graph), spent_of(graph)
    number_of = {(node, here): graph.n_full + k for k, (node, here) in enumerate(zip(nodes, spent, strict=True))}
    assert len(number_of) == graph.n_nodes
    number_of |= {(end, 0): graph.n_full + graph.n_nodes + k for k, end in enumerate((twin.WIN, twin.LOSS))}
    there = [kind for kind in range(5) if rules.copies[kind] > 0]
    strongest = sorted(there, key=lambda kind: (rules.damage[kind], kind))[-2:]
    expected = []
    for row in range(*graph.space.layer_ptr[rules.breaths - 1 : rules.breaths + 1]):
        view = keys[row][0]
        for deck in decks_of(graph, row):
            position = Position(view, twin._minus(twin._unseen(rules, view), tuple(deck)))
            for own in twin.actions(rules, view):
                for enemy in twin.actions(rules, duel_twin.enemy_view(position)):
                    for *moves, _ in twin._moves(duel_twin.deck_of(rules, position), own, enemy):
                        then = duel_twin.after(rules, position, *moves)
                        gone = view.discard
                        for move in moves:
                            gone = twin._plus(gone, twin._pile(move))
                        here = [k for k, kind in enumerate(strongest) if gone[kind] == rules.copies[kind]]
                        expected.append(number_of[then, sum(1 << k for k in here) if isinstance(then, Node) else 0])
    first = graph.full.entry_ptr[graph.space.layer_ptr[rules.breaths - 1]]
    assert graph.full.after[first:].tolist() == expected
    assert len(set(spent)) > 1


def test_a_deal_knows_what_was_spent_before_it():
    graph = Graph(InformationSpace(PRESETS["tiny"], "carried"))
    keys, redeal = keys_of(graph.space), graph.redeal
    row_of = np.repeat(np.arange(len(keys)), np.diff(graph.full.ptr))
    for node, spent in enumerate(spent_of(graph)):
        deals = redeal.deal[slice(*redeal.ptr[redeal.node_pair[node] : redeal.node_pair[node] + 2])]
        numbers = redeal.first[deals] + redeal.node_status[node] * redeal.stride[deals]
        assert {keys[row][-1] for row in row_of[numbers]} == {spent}
        assert {keys[row][-1] for row in graph.full.enemy_row[numbers]} == {spent}


def spent_of(graph):
    """What is spent in each node."""
    status = graph.space.layers[0].status[graph.redeal.node_status].astype(int)
    return (status // graph.space.layout.n_statuses).tolist()


@given(house_rules())
def test_a_sweep_keeps_the_chances_of_all_and_forward_is_backward(rules):
    graph = Graph(StateSpace(rules))
    space = graph.space
    generator = np.random.default_rng(1)
    own, enemy = mixed(space, 2), mixed(space, 3)
    v = generator.random((graph.n_full + graph.n_nodes + 2, 2))
    v[-2:] = generator.random((2, 2))
    nodes, ends = v[graph.n_full : -2].copy(), v[-2:].copy()
    graph.back_up(own, enemy, v)
    numbers, p = graph.opening
    reach = np.zeros(graph.n_full)
    reach[numbers] = p
    after, ended = graph.spread(own, enemy, reach)
    assert after.sum() + ended.sum() == pytest.approx(1, abs=1e-12)
    forward = after @ nodes[:, 0] + ended.sum(axis=0) @ ends[:, 0]
    assert forward == pytest.approx(p @ v[numbers, 0], abs=1e-12)
    dealt = graph.deal_again(after)
    assert dealt.sum() == pytest.approx(after.sum(), abs=1e-12)


def test_one_thread_and_two_give_the_same_bits(graph):
    own, enemy = mixed(graph.space, 4), mixed(graph.space, 5)
    found = []
    for threads in (1, 2):
        set_threads(threads)
        again = Graph(graph.space)
        v = np.zeros((again.n_full + again.n_nodes + 2, 2))
        v[-2, 0] = 1.0
        nodes = again.back_up(own, enemy, v)
        reach = np.zeros(again.n_full)
        reach[again.opening[0]] = again.opening[1]
        after, ended = again.spread(own, enemy, reach)
        found.append([array.tobytes() for array in (again.full.after, nodes, v, after, ended, again.deal_again(after))])
    set_threads(2)
    assert found[0] == found[1]


@pytest.mark.full
def test_full_states_of_the_standard_game(tabletop):
    graph = Graph(tabletop)
    assert graph.full_by_breath == [68_680, 581_879, 829_855, 586_922]
    assert graph.n_full == 2_067_336
    assert graph.n_nodes == 3_488
    assert graph.redeal.ptr[-1] - graph.redeal.ptr[1] == 1_890_442
    assert graph.full.after.min() >= 0
    # Every number but those of the first breath is led to.
    led_to = np.zeros(graph.n_full + graph.n_nodes + 2, dtype=bool)
    led_to[graph.full.after] = True
    assert led_to[graph.full.ptr[tabletop.layer_ptr[1]] :].all()
