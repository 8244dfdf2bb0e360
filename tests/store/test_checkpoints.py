from __future__ import annotations

import numpy as np
import pytest
from fuzz.damage import editing, set_attribute
from policies import mixed

from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import regret_minimisers, restricted_game
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.files import ReadError
from punish_fast.store.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize("name", ["view", "memory"])
def test_what_goes_on_from_a_file_is_what_never_stopped(tmp_path, name, share, monkeypatch):
    # With responses, all iterations but the first two play an excerpt that leaves out a lot.
    monkeypatch.setattr(regret_minimisers, "_FULL_ITERATIONS", 2)
    limits = {"LEAST_STATE": 0.004, "LEAST_FULL": 0.001, "LEAST_PLAYED": 0.1, "MOST": 1.0}
    for limit, value in limits.items():
        monkeypatch.setattr(restricted_game, limit, value)
    graph = Graph(StateSpace(RULES, name))
    whole, first = Equilibrium(graph, share=share), Equilibrium(graph, share=share)
    for _ in range(5):
        whole.iterate()
    for _ in range(3):
        first.iterate()
    save_checkpoint(tmp_path / "run.h5", graph.space, Checkpoint(first.iterations, first.share, first.tables))
    file = load(tmp_path / "run.h5")
    assert (file.kind, file.information, file.attributes["iterations"]) == ("equilibrium", name, 3)
    assert share == 0.0 or (first.tables["marked_full"] != 1).any()
    second = Equilibrium(graph, share=share)
    kept = load_checkpoint(file, second.tables)
    assert (kept.iterations, kept.best_response_share) == (3, share)
    second.resume(kept.iterations, kept.tables)
    for _ in range(2):
        second.iterate()
    for key, table in whole.tables.items():
        assert table.tobytes() == second.tables[key].tobytes()
    assert whole.average.tobytes() == second.average.tobytes()


def test_files_of_other_kinds_and_games_are_refused(tmp_path):
    space = StateSpace(RULES)
    equilibrium = Equilibrium(Graph(space))
    tables = equilibrium.tables
    save_policy(tmp_path / "a.h5", space, mixed(space, 1))
    with pytest.raises(ReadError, match="kind: 'strategy', but an equilibrium is needed"):
        load_checkpoint(load(tmp_path / "a.h5"), tables)
    save_checkpoint(tmp_path / "b.h5", space, Checkpoint(0, 0.0, tables))
    with pytest.raises(ReadError, match="/equilibrium/regret: shape is"):
        load_checkpoint(load(tmp_path / "b.h5"), tables | {"regret": np.zeros(3)})
    save_checkpoint(tmp_path / "c.h5", space, Checkpoint(0, 0.0, tables | {"nodes": equilibrium.nodes * np.nan}))
    with pytest.raises(ReadError, match="/equilibrium/nodes: a number is not finite"):
        load_checkpoint(load(tmp_path / "c.h5"), tables)


@pytest.mark.parametrize("name", ["logit", "variance", "values", "marked_rows"])
def test_what_was_learnt_in_another_way_is_refused(tmp_path, name):
    space = StateSpace(RULES)
    tables = Equilibrium(Graph(space), share=0.5).tables
    kept = {key: table for key, table in tables.items() if key != name}
    save_checkpoint(tmp_path / "a.h5", space, Checkpoint(0, 0.5, kept))
    with pytest.raises(ReadError, match=f"/equilibrium/{name}: missing"):
        load_checkpoint(load(tmp_path / "a.h5"), tables)


def test_a_response_that_is_not_marked_is_refused(tmp_path):
    space = StateSpace(RULES)
    tables = Equilibrium(Graph(space), share=0.5).tables
    marked = tables["marked_rows"].copy()
    marked[tables["response"][np.diff(space.state_ptr)[: len(tables["response"])] > 1][0]] = 0
    save_checkpoint(tmp_path / "a.h5", space, Checkpoint(0, 0.5, tables | {"marked_rows": marked}))
    with pytest.raises(ReadError, match="/equilibrium/marked_rows: must mark the rows of the response"):
        load_checkpoint(load(tmp_path / "a.h5"), tables)


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("response", -1, "a number is -1, allowed are those from 0$"),
        ("response", 1_000_000, "must be rows of their states"),
        ("total", -1.0, r"a number is -1.0, allowed are those from 0 to 1e\+100"),
        ("dealt", -1.0, r"a number is -1.0, allowed are those from 0 to 1e\+100"),
        ("logit", 900.0, r"a number is 900.0, allowed are those from -1e\+100 to 700"),
        ("values", 1.5, "a number is 1.5, allowed are those from -1e-09 to 1"),
        ("response_nodes", -0.5, "a number is -0.5, allowed are those from -1e-09 to 1"),
        ("variance", 0.0, "a number is 0.0, allowed are those from 4.94"),
        ("variance", -1.0, "a number is -1.0, allowed are those from 4.94"),
        ("marked_rows", 4, "a number is 4, allowed are those from 0 to 3$"),
        ("marked_full", 200, "a number is 200, allowed are those from 0 to 3$"),
    ],
)
def test_a_number_that_cannot_be_is_refused(tmp_path, name, number, message):
    space = StateSpace(RULES)
    tables = Equilibrium(Graph(space), share=0.5).tables
    table = tables[name].copy()
    table[3] = number
    save_checkpoint(tmp_path / "a.h5", space, Checkpoint(0, 0.5, tables | {name: table}))
    with pytest.raises(ReadError, match=f"/equilibrium/{name}: {message}"):
        load_checkpoint(load(tmp_path / "a.h5"), tables)


@pytest.mark.parametrize(
    ("name", "value"), [("iterations", -1), ("best_response_share", 5.0), ("best_response_share", np.nan)]
)
def test_an_attribute_out_of_range_is_refused(tmp_path, name, value):
    space = StateSpace(RULES)
    save_checkpoint(tmp_path / "a.h5", space, Checkpoint(0, 0.5, Equilibrium(Graph(space), share=0.5).tables))
    set_attribute(tmp_path / "a.h5", name, value)
    with pytest.raises(ReadError, match=f"{name}: .* is not allowed"):
        load(tmp_path / "a.h5")


@pytest.mark.parametrize("name", ["total", "regret", "dealt"])
def test_numbers_too_large_to_go_on_from_are_refused(tmp_path, name):
    """Their sums and squares would not be finite, and replace what was."""
    space = StateSpace(RULES)
    tables = Equilibrium(Graph(space)).tables
    huge = tables | {name: np.full_like(tables[name], 1e308)}
    save_checkpoint(tmp_path / "a.h5", space, Checkpoint(1, 0.0, huge))
    with pytest.raises(ReadError, match=rf"/equilibrium/{name}: a number is 1e\+308"):
        load_checkpoint(load(tmp_path / "a.h5"), tables)


def test_checkpoints_of_earlier_versions_are_refused(tmp_path):
    space = StateSpace(RULES)
    save_checkpoint(tmp_path / "a.h5", space, Checkpoint(0, 0.0, Equilibrium(Graph(space)).tables))
    with editing(tmp_path / "a.h5") as file:
        file.attrs["answers"] = file.attrs.pop("best_response_share")
    with pytest.raises(ReadError, match=r"a\.h5: best_response_share: missing$"):
        load(tmp_path / "a.h5")
