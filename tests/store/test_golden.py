"""Files written by an earlier version, with a digest of all fields of the rules, are still read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.policy import softmax
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.bundles import load_bundle
from punish_fast.store.checkpoints import load_checkpoint
from punish_fast.store.reader import load
from punish_fast.store.tensors import start_values

GOLDEN = Path(__file__).parent / "golden"
RULES = Rules(copies=(1, 1, 0, 2, 1), hand_size=1, reveal_size=1, hp=1, breaths=1)


def test_models_and_policies_of_an_earlier_version_are_what_is_computed_today():
    space = StateSpace(RULES)
    mdp = build(space)
    solution = solve(mdp)
    for kind in ("tensor", "agent"):
        file = load(GOLDEN / f"{kind}.h5")
        assert (file.kind, file.rules, file.enemy["name"]) == (kind, RULES, "random")
        file.must_have_states(space)
        found = file.mdp()
        assert all(np.array_equal(getattr(found, name), getattr(mdp, name)) for name in ("indptr", "indices", "reward"))
        np.testing.assert_allclose(found.data, mdp.data, rtol=1e-15)
    np.testing.assert_allclose(load(GOLDEN / "agent.h5").solution().v, solution.v, rtol=1e-12)
    np.testing.assert_allclose(
        load(GOLDEN / "strategy.h5").policy(space), softmax(mdp.state_ptr, solution.q, 1.0), rtol=1e-9
    )
    fine = StateSpace(RULES, "memory")
    np.testing.assert_allclose(load(GOLDEN / "memory.h5").policy(fine), uniform_policy(fine), rtol=1e-15)
    v = start_values(GOLDEN / "checkpoint.h5", RULES, "discounted")
    np.testing.assert_allclose(v, solution.v, rtol=1e-12)


def test_an_equilibrium_and_a_bundle_of_an_earlier_version_are_read():
    equilibrium = Equilibrium(Graph(StateSpace(RULES._replace(redeal="reshuffle"))))
    kept = load_checkpoint(load(GOLDEN / "equilibrium.h5"), equilibrium.tables)
    for _ in range(3):
        equilibrium.iterate()
    assert kept.iterations == 3
    for name, table in equilibrium.tables.items():
        np.testing.assert_allclose(kept.tables[name], table, rtol=1e-12, atol=1e-15)
    bundle = load_bundle(GOLDEN / "bundle.h5", {"numbers": {"a": ("float64", 1), "b": ("float16", 2)}})
    assert bundle.header == {"kind": "numbers", "seed": 1}
    assert (bundle.arrays["a"].tolist(), bundle.arrays["b"].tolist()) == ([0, 1, 2, 3], [[0, 1, 2], [3, 4, 5]])
