"""Models written as functions, and names of states and actions."""

from fractions import Fraction

import numpy as np
import pytest

from punish_fast.mdp import MDP, ModelError, Names, SolveError, evaluate, from_rows, solve, validate

GOAL = 100


def gambler(coins):
    """Bets at a chance of 0.4 until the gambler has 0 or 100 coins."""
    if coins in (0, GOAL):
        return coins == GOAL
    bets = range(1, min(coins, GOAL - coins) + 1)
    return {bet: (0.0, {coins + bet: 0.4, coins - bet: 0.6}) for bet in bets}


def test_states_are_found_in_breadth_first_order_and_terminals_come_last():
    mdp = MDP.from_function(gambler, [50])
    assert (mdp.n_states, mdp.n_rows, mdp.nnz) == (99, 2500, 5000)
    assert mdp.names.states[:4] == [50, 51, 49, 52]
    assert (mdp.names.states[99:], mdp.terminal_value.tolist()) == ([100, 0], [1.0, 0.0])
    assert [mdp.names.action(label) for label in mdp.action[:3]] == [1, 2, 3]
    # Bold play is optimal: 0.4 from 50 coins, and 0.4 of 0.4 from 25.
    v = solve(mdp, discount=1).v
    assert [v[mdp.names.index[coins]] for coins in (50, 25, 75)] == pytest.approx([0.4, 0.16, 0.64], abs=1e-10)


def walk(successors, paid=1.0):
    """A model of one state with these successors, and a terminal ``"end"`` of value 5."""
    return lambda state: 5 if state == "end" else {"go": (paid, successors)}


@pytest.mark.parametrize(
    ("successors", "right"),
    [
        ({"end": 1}, 1 + 5 / 2),
        ([("end", Fraction(1, 2)), ("end", 0.5)], 1 + 5 / 2),
        ([("end", 0.25, 4), ("end", np.float64(0.75), 8.0)], 1 + 7 + 5 / 2),
        ((pair for pair in [("end", 1.0, -1)]), 1 - 1 + 5 / 2),
    ],
)
def test_successors_have_three_forms(successors, right):
    mdp = MDP.from_function(walk(successors), ["start"])
    assert solve(mdp, 0.5).v.tolist() == [right]


def test_counts_are_normalized_with_the_rewards_of_transitions_but_not_of_actions():
    mdp = MDP.from_function(walk([("start", 1, 8), ("end", 3, 4)]), ["start"], normalize=True)
    assert (mdp.data.tolist(), mdp.reward.tolist()) == ([0.25, 0.75], [1 + 0.25 * 8 + 0.75 * 4])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "model: returns None for state 's'; it must return a finite number if the episode ends there, or a"),
        (float("nan"), "model: returns nan for state 's'; it must return a finite number"),
        ({}, "model: returns {} for state 's'; it must return a finite number if the episode ends there, or a mapping"),
        ({"a": 3}, "model: action 'a' of state 's' is 3 (cannot unpack non-iterable int object); it must be a pair"),
        ({"a": (1, 7)}, "model: action 'a' of state 's' is (1, 7) ("),
        (
            {"a": (1, [("s", 1, 2), ("s", 1)])},
            "model: action 'a' of state 's' is (1, [('s', 1, 2), ('s', 1)])",
        ),
        ({"a": (1, [("s", 1, 1, 1)])}, "model: action 'a' of state 's' is (1, [('s', 1, 1, 1)]) ("),
        ({"a": (1, [])}, "model: action 'a' of state 's' is (1, []) (not enough values to unpack"),
        (
            {"a": (1, [([], 1.0)])},
            "model: action 'a' of state 's' is (1, [([], 1.0)]) (unhashable type: 'list')",
        ),
        (
            {"a": ("x", {"s": 1})},
            "model: action 'a' of state 's' is ('x', {'s': 1}) (must be real number",
        ),
        (
            {"a": (1, {"s": "p"})},
            "model: action 'a' of state 's' is (1, {'s': 'p'}) (must be real number",
        ),
        (
            {"a": (1, [("s", 1, "r")])},
            "model: action 'a' of state 's' is (1, [('s', 1, 'r')]) (must be real",
        ),
        ({"a": (np.inf, {"s": 1})}, "model: action 'a' of state 's' is (inf, {'s': 1}) (the reward is not finite); it"),
        (
            {"a": (1, [("s", 1, np.nan)])},
            "model: action 'a' of state 's' is (1, [('s', 1, nan)]) (the reward",
        ),
        (
            {"a": (1, {"s": 0.5})},
            "transitions: the probabilities of action 'a' of state 's' add up to 0.5, 0.5 below 1",
        ),
        ({"a": (1, {"s": -1})}, "transitions: action 'a' of state 's' has -1.0 for the successor 's'; it must be a"),
        (4, "initial: there are no states with actions; at least one initial state must have actions"),
    ],
)
def test_errors_name_the_state_and_the_action(returned, message):
    with pytest.raises(ModelError) as error:
        MDP.from_function(lambda _: returned, ["s"])
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_an_error_in_an_iterator_of_successors_is_the_cause():
    def outcomes():
        yield "s", 0.5
        raise ValueError("mine")

    with pytest.raises(ModelError, match=r"^model: action 'go' of state 's' is .* \(mine\); ") as error:
        MDP.from_function(walk(outcomes()), ["s"])
    assert str(error.value.__cause__) == "mine"


def test_an_error_in_the_model_keeps_its_type_and_names_the_state():
    with pytest.raises(ZeroDivisionError) as error:
        MDP.from_function(lambda n: {"go": (1 / (3 - n), {n + 1: 1})}, [0])
    assert error.value.__notes__ == ["The model raised this error for the state 3."]


def test_an_error_in_a_generator_of_successors_names_the_state():
    with pytest.raises(ZeroDivisionError) as error:
        MDP.from_function(lambda n: {"go": (0.0, ((n + 1, 1 / (3 - n)) for _ in "a"))}, [0], normalize=True)
    assert error.value.__notes__ == ["The model raised this error for the state 3."]
    with pytest.raises(ModelError) as refusal:
        MDP.from_function(lambda _: {"go": (0.0, 3)}, [0])
    assert not hasattr(refusal.value, "__notes__")


@pytest.mark.parametrize(
    ("initial", "options", "message"),
    [
        ("ab", {}, r"initial: 'ab' is not a list of hashable states \(a text\)"),
        (3, {}, r"initial: 3 is not a list of hashable states \('int' object is not iterable\)"),
        ([[1]], {}, r"initial: \[\[1\]\] is not a list of hashable states \(unhashable type: 'list'\)"),
        ([0], {"max_states": 0}, "max_states: 0 is not allowed; it must be a whole number from 1 to 2,147,483,647"),
        (
            [0],
            {"max_states": 1000},
            "max_states: the model leads to more than 1,000 states, the last of which is 1000;",
        ),
    ],
)
def test_initial_states_and_limits_are_checked(initial, options, message):
    with pytest.raises(ModelError, match=f"^{message}"):
        MDP.from_function(lambda state: {"up": (0, {state + 1: 1})}, initial, **options)


def test_progress_counts_described_and_found_states():
    seen = []
    MDP.from_function(lambda n: {"up": (0, {min(n + 1, 20_000): 1})}, [0], progress=lambda *n: seen.append(n))
    assert seen == [(1, 2), (2**14 + 1, 2**14 + 2), (20_001, 20_001)]


NAMES = Names(["good", "worn"], ["run", "stop"])


def test_names_of_other_constructors_appear_in_their_errors():
    with pytest.raises(ModelError, match=r"^transitions: the probabilities of action 'stop' of state 'worn' add up"):
        MDP.from_dense([np.eye(2), np.diag([1.0, 0.5])], np.zeros(2), names=NAMES)
    with pytest.raises(ModelError, match=r"^reward: action 'run' of state 'worn' has inf; it must be a"):
        MDP.from_dense([np.eye(2), np.eye(2)], np.array([[0, 0], [np.inf, 0]]), names=NAMES)
    with pytest.raises(ModelError, match=r"^R: state 'worn' has only rewards of -inf"):
        MDP.from_dense([np.eye(2)], np.array([[0], [-np.inf]]), names=NAMES)
    with pytest.raises(ModelError, match=r"^states: action 'run' of state 'worn' is .*unknown successor 7"):
        from_rows([[(0, {0: 1})], [(0, {7: 1})]], names=NAMES)
    table = type("Table", (), {"P": {0: {1: [(1.0, 0, 0.0, False)]}, 1: {0: [(0.5, 0, 0.0, False)]}}})
    with pytest.raises(ModelError, match=r"of action 'run' of state 'worn' add up to 0.5"):
        MDP.from_gymnasium(table, names=NAMES)
    with pytest.raises(ModelError, match=r"^data: action 'stop' of state 'good' has 1.5 for the successor 'good'"):
        validate(MDP(**broken()))


def broken():
    """Arrays of an MDP with a probability of 1.5, and its names."""
    pointers = {"state_ptr": np.array([0, 2]), "indptr": np.array([0, 1, 2]), "layer_ptr": np.array([0, 1])}
    rows = {"indices": np.zeros(2, np.int32), "data": np.array([1.0, 1.5]), "reward": np.zeros(2)}
    names = Names(NAMES.states[:1], NAMES.actions)
    return pointers | rows | {"terminal_reward": np.zeros(0), "action": np.array([0, 1], np.uint8), "names": names}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["good"], r"list is not allowed; it must be Names\(states=..., actions=...\)"),
        (Names(["good"]), "1 names of states; there must be 2 or 3"),
        (Names(actions=["run"]), "1 names of actions; there must be at least 2, one for each label"),
        (Names(["good", "good"]), "the name 'good' is given twice"),
        (Names([["good"], "worn"]), "unhashable type: 'list'"),
    ],
)
def test_names_must_fit_and_differ(names, message):
    with pytest.raises(ModelError, match=f"^names: {message}$"):
        from_rows([[(0, {1: 1})], [(0, {0: 1}), (1, {2: 1})]], terminals=[0], names=names)


def test_indices_stand_in_for_missing_names():
    names = Names(["good", "worn"])
    assert (names.state(2), names.action(3), names.index) == (2, 3, {"good": 0, "worn": 1})


def test_errors_of_solvers_name_states():
    mdp = MDP.from_function(lambda _: {"wait": (1.0, {"here": 1.0})}, ["here"])
    for method in ("auto", "jacobi"):
        with pytest.raises(SolveError, match=r"^discount: 1 .*\(the first is 'here'\) it can co"):
            solve(mdp, 1.0, method)
    with pytest.raises(SolveError, match=r"\(the first is 'here'\) it never ends under this policy"):
        evaluate(mdp, np.ones(1), 1.0)
