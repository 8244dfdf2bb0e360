"""Saved objects are loaded again, bit by bit, also from earlier versions; writing in threads and on full disks."""

import errno
import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from exact import random_policy, random_table
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.arrays.policy import greedy, softmax
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of, policy_of_table, uniform_policy
from punish_fast.punish.transitions.tensor import build, build_compact
from punish_fast.runtime.errors import ReadError, WriteError
from punish_fast.store.bundles import load_bundle
from punish_fast.store.policies import load_checkpoint, save_policy
from punish_fast.store.reader import load, require_states
from punish_fast.store.tensors import initial_values_of, save, save_values, write_rows, write_solution, write_states
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
    assert_same_arrays(one, other)
    fields = "objective discount method tolerance sweeps residual error_bound digest converged log"
    for name in fields.split():
        assert getattr(one, name) == getattr(other, name), name


def test_tensor_survives_bit_by_bit(tiny, tiny_mdp, tmp_path):
    save(tmp_path / "tensor.h5", tiny, tiny_mdp, enemy={"kind": "built-in", "name": "random"})
    file = load(tmp_path / "tensor.h5")
    assert file.kind == "tensor"
    assert file.rules == tiny.rules
    assert file.enemy == {"kind": "built-in", "name": "random"}
    assert_same_bits(file.code, tiny.code)
    assert_same_bits(file.layer_ptr, tiny.layer_ptr)
    assert_same_arrays(tiny_mdp, file.mdp())


def test_a_compact_tensor_is_saved_like_the_tensor(tiny, tmp_path):
    policy = random_policy(tiny, 3)
    save(tmp_path / "tensor.h5", tiny, build_compact(tiny, policy))
    assert_same_arrays(build(tiny, policy), load(tmp_path / "tensor.h5").mdp())


def test_agent_survives_bit_by_bit(tiny, tiny_mdp, tmp_path):
    for options in ({}, {"method": "jacobi", "sweeps": 5}, {"discount": 1.0}, {"objective": "reach-probability"}):
        solution = solve(tiny_mdp, **options)
        save(tmp_path / "agent.h5", tiny, tiny_mdp, solution, enemy={"kind": "agent", "file": "x.h5"})
        file = load(tmp_path / "agent.h5")
        assert (file.kind, file.enemy) == ("agent", {"kind": "agent", "file": "x.h5"})
        assert_same_solution(solution, file.solution())
        assert_same_arrays(tiny_mdp, file.mdp())
        assert solve(file.mdp(), **options).digest == solution.digest


def test_strategy_survives_bit_by_bit(tiny, tmp_path):
    state, p = random_table(tiny, seed=5)
    policy, support = policy_of_table(tiny, state, p), np.isin(np.arange(tiny.n_states), state)
    save_policy(tmp_path / "strategy.h5", tiny, policy, support, origin={"kind": "test"})
    file = load(tmp_path / "strategy.h5")
    assert_same_bits(file.strategy()[0], state.astype(np.int32))
    assert_same_bits(file.policy(tiny), policy)
    assert_same_bits(file.support(tiny), support)
    assert (file.kind, file.information, file.origin) == ("strategy", "memoryless", {"kind": "test"})
    assert file.attributes["name"] == "strategy"
    save_policy(tmp_path / "nothing.h5", tiny, random_policy(tiny, 1), np.zeros(tiny.n_states, dtype=bool))
    assert np.array_equal(load(tmp_path / "nothing.h5").policy(tiny), uniform_policy(tiny))


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


def test_one_row_and_policies_of_an_agent_are_read(game, originals):
    file = load(originals["tensor"])
    for row in (0, 17, game.mdp.n_rows - 1):
        columns, p = file.row(row)
        part = slice(game.mdp.indptr[row], game.mdp.indptr[row + 1])
        assert_same_bits(columns, game.mdp.indices[part])
        assert_same_bits(p, game.mdp.data[part])
    file = load(originals["agent"])
    ptr, q = game.mdp.state_ptr, game.solution.q
    for temperature, weight in ((None, greedy(ptr, q)), (0.5, softmax(ptr, q, 0.5))):
        assert_same_bits(file.policy(game.space, temperature), weight)
    assert file.support(game.space).all()


def test_the_proved_choice_is_stored_only_if_values_do_not_tell_it(game, originals, tmp_path):
    ptr = game.mdp.state_ptr
    proved = replace(game.solution, choice=ptr[1:] - 1)
    save(tmp_path / "agent.h5", game.space, game.mdp, proved)
    file = load(tmp_path / "agent.h5")
    assert_same_solution(proved, file.solution())
    for policy in (file.policy(game.space), policy_of(proved, game.space), file.solution().policy):
        assert np.flatnonzero(policy).tolist() == proved.choice.tolist()
    assert "/solution/choice" in file.shapes
    assert "/solution/choice" not in load(originals["agent"]).shapes
    save(tmp_path / "agent.h5", game.space, game.mdp, replace(game.solution, choice=ptr[1:]))
    with pytest.raises(ReadError, match="/solution/choice: an action is not legal in its state"):
        load(tmp_path / "agent.h5").solution()


def test_agent_without_transitions_keeps_its_values(game, tmp_path):
    with new_file(tmp_path / "agent.h5", "agent", game.space.rules, enemy='{"kind": "random"}') as out:
        write_states(out, game.space)
        write_rows(out, game.mdp.state_ptr, game.mdp.action, game.mdp.reward)
        write_solution(out, game.solution)
    file = load(tmp_path / "agent.h5")
    assert not file.has_transitions
    assert_same_solution(game.solution, file.solution())
    with pytest.raises(ReadError, match="/transitions/indptr: missing"):
        file.mdp()
    with pytest.raises(ReadError, match="/transitions/indptr: missing"):
        file.row(0)


def test_labels_and_states_that_a_file_cannot_hold_are_refused(game, tiny, tmp_path):
    wide = replace(game.mdp, action=game.mdp.action.astype(np.uint16))
    save(tmp_path / "x.h5", game.space, wide)
    assert load(tmp_path / "x.h5").mdp().action.dtype == np.uint8
    for number in (300, 12):
        wide.action[0] = number
        with pytest.raises(ValueError, match=r"^save: the process has actions other than 10, 11, 20, .*, 90$"):
            save(tmp_path / "y.h5", game.space, wide)
    with pytest.raises(ValueError, match=r"^save: the process has 558 states, but the space has \d+$"):
        save(tmp_path / "y.h5", StateSpace(tiny.rules._replace(hp=1)), game.mdp)
    assert not (tmp_path / "y.h5").exists()


def test_values_of_a_checkpoint_come_back_on_the_scale_of_the_objective(game, tmp_path):
    path, rules, shares = tmp_path / "x.h5", game.space.rules, np.linspace(0, 1, game.space.n_states)
    for objective, discount, win, loss in (
        ("reach-probability", 1.0, 1, 0),
        ("discounted", 0.5, 2, -2),
        ("discounted", 0.95, 20, -20),
    ):
        v = loss + shares * (win - loss)
        save_values(path, rules, v, objective, discount)
        assert np.array_equal(initial_values_of(path, rules, objective, discount), v)
        assert initial_values_of(path, rules, "reach-probability") == pytest.approx(shares, abs=1e-12)


GOLDEN = Path(__file__).parent / "golden"
RULES = Rules(copies=(1, 1, 0, 2, 1), hand_size=1, reveal_size=1, hp=1, breaths=1)


def test_models_and_policies_of_an_earlier_version_are_what_is_computed_today():
    space = StateSpace(RULES)
    mdp = build(space)
    solution = solve(mdp)
    for kind in ("tensor", "agent"):
        file = load(GOLDEN / f"{kind}.h5")
        assert (file.kind, file.rules, file.enemy["name"]) == (kind, RULES, "random")
        require_states(file, space)
        found = file.mdp()
        assert all(np.array_equal(getattr(found, name), getattr(mdp, name)) for name in ("indptr", "indices", "reward"))
        np.testing.assert_allclose(found.data, mdp.data, rtol=1e-15)
    np.testing.assert_allclose(load(GOLDEN / "agent.h5").solution().v, solution.v, rtol=1e-12)
    np.testing.assert_allclose(
        load(GOLDEN / "strategy.h5").policy(space), softmax(mdp.state_ptr, solution.q, 1.0), rtol=1e-9
    )
    fine = StateSpace(RULES, "memory")
    np.testing.assert_allclose(load(GOLDEN / "memory.h5").policy(fine), uniform_policy(fine), rtol=1e-15)
    v = initial_values_of(GOLDEN / "checkpoint.h5", RULES, "discounted")
    np.testing.assert_allclose(v, solution.v, rtol=1e-12)


def test_an_equilibrium_and_a_bundle_of_an_earlier_version_are_read():
    equilibrium = Equilibrium(GameGraph(StateSpace(RULES._replace(redeal="reshuffle"))))
    kept = load_checkpoint(load(GOLDEN / "equilibrium.h5"), equilibrium.state_dict())
    for _ in range(3):
        equilibrium.iterate()
    assert kept.iterations == 3
    for name, table in equilibrium.state_dict().items():
        np.testing.assert_allclose(kept.tables[name], table, rtol=1e-12, atol=1e-15)
    bundle = load_bundle(GOLDEN / "bundle.h5", {"numbers": {"a": ("float64", 1), "b": ("float16", 2)}})
    assert bundle.header == {"kind": "numbers", "seed": 1}
    assert (bundle.arrays["a"].tolist(), bundle.arrays["b"].tolist()) == ([0, 1, 2, 3], [[0, 1, 2], [3, 4, 5]])


def write(path, game):
    """Write an agent, the solution after all else was to go to the disk."""
    with new_file(path, "agent", game.space.rules, enemy='{"kind": "naive"}') as out:
        write_states(out, game.space)
        write_rows(out, game.mdp.state_ptr, game.mdp.action, game.mdp.reward)
        out.sync()
        write_solution(out, game.solution)


def test_what_goes_to_the_disk_early_is_in_the_file(game, tmp_path, monkeypatch):
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(threading.current_thread().name), fsync(file)))
    write(tmp_path / "x.h5", game)
    assert synced[0].startswith("sync")
    # And once more, when it is whole.
    assert len(synced) > 1
    file = load(tmp_path / "x.h5")
    assert np.array_equal(file.code, game.space.code)
    assert np.array_equal(file.solution().v, game.solution.v)
    with pytest.raises(ValueError, match="mine"), new_file(tmp_path / "x.h5", "tensor", game.space.rules):
        raise ValueError("mine")
    assert list(tmp_path.iterdir()) == [tmp_path / "x.h5"]
    assert np.array_equal(load(tmp_path / "x.h5").code, game.space.code)


def test_a_disk_that_fails_meanwhile_is_told_at_the_end_and_leaves_nothing(game, tmp_path, monkeypatch):
    fsync = os.fsync

    def fail_early(file):
        if threading.current_thread().name.startswith("sync"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(file)

    monkeypatch.setattr(os, "fsync", fail_early)
    with pytest.raises(WriteError, match=r"x\.h5: .*[Nn]o space left"):
        write(tmp_path / "x.h5", game)
    assert list(tmp_path.iterdir()) == []


def test_files_are_flushed_through_writable_descriptors(game, tmp_path, monkeypatch):
    """As Windows demands."""
    fcntl, fsync = pytest.importorskip("fcntl"), os.fsync

    def insist(file):
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        fsync(file)

    monkeypatch.setattr(os, "fsync", insist)
    write(tmp_path / "x.h5", game)
    assert load(tmp_path / "x.h5").solution().digest == game.solution.digest


@pytest.mark.parametrize("limit", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 2_000, 8_000))])
def test_a_file_too_large_leaves_the_old_one_and_a_sound_process(game, originals, tmp_path, limit):
    resource = pytest.importorskip("resource", reason="needs a limit of POSIX systems")
    path = tmp_path / "agent.h5"
    path.write_bytes(originals["agent"].read_bytes())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(WriteError) as error:
            save_policy(path, game.space, game.policy)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(error.value) == f"{path}: cannot be written (File too large); nothing was changed"
    assert path.read_bytes() == originals["agent"].read_bytes()
    assert list(tmp_path.iterdir()) == [path]
    save_policy(tmp_path / "other.h5", game.space, game.policy)
    assert np.array_equal(load(tmp_path / "other.h5").policy(game.space), game.policy)
