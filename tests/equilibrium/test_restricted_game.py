"""Restricted games, against lists and dictionaries."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from houses import TINY

from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium import restricted_game
from punish_fast.equilibrium._restricted_game import INSIDE, LEAF, NEEDED, OUTSIDE
from punish_fast.equilibrium.regret_iteration import CounterfactualResponse, RegretIteration
from punish_fast.equilibrium.regret_minimizers import Hedge
from punish_fast.equilibrium.restricted_game import Marks, RestrictedGame, all_inside, are_consistent, mark, restrict
from punish_fast.punish.states.space import StateSpace

pytestmark = pytest.mark.kernels


class Part(NamedTuple):
    """A graph, the arguments of its marks, and its restricted game."""

    graph: GameGraph
    reach: np.ndarray
    strategy: np.ndarray
    regret: np.ndarray
    choice: np.ndarray
    marks: restricted_game.Marks
    game: RestrictedGame


@pytest.fixture(scope="module", params=["memoryless", "memory"])
def part(request):
    graph, generator = GameGraph(StateSpace(TINY, request.param)), np.random.default_rng(7)
    ptr = graph.state_ptr
    n_rows, n_states = int(ptr[-1]), len(ptr) - 1
    # Most full states after the first breath are unlikely.
    reach = 10.0 ** -generator.uniform(5, 13, (graph.n_full, 4))
    strategy, regret = 10.0 ** -generator.uniform(0, 6, n_rows), generator.normal(-1, 1, n_rows)
    choice = ptr[:-1] + generator.integers(np.diff(ptr))
    marks = all_inside(graph)
    mark(graph, reach, strategy, regret, choice, marks)
    # So little of a small game can be outside that restricting it does not pay.
    assert restrict(graph, marks) is None
    found = restrict(graph, marks, must_pay=False)
    assert found is not None
    assert n_states > len(found.states)
    return Part(graph, reach, strategy, regret, choice, marks, found)


def plays_of(graph, number, state):
    """Own row, enemy's row, probability of the draw, and successor: all plays of a full state."""
    full, draws, action = graph.full, graph.draws, graph.action
    enemy, deck = full.enemy_row[number], full.deck[number]
    k = int(full.entry[number])
    for own_row in range(*graph.state_ptr[state : state + 2]):
        for enemy_row in range(*graph.state_ptr[enemy : enemy + 2]):
            feinters = int(action[own_row] & 1) + 2 * int(action[enemy_row] & 1)
            for draw in range(draws.n[deck, feinters]):
                yield own_row, enemy_row, draws.p[deck, feinters, draw], int(full.after[k])
                k += 1


def states_of(graph):
    """The information state of each full state."""
    return np.repeat(np.arange(len(graph.state_ptr) - 1), np.diff(graph.full.ptr)).tolist()


def test_likely_states_and_played_regretted_or_response_rows_are_marked(part):
    graph, marks, first = part.graph, part.marks, int(part.graph.layer_ptr[1])
    by_state = np.add.reduceat(part.reach, graph.full.ptr[:-1])
    inside = (by_state[:, [1, 3]].max(axis=1) >= 1e-7) | (np.arange(len(by_state)) < first)
    assert np.array_equal(marks.state == INSIDE, inside)
    state = np.array(states_of(graph))
    likely = (part.reach[:, [1, 3]].max(axis=1) >= 1e-9) & inside[state] | (state < first)
    assert np.array_equal(marks.full == INSIDE, likely)
    needed = np.zeros(len(inside), dtype=bool)
    needed[graph.full.enemy_row[likely]] = True
    assert np.array_equal(marks.state == NEEDED, needed & ~inside)
    wanted = (part.strategy >= 1e-4) | (part.regret > 0)
    wanted[part.choice] = True
    of_row = np.repeat(marks.state, np.diff(graph.state_ptr))
    assert np.array_equal(marks.row, np.where(wanted, of_row, OUTSIDE))
    assert {OUTSIDE, INSIDE, NEEDED} == set(marks.state.tolist()) == set(marks.row.tolist())


def test_marks_are_inconsistent_without_a_needed_entry(part):
    graph, marks = part.graph, part.marks
    assert are_consistent(graph, all_inside(graph))
    assert are_consistent(graph, marks)
    inside = np.flatnonzero(marks.full == INSIDE)
    owner = np.repeat(np.arange(len(marks.state)), np.diff(graph.full.ptr))
    played = np.flatnonzero((marks.row == INSIDE) & (np.repeat(marks.state, np.diff(graph.state_ptr)) == INSIDE))
    wrong = [
        ("full", 0, OUTSIDE),
        ("full", 0, LEAF),
        ("state", owner[inside[-1]], OUTSIDE),
        ("state", owner[inside[-1]], NEEDED),
        ("state", graph.full.enemy_row[inside[-1]], OUTSIDE),
        ("state", 0, LEAF),
        ("row", played[0], NEEDED),
        ("row", played[0], LEAF),
    ]
    for name, place, kind in wrong:
        changed = Marks(*(table.copy() for table in marks))
        getattr(changed, name)[place] = kind
        assert not are_consistent(graph, changed), (name, kind)


def test_a_restricted_game_has_the_marked_plays_in_the_same_order(part):
    graph, marks, found = part.graph, part.marks, part.game
    assert np.array_equal(found.states, np.flatnonzero(marks.state))
    assert np.array_equal(found.rows, np.flatnonzero(marks.row))
    assert np.array_equal(found.numbers, np.flatnonzero(marks.full == INSIDE))
    assert np.array_equal(found.action, graph.action[found.rows])
    numbers = {
        **{int(number): place for place, number in enumerate(found.numbers)},
        **{graph.n_full + node: found.n_full + node for node in range(graph.n_nodes)},
        **{int(leaf): found.n_full + graph.n_nodes + k for k, leaf in enumerate(found.leaves)},
        **{graph.n_values - 2 + k: found.n_values - 2 + k for k in (0, 1)},
    }
    states, mine = states_of(graph), states_of(found)
    for place, number in enumerate(found.numbers.tolist()):
        assert found.states[mine[place]] == states[number]
        assert found.states[found.full.enemy_row[place]] == graph.full.enemy_row[number]
        expected = [
            (own, enemy, p, numbers[target])
            for own, enemy, p, target in plays_of(graph, number, states[number])
            if marks.row[own] and marks.row[enemy]
        ]
        plays = [
            (found.rows[own], found.rows[enemy], p, target)
            for own, enemy, p, target in plays_of(found, place, mine[place])
        ]
        assert plays == expected
    for number, (begin, end) in enumerate(itertools.pairwise(found.layer_ptr.tolist())):
        within = (graph.layer_ptr[number] <= found.states) & (found.states < graph.layer_ptr[number + 1])
        assert np.array_equal(np.flatnonzero(within), np.arange(begin, end))
    assert np.array_equal(found.rows[found.choices(part.choice)], part.choice[found.states])


def test_parts_with_the_same_buffer_share_no_successor(part):
    found = part.game
    for number in range(TINY.breaths):
        parts, (first, end), room = found.parts[number], found.targets_of(number), found.room_after(number)
        covered, targets = [], {}
        for k, buffer in enumerate(parts.buffer.tolist()):
            spans = parts.spans[parts.ptr[k] : parts.ptr[k + 1]]
            covered += [state for span in spans.tolist() for state in range(*span)]
            after = {
                target
                for span in spans
                for target in found.full.after[slice(*found.full.entry_ptr[span])].tolist()
                if target < end
            }
            assert all(first <= target < first + room[1] for target in after)
            assert not after & targets.setdefault(buffer, set())
            targets[buffer] |= after
        assert sorted(covered) == list(range(*found.layer_ptr[number : number + 2]))


def new_iteration(measure, graph, minimizer):
    v, dealt = np.full(measure.n_values, 0.5), graph.initial_reach
    v[-2:] = 1.0, 0.0
    return RegretIteration(measure, minimizer, dealt, v, 0.5, CounterfactualResponse(measure, v[:, None].copy(), dealt))


@pytest.mark.parametrize("model", ["memoryless", "memory"])
def test_a_restricted_game_of_everything_learns_like_the_whole(model):
    graph = GameGraph(StateSpace(TINY, model))
    marks = all_inside(graph)
    restricted = restrict(graph, marks, must_pay=False)
    whole = new_iteration(graph, graph, Hedge(graph.state_ptr, marks.row))
    part = new_iteration(restricted, graph, Hedge(restricted.state_ptr))
    for iteration in (1, 2, 3):
        for played in (whole, part):
            played.run(iteration)
        assert np.array_equal(whole.response.choice, part.response.choice)
        for name in ("strategy", "enemy", "v", "nodes", "state_reach"):
            assert getattr(whole, name) == pytest.approx(getattr(part, name), abs=1e-12), name
        assert whole.reach.table == pytest.approx(part.reach.table, abs=1e-14)
