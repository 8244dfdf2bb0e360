import numpy as np
import pytest
from exact import assert_rows_exact, random_policy, strategy_of
from houses import few, house_rules
from hypothesis import given, note
from hypothesis import strategies as st
from policies import mixed, uniform

from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.mdp.model.mdp import MDP, check_arrays, validate
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS, Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import TransitionPattern, build, build_compact
from punish_fast.runtime._jit import max_threads, set_threads, threads

# Against a policy, a probability is a float64 sum of positive terms.
POLICY_ERROR = 4e-15


def assert_lawful(space: StateSpace, mdp: MDP) -> None:
    """Check the laws of every tensor."""
    validate(mdp)
    assert mdp.is_cycle
    assert np.array_equal(mdp.terminal_reward, [1, -1])
    sums = np.add.reduceat(mdp.data, mdp.indptr[:-1])
    assert np.abs(sums - 1).max() <= 1e-12
    assert mdp.data.min() > 0
    assert mdp.data.max() <= 1
    row = np.repeat(np.arange(mdp.n_rows), np.diff(mdp.indptr))
    assert (np.diff(mdp.indices)[np.diff(row) == 0] > 0).all()
    assert_successors_in_next_layer(space, mdp, row)
    win = np.bincount(row, mdp.data * (mdp.indices == space.n_states), mdp.n_rows)
    loss = np.bincount(row, mdp.data * (mdp.indices == space.n_states + 1), mdp.n_rows)
    assert np.abs(mdp.reward - (win - loss)).max() <= 1e-15


def assert_successors_in_next_layer(space: StateSpace, mdp: MDP, row: np.ndarray) -> None:
    n_layers = len(space.layers)
    layer_of_column = np.concatenate([np.repeat(np.arange(n_layers), space.states_by_breath), [-1, -1]])
    layer_of_row = np.repeat(layer_of_column[:-2], np.diff(mdp.state_ptr))[row]
    successor = layer_of_column[mdp.indices]
    decided = successor == -1
    assert np.array_equal(successor[~decided], (layer_of_row[~decided] + 1) % n_layers)
    assert (layer_of_row[decided] < n_layers - 1).all(), "a redeal decides no game"


def test_rows_against_uniform_play_are_exact_up_to_one_rounding(tiny, tiny_mdp):
    assert_rows_exact(tiny, tiny_mdp, range(0, tiny.n_states, 2))


def test_rows_against_a_sparse_policy_are_exact(tiny):
    policy = random_policy(tiny, 1)
    assert_rows_exact(tiny, build(tiny, policy), range(0, tiny.n_states, 3), strategy_of(tiny, policy), POLICY_ERROR)


@few
@given(house_rules(), st.integers(0, 2**32 - 1))
def test_rows_of_random_house_rules_are_exact(rules, seed):
    space = StateSpace(rules)
    note(f"{space.n_states} states")
    sample = np.random.default_rng(seed).integers(space.n_states, size=12).tolist()
    mdp = build(space)
    assert_lawful(space, mdp)
    assert_rows_exact(space, mdp, sample)
    policy = random_policy(space, seed)
    mdp = build(space, policy)
    assert_lawful(space, mdp)
    assert_rows_exact(space, mdp, sample, strategy_of(space, policy), POLICY_ERROR)


@pytest.mark.parametrize("breaths", [1, 3])
def test_a_game_decided_in_one_breath_is_solved(breaths):
    # One rush, one guard that stops nothing, 1 HP each: the player with the rush wins in the first breath.
    rules = Rules((1, 1, 0, 0, 0), hand_size=1, reveal_size=0, hp=1, breaths=breaths, feints=0, guard_reduction=0)
    space = StateSpace(rules)
    assert space.states_by_breath == [2, *[0] * breaths]
    mdp = validate(build(space))
    expected = [20.0 if space.state(row).hand == (0, 1, 0, 0, 0) else -20.0 for row in range(2)]
    assert solve(mdp).v == pytest.approx(expected)
    assert solve(mdp, method="jacobi").v == pytest.approx(expected)


@pytest.mark.parametrize("seed", [None, 3])
def test_rows_of_a_layer_are_complete_when_it_is_reported(tiny, seed):
    policy = None if seed is None else random_policy(tiny, seed)
    told = []

    def on_layer(mdp, number):
        rows = slice(*mdp.state_ptr[mdp.layer_ptr[number : number + 2]])
        entries = slice(mdp.indptr[rows.start], mdp.indptr[rows.stop])
        told.append((number, mdp.indices[entries].tobytes(), mdp.data[entries].tobytes(), mdp.reward[rows].tobytes()))

    mdp = build(tiny, policy, on_layer=on_layer)
    assert [number for number, *_ in told] == [0, 1, 2]
    assert b"".join(indices for _, indices, _, _ in told) == mdp.indices.tobytes()
    assert b"".join(data for _, _, data, _ in told) == mdp.data.tobytes()
    assert b"".join(reward for _, _, _, reward in told) == mdp.reward.tobytes()


@pytest.fixture
def thread_counts():
    """One thread and all; restores the thread count."""
    before = threads()
    yield (1, max_threads())
    set_threads(before)


def game_bytes(rules, seed):
    space = StateSpace(rules)
    mdp = build(space, None if seed is None else random_policy(space, seed))
    layered, jacobi = solve(mdp), solve(mdp, method="jacobi", sweeps=10)
    arrays = (space.code, mdp.state_ptr, mdp.action, mdp.indptr, mdp.indices, mdp.data, mdp.reward)
    solutions = (layered.v, layered.q, layered.choice, jacobi.v, jacobi.q, np.array(jacobi.log.rmse))
    return [array.tobytes() for array in arrays + solutions]


@pytest.mark.parametrize("seed", [None, 4])
def test_results_have_the_same_bits_for_every_thread_count(thread_counts, seed):
    results = []
    for count in thread_counts:
        set_threads(count)
        results.append(game_bytes(PRESETS["tiny"], seed))
    assert all(result == results[0] for result in results)


@pytest.mark.full
def test_notebook_has_the_published_size(notebook_mdp):
    assert notebook_mdp.n_rows == 1_922_729
    assert notebook_mdp.nnz == 17_032_324
    assert notebook_mdp.longest_row == 1_088


@pytest.mark.full
@pytest.mark.parametrize("name", ["notebook", "tabletop"])
def test_whole_game_is_lawful_and_a_sample_of_its_rows_exact(request, name):
    space, mdp = request.getfixturevalue(name), request.getfixturevalue(f"{name}_mdp")
    assert_lawful(space, mdp)
    generator = np.random.default_rng(20)
    per_layer = [generator.integers(*space.layer_ptr[k : k + 2], size=40) for k in range(len(space.layers))]
    assert_rows_exact(space, mdp, np.concatenate(per_layer).tolist())


def same_process(one: MDP, other: MDP) -> bool:
    names = ("state_ptr", "indptr", "indices", "data", "reward", "terminal_reward", "layer_ptr", "action")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_a_new_transition_pattern_is_against_uniform_play(tiny, tiny_mdp):
    assert same_process(TransitionPattern(tiny).mdp.expanded(), tiny_mdp)


def test_the_process_of_another_enemy_equals_a_new_one(tiny):
    game = TransitionPattern(tiny)
    for enemy in (random_policy(tiny, 2), mixed(tiny, 1)):
        mdp = game.with_enemy(enemy)
        check_arrays(mdp)
        assert same_process(validate(mdp.expanded()), build(tiny, enemy))
        assert mdp.count_nonzero() == build(tiny, enemy).count_nonzero()


@pytest.mark.slow
@pytest.mark.compiled
@given(house_rules(), st.integers(0, 2**32 - 1))
def test_enemies_are_exchanged_under_random_house_rules(rules, seed):
    space = StateSpace(rules)
    game = TransitionPattern(space)
    for enemy in (random_policy(space, seed), uniform(space), mixed(space, seed)):
        assert same_process(game.with_enemy(enemy).expanded(), build(space, enemy))
        assert same_process(build_compact(space, enemy).expanded(), build(space, enemy))
    solution = solve(game.mdp)
    expected = solve(build(space, mixed(space, seed)))
    assert np.abs(solution.v - expected.v).max() <= solution.error_bound + expected.error_bound


def test_a_policy_of_other_states_is_refused(tiny):
    policy = uniform(StateSpace(PRESETS["tiny"]._replace(hp=1, redeal=tiny.rules.redeal)))
    for act in (TransitionPattern(tiny).with_enemy, lambda policy: build_compact(tiny, policy)):
        with pytest.raises(PolicyError, match=r"^policy: float64 .*; it must be float64"):
            act(policy)


def test_progress_is_reported_after_each_layer(tiny):
    told = []
    build_compact(tiny, progress=lambda *step: told.append(step))
    assert told == [("tensor", 1, 3), ("tensor", 2, 3), ("tensor", 3, 3)]


@pytest.mark.full
@pytest.mark.parametrize("name", ["notebook", "tabletop"])
def test_the_enemy_of_the_whole_game_is_exchanged(request, name):
    space = request.getfixturevalue(name)
    game = TransitionPattern(space)
    assert same_process(game.mdp.expanded(), request.getfixturevalue(f"{name}_mdp"))
    enemy = mixed(space, 3)
    assert same_process(game.with_enemy(enemy).expanded(), build(space, enemy))
