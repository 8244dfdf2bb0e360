import numpy as np
import pytest
from policies import mixed

from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.mdp.policy import PolicyError, first_best
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import lift
from punish_fast.runtime.files import ReadError
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def memory():
    return StateSpace(RULES, "memory")


def test_a_policy_of_a_finer_model_is_rounded_within_the_bound(tmp_path, memory):
    policy, enemy = mixed(memory, 1), mixed(memory, 2)
    save_policy(tmp_path / "a.h5", memory, policy)
    file = load(tmp_path / "a.h5")
    assert (file.kind, file.information) == ("strategy", "memory")
    found = file.policy(memory)
    off = np.add.reduceat(np.abs(found - policy), memory.state_ptr[:-1])
    n_actions = np.diff(memory.state_ptr)
    assert (off <= n_actions / 65535).all()
    assert off.max() > 0
    graph = Graph(memory)
    one, other = head_to_head(graph, policy, enemy), head_to_head(graph, found, enemy)
    assert abs(one.win_probability - other.win_probability) <= 11 * one.length / 65535


def test_what_is_not_reached_plays_alike_and_is_compressed(tmp_path, memory):
    policy = mixed(memory, 1)
    reached = np.arange(memory.n_states) % 3 > 0
    save_policy(tmp_path / "a.h5", memory, policy, covered=reached)
    found = load(tmp_path / "a.h5").policy(memory)
    lengths = np.diff(memory.state_ptr)
    kept = np.repeat(reached, lengths)
    assert np.array_equal(found[~kept], np.repeat(1 / lengths, lengths)[~kept])
    assert found[kept] == pytest.approx(policy[kept], abs=1e-3)
    # What is compressed may be larger than its file.
    rules = PRESETS["tabletop"]._replace(copies=(2, 2, 2, 2, 2), hand_size=3, reveal_size=2, hp=1, breaths=2)
    space = StateSpace(rules, "memory")
    policy, path = mixed(space, 1), tmp_path / "a.h5"
    save_policy(path, space, policy, covered=np.arange(space.n_states) == 0)
    assert path.stat().st_size < 2 * len(space.action)
    found = load(path).policy(space)
    lengths = np.diff(space.state_ptr)
    assert found[lengths[0] :] == pytest.approx(np.repeat(1 / lengths, lengths)[lengths[0] :], abs=1e-15)
    assert found[: lengths[0]] == pytest.approx(policy[: lengths[0]], abs=1e-3)


def test_policies_of_other_models_are_lifted_or_refused(tmp_path, memory):
    path = tmp_path / "a.h5"
    save_policy(path, memory, mixed(memory, 1))
    with pytest.raises(ReadError, match=r"a\.h5: information model memory; it must be view here"):
        load(path).policy(StateSpace(RULES))
    space = StateSpace(RULES)
    policy = mixed(space, 3)
    save_policy(tmp_path / "a.h5", space, policy)
    assert np.array_equal(load(tmp_path / "a.h5").policy(memory), lift(memory, space, policy))


def test_what_is_no_policy_is_not_written(tmp_path, memory):
    policy = mixed(memory, 1)
    for wrong, message in (
        (policy[:3], r"policy: float64 \(3,\); it must be"),
        (2 * policy, "policy: the probabilities of a state do not add up to 1"),
        (policy - 0.1, "policy: a probability is below 0 or not a number"),
    ):
        with pytest.raises(PolicyError, match=message):
            save_policy(tmp_path / "a.h5", memory, wrong)
    assert not list(tmp_path.iterdir())


def test_a_response_is_kept_with_the_strategy(tmp_path, memory):
    for space in (StateSpace(RULES), memory):
        policy = mixed(space, 1)
        response = np.zeros(len(policy))
        response[first_best(space.state_ptr, mixed(space, 2))] = 1.0
        save_policy(tmp_path / "a.h5", space, policy, response=response)
        assert np.array_equal(load(tmp_path / "a.h5").response(space), response)
    # It is of no use under another model.
    assert load(tmp_path / "a.h5").response(StateSpace(RULES)) is None
    save_policy(tmp_path / "b.h5", memory, policy)
    assert load(tmp_path / "b.h5").response(memory) is None


def test_a_response_with_actions_that_are_not_there_is_refused(tmp_path, memory, monkeypatch):
    wrong = np.full(memory.n_states, 11) + memory.state_ptr[:-1]
    monkeypatch.setattr("punish_fast.store.policies.first_best", lambda *_: wrong)
    save_policy(tmp_path / "a.h5", memory, mixed(memory, 1), response=mixed(memory, 1))
    with pytest.raises(ReadError, match="/response/choice: an action is not legal in its state"):
        load(tmp_path / "a.h5").response(memory)
