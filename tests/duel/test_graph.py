import duel_twin
import numpy as np
import pytest
from exact import twin_of
from houses import few, house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import mixed
from positions import nodes_of, positions_of

from bench import reference
from punish_fast.duel._walk import action_shape, open_full, prefetch_enemy, prefetch_value, skip_actions
from punish_fast.duel.breath import play_breaths
from punish_fast.duel.graph import GameGraph
from punish_fast.punish.clash import LOSS, WIN
from punish_fast.punish.codes import State, split_digits, state_of_digits, to_decimal
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime._jit import set_threads
from punish_fast.runtime.errors import ArgumentError
from tests.kernels import calling


def test_full_states_and_nodes_are_all_reachable_ones(graph):
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
    number_of = {after: number for number, after in enumerate([*positions, *nodes, reference.WIN, reference.LOSS])}
    expected = [
        number_of[duel_twin.after(rules, position, *moves)]
        for position in positions
        for own in reference.legal_actions(rules, position.view)
        for enemy in reference.legal_actions(rules, duel_twin.enemy_view(position))
        for *moves, _ in reference.clashes(own, enemy, duel_twin.deck_of(rules, position))
    ]
    assert graph.full.after.tolist() == expected


@few
@given(house_rules())
def test_sweeps_conserve_probability_and_agree_forward_and_backward(rules):
    graph = GameGraph(StateSpace(rules))
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
    after, ended = graph.propagate_reach(own, enemy, reach)
    assert after.sum() + ended.sum() == pytest.approx(1, abs=1e-12)
    forward = after @ nodes[:, 0] + ended.sum(axis=0) @ ends[:, 0]
    assert forward == pytest.approx(p @ v[numbers, 0], abs=1e-12)
    dealt = graph.deal_again(after)
    assert dealt.sum() == pytest.approx(after.sum(), abs=1e-12)


def test_results_have_the_same_bits_for_every_thread_count(graph):
    own, enemy = mixed(graph.space, 4), mixed(graph.space, 5)
    found = []
    for threads in (1, 2):
        set_threads(threads)
        again = GameGraph(graph.space)
        v = np.zeros((again.n_full + again.n_nodes + 2, 2))
        v[-2, 0] = 1.0
        nodes = again.back_up(own, enemy, v)
        reach = np.zeros(again.n_full)
        reach[again.opening[0]] = again.opening[1]
        after, ended = again.propagate_reach(own, enemy, reach)
        found.append([array.tobytes() for array in (again.full.after, nodes, v, after, ended, again.deal_again(after))])
    set_threads(2)
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.full
def test_full_states_of_the_standard_game(tabletop):
    graph = GameGraph(tabletop)
    assert graph.full_by_breath == [68_680, 581_879, 829_855, 586_922]
    assert graph.n_full == 2_067_336
    assert graph.n_nodes == 3_488
    assert graph.redeal.ptr[-1] - graph.redeal.ptr[1] == 1_890_442
    assert graph.full.after.min() >= 0
    # Every number but those of the first breath is a successor.
    is_successor = np.zeros(graph.n_full + graph.n_nodes + 2, dtype=bool)
    is_successor[graph.full.after] = True
    assert is_successor[graph.full.ptr[tabletop.layer_ptr[1]] :].all()


STATE_PTR = np.array([0, 2, 5, 6, 10])


@pytest.mark.kernels
def test_successors_are_ordered_by_own_row_enemy_row_and_draw(graph):
    full, draws, ptr, action = graph.full, graph.draws, graph.state_ptr, graph.action
    states = np.repeat(np.arange(len(full.ptr) - 1), np.diff(full.ptr))
    ends = np.append(full.entry[1:], len(full.after))
    for number in np.random.default_rng(1).integers(graph.n_full, size=40):
        entry, (deck, first, last) = calling(open_full)(full, ptr, number)
        own_first, n_own, may_feint = calling(action_shape)(ptr, action, states[number])
        _, n_enemy, enemy_may_feint = calling(action_shape)(ptr, action, full.enemy_row[number])
        assert (last - first, deck) == (n_enemy, full.deck[number])
        for own in range(n_own):
            for enemy in range(n_enemy):
                skipped = calling(skip_actions)(
                    own, may_feint, enemy, n_enemy, enemy_may_feint, draws.n, full.deck[number]
                )
                feints = int(action[own_first + own] & 1) + 2 * int(action[int(first) + enemy] & 1)
                assert skipped == (int(entry) - int(full.entry[number]), feints)
                entry += draws.n[deck, feints]
        assert entry == ends[number]


@pytest.mark.kernels
@pytest.mark.parametrize(("number", "row"), [(0, 6), (1, 0), (11, 2), (12, 5), (19, 5)])
def test_the_enemy_of_a_later_full_state_is_prefetched(graph, number, row):
    enemy_row = np.array([0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2], dtype=np.int32)
    full = graph.full._replace(enemy_row=enemy_row)
    assert calling(prefetch_enemy)(full, STATE_PTR, np.zeros(10, dtype=np.uint8), np.ones(10), np.uint64(number)) == row


@pytest.mark.kernels
def test_prefetching_changes_no_value():
    after, v = np.arange(128, dtype=np.int32), np.arange(256.0).reshape(128, 2)
    for entry in (0, 63, 64, 127):
        calling(prefetch_value)(after, v, np.uint64(2), np.uint64(entry))
    assert np.array_equal(after, np.arange(128))
    assert np.array_equal(v.ravel(), np.arange(256.0))


@given(rules=house_rules(), data=st.data())
@settings(max_examples=15)
def test_views_after_a_breath_are_the_slow_models(rules, data):
    space = StateSpace(rules)
    for _ in range(20):
        row = data.draw(st.integers(0, int(space.layer_ptr[-2]) - 1))
        state = reference.State(*space.state(row))
        actions = [
            data.draw(st.sampled_from(reference.legal_actions(rules, seen)))
            for seen in (state, data.draw(st.sampled_from(mirrors(rules, state))))
        ]
        unseen = list(reference.unseen_cards(rules, state))
        plays, drawn = [], []
        for action in actions:
            deck = [card for card in reference.CARDS if unseen[card - 1]]
            drawn.append(data.draw(st.sampled_from(deck)) if reference.is_feint(action) else 0)
            plays.append(reference.plays_of(action, drawn[-1]))
        views = split_digits(np.array([to_decimal(State(*state))]))
        found = play_breaths(rules, views, [actions], [[(card - 1) % 6 for card in drawn]])
        after = reference.play(rules, state, *plays)
        assert found.resolved[0].tolist() == [(play.resolved - 1) % 6 for play in plays]
        own, enemy = (play.resolved for play in plays)
        taken = reference.damage(rules, enemy, own), reference.damage(rules, own, enemy)
        assert found.hp[0].tolist() == [state.own_hp - taken[0], state.enemy_hp - taken[1]]
        if isinstance(after, str):
            assert found.result[0] == (WIN if after == reference.WIN else LOSS)
        else:
            assert found.result[0] == 0
            assert tuple(state_of_digits(found.digits[0].tolist())) == tuple(after)


def test_a_graph_is_not_the_outline_of_another_graph():
    graph = GameGraph(StateSpace(PRESETS["tiny"]))
    with pytest.raises(ArgumentError, match=r"outline: GameGraph.* is not allowed; it must be an Outline"):
        GameGraph(graph.space, graph)


def mirrors(rules, state):
    """Return what the enemy may see."""
    hands = reference.hands(reference.unseen_cards(rules, state), state.enemy_hand)
    return [reference.mirror(state, hand) for hand in hands]
