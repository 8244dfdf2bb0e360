from functools import cache

import numpy as np
import pytest

from bench.processes import forest, gridworld, inventory, replacement, wireless
from bench.processes.registry import PROCESSES, REACHABILITY, SIZES
from punish_fast.mdp.model.mdp import validate
from punish_fast.mdp.objectives.solver import solve


@cache
def small(name):
    return PROCESSES[name].make("small")


def best_actions(name, discount):
    return small(name).action[solution(name, discount).choice]


@cache
def solution(name, discount):
    if discount == REACHABILITY:
        return solve(small(name), objective="reach-probability", tolerance=1e-10)
    return solve(small(name), discount, tolerance=1e-9)


COUNTS = {
    "random": (300, 1200, 9473),
    "forest": (500, 1000, 1500),
    "gridworld": (316, 1264, 3576),
    "inventory": (61, 61 * 62 // 2, 46_241),
    "queues": (256, 768, 2943),
    "replacement": (169, 676, 9604),
    # PRISM's case study lists 272 states and 492 transitions, with a loop in each of the last eight states.
    "consensus": (264, 392, 484),
    "wireless": (680, 953, 1210),
}


def test_every_process_has_three_sizes_and_a_count():
    assert set(COUNTS) == set(PROCESSES)
    assert all(tuple(process.sizes) == SIZES for process in PROCESSES.values())


@pytest.mark.parametrize("name", PROCESSES)
def test_small_sizes_are_processes_of_known_size_with_sorted_columns_and_actions(name):
    mdp = validate(small(name))
    assert (mdp.n_states, mdp.n_rows, mdp.nnz) == COUNTS[name]
    assert (mdp.data > 0).all()
    rows = np.repeat(np.arange(mdp.n_rows), np.diff(mdp.indptr))
    assert (np.diff(mdp.indices.astype(np.int64) + rows * mdp.n_columns) > 0).all()
    owner = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr))
    assert (np.diff(owner * 256 + mdp.action) > 0).all()


def test_forests_are_cut_at_the_right_age():
    best = best_actions("forest", 0.9)
    first = int(np.flatnonzero(best[1:] == forest.WAIT)[0]) + 1
    assert best[0] == forest.WAIT
    assert (best[1:first] == forest.CUT).all()
    assert (best[first:] == forest.WAIT).all()
    assert len(best) - 50 < first < len(best) - 5
    # The example of pymdptoolbox's documentation: three ages at discount 0.9 are never cut.
    mdp = forest.make(3)
    found = solve(mdp, 0.9, tolerance=1e-10)
    assert mdp.action[found.choice].tolist() == [0, 0, 0]
    assert found.v == pytest.approx([26.244, 29.484, 33.484], abs=1e-6)


def test_a_move_slips_to_both_sides_and_stays_at_walls():
    side = 6
    mdp = gridworld.make(side)
    is_open = np.random.default_rng(1).random((side, side)) >= 0.2
    is_open[0, 0] = is_open[-1, -1] = True
    cells = [cell for cell in np.ndindex(side, side) if is_open[cell]]
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    expected = np.zeros((4 * (len(cells) - 1), len(cells)))
    for number, (i, j) in enumerate(cells[:-1]):
        for action, turn in np.ndindex(4, 4):
            down, right = moves[(action + turn) % 4]
            cell = (i + down, j + right)
            column = cells.index(cell) if cell in cells else number
            expected[4 * number + action, column] += [0.8, 0.1, 0.0, 0.1][turn]
    assert mdp.to_scipy().toarray() == pytest.approx(expected)
    assert ((mdp.reward < 0) & (mdp.reward > -1)).all()


def test_inventory_is_ordered_up_to_a_level_from_a_lower_one():
    best = best_actions("inventory", 0.9)
    orders = np.flatnonzero(best > 0)
    level = orders + best[orders]
    assert len(orders) > 0
    assert np.array_equal(orders, np.arange(len(orders)))
    assert (level == level[0]).all()
    assert orders[-1] < level[0] < 60
    mdp = inventory.make(capacity=2, batch=1, mean_demand=1.0, largest_demand=2)
    p = np.array([1, 1, 0.5]) / 2.5
    # Two items in store and none ordered.
    assert mdp.indices[mdp.indptr[-2] :].tolist() == [0, 1, 2]
    assert mdp.data[mdp.indptr[-2] :] == pytest.approx(p[::-1])
    stored = 2 * p[0] + p[1]
    assert mdp.reward[-1] == pytest.approx(8 * (2 - stored) - 0.1 * stored)


def test_worn_machines_are_replaced_and_values_fall_with_wear_and_lengths_of_queues():
    for name in ("queues", "replacement"):
        v = solution(name, 0.9).v
        v = v.reshape(int(len(v) ** 0.5), -1)
        assert (np.diff(v, axis=0) <= 1e-8).all()
        assert (np.diff(v, axis=1) <= 1e-8).all()
    best = best_actions("replacement", 0.9).reshape(13, 13)
    assert replacement.ACTIONS[best[0, 0]] == (False, False)
    assert replacement.ACTIONS[best[-1, -1]] == (True, True)
    # A machine that is replaced would be replaced if it were more worn.
    first = np.array([renews[0] for renews in replacement.ACTIONS])[best]
    assert (np.diff(first.astype(int), axis=0) >= 0).all()


def test_the_shared_coin_has_the_published_probability():
    # The first states are those with both processes about to flip; their counters are 3 to 9, and it starts at 6.
    assert solution("consensus", REACHABILITY).v[3] == pytest.approx(13 / 120, abs=1e-9)


@pytest.mark.parametrize(("most", "window"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_collisions_have_the_probability_of_close_draws(most, window):
    mdp = validate(wireless.make(most, window, longest=3, idle=1))
    expected = np.prod([(3 * w - 2) / w**2 for w in (window << c for c in range(1, most))])
    # The first state: nothing sent yet, and the medium just idle.
    assert solve(mdp, objective="reach-probability", tolerance=1e-10).v[0] == pytest.approx(expected, abs=1e-9)
