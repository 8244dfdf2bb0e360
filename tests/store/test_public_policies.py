"""Strategy files with strategies after public states."""

import h5py
import numpy as np
import pytest
from houses import HIDING
from policies import sixteenths

from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.duel.public_states import PolicyPart, PublicPolicy
from punish_fast.equilibrium.public_equilibrium import likely_public_states
from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.runtime.errors import ReadError
from punish_fast.store.checksum import seal
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load


@pytest.fixture(scope="module")
def graph():
    space = StateSpace(HIDING)
    plain = GameGraph(space)
    return GameGraph(space, public=likely_public_states(plain, uniform_policy(space), 4))


@pytest.fixture
def policy(graph):
    return PublicPolicy(graph.public, [sixteenths(graph.space, seed) for seed in range(len(graph.public))])


@pytest.fixture
def path(tmp_path, graph, policy):
    save_policy(tmp_path / "a.h5", graph.space, policy)
    return tmp_path / "a.h5"


def test_policies_are_rounded_to_bytes_and_read_one_by_one(path, graph, policy):
    found = load(path).public_policy(graph.space)
    assert np.array_equal(found.states.rows, graph.public.rows)
    assert np.array_equal(found[0], policy[0])
    n_actions = np.repeat(np.diff(graph.space.state_ptr), np.diff(graph.space.state_ptr))
    for index in range(1, len(graph.public)):
        assert (np.abs(found[index] - policy[index]) <= n_actions / 255).all()
        assert np.array_equal(found[index], found[index])
    save_policy(path, graph.space, found)
    again = load(path).public_policy(graph.space)
    assert all(np.array_equal(one, other) for one, other in zip(found, again, strict=True))
    path.unlink()
    assert len(list(found)) == len(graph.public)
    one, other = (head_to_head(graph, each, "random").win_probability for each in (policy, found))
    assert one == pytest.approx(other, abs=0.01)


def test_other_readers_play_the_first_policy_and_say_so(path, graph, policy):
    file = load(path)
    with pytest.warns(UserWarning, match=r"a\.h5: the strategies after \d public states are not used here"):
        assert np.array_equal(file.policy(graph.space), policy[0])
    assert file.player_digest() is not None


def test_states_that_agree_with_the_first_policy_are_not_stored(path, graph, policy):
    states, begins = np.arange(graph.space.n_states), graph.space.state_ptr[:-1]
    part = PolicyPart.rounded(graph.space.state_ptr, policy[1], states[::2])
    merged = part.policy(graph.space.state_ptr, policy[0])
    save_policy(path, graph.space, PublicPolicy(graph.public, [policy[0]] + [merged] * len(graph.public.rows)))
    with h5py.File(path) as file:
        stored = np.maximum.reduceat(file["/public/p"][0], begins) > 0
    differ = np.maximum.reduceat(merged != policy[0], begins)
    assert np.array_equal(stored, differ)
    assert 0 < stored[::2].sum() < len(states) and not stored[1::2].any()
    assert np.array_equal(load(path).public_policy(graph.space)[1], merged)


def test_rounding_keeps_zeros_and_sums():
    state_ptr = np.array([0, 1, 4, 15])
    policy = np.concatenate([[1.0], [1 / 3] * 3, [0.0, 0.999, 0.001], np.zeros(8)])
    part = PolicyPart.rounded(state_ptr, policy, np.arange(3))
    assert part.units.tolist() == [255, 85, 85, 85, 0, 255, *[0] * 9]
    assert PolicyPart.of_table(state_ptr, part.table(state_ptr)).state.tolist() == [0, 1, 2]
    for n in (7, 11):
        even = PolicyPart.rounded(np.array([0, n]), np.full(n, 1 / n), np.arange(1))
        assert even.units.sum() == 255


def test_files_without_public_states_have_one_policy(tmp_path, graph, policy):
    save_policy(tmp_path / "b.h5", graph.space, policy[1])
    found = load(tmp_path / "b.h5").public_policy(graph.space)
    assert len(found.states) == 1
    assert np.array_equal(found[0], policy[1])


def test_invalid_policies_and_files_are_refused(tmp_path, path, graph, policy):
    with pytest.raises(PolicyError):
        save_policy(tmp_path / "c.h5", graph.space, PublicPolicy(graph.public, [policy[0] / 2, *policy][:-1]))
    assert not (tmp_path / "c.h5").exists()
    with pytest.raises(ReadError, match="the game has 'memory'"):
        load(path).public_policy(StateSpace(HIDING, "memory"))
    for fault, text in (("states", "/public/states: rows: a public state is repeated"), ("p", "/public/p: shape")):
        save_policy(path, graph.space, policy)
        with h5py.File(path, "r+") as file:
            table = file[f"/public/{fault}"]
            new = table[:, :-1] if fault == "p" else np.repeat(table[:1], len(table), axis=0)
            del file[f"/public/{fault}"]
            file.create_dataset(f"/public/{fault}", data=new)
        seal(path)
        with pytest.raises(ReadError, match=text):
            load(path).public_policy(graph.space)
