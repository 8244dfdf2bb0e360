"""Processes from arrays and tables of other libraries are those written as lists, to the bit."""

import math
from dataclasses import fields
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import random_processes
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array
from scipy.special import gammaln

from punish_fast.mdp.arrays.construction import narrowed
from punish_fast.mdp.arrays.row_sums import ROUNDING, ModelError
from punish_fast.mdp.model.mdp import MDP, from_rows, validate
from punish_fast.mdp.objectives.solver import solve

pytestmark = pytest.mark.kernels

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def assert_same(first: MDP, second: MDP) -> None:
    assert (first.names.states, first.names.actions) == (second.names.states, second.names.actions)
    for field in (each for each in fields(MDP) if each.name != "names"):
        one, other = getattr(first, field.name), getattr(second, field.name)
        assert (one is None) == (other is None), field.name
        if one is not None:
            assert np.asarray(one).dtype == np.asarray(other).dtype, field.name
            assert np.array_equal(one, other), field.name
    validate(first)


def flat(sample) -> MDP:
    """The process of a sample in one layer."""
    states, _, terminals = sample
    return from_rows(states, terminals=terminals)


@st.composite
def tables(draw):
    """Processes whose states all have the same number of rows, without terminals."""
    n_states, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    columns = st.integers(0, n_states - 1)

    def row():
        parts = draw(st.sampled_from([(1.0,), (0.5, 0.5), (0.25, 0.75), (0.125, 0.5, 0.375)]))
        successors: dict[int, float] = {}
        for p in parts:
            column = draw(columns)
            successors[column] = successors.get(column, 0.0) + p
        return draw(st.integers(-8, 8)) / 4, successors

    return [[row() for _ in range(n_actions)] for _ in range(n_states)]


def dense(states) -> np.ndarray:
    """The transitions of a table, ``[n_actions, n_states, n_states]``."""
    transitions = np.zeros((len(states[0]), len(states), len(states)))
    for state, rows in enumerate(states):
        for action, (_, successors) in enumerate(rows):
            for column, p in successors.items():
                transitions[action, state, column] = p
    return transitions


def rewards(states) -> np.ndarray:
    return np.array([[paid for paid, _ in rows] for rows in states])


# From SciPy


@given(random_processes(), st.sampled_from(FORMATS), st.sampled_from([np.int32, np.int64, np.uint16, float, list]))
def test_any_format_and_integer_type_gives_the_same_bits(sample, form, kind):
    mdp = flat(sample)
    state_ptr = mdp.state_ptr.tolist() if kind is list else mdp.state_ptr.astype(kind)
    matrix = mdp.to_scipy().asformat(form)
    assert_same(MDP.from_scipy(matrix, mdp.reward.tolist(), state_ptr, sample[2]), mdp)


@given(random_processes(), st.randoms(use_true_random=False))
def test_order_duplicates_and_zeros_are_mended_and_the_input_stays(sample, random):
    mdp = flat(sample)
    matrix = mdp.to_scipy().tocoo()
    row, column = np.tile(matrix.row, 3), np.tile(matrix.col, 3)
    # Halves of a probability at the same place, and zeros anywhere.
    data = np.concatenate([matrix.data / 2, matrix.data / 2, np.zeros(matrix.nnz)])
    column[2 * matrix.nnz :] = [random.randrange(mdp.n_columns) for _ in range(matrix.nnz)]
    order = random.sample(range(len(data)), len(data))
    pieces = coo_array((data[order], (row[order], column[order])), shape=matrix.shape)
    sorted_rows = np.argsort(pieces.row, kind="stable")
    indptr = np.searchsorted(pieces.row[sorted_rows], np.arange(mdp.n_rows + 1))
    untidy = csr_array((pieces.data[sorted_rows], pieces.col[sorted_rows], indptr), shape=matrix.shape)
    before = untidy.data.copy(), untidy.indices.copy(), untidy.indptr.copy()
    for given_matrix in (pieces, untidy, csc_array(pieces)):
        assert_same(MDP.from_scipy(given_matrix, mdp.reward, mdp.state_ptr, sample[2]), mdp)
    after = untidy.data, untidy.indices, untidy.indptr
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_what_needs_no_mending_is_shared():
    mdp = from_rows([[(0.0, {0: 0.5, 1: 0.5})], [(1.0, {0: 1.0})]])
    again = MDP.from_scipy(mdp.to_scipy(), mdp.reward, mdp.state_ptr)
    assert np.shares_memory(again.data, mdp.data)
    assert np.shares_memory(again.indices, mdp.indices)


@pytest.mark.parametrize("n_rows", [256, 257])
def test_a_state_may_have_more_than_256_actions(n_rows):
    mdp = from_rows([[(float(k), {1: 1.0}) for k in range(n_rows)], [(0.0, {0: 1.0})]])
    assert mdp.action.dtype == (np.uint8 if n_rows <= 256 else np.uint16)
    assert mdp.action.tolist() == [*range(n_rows), 0]
    assert_same(MDP.from_scipy(mdp.to_scipy(), mdp.reward, mdp.state_ptr), mdp)
    assert solve(mdp, 0.5).choice.tolist() == [n_rows - 1, n_rows]


def test_labels_have_the_narrowest_type_that_holds_them():
    assert [narrowed(np.array([high])).dtype for high in (255, 256, 65536)] == [np.uint8, np.uint16, np.uint32]
    for wrong in (-1, 1 << 32):
        with pytest.raises(ModelError, match=rf"^action: {wrong} is not allowed; labels are from 0 to 4,294,967,295$"):
            narrowed(np.array([0, wrong]))


MATRIX = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.25, 0.75]])


def refused(match: str, transitions=None, reward=(0.0, 0.0, 0.0), state_ptr=(0, 2, 3), terminal_reward=(1.0,)) -> None:
    transitions = csr_array(MATRIX) if transitions is None else transitions
    with pytest.raises(ModelError, match=match) as error:
        MDP.from_scipy(transitions, reward, state_ptr, terminal_reward)
    assert "\n" not in str(error.value)


def test_faults_of_arrays_are_named():
    matrix = MATRIX.copy()
    for value in (-0.25, 1.5, np.nan):
        matrix[2, 1] = value
        refused(rf"^transitions: row 2 \(of state 1\) has {value} in column 1; it must be a prob", csr_array(matrix))
    matrix = MATRIX.copy()
    matrix[1, 0] = 1 - 2e-12
    told = r"^transitions: the probabilities of row 1 \(of state 0\) add up to "
    ending = r" below 1 \(limit: 1e-12\); the option normalize divides them by their sum$"
    refused(rf"{told}0\.999999999998, 2e-12{ending}", csr_array(matrix))
    matrix[1] = 0
    refused(rf"{told}0\.0, 1{ending}", csr_array(matrix))
    wrong = csr_array(MATRIX)
    wrong.indices[0] = 7
    refused(r"^transitions: the arrays of the matrix do not fit together", wrong)
    refused(r"^reward: has the length 2; it must be 3", reward=[0.0, 1.0])
    refused(r"^reward: row 1 \(of state 0\) has nan; it must be a finite number$", reward=[0.0, np.nan, 1.0])
    refused(r"^reward: must be an array of real numbers$", reward=["a", "b", "c"])
    refused(r"^reward: has the shape \(3, 1\)", reward=np.zeros((3, 1)))
    refused(r"^transitions: has 3 columns; it must have 4: 2 states and 2 terminals$", terminal_reward=[1.0, 2.0])
    refused(r"^terminal_reward: terminal 0 has inf", terminal_reward=[np.inf])
    refused(r"^state_ptr: must begin with 0 and end with 3$", state_ptr=[0, 2])
    refused(r"^state_ptr: there are no states", state_ptr=np.zeros(0, dtype=int))
    refused(r"^state_ptr: must ascend, but entry 2 is 3 after 3$", state_ptr=[0, 3, 3])
    refused(r"^state_ptr: entry 1 is 1\.5; it must be a whole number$", state_ptr=[0, 1.5, 3])


ENTRIES = ([1.5, -0.5, 1.0], ([0, 0, 1], [0, 0, 1]))


@pytest.mark.parametrize("normalize", [False, True])
def test_entries_are_checked_before_equal_columns_are_added(normalize):
    parts = (np.array(ENTRIES[0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    blocks = bsr_array((parts[0].reshape(3, 1, 1), *parts[1:]), shape=(2, 2))
    match = r"^transitions: row [01] \(of state [01]\) has (1\.5|-0\.5) in column [01]; it must be a (prob|number)"
    for matrix in (coo_array(ENTRIES), csr_array(parts, shape=(2, 2)), csc_array(parts, shape=(2, 2)), blocks):
        with pytest.raises(ModelError, match=match):
            MDP.from_scipy(matrix, [1, 0], [0, 1, 2], normalize=normalize)


# Sums that are not quite 1


@st.composite
def loose_rows(draw):
    """Columns and probabilities of rows that sum to 1 within 1e-12, with small and equal entries."""
    tiny = st.sampled_from([0.0, -0.0, 5e-324, 1e-310, 2.0**-60, 1e-13])
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        weights = draw(st.lists(st.floats(1e-3, 1), min_size=1, max_size=6))
        factor = 1 + draw(st.floats(-9e-13, 6e-13))
        p = [weight / math.fsum(weights) * factor for weight in weights] + draw(st.lists(tiny, max_size=3))
        columns = draw(st.lists(st.integers(0, 3), min_size=len(p), max_size=len(p)))
        rows.append(list(zip(columns, p, strict=True)))
    return rows


def built(rows, way: str, normalize: bool = False) -> MDP:
    """Rows as a process with one state, or of as many states as there are columns, one action for each row."""
    triples = [(row, column, p) for row, entries in enumerate(rows) for column, p in entries]
    row, column, p = (np.array(part) for part in zip(*triples, strict=True))
    if way == "scipy":
        matrix = coo_array((p, (row, column)), shape=(len(rows), 4))
        return MDP.from_scipy(matrix, np.zeros(len(rows)), [0, len(rows)], np.zeros(3), normalize=normalize)
    if way == "gymnasium":
        table = {s: {a: [(q, t, 1.0, False) for t, q in r] for a, r in enumerate(rows)} for s in range(4)}
        return MDP.from_gymnasium(environment(table), normalize=normalize)
    matrices = []
    for entries in rows:
        column, p = ([*part, *[rest] * 3] for part, rest in zip(zip(*entries, strict=True), (0, 1.0), strict=True))
        matrices.append(coo_array((p, ([0] * len(entries) + [1, 2, 3], column)), shape=(4, 4)))
    return MDP.from_dense(matrices, [np.ones((4, 4))] * len(rows), normalize=normalize)


@given(loose_rows(), st.sampled_from(["scipy", "gymnasium", "dense"]))
def test_probabilities_are_divided_by_their_exact_sum(rows, way):
    mdp = validate(built(rows, way))
    assert mdp.max_row_sum_error <= ROUNDING
    for k, row in enumerate(rows):
        exact: dict[int, Fraction] = {}
        for column, p in row:
            exact[column] = exact.get(column, Fraction(0)) + Fraction(p)
        total = sum(exact.values())
        stored = mdp.to_scipy().toarray()[k].tolist()
        for column, p in exact.items():
            # A few units of rounding, or of the smallest number.
            assert abs(Fraction(stored[column]) - p / total) <= 5 * max(p / total / 2**53, Fraction(5e-324))
        if way != "scipy":
            assert mdp.reward[k] == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("way", ["scipy", "gymnasium", "dense"])
def test_sums_of_1_up_to_rounding_are_left_alone(way):
    rows = [[(0, 0.1), (1, 0.2), (2, 0.7)], [(0, 1 / 3), (1, 1 / 3), (3, 1 / 3)]]
    stored = validate(built(rows, way)).to_scipy().toarray()[:2, :4]
    assert stored.tolist() == [[0.1, 0.2, 0.7, 0.0], [1 / 3, 1 / 3, 0.0, 1 / 3]]


@pytest.mark.parametrize("way", ["scipy", "gymnasium", "dense"])
def test_an_entry_above_1_by_rounding_is_1(way, p=1 + 2.0**-52):
    assert validate(built([[(2, p)]], way)).data[0] == 1.0
    assert validate(built([[(2, p / 2), (2, p / 2)]], way)).data[0] == 1.0
    assert from_rows([[(0.0, {0: p})]]).data.tolist() == [1.0]


@pytest.mark.parametrize("way", ["scipy", "gymnasium", "dense"])
def test_rows_of_other_sums_are_taken_on_purpose(way):
    third = float(np.float32(1 / 3))
    for p in (third, 5, 5e-324):
        row = [(column, p) for column in range(3)]
        with pytest.raises(ModelError, match=r"the option normalize divides them by their sum$|has 5\.0 in column 0"):
            built([row], way)
        mdp = validate(built([row], way, normalize=True))
        assert mdp.to_scipy().toarray()[0, :4].tolist() == [1 / 3, 1 / 3, 1 / 3, 0.0]
        assert way == "scipy" or mdp.reward[0] == 1.0
    assert built([[(0, 1e300), (1, 1e-300)]], way, normalize=True).indices[0] == 0
    for row, match in (
        ([(0, 0.0)], r"add up to 0\.0; the sum must be positive and finite$"),
        ([(0, np.inf)], r"inf"),
        ([(0, 2.0), (1, -1.0)], r"has -1\.0 in column 1; it must be a number from 0 to 1e\+300$"),
    ):
        with pytest.raises(ModelError, match=match):
            built([row], way, normalize=True)


def test_long_rows_are_added_with_compensation(n=50_000):
    p = np.full(n, 1 / n)
    assert abs(math.fsum(p) - 1) < 1e-14
    k = np.arange(n)
    binomial = np.exp(gammaln(n) - gammaln(k + 1) - gammaln(n - k) + k * np.log(0.3) + (n - 1 - k) * np.log(0.7))
    binomial /= math.fsum(binomial)
    mdp = MDP.from_scipy(csr_array(binomial[None]), [1.0], [0, 1], np.zeros(n - 1))
    assert np.array_equal(mdp.data, binomial[binomial > 0])
    for column in (k, np.zeros(n, int)):
        matrix = coo_array((p, (np.zeros(n, int), column)), shape=(1, n))
        mdp = MDP.from_scipy(matrix, [1.0], [0, 1], np.zeros(n - 1))
        assert np.array_equal(mdp.data, p if column[1] else [1.0])


# From dense arrays


@given(tables(), st.sampled_from(["array", "list", "sparse", "float32"]))
def test_a_dense_table_is_the_same_process_to_the_bit(states, form):
    transitions = dense(states)
    made = {
        "array": transitions,
        "list": transitions.tolist(),
        "sparse": [coo_array(part) for part in transitions],
        "float32": transitions.astype(np.float32),
    }[form]
    assert_same(MDP.from_dense(made, rewards(states)), from_rows(states))


@given(tables(), st.booleans())
def test_rewards_of_transitions_are_expected_ones(states, is_sparse):
    transitions = dense(states)
    paid = np.arange(transitions.size).reshape(transitions.shape) / 8
    expected = [
        [
            (sum(p * paid[action, state, column] for column, p in sorted(successors.items())), successors)
            for action, (_, successors) in enumerate(rows)
        ]
        for state, rows in enumerate(states)
    ]
    given_rewards = [csr_array(part) for part in paid] if is_sparse else paid
    assert_same(MDP.from_dense(transitions, given_rewards), from_rows(expected))


def test_minus_infinity_forbids_an_action():
    transitions = np.stack([np.eye(2), np.eye(2)[::-1]])
    transitions[1, 0] = 0
    mdp = MDP.from_dense(transitions, np.array([[1.0, -np.inf], [2.0, 3.0]]))
    assert mdp.state_ptr.tolist() == [0, 1, 3]
    assert mdp.action.tolist() == [0, 0, 1]
    assert mdp.reward.tolist() == [1.0, 2.0, 3.0]


def test_faults_of_dense_tables_are_named():
    transitions = np.stack([np.eye(2), np.eye(2)])
    for given_transitions, given_rewards, match in (
        (np.eye(2), [0.0, 0.0], r"^P: must be \[n_actions, n_states, n_states\]"),
        (csr_array(np.eye(2)), [0.0, 0.0], r"^P: must be \[n_actions"),
        (np.ones((2, 2, 3)), [0.0, 0.0], r"^P\[0\]: has the shape \(2, 3\)"),
        ([np.eye(2), np.eye(3)], [0.0, 0.0], r"^P\[1\]: has the shape \(3, 3\); it must have the shape \(2, 2\)$"),
        (transitions, [0.0] * 3, r"^R: has the shape \(3,\); it must be \(2,\), \(2, 2\) or \(2, 2, 2\)$"),
        (transitions, ["1", "2"], r"^R: must be an array of real numbers$"),
        (transitions, [10**400, 0], r"^R: must be an array of real numbers$"),
        (transitions, np.array([[-np.inf] * 2, [0.0] * 2]), r"^R: state 0 has only rewards of -inf"),
        (
            transitions,
            np.array([[0.0] * 2, [0.0, np.nan]]),
            r"^reward: row 3 \(of state 1\) has nan; it must",
        ),
        (
            transitions,
            np.array([[0.0] * 2, [np.inf, 0.0]]),
            r"^reward: row 2 \(of state 1\) has inf; it must",
        ),
        (transitions * 2, [0.0, 0.0], r"^transitions: action 0 of state 0 has 2\.0 in column 0"),
        (transitions / 2, [0.0, 0.0], r"^transitions: the probabilities of action 0 of state 0 add up to 0\.5"),
        (3, [0.0, 0.0], r"^P: must be \[n_actions"),
        ([[[1.0], [0.5, 0.5]]], [0.0, 0.0], r"^P\[0\]: must be an array of real numbers"),
    ):
        with pytest.raises(ModelError, match=match):
            MDP.from_dense(given_transitions, given_rewards)


def test_a_vector_of_rewards_for_each_action_is_understood_or_refused():
    """The example of pymdptoolbox, where all rewards are lists of vectors by action."""
    transitions = np.array([[[0.5, 0.5], [0.8, 0.2]], [[0.0, 1.0], [0.1, 0.9]]])
    by_action = [np.array([5.0, -1.0]), np.array([10.0, 2.0])]
    with pytest.raises(ModelError, match=r"^R: a list of 2 vectors of 2 .* ambiguous; .* np\.stack\(R, axis=1\)"):
        MDP.from_dense(transitions, by_action)
    found = solve(MDP.from_dense(transitions, np.stack(by_action, axis=1)), 0.9)
    assert found.v == pytest.approx([42.44186047, 36.04651163])
    # With another number of actions there is one reading.
    three = [*by_action, np.array([0.0, 0.0])]
    mdp = MDP.from_dense([*transitions, np.eye(2)], three)
    assert mdp.reward.tolist() == [5.0, 10.0, 0.0, -1.0, 2.0, 0.0]
    assert_same(MDP.from_dense([*transitions, np.eye(2)], csr_array(np.stack(three, axis=1))), mdp)
    with pytest.raises(ModelError, match=r"^R: has the shape \(3, 2\)"):
        MDP.from_dense([*transitions, np.eye(2)], np.stack(three))
    assert MDP.from_dense([[[1.0]]], [[2.0]]).reward.tolist() == [2.0]


# From Gymnasium


def environment(table) -> SimpleNamespace:
    return SimpleNamespace(unwrapped=SimpleNamespace(P=table))


@given(tables(), st.randoms(use_true_random=False))
def test_a_table_of_an_environment_is_the_same_process(states, random):
    """Outcomes in two halves; those that end the episode lead to the terminal."""
    n = len(states)
    over = {(s, a, t): random.random() < 0.3 for s in range(n) for a in range(len(states[0])) for t in range(n)}
    table = {
        s: {
            a: [(p / 2, t, paid, over[s, a, t]) for t, p in successors.items() for _ in range(2)]
            for a, (paid, successors) in enumerate(rows)
        }
        for s, rows in enumerate(states)
    }
    expected = []
    for s, rows in enumerate(states):
        expected.append([])
        for a, (paid, successors) in enumerate(rows):
            ends = sum(p for t, p in successors.items() if over[s, a, t])
            stays = {t: p for t, p in successors.items() if not over[s, a, t]}
            expected[-1].append((paid, stays | ({n: ends} if ends else {})))
    assert_same(MDP.from_gymnasium(environment(table)), from_rows(expected, terminals=[0.0]))


def test_tables_may_be_lists_and_actions_keep_their_numbers():
    mdp = MDP.from_gymnasium(environment([{7: [(1.0, 0, 2.0, False)], 3: [(1, np.int64(0), -1, True)]}]))
    assert mdp.action.tolist() == [3, 7]
    assert mdp.reward.tolist() == [-1.0, 2.0]
    assert mdp.indices.tolist() == [1, 0]


def test_faults_of_environments_are_named():
    for table, match in (
        ({0: {0: [(1.0, 4, 0.0, False)]}}, r"^env: action 0 of state 0 is .* \(unknown successor 4\)"),
        ({0: {0: [(1.0, 1, 0.0, False)]}}, r"^env: action 0 of state 0 is .* \(unknown successor 1\)"),
        ({0: {3: [(1.0, -1, 0.0, False)]}}, r"^env: action 3 of state 0 is .* \(unknown successor -1\)"),
        ({0: {0: [(1.0, 0.5, 0.0, False)]}}, r"^env: action 0 of state 0 is .* \(unknown successor 0\.5\)"),
        ({0: {0: [(1.0, 0, np.nan, False)]}}, r"^env: action 0 of state 0 is .* \(the reward is not finite\)"),
        ({0: {0: [(0.5, 0, 0.0, False)]}}, r"^transitions: the probabilities of action 0 of state 0 add up to 0\.5, "),
        ({0: {0: [(1.5, 0, 0.0, False), (-0.5, 0, 0.0, False)]}}, r"^transitions: action 0 of state 0 has 1\.5 in col"),
        ({0: {0: [("1", 0, 0.0, False)]}}, r"^env: action 0 of state 0 is .* \(must be real number, not str\)"),
        ({}, r"^state_ptr: there are no states"),
        ({0: {0: [(0.5, 0)]}}, r"^env: P\[0\] is not a table of actions and their outcomes"),
        ({0: {}}, r"^env: state 0 has no rows; at least one is needed$"),
        (None, r"^env: SimpleNamespace has no transition table P"),
    ):
        with pytest.raises(ModelError, match=match):
            MDP.from_gymnasium(environment(table))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_states"), [("FrozenLake-v1", 16), ("CliffWalking-v1", 48), ("Taxi-v4", 500)])
def test_environments_of_gymnasium_are_read(name, n_states):
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make(name)
    mdp = MDP.from_gymnasium(env)
    assert (mdp.n_states, mdp.n_rows) == (n_states, n_states * env.action_space.n)
    table = env.unwrapped.P
    v = np.append(solve(mdp, 0.9).v, 0.0)
    for s in range(n_states):
        worth = [
            sum(p * (r + 0.9 * (0.0 if over else v[t])) for p, t, r, over in table[s][a]) for a in sorted(table[s])
        ]
        assert max(worth) == pytest.approx(v[s], abs=1e-8)
