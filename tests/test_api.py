"""The public names of the package, and what importing the package costs."""

import importlib
import subprocess
import sys
import types

import numpy as np
import pytest

import punish_fast

HEAVY = {"numpy", "numba", "scipy", "h5py", "typer"}


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh process has after ``code``."""
    listing = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    command = [sys.executable, "-W", "error", "-c", f"{code}\n{listing}"]
    child = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert child.stderr == ""
    return set(child.stdout.split())


def test_importing_the_package_and_rules_imports_nothing_heavy():
    code = "import punish_fast; punish_fast.__version__; dir(punish_fast); punish_fast.load_rules('tiny').digest"
    assert not HEAVY & modules_after(code)


def test_every_public_name_resolves_and_is_documented():
    for name in punish_fast.__all__:
        value = getattr(punish_fast, name)
        assert value.__doc__, name
        assert value.__module__.startswith("punish_fast."), name
        assert getattr(importlib.import_module(value.__module__), value.__name__) is value
        assert getattr(punish_fast, name) is value
    assert len(punish_fast.__all__) == len(set(punish_fast.__all__))
    assert dir(punish_fast) == sorted([*punish_fast.__all__, "__version__"])
    module = types.ModuleType("user")
    exec("from punish_fast import *", vars(module))
    assert set(punish_fast.__all__) <= set(vars(module))


def test_unknown_names_raise_attribute_error():
    for name in ("nonsense", "_nonsense", "numpy", "Solve"):
        with pytest.raises(AttributeError, match=f"module 'punish_fast' has no attribute '{name}'"):
            getattr(punish_fast, name)
    with pytest.raises(ImportError, match="nonsense"):
        exec("from punish_fast import nonsense")


def test_ten_lines_from_rules_to_a_file_and_back(tmp_path):
    from punish_fast import GameGraph, Player, StateSpace, TransitionPattern, build, load, load_rules, save, solve

    space = StateSpace(load_rules("tiny"))
    mdp = build(space)
    solution = solve(mdp, discount=0.95, tolerance=1e-10)
    policy = solution.policy
    save(tmp_path / "agent.h5", space, mdp, solution)
    agent = load(tmp_path / "agent.h5")

    assert np.array_equal(agent.solution().v, solution.v)
    assert np.array_equal(np.flatnonzero(policy), solution.choice)
    assert np.array_equal(np.add.reduceat(policy, mdp.state_ptr[:-1]), np.ones(space.n_states))
    assert agent.kind == "agent"
    assert repr(space) == "StateSpace(tiny, memoryless: 558 states)"
    assert repr(mdp).startswith("MDP(558 states, ")
    assert repr(solution).startswith("Solution(558 states, discount 0.95, error bound ")
    assert repr(agent) == f"SolutionFile('{tmp_path / 'agent.h5'}': agent, rules tiny)"
    assert repr(TransitionPattern(space)) == f"TransitionPattern({space!r})"
    assert repr(Player("naive@2")) == "Player('naive@2')"
    assert repr(GameGraph(space)).startswith(f"GameGraph({space!r}, ")


def test_what_a_function_cannot_take_is_named():
    pf = punish_fast
    space = pf.StateSpace(pf.load_rules("tiny"))
    for call, said in (
        (lambda: pf.StateSpace("tiny"), "rules: 'tiny' is not allowed; it must be Rules, such as load_rules"),
        (lambda: pf.build("tiny"), "space: str is not allowed; it must be a StateSpace"),
        (lambda: pf.build(space.rules), "space: Rules is not allowed; it must be a StateSpace"),
        (lambda: pf.GameGraph(space.rules), "space: Rules is not allowed; it must be a StateSpace"),
        (lambda: pf.to_finer_model(space, 1, np.ones(3)), "space: int is not allowed; it must be a StateSpace"),
        (lambda: pf.save("x.h5", 1, pf.build(space)), "space: int is not allowed; it must be a StateSpace"),
        (lambda: pf.save("x.h5", space, space), "mdp: StateSpace is not allowed; it must be an MDP"),
        (lambda: pf.solve(space), "mdp: StateSpace is not allowed; it must be an MDP, such as build"),
        (lambda: pf.head_to_head(space, "naive", "random"), "graph: StateSpace is not allowed"),
        (lambda: pf.simulate(space, "naive", "random", 1, 1), "graph: StateSpace is not allowed"),
        (lambda: pf.best_response(space, "naive"), "graph: StateSpace is not allowed"),
        (lambda: pf.bracket(space, "naive"), "graph: StateSpace is not allowed"),
        (lambda: pf.Equilibrium(space), "graph: StateSpace is not allowed"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{said}"):
            call()
