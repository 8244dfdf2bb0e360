from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import pytest

from bench.contenders import DISCOUNTED, FAMILIES, FEW, OURS, REACHABILITY
from bench.mdp import ROUNDING, TOLERANCE
from bench.processes.registry import PROCESSES
from bench.tensor import Tensor, save
from punish_fast.mdp.solver import solve

NEEDS = {
    "quantecon_ddp": "quantecon",
    "mdpsolver_lists": "mdpsolver",
    "storm_arrays": "stormpy",
    "toolbox": "mdptoolbox",
}


@cache
def process(name):
    return PROCESSES[name].make("small")


def solved(one, name, discount, folder):
    if one.module in NEEDS:
        pytest.importorskip(NEEDS[one.module])
    save(folder, Tensor(*(getattr(process(name), field) for field in Tensor._fields)))
    settings = {"discount": discount, "tolerance": TOLERANCE, "threads": 1, **one.settings}
    return import_module(f"bench.peer.{one.module}").prepare(folder, settings)()


def test_everyone_has_a_name_of_a_family_and_ours_come_first():
    for everyone in (DISCOUNTED, REACHABILITY):
        names = [one.name for one in everyone]
        assert len(set(names)) == len(names)
        assert names[0] == OURS
        assert all(name.startswith((OURS, *FAMILIES)) for name in names)
    assert len(FEW) == len(FAMILIES) + 3


# The grid has a terminal and walls, and the inventory has states with different numbers of actions.
@pytest.mark.parametrize("name", ["gridworld", "inventory"])
@pytest.mark.parametrize("one", DISCOUNTED, ids=lambda one: one.name)
def test_values_are_within_the_bound_of_the_optimal_ones(one, name, tmp_path):
    expected = solve(process(name), 0.9, tolerance=1e-10)
    found = solved(one, name, 0.9, tmp_path)
    assert found.error_bound <= TOLERANCE
    assert np.abs(found.values() - expected.v).max() <= found.error_bound + expected.error_bound + ROUNDING


@pytest.mark.parametrize("name", ["consensus", "wireless"])
@pytest.mark.parametrize("one", REACHABILITY, ids=lambda one: one.name)
def test_probabilities_are_within_the_bound_of_the_largest_ones(one, name, tmp_path):
    expected = solve(process(name), objective="win-probability", tolerance=1e-10)
    found = solved(one, name, 1.0, tmp_path)
    assert found.error_bound <= TOLERANCE
    assert np.abs(found.values() - expected.v).max() <= found.error_bound + expected.error_bound + ROUNDING
