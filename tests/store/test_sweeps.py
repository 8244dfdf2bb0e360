from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from fuzz.damage import change, put, remove, set_attribute
from policies import mixed

from punish_fast.mdp.checkpoints import Checkpoints
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.runtime.files import ReadError
from punish_fast.store.reader import load
from punish_fast.store.sweeps import SweepOrigin, check_origin, digest_of_array, load_sweeps, save_sweeps

RULES = PRESETS["tiny"]
ENEMY = {"kind": "built-in", "name": "random"}
ORIGIN = SweepOrigin(RULES, ENEMY, "0123", "")


@pytest.fixture(scope="module")
def mdp():
    return build(StateSpace(RULES))


def state_after(mdp, after, **options):
    states = []
    solve(mdp, start=Checkpoints(lambda state: states.append(copy.deepcopy(state)), seconds=0), **options)
    return states[after - 1]


@pytest.fixture
def saved(mdp, tmp_path):
    """A file with a memory, and its state."""
    state = state_after(mdp, 5)
    save_sweeps(tmp_path / "a.h5", ORIGIN, state)
    return tmp_path / "a.h5", state


@pytest.mark.parametrize(
    "options", [{}, {"method": "jacobi", "sweeps": 9}, {"objective": "win-probability"}, {"discount": 1.0}]
)
@pytest.mark.parametrize("sweeps", [1, 2, 6])
def test_a_state_is_read_as_it_was_written(mdp, tmp_path, options, sweeps):
    state = state_after(mdp, sweeps, **options)
    save_sweeps(tmp_path / "a.h5", ORIGIN, state)
    file = load(tmp_path / "a.h5")
    assert (file.kind, file.rules, file.attributes["sweeps"]) == ("checkpoint", RULES, sweeps)
    found = load_sweeps(file, ORIGIN, state.settings)
    assert (found.settings, found.numbers, found.log) == (state.settings, state.numbers, state.log)
    assert found.arrays.keys() == state.arrays.keys()
    for name, array in state.arrays.items():
        assert found.arrays[name].tobytes() == array.tobytes(), name
    whole = solve(mdp, **options)
    resumed = solve(mdp, start=Checkpoints(lambda _state: None, found), **options)
    assert (resumed.fingerprint, resumed.sweeps) == (whole.fingerprint, whole.sweeps)


def test_states_of_other_solutions_are_refused(saved):
    path, state = saved
    file, settings = load(path), state.settings
    with pytest.raises(ReadError, match="made for rules tiny, but the game's are notebook"):
        check_origin(file, ORIGIN._replace(rules=PRESETS["notebook"]), settings)
    with pytest.raises(ReadError, match=r"made against .* not against"):
        check_origin(file, ORIGIN._replace(enemy={"kind": "built-in", "name": "naive"}), settings)
    with pytest.raises(ReadError, match=r"a\.h5: made with discount 0\.95, not 0\.9$"):
        check_origin(file, ORIGIN, settings | {"discount": 0.9})
    check_origin(file, ORIGIN._replace(policy="4567"), settings)
    with pytest.raises(ReadError, match=r"a\.h5: made against an enemy that plays otherwise$"):
        load_sweeps(file, ORIGIN._replace(policy="4567"), settings)
    with pytest.raises(ReadError, match=r"a\.h5: made from other initial values$"):
        load_sweeps(file, ORIGIN._replace(values="4567"), settings)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("failures", -1.0, "numbers: failures is -1.0, must be a number from 0"),
        ("changes", 1.5, "numbers: changes is 1.5"),
        ("least", "small", "numbers: least is 'small'"),
        ("bound", float("nan"), "numbers: bound is nan"),
        ("further", 1.0, "numbers: are "),
    ],
)
def test_numbers_that_cannot_be_are_refused(saved, name, value, told):
    path, state = saved
    numbers = {own: float(number) for own, number in state.numbers.items()}
    set_attribute(path, "numbers", json.dumps(numbers | {name: value}))
    with pytest.raises(ReadError, match=told):
        load_sweeps(load(path), ORIGIN, state.settings)


def test_arrays_that_cannot_be_are_refused(saved, mdp, tmp_path):
    path, state = saved
    change(path, "/iteration/v", put(3, np.nan))
    with pytest.raises(ReadError, match="/iteration/v: a number is not finite"):
        load_sweeps(load(path), ORIGIN, state.settings)
    save_sweeps(path, ORIGIN, state)
    for name in ("steps", "images", "products"):
        remove(path, f"/memory/{name}")
    with pytest.raises(ReadError, match="/memory/steps: missing"):
        load_sweeps(load(path), ORIGIN, state.settings)
    jacobi = state_after(mdp, 2, method="jacobi", sweeps=3)
    save_sweeps(tmp_path / "b.h5", ORIGIN, jacobi)
    change(tmp_path / "b.h5", "/iteration/choice", put(3, 100_000))
    with pytest.raises(ReadError, match="/iteration/choice: must be rows"):
        load_sweeps(load(tmp_path / "b.h5"), ORIGIN, jacobi.settings)


def test_digests_tell_policies_apart():
    space = StateSpace(RULES)
    assert digest_of_array(None) == ""
    assert digest_of_array(mixed(space, 1)) != digest_of_array(mixed(space, 2))
    assert digest_of_array(mixed(space, 1)) == digest_of_array(mixed(space, 1))
