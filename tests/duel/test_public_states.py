"""Nodes divided by public states, and policies that depend on them, against the slow model."""

from collections import defaultdict

import duel_twin
import numpy as np
import pytest
from exact import strategy_of
from houses import HIDING, LASTING, TINY, few, house_rules
from hypothesis import given
from perfect_recall import public_after
from policies import mixed, uniform
from positions import nodes_of, positions_of

from bench import reference
from punish_fast.duel.evaluation import head_to_head, outcome_distribution, simulate
from punish_fast.duel.graph import GameGraph
from punish_fast.duel.public_states import PublicPolicy, PublicStateError, PublicStates, every_public_state
from punish_fast.punish.states.space import StateSpace


def divided(rules):
    """The graph of a game whose nodes are divided by all public states that have nodes."""
    space = StateSpace(rules)
    graph = GameGraph(space, public=every_public_state(space.layout))
    used = np.unique(graph.node_public)
    return GameGraph(space, public=PublicStates(graph.public.rows[used[used > 0] - 1]))


def random_policy(graph, seed):
    return PublicPolicy(graph.public, [mixed(graph.space, seed + k) for k in range(len(graph.public))])


def nodes_with_public(graph):
    public = [(), *map(tuple, graph.public.rows.tolist())]
    return list(zip(nodes_of(graph), [public[k] for k in graph.node_public.tolist()], strict=True))


@few
@given(house_rules())
def test_successors_are_divided_by_the_public_state_of_the_exact_model(rules):
    graph = divided(rules)
    positions = positions_of(graph)
    ends = [*positions, *nodes_with_public(graph), reference.WIN, reference.LOSS]
    number_of = {after: number for number, after in enumerate(ends)}
    expected = []
    for position in positions:
        for own in reference.legal_actions(rules, position.view):
            for enemy in reference.legal_actions(rules, duel_twin.enemy_view(position)):
                for *moves, _ in reference.clashes(own, enemy, duel_twin.deck_of(rules, position)):
                    then = duel_twin.after(rules, position, *moves)
                    if isinstance(then, duel_twin.Node):
                        then = then, public_after(rules, position, *moves)
                    expected.append(number_of[then])
    assert graph.full.after.tolist() == expected
    assert set(expected) >= set(range(graph.n_full, graph.n_full + graph.n_nodes))


def test_unlisted_public_states_share_their_nodes():
    graph, plain = divided(TINY), GameGraph(StateSpace(TINY))
    visits = np.bincount(graph.node_public)
    index = int(visits.argmax())
    pair = np.unique([index, graph.public.mirror[index]])
    some = GameGraph(graph.space, public=PublicStates(graph.public.rows[pair - 1]))
    assert plain.n_nodes < some.n_nodes < graph.n_nodes
    nodes = nodes_with_public(graph)
    listed = {tuple(row) for row in some.public.rows.tolist()}
    assert set(nodes_with_public(some)) == {(node, public if public in listed else ()) for node, public in nodes}
    assert not plain.node_public.any()


def slow_measure(graph, policies, reach):
    """Probabilities of nodes with their public states, and of wins and losses, after one more measure."""
    rules, (own, enemy) = graph.space.rules, policies
    swap = {row: (*row[:-2], row[-1], row[-2]) for row in own}
    law, ends = defaultdict(float), np.zeros((rules.breaths, 2))
    for (node, public), mass in reach.items():
        ours, theirs = own[public], enemy[swap[public]]
        here = {position: mass * float(p) for position, p in duel_twin.deal(rules, node).items()}
        for breath in range(rules.breaths):
            following = defaultdict(float)
            for position, p in here.items():
                for a, x in ours[position.view].items():
                    for b, y in theirs[duel_twin.enemy_view(position)].items():
                        for *moves, draw in reference.clashes(a, b, duel_twin.deck_of(rules, position)):
                            then, weight = duel_twin.after(rules, position, *moves), p * float(x * y * draw)
                            if isinstance(then, str):
                                ends[breath, int(then == reference.LOSS)] += weight
                            elif isinstance(then, duel_twin.Node):
                                law[then, public_after(rules, position, *moves)] += weight
                            else:
                                following[then] += weight
            here = following
    return law, ends


@pytest.mark.parametrize("rules", [HIDING, LASTING], ids=["hiding", "lasting"])
def test_duels_of_public_policies_are_exact(rules):
    graph = divided(rules)
    own, enemy = random_policy(graph, 1), random_policy(graph, 100)
    rows = [(0,) * 7, *map(tuple, graph.public.rows.tolist())]
    twins = [{row: strategy_of(graph.space, p[k]) for k, row in enumerate(rows)} for p in (own, enemy)]
    reach, measures = {(duel_twin.begin(rules), rows[0]): 1.0}, []
    for _ in range(4):
        reach, ends = slow_measure(graph, twins, reach)
        measures.append(ends)
    found = outcome_distribution(graph, own, enemy)
    assert np.abs(found[:4] - measures).max() < 1e-12
    duel = head_to_head(graph, own, enemy)
    assert duel.win_probability == pytest.approx(found[..., 0].sum(), abs=1e-11)
    assert head_to_head(graph, enemy, own).win_probability == pytest.approx(1 - duel.win_probability, abs=1e-11)


@pytest.mark.parametrize("rules", [HIDING, LASTING], ids=["hiding", "lasting"])
def test_simulated_games_of_public_policies_agree_with_exact_duels(rules):
    graph, plain = divided(rules), GameGraph(StateSpace(rules))
    own, enemy = random_policy(graph, 1), random_policy(graph, 100)
    for one, other in ((own, enemy), (own, enemy[0])):
        result = simulate(graph, one, other, 40_000, seed=1)
        exact = head_to_head(graph, one, other).win_probability
        assert abs(result.win_probability - exact) < 4 * result.standard_error
    same = PublicPolicy(graph.public, [own[0]] * len(graph.public))
    assert simulate(graph, same, enemy[0], 1000).wins == simulate(plain, own[0], enemy[0], 1000).wins
    with pytest.raises(PublicStateError, match="not divided"):
        simulate(plain, own, enemy[0], 4)


def test_equal_policies_for_all_public_states_are_one_policy():
    graph, plain = divided(TINY), GameGraph(StateSpace(TINY))
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    public = PublicPolicy(graph.public, [own] * len(graph.public))
    found = [head_to_head(graph, public, enemy), head_to_head(graph, own, enemy)]
    expected = head_to_head(plain, own, enemy)
    for duel in found:
        assert duel.win_probability == pytest.approx(expected.win_probability, abs=1e-11)
        assert duel.length == pytest.approx(expected.length, abs=1e-9)


def test_a_policy_is_indexed_again_on_a_graph_with_more_public_states():
    graph = divided(TINY)
    states = PublicStates(graph.public.rows[graph.public.mirror[1:] == np.arange(1, len(graph.public))])
    policies = [mixed(graph.space, k) for k in range(len(states))]
    policy = PublicPolicy(states, policies)
    small = GameGraph(graph.space, public=states)
    enemy = uniform(graph.space)
    large = head_to_head(graph, policy, enemy).win_probability
    assert large == pytest.approx(head_to_head(small, policy, enemy).win_probability, abs=1e-11)
    assert policy.by_index(graph.public)[0] is policies[0]


def test_invalid_public_states_are_refused():
    with pytest.raises(PublicStateError, match="repeated"):
        PublicStates([[1, 0, 0, 0, 0, 0, 0]] * 2)
    with pytest.raises(PublicStateError, match="mirrored"):
        PublicStates([[1, 0, 0, 0, 0, 1, 0]])
    graph = divided(HIDING)
    with pytest.raises(PublicStateError, match="2 policies for 6"):
        PublicPolicy(graph.public, [uniform(graph.space)] * 2)
    with pytest.raises(PublicStateError, match="not divided"):
        head_to_head(GameGraph(graph.space), random_policy(graph, 1), "naive")
