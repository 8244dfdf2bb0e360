"""Strategies that remember public states: training, and proven bounds on their exploitability."""

import gc
import pickle
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from houses import HIDING, TINY
from perfect_recall import PerfectRecall, PublicLaws
from policies import mixed, sixteenths

from punish_fast.duel.graph import GameGraph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.equilibrium import public_batches
from punish_fast.equilibrium.exploitation.belief_tree import Measures
from punish_fast.equilibrium.exploitation.bracket import BracketSearch, bracket
from punish_fast.equilibrium.exploitation.kept_hands import KeptHands
from punish_fast.equilibrium.public_batches import BatchLearner
from punish_fast.equilibrium.public_equilibrium import LAYOUT, PublicEquilibrium, likely_public_states
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime._jit import set_threads

# Three cards in hand and measures of two breaths, so players keep at least one card.
KEEPING = TINY._replace(copies=(1, 1, 1, 2, 2), hand_size=3, reveal_size=0, feints=0)


@cache
def memoryless(rules, information="memoryless"):
    """A graph, and a strategy that forgets everything between measures."""
    graph = GameGraph(StateSpace(rules, information))
    learner = Equilibrium(graph, share=0.9)
    for _ in range(80):
        learner.iterate()
    return graph, learner.average


def remembering(rules, n=1000, information="memoryless"):
    """A learner on a graph with all public states that games reach."""
    graph, base = memoryless(rules, information)
    public = likely_public_states(graph, base, n)
    return PublicEquilibrium(GameGraph(graph.space, public=public), base)


@pytest.mark.parametrize("rules", [HIDING, KEEPING], ids=["hiding", "keeping"])
def test_bounds_enclose_the_exact_value_of_policies_with_public_states(rules):
    graph = remembering(rules).graph
    laws = PublicLaws(rules)
    for seed in range(3 if rules is HIDING else 1):
        policies = [sixteenths(graph.space, 100 * seed + k) for k in range(len(graph.public))]
        policy = PublicPolicy(graph.public, policies)
        found = bracket(graph, policy, width=1e-3, max_iterations=6)
        low, high = PerfectRecall(graph.space, policy, laws).bounds(1 + (rules is HIDING))
        assert all(Fraction(lower) <= high and low <= Fraction(upper) for lower, upper in found.bounds)
        assert found.width <= 0.01


@pytest.mark.parametrize("n", [1, 3])
def test_a_search_of_policies_with_public_states_resumes_where_it_stopped(n):
    graph = remembering(KEEPING).graph
    policy = PublicPolicy(graph.public, [mixed(graph.space, k) for k in range(len(graph.public))])
    whole, first, second = (BracketSearch(graph, policy, is_resumed=is_resumed) for is_resumed in (False, False, True))
    assert (second.result.lower, second.result.upper) == (0, 1)
    # Stored bounds must not exceed 1, not even by rounding.
    second.resume(second.state_dict())
    whole.run(0.0, 4)
    first.run(0.0, n)
    second.resume(first.state_dict())
    second.run(0.0, 4 - n)
    assert second.result == whole.result


def test_tables_of_changed_states_have_the_bits_of_tables_of_all_states():
    graph = remembering(KEEPING).graph
    base, generator = mixed(graph.space, 0), np.random.default_rng(1)
    for index in range(1, len(graph.public)):
        policies = [base] * len(graph.public)
        part = np.repeat(generator.random(graph.space.n_states) < 0.1, np.diff(graph.space.state_ptr))
        policies[graph.public.mirror[index]] = np.where(part, mixed(graph.space, index), base)
        values = generator.random(graph.n_nodes)
        both = [Measures(graph, PublicPolicy(graph.public, policies), KeptHands(graph)) for _ in range(2)]
        both[0].show_hands(0, values)
        # The same policy and values after index 0, where the whole table is computed.
        both[1]._policy = PublicPolicy(graph.public, [policies[graph.public.mirror[index]]] * len(graph.public))
        found, expected = both[0].show_hands(index, values), both[1].show_hands(0, values)
        assert found.tobytes() == expected.tobytes()
        states = np.concatenate(both[0]._states(index))
        assert 0 < len(states) < len(graph.full.ptr) - 1


@pytest.mark.parametrize("information", ["memoryless", "memory"])
def test_remembering_public_states_halves_exploitability(information):
    graph, base = memoryless(KEEPING, information)
    forgetful = bracket(graph, base, width=1e-4)
    learner = remembering(KEEPING, information=information)
    same = bracket(learner.graph, learner.policy, width=1e-4)
    assert max(forgetful.lower, same.lower) <= min(forgetful.upper, same.upper)
    learner.learn_all(80)
    learned = bracket(learner.graph, learner.policy, width=1e-4)
    assert learned.upper >= 0.5
    assert learned.upper - 0.5 < (forgetful.lower - 0.5) / 2


def test_learning_has_the_same_bits_for_every_thread_count():
    found = []
    for threads in (1, 2):
        set_threads(threads)
        learner = remembering(KEEPING, 3)
        learner.learn_all(20)
        found.append([policy.tobytes() for policy in learner.policy])
    set_threads(2)
    assert found[0] == found[1]
    assert len(set(found[0])) == len(learner.graph.public)


def test_learning_frees_its_tables():
    learner = remembering(KEEPING, 3)
    gc.collect()
    gc.disable()
    try:
        learner.learn_all(20)
        assert not any(type(each).__name__ == "MeasureSeat" for each in gc.get_objects())
    finally:
        gc.enable()


def test_likely_public_states_are_the_most_visited():
    graph, base = memoryless(KEEPING)
    every, some = (likely_public_states(graph, base, n) for n in (1000, 4))
    assert np.array_equal(some.rows, every.rows[: len(some.rows)])
    assert len(likely_public_states(graph, base, 0)) == 1
    swapped = every.rows[:, [0, 1, 2, 3, 4, 6, 5]].tolist()
    assert sorted(swapped) == sorted(every.rows.tolist())


def test_without_public_states_only_the_first_strategy_is_learned():
    graph, base = memoryless(HIDING)
    learner = PublicEquilibrium(GameGraph(graph.space), base)
    assert learner.order == [0]
    learner.learn_all(40)
    assert bracket(learner.graph, learner.policy, width=1e-4).upper < 0.505


def test_invalid_settings_of_a_learner_are_refused():
    graph, base = memoryless(HIDING)
    for share in (0.0, 1.5):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            PublicEquilibrium(graph, base, share)
    with pytest.raises(PolicyError):
        PublicEquilibrium(graph, base[:-1])


def test_a_resumed_learner_has_the_same_bits():
    whole = remembering(KEEPING, 3)
    parts = remembering(KEEPING, 3)
    for done in (1, 2):
        whole.learn_all(6)
        for number, index in enumerate(parts.order):
            parts = PublicEquilibrium(parts.graph, memoryless(KEEPING)[1], state=parts.state_dict())
            assert [k for k in parts.order if parts.rounds[k] < done] == parts.order[number:]
            parts.learn(index, 6)
        assert set(parts.rounds) == {done}
    assert all(np.array_equal(one, other) for one, other in zip(whole.policy, parts.policy, strict=True))
    assert {name: (array.dtype.name, array.ndim) for name, array in parts.state_dict().items()} == LAYOUT


def test_an_error_while_a_strategy_is_evaluated_does_not_spoil_the_state(monkeypatch):
    learner = remembering(KEEPING, 3)
    first, second, *_ = learner.order
    learner.learn(first, 2)

    def fail(*_args):
        raise MemoryError

    monkeypatch.setattr(PublicEquilibrium, "_evaluate", fail)
    for index in (first, second, 0):
        with pytest.raises(MemoryError):
            learner.learn(index, 2)
        again = PublicEquilibrium(learner.graph, memoryless(KEEPING)[1], state=learner.state_dict())
        assert np.flatnonzero(again.rounds).tolist() == [first]


@pytest.mark.parametrize("name", sorted(LAYOUT))
def test_an_invalid_state_of_a_learner_is_refused(name):
    learner = remembering(KEEPING, 1)
    learner.learn_all(6)
    state = learner.state_dict()
    for fault in (state[name][..., :-1], -1 - state[name] if state[name].dtype.kind == "f" else ~state[name]):
        with pytest.raises(ValueError, match=r"^\w+: must"):
            PublicEquilibrium(learner.graph, memoryless(KEEPING)[1], state=state | {name: fault})


class Workers:
    """A cluster in this process, which finishes the tasks of a batch in any order."""

    def __init__(self, monkeypatch, n_workers, order=list, fails_after=1000):
        self._n_workers, self._order, self._fails_after = n_workers, order, fails_after
        self.sent = []
        monkeypatch.setattr(public_batches, "hand_out", self.hand_out)
        monkeypatch.setattr(public_batches, "submit", lambda _client, function, *task, **_: function(*task))
        monkeypatch.setattr(public_batches, "finished", self.finished)

    def nthreads(self):
        return dict.fromkeys(range(self._n_workers), 1)

    def hand_out(self, _client, values):
        values = pickle.loads(pickle.dumps(values))
        for array in (each for value in values for each in (value.values() if isinstance(value, dict) else [value])):
            array.flags.writeable = False  # like the arrays that Dask receives
        self.sent += values
        return values

    def finished(self, _client, tasks, submit, _on_loss):
        found = list(zip(tasks, submit(tasks), strict=True))
        for number, each in enumerate(self._order(found)):
            if number == self._fails_after:
                raise KeyboardInterrupt
            yield each


def learn_batches(workers, n_public, iterations, rounds=1):
    """A learner that uses workers, after some rounds."""
    learner = remembering(KEEPING, n_public)
    batches = BatchLearner(workers, learner.graph, memoryless(KEEPING)[1])
    left = learner.order * rounds
    while left:
        del left[: batches.learn_next(left, iterations)]
    return batches


def test_batches_of_one_public_state_have_the_bits_of_a_sequential_run(monkeypatch):
    sequential = remembering(KEEPING, 3)
    for _ in range(2):
        sequential.learn_all(6)
    batches = learn_batches(workers := Workers(monkeypatch, 1), 3, 6, rounds=2)
    assert digests(batches) == digests(sequential)
    # The strategy for the first measure is sent once in each round.
    assert sum(isinstance(value, np.ndarray) for value in workers.sent) == 2


def test_a_batch_does_not_depend_on_the_order_in_which_workers_finish(monkeypatch):
    one, other = (learn_batches(Workers(monkeypatch, 3, order), 5, 6) for order in (list, lambda found: found[::-1]))
    assert digests(one) == digests(other)
    assert (one.rounds > 0).all()
    # All strategies of a batch are learned with the values before the batch.
    alone = remembering(KEEPING, 5)
    index = alone.order[2]
    alone.learn(index, 6)
    assert np.array_equal(one.state_dict(index)["part_units"], alone.state_dict(index)["part_units"])


def test_batches_are_about_as_good_as_a_sequential_run(monkeypatch):
    sequential = remembering(KEEPING)
    sequential.learn_all(80)
    uppers = [
        bracket(learner.graph, learner.policy, width=1e-4).upper
        for learner in (sequential, learn_batches(Workers(monkeypatch, 4), 1000, 80))
    ]
    assert uppers[1] < uppers[0] + 0.002


def test_finished_strategies_of_an_interrupted_batch_are_kept(monkeypatch):
    learner, base = remembering(KEEPING, 5), memoryless(KEEPING)[1]
    workers = Workers(monkeypatch, 3, order=lambda found: found[::-1], fails_after=2)
    batches = BatchLearner(workers, learner.graph, base)
    with pytest.raises(KeyboardInterrupt):
        batches.learn_next(batches.order, 6)
    assert [index for index in batches.order if batches.rounds[index]] == batches.order[1:3]
    again = PublicEquilibrium(learner.graph, base, state=batches.state_dict())
    assert digests(again) == digests(batches)


def digests(learner):
    """The bytes of the state of a learner."""
    return {name: array.tobytes() for name, array in learner.state_dict().items()}
