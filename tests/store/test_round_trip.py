"""What is saved is loaded again, bit by bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exact import random_policy, random_table
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from punish_fast.mdp.policy import greedy, softmax
from punish_fast.mdp.solver import solve
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of_table, uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.files import ReadError
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load
from punish_fast.store.tensors import save, save_values, start_values, write_rows, write_solution, write_states
from punish_fast.store.writer import new_file


def assert_same_bits(one, other):
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert one.tobytes() == other.tobytes()


def assert_same_arrays(one, other):
    arrays = {name: value for name, value in vars(one).items() if isinstance(value, np.ndarray)}
    for name, array in arrays.items():
        assert_same_bits(array, getattr(other, name))


def assert_same_solution(one, other):
    assert (one.choice == other.choice).all()
    assert_same_arrays(replace(one, rows_taken=None), other)
    fields = (
        "objective",
        "discount",
        "schedule",
        "tolerance",
        "sweeps",
        "residual",
        "error_bound",
        "fingerprint",
        "converged",
    )
    assert [getattr(one, name) for name in fields] == [getattr(other, name) for name in fields]
    assert one.log == other.log


def test_tensor_survives_bit_by_bit(tiny, tiny_mdp, tmp_path):
    save(tmp_path / "tensor.h5", tiny, tiny_mdp, enemy={"kind": "built-in", "name": "random"})
    file = load(tmp_path / "tensor.h5")
    assert file.kind == "tensor"
    assert file.rules == tiny.rules
    assert file.enemy == {"kind": "built-in", "name": "random"}
    assert_same_bits(file.code, tiny.code)
    assert_same_bits(file.layer_ptr, tiny.layer_ptr)
    assert_same_arrays(tiny_mdp, file.mdp())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "jacobi", "sweeps": 5},
        {"discount": 1.0},
        {"objective": "win-probability"},
    ],
)
def test_agent_survives_bit_by_bit(tiny, tiny_mdp, tmp_path, options):
    solution = solve(tiny_mdp, **options)
    save(tmp_path / "agent.h5", tiny, tiny_mdp, solution, enemy={"kind": "agent", "file": "x.h5"})
    file = load(tmp_path / "agent.h5")
    assert file.kind == "agent"
    assert file.enemy == {"kind": "agent", "file": "x.h5"}
    assert_same_solution(solution, file.solution())
    assert_same_arrays(tiny_mdp, file.mdp())
    assert solve(file.mdp(), **options).fingerprint == solution.fingerprint


def test_strategy_survives_bit_by_bit(tiny, tmp_path):
    state, p = random_table(tiny, seed=5)
    policy, covered = policy_of_table(tiny, state, p), np.isin(np.arange(tiny.n_states), state)
    save_policy(tmp_path / "strategy.h5", tiny, policy, covered)
    file = load(tmp_path / "strategy.h5")
    assert_same_bits(file.strategy()[0], state.astype(np.int32))
    assert_same_bits(file.policy(tiny), policy)
    assert_same_bits(file.covered(tiny), covered)
    assert file.attributes["name"] == "strategy"


def test_empty_strategy_survives(tiny, tmp_path):
    save_policy(tmp_path / "nothing.h5", tiny, random_policy(tiny, 1), np.zeros(tiny.n_states, dtype=bool))
    assert np.array_equal(load(tmp_path / "nothing.h5").policy(tiny), uniform_policy(tiny))


def test_agent_plays_greedily_or_by_softmax(game, originals):
    file = load(originals["agent"])
    ptr, q = game.mdp.state_ptr, game.solution.q
    for temperature, weight in ((None, greedy(ptr, q)), (0.5, softmax(ptr, q, 0.5))):
        assert_same_bits(file.policy(game.space, temperature), weight)
    assert file.covered(game.space).all()


@settings(max_examples=4)
@given(house_rules(), st.integers(0, 99))
def test_games_of_house_rules_survive(tmp_path_factory, rules, seed):
    folder = tmp_path_factory.mktemp("house")
    space = StateSpace(rules)
    mdp = build(space, random_policy(space, seed))
    solution = solve(mdp, sweeps=3)
    save(folder / "agent.h5", space, mdp, solution)
    file = load(folder / "agent.h5")
    assert file.rules == rules
    assert_same_bits(file.code, space.code)
    assert_same_arrays(mdp, file.mdp())
    assert_same_solution(solution, file.solution())


def test_one_row_is_read_without_the_others(game, originals):
    file = load(originals["tensor"])
    for row in (0, 17, game.mdp.n_rows - 1):
        columns, p = file.row(row)
        part = slice(game.mdp.indptr[row], game.mdp.indptr[row + 1])
        assert_same_bits(columns, game.mdp.indices[part])
        assert_same_bits(p, game.mdp.data[part])


def test_agent_without_transitions_keeps_its_values(game, tmp_path):
    with new_file(tmp_path / "agent.h5", "agent", game.space.rules, enemy='{"kind": "random"}') as out:
        write_states(out, game.space)
        write_rows(out, game.mdp)
        write_solution(out, game.solution)
    file = load(tmp_path / "agent.h5")
    assert not file.has_transitions
    assert_same_solution(game.solution, file.solution())
    with pytest.raises(ReadError, match="/transitions/indptr: missing"):
        file.mdp()
    with pytest.raises(ReadError, match="/transitions/indptr: missing"):
        file.row(0)


def test_labels_that_a_file_cannot_hold_are_refused(game, tmp_path):
    wide = replace(game.mdp, action=game.mdp.action.astype(np.uint16))
    save(tmp_path / "x.h5", game.space, wide)
    assert load(tmp_path / "x.h5").mdp().action.dtype == np.uint8
    for number in (300, 12):
        wide.action[0] = number
        with pytest.raises(ValueError, match=r"^save: the process has actions other than 10, 11, 20, .*, 90$"):
            save(tmp_path / "y.h5", game.space, wide)
    assert not (tmp_path / "y.h5").exists()


def test_a_process_of_other_states_is_not_saved(game, tiny, tmp_path):
    other = StateSpace(tiny.rules._replace(hp=1))
    with pytest.raises(ValueError, match=r"^save: the process has 558 states, the space \d+$"):
        save(tmp_path / "x.h5", other, game.mdp)
    assert list(tmp_path.iterdir()) == []


def test_values_of_a_checkpoint_come_back_on_the_scale_of_the_objective(game, tmp_path):
    path, rules, shares = tmp_path / "x.h5", game.space.rules, np.linspace(0, 1, game.space.n_states)
    for objective, discount, win, loss in (
        ("win-probability", None, 1, 0),
        ("discounted", 0.5, 2, -2),
        ("discounted", None, 20, -20),
    ):
        v = loss + shares * (win - loss)
        save_values(path, rules, v, objective, discount)
        assert np.array_equal(start_values(path, rules, objective, discount), v)
        assert start_values(path, rules, "win-probability") == pytest.approx(shares, abs=1e-12)
