"""The notebook's files: nothing is lost on the way there and back, and nothing wrong is believed."""

import json

import numpy as np
import pytest
from exact import random_policy, random_table
from fuzz.damage import set_attribute
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.codes import decimals_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of_table, uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.errors import OutputError, ReadError
from punish_fast.store.formats.notebook_json import (
    NotebookStrategy,
    NotebookValues,
    content_of,
    export_notebook,
    import_notebook,
    read_notebook,
)
from punish_fast.store.reader import load
from punish_fast.store.tensors import save


def random_strategy(space, seed, support=0.7):
    state, p = random_table(space, seed, support)
    return NotebookStrategy(policy_of_table(space, state, p), np.isin(np.arange(space.n_states), state))


def test_every_state_and_action_has_its_value(game, written):
    content, _ = written
    space = game.space
    assert list(content)[:-2] == [str(decimal) for decimal in decimals_of(space).tolist()]
    assert content["-1"] == {"90": 20.0}
    assert content["-2"] == {"90": -20.0}
    for row, actions in zip(range(space.n_states), content.values(), strict=False):
        rows = slice(*space.state_ptr[row : row + 2])
        assert list(actions) == [str(action) for action in space.action[rows]]
        assert list(actions.values()) == game.solution.q[rows].tolist()


@given(
    st.lists(st.floats(-19.9, 19.9, allow_subnormal=True), min_size=1, max_size=20),
    st.floats(0, 20),
    st.floats(-20, -1e-300),
)
@settings(max_examples=10)
def test_all_numbers_come_back_to_the_bit(tmp_path_factory, numbers, win, loss):
    space = StateSpace(PRESETS["tiny"])
    path = tmp_path_factory.mktemp("numbers") / "q.json"
    q = np.resize(numbers, len(space.action))
    export_notebook(path, space, NotebookValues(q, (win, loss)))
    back = read_notebook(path, space)
    assert back.q.tobytes() == q.tobytes()
    assert back.terminals == (win, loss)


@settings(max_examples=8)
@given(house_rules(), st.integers(0, 99), st.floats(0, 1))
def test_strategies_of_house_rules_come_back_to_the_bit(tmp_path_factory, rules, seed, support):
    space = StateSpace(rules)
    strategy = random_strategy(space, seed, support)
    path = tmp_path_factory.mktemp("house") / "some.json"
    export_notebook(path, space, strategy)
    back = read_notebook(path, space)
    assert isinstance(back, NotebookStrategy)
    assert (back.policy.tobytes(), back.support.tobytes()) == (strategy.policy.tobytes(), strategy.support.tobytes())


def test_a_strategy_has_all_legal_actions_of_the_states_it_covers(game, tmp_path):
    strategy = random_strategy(game.space, 3)
    export_notebook(tmp_path / "s.json", game.space, strategy)
    content = json.loads((tmp_path / "s.json").read_text())
    states = np.flatnonzero(strategy.support)
    assert [int(key) for key in content] == decimals_of(game.space, states).tolist()
    for state, actions in zip(states.tolist(), content.values(), strict=True):
        rows = slice(*game.space.state_ptr[state : state + 2])
        assert [int(action) for action in actions] == game.space.action[rows].tolist()


def test_a_strategy_that_covers_nothing_is_an_empty_object(game, tmp_path):
    empty = NotebookStrategy(random_policy(game.space, 1), np.zeros(game.space.n_states, dtype=bool))
    export_notebook(tmp_path / "empty.json", game.space, empty)
    assert json.loads((tmp_path / "empty.json").read_text()) == {}
    back = read_notebook(tmp_path / "empty.json", game.space)
    assert np.array_equal(back.policy, uniform_policy(game.space))
    assert not back.support.any()


def round_trip(game, folder, solution, discount=0.95):
    """Save an agent, export its values, and import them; return the content and both files."""
    save(folder / "a.h5", game.space, game.mdp, solution)
    first = load(folder / "a.h5")
    content = content_of(first, game.space)
    export_notebook(folder / "a.json", game.space, content)
    imported = import_notebook(folder / "a.json", folder / "b.h5", game.space.rules, discount=discount)
    assert isinstance(imported, NotebookValues)
    return content, first, load(folder / "b.h5")


def test_agents_come_back_from_the_notebook(game, tmp_path):
    _, first, second = round_trip(game, tmp_path, game.solution)
    assert second.solution().digest == first.solution().digest
    assert second.solution().q.tobytes() == first.solution().q.tobytes()
    assert np.array_equal(second.solution().choice, first.solution().choice)
    assert np.array_equal(second.code, first.code)
    assert second.enemy == {"kind": "unknown", "imported_from": "a.json"}
    assert second.solution().error_bound == np.inf
    assert np.isnan(second.rows[2]).all()
    assert not second.has_transitions
    export_notebook(tmp_path / "b.json", game.space, content_of(second, game.space))
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()
    # It plays and starts others.
    assert solve(build(game.space, second.policy(game.space))).converged
    assert solve(game.mdp, initial_values=second.solution().v).sweeps <= game.solution.sweeps
    set_attribute(tmp_path / "b.h5", "terminal_values", [np.inf, -1.0])
    with pytest.raises(ReadError, match=r"terminal_values: inf is not allowed; it must be from -1e\+100 to 1e\+100"):
        load(tmp_path / "b.h5")


@pytest.mark.parametrize("sweeps", [1, 2, 17])
def test_terminals_of_published_sweeps_are_worth_what_they_were(game, tmp_path, sweeps):
    """After ``n`` sweeps that begin with the reward, a win is worth ``1 + g + ... + g^n``."""
    _, first, second = round_trip(game, tmp_path, solve(game.mdp, method="jacobi", sweeps=sweeps))
    win, loss = first.terminal_values
    assert win == pytest.approx((1 - 0.95 ** (sweeps + 1)) / 0.05, rel=1e-14)
    assert loss == -win
    assert second.terminal_values == (win, loss)


@pytest.mark.parametrize("method", ["layered", "jacobi"])
def test_undiscounted_agents_come_back(game, tmp_path, method):
    solution = solve(game.mdp, discount=1, method=method, tolerance=1e-6)
    content, _, second = round_trip(game, tmp_path, solution, discount=1)
    assert content.terminals == (1.0, -1.0)
    assert second.solution().q.tobytes() == content.q.tobytes()
    assert second.attributes["objective"] == "discounted"


def test_chances_to_win_become_values_that_the_notebook_knows(game, tmp_path):
    chances = solve(game.mdp, objective="reach-probability")
    content, first, second = round_trip(game, tmp_path, chances, discount=1)
    assert first.terminal_values == (1.0, 0.0)
    assert content.terminals == (1.0, -1.0)
    assert np.array_equal(content.q, 2 * chances.q - 1)
    back = second.solution()
    assert (back.objective, back.discount) == ("discounted", 1.0)
    assert np.abs((1 + back.q) / 2 - chances.q).max() <= 1e-15
    assert np.abs(back.v - solve(game.mdp, discount=1).v).max() <= 1e-9


def test_strategies_come_back_from_the_notebook(game, tmp_path):
    strategy = NotebookStrategy(game.policy, np.ones(game.space.n_states, dtype=bool))
    export_notebook(tmp_path / "soft.json", game.space, strategy)
    assert isinstance(import_notebook(tmp_path / "soft.json", tmp_path / "soft.h5", game.space.rules), NotebookStrategy)
    assert load(tmp_path / "soft.h5").origin == {"method": "imported", "file": "soft.json"}
    file = load(tmp_path / "soft.h5")
    assert file.policy(game.space) == pytest.approx(game.policy, rel=1e-15)
    assert file.support(game.space).all()


def test_values_of_another_game_are_refused(game, written, tmp_path):
    other = StateSpace(PRESETS["tiny"]._replace(copies=(0, 2, 1, 2, 2)))
    with pytest.raises(ReadError, match=r"x\.json: |q\.json: "):
        read_notebook(written[1], other)
    with pytest.raises(ValueError, match="shape of the values"):
        export_notebook(tmp_path / "x.json", game.space, NotebookValues(np.zeros(3), (1.0, -1.0)))
    with pytest.raises(PolicyError, match=r"^policy: float64 "):
        export_notebook(tmp_path / "x.json", other, NotebookStrategy(game.policy, np.ones(other.n_states, dtype=bool)))
    assert not (tmp_path / "x.json").exists()


def test_nothing_is_written_of_a_file_that_is_refused(game, tmp_path):
    (tmp_path / "x.json").write_text('{"1": {}}')
    (tmp_path / "x.h5").write_bytes(b"old")
    with pytest.raises(ReadError):
        import_notebook(tmp_path / "x.json", tmp_path / "x.h5", game.space.rules)
    assert (tmp_path / "x.h5").read_bytes() == b"old"
    with pytest.raises(OutputError):
        export_notebook(tmp_path / "no" / "x.json", game.space, random_strategy(game.space, 1))
