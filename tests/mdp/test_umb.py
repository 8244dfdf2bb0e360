"""Any process in the Unified Markov Binary format: read again, and by the library of the format."""

import json
import tarfile

import numpy as np
import pytest
from hypothesis import given
from processes import compacted, random_processes

from punish_fast.mdp.arrays.names import Names
from punish_fast.mdp.conversion.umb import export_umb
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import MDP, from_rows
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime.errors import ArgumentError
from punish_fast.store.formats.umb_import import import_umb

pytestmark = pytest.mark.kernels

MACHINE = from_rows(
    [[(3.0, {0: 0.75, 1: 0.25})], [(1.0, {1: 0.5, 3: 0.5}), (-1.0, {0: 1.0}), (0.0, {2: 1.0})]],
    terminals=[0.5, 0.0],
    terminal_value=[0.0, -4.0],
    names=Names(states=["good", "worn", "sold", "broken"], actions=["run", "repair", "sell"]),
)


@given(random_processes())
def test_a_process_is_read_again(tmp_path_factory, sample):
    states, _, terminals = sample
    path, mdp = tmp_path_factory.getbasetemp() / "x.umb", from_rows(states, terminals=terminals)
    for given_ in (mdp, compacted(mdp)):
        export_umb(path, given_)
        read = import_umb(path)
        n, rows = mdp.n_states, mdp.n_rows
        assert read.mdp.n_states == mdp.n_columns
        assert np.array_equal(read.mdp.to_scipy()[:rows].toarray(), mdp.to_scipy().toarray())
        assert read.mdp.indices[mdp.nnz :].tolist() == list(range(n, mdp.n_columns))
        assert read.rewards["reward"].tolist() == [*mdp.reward, *terminals]
        assert [read.mdp.names.actions[k] for k in read.mdp.action[:rows]] == list(map(str, mdp.action))
        assert (read.initial.tolist(), list(read.labels)) == ([0], ["init"])


@pytest.mark.parametrize("discount", [0.5, 0.9])
def test_terminals_keep_rewards_and_values(tmp_path, discount):
    export_umb(tmp_path / "x.umb", MACHINE)
    read = import_umb(tmp_path / "x.umb")
    found = read.solve("max R", discount)
    expected = [*solve(MACHINE, discount).v, 0.5 / (1 - discount), -4.0, 0.0]
    assert found.v == pytest.approx(expected, abs=1e-9)
    assert read.mdp.names.actions == ("run", "repair", "sell")


def test_labels_and_rewards_are_named(tmp_path):
    worn, ended = np.array([False, True]), np.array([False, False, True, True])
    labels = {"init": worn, "worn": worn, "it is over": ended}
    rewards = {"hours": [8, 8, 2, 0], "cost (EUR)": np.array([0.0, 0.0, 2.5, 0.0])}
    export_umb(tmp_path / "x.umb", MACHINE, labels, rewards)
    read = import_umb(tmp_path / "x.umb")
    assert read.initial.tolist() == [1]
    assert {name: np.flatnonzero(mask).tolist() for name, mask in read.labels.items()} == {
        "init": [1],
        "worn": [1],
        "it is over": [2, 3],
    }
    assert {name: paid.tolist() for name, paid in read.rewards.items()} == {
        "hours": [8, 8, 2, 0, 0, 0, 0],
        "cost (EUR)": [0, 0, 2.5, 0, 0, 0, 0],
    }
    library = pytest.importorskip("umbi.umb")
    found = library.read(tmp_path / "x.umb", strict=True)
    found.validate()
    assert list(found.state_is_initial) == [False, True, False, False, False]
    assert [found.choice_action_to_string[k] for k in found.choice_to_choice_action[:4]] == [
        "run",
        "run",
        "repair",
        "sell",
    ]
    assert found.branch_to_target[-3:] == [2, 4, 4]
    with tarfile.open(tmp_path / "x.umb") as archive:
        index = json.load(archive.extractfile("index.json"))
    assert index["annotations"]["aps"]["1-"]["alias"] == "it is over"
    # Exported again, the imported process is the same.
    export_umb(tmp_path / "y.umb", read.mdp, read.labels, read.rewards)
    again = import_umb(tmp_path / "y.umb")
    assert {name: mask.tolist() for name, mask in again.labels.items()} == {
        name: mask.tolist() for name, mask in read.labels.items()
    }


def test_storm_finds_the_same_values(tmp_path):
    stormpy = pytest.importorskip("stormpy")
    export_umb(tmp_path / "x.umb", MACHINE, {"init": np.array([False, True]), "worn": np.array([False, True])})
    model = stormpy.build_model_from_umb(str(tmp_path / "x.umb"))
    assert (model.nr_states, list(model.initial_states), model.labeling.get_labels()) == (5, [1], {"init", "worn"})
    formula = stormpy.parse_properties('R{"reward"}max=? [Cdiscount=0.5]')[0]
    values = np.array(stormpy.model_checking(model, formula).get_value_vector(), dtype=float)
    assert values == pytest.approx([*solve(MACHINE, 0.5).v, 1.0, -4.0, 0.0], abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "rewards", "message"),
    [
        (
            {"a": np.array([True])},
            None,
            r"^labels: 'a': bool \(1,\) is not allowed; it must be a list of names, such as \['good'\], or bool \(2,",
        ),
        ({"a": np.array([1, 0])}, None, r"^labels: 'a': array\(\[1, 0\]\) is not allowed; it must be a list of names"),
        ({"init": np.zeros(2, dtype=bool)}, None, r"^labels: init marks no state; at least one must be initial$"),
        (None, {"a": [1.0]}, r"^rewards: 'a': must be 4 finite numbers$"),
        (None, {"a": [1.0, 2.0, np.nan, 0.0]}, r"^rewards: 'a': must be 4 finite numbers"),
        (None, {"a": np.ma.masked_equal([1.0, 2.0, 0.0, 0.0], 0.0)}, r"^rewards: 'a': has masked entries"),
    ],
)
def test_wrong_labels_and_rewards_are_refused(tmp_path, labels, rewards, message):
    with pytest.raises((ArgumentError, SolveError), match=message):
        export_umb(tmp_path / "x.umb", MACHINE, labels, rewards)
    assert not list(tmp_path.iterdir())


def test_labels_of_actions_need_not_be_consecutive(tmp_path):
    mdp = MDP.from_dense(np.ones((300, 1, 1)), np.where(np.arange(300) % 150 == 7, 1.0, -np.inf)[None])
    export_umb(tmp_path / "x.umb", mdp)
    read = import_umb(tmp_path / "x.umb")
    assert (read.mdp.names.actions, read.mdp.action.tolist()) == (("7", "157"), [0, 1])
