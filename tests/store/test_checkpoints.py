import json
import os
from pathlib import Path

import numpy as np
import pytest
from fuzz.damage import editing, set_attribute
from policies import mixed

from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium import regret_minimizers, restricted_game
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.model.results import ModelRows
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.folders import Place
from punish_fast.store import solution_cache
from punish_fast.store.policies import Checkpoint, load_checkpoint, save_checkpoint, save_policy
from punish_fast.store.reader import load
from punish_fast.store.solution_cache import cached_solution

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.mark.parametrize(("name", "share"), [("memoryless", 0.4), ("memory", 0.0)])
def test_what_goes_on_from_a_file_is_what_never_stopped(tmp_path, name, share, monkeypatch):
    # With responses, all iterations but the first two play an excerpt that leaves out a lot.
    monkeypatch.setattr(regret_minimizers, "_FULL_ITERATIONS", 2)
    limits = {"LEAST_STATE": 0.004, "LEAST_FULL": 0.001, "LEAST_PLAYED": 0.1, "MOST": 1.0}
    for limit, value in limits.items():
        monkeypatch.setattr(restricted_game, limit, value)
    graph = GameGraph(StateSpace(RULES, name))
    whole, first = Equilibrium(graph, share=share), Equilibrium(graph, share=share)
    for _ in range(5):
        whole.iterate()
    for _ in range(3):
        first.iterate()
    save_checkpoint(tmp_path / "run.h5", graph.space, Checkpoint(first.iterations, first.share, first.state_dict()))
    file = load(tmp_path / "run.h5")
    assert (file.kind, file.information, file.attributes["iterations"]) == ("equilibrium", name, 3)
    assert share == 0.0 or (first.state_dict()["marked_full"] != 1).any()
    second = Equilibrium(graph, share=share)
    kept = load_checkpoint(file, second.state_dict())
    assert (kept.iterations, kept.best_response_share) == (3, share)
    second.resume(kept.iterations, kept.tables)
    for _ in range(2):
        second.iterate()
    for key, table in whole.state_dict().items():
        assert table.tobytes() == second.state_dict()[key].tobytes()
    assert whole.average.tobytes() == second.average.tobytes()


@pytest.fixture(scope="module")
def space():
    return StateSpace(RULES)


@pytest.fixture(scope="module")
def tables(space):
    return Equilibrium(GameGraph(space), share=0.5).state_dict()


@pytest.fixture(scope="module")
def plain(space):
    return Equilibrium(GameGraph(space)).state_dict()


def refused(path, space, kept, tables, message):
    """Save ``kept``, and load it with the shapes of ``tables``."""
    save_checkpoint(path, space, Checkpoint(0, 0.5, kept))
    with pytest.raises(ReadError, match=message):
        load_checkpoint(load(path), tables)


def test_files_of_other_kinds_and_games_are_refused(tmp_path, space, tables, plain):
    save_policy(tmp_path / "a.h5", space, mixed(space, 1))
    with pytest.raises(ReadError, match="kind: 'strategy'; it must be 'equilibrium'"):
        load_checkpoint(load(tmp_path / "a.h5"), tables)
    path = tmp_path / "b.h5"
    refused(path, space, plain, plain | {"regret": np.zeros(3)}, "/equilibrium/regret: shape is")
    for name in ("logit", "variance", "values", "marked_rows"):
        kept = {key: table for key, table in tables.items() if key != name}
        refused(path, space, kept, tables, f"/equilibrium/{name}: missing")


def test_a_response_that_is_not_marked_is_refused(tmp_path, space, tables):
    marked = tables["marked_rows"].copy()
    marked[tables["response"][np.diff(space.state_ptr)[: len(tables["response"])] > 1][0]] = 0
    message = "/equilibrium/marked_rows: must mark the rows of the response"
    refused(tmp_path / "a.h5", space, tables | {"marked_rows": marked}, tables, message)


def test_numbers_that_cannot_be_are_refused(tmp_path, space, tables, plain):
    """Sums and squares of large numbers would not be finite."""
    for name, number, message in (
        ("response", -1, "a number is -1; it must be at least 0$"),
        ("response", 1_000_000, "must be rows of their states"),
        ("strategy_sum", -1.0, r"a number is -1.0; it must be from 0 to 1e\+100"),
        ("strategy_sum", 1e308, r"a number is 1e\+308"),
        ("regret", 1e308, r"a number is 1e\+308"),
        ("reach", -1.0, r"a number is -1.0; it must be from 0 to 1e\+100"),
        ("reach", 1e308, r"a number is 1e\+308"),
        ("logit", 900.0, r"a number is 900.0; it must be from -1e\+100 to 700"),
        ("values", 1.5, "a number is 1.5; it must be from -1e-09 to 1"),
        ("nodes", np.nan, "a number is not finite"),
        ("response_nodes", -0.5, "a number is -0.5; it must be from -1e-09 to 1"),
        ("variance", 0.0, "a number is 0.0; it must be from 4.94"),
        ("marked_rows", 4, "a number is 4; it must be from 0 to 3$"),
        ("marked_full", 200, "a number is 200; it must be from 0 to 3$"),
    ):
        of = tables if name in tables else plain
        table = of[name].copy()
        table[3] = number
        refused(tmp_path / "a.h5", space, of | {name: table}, of, f"/equilibrium/{name}: {message}")


def test_attributes_out_of_range_and_of_earlier_versions_are_refused(tmp_path, space, tables):
    path = tmp_path / "a.h5"
    for name, value in (("iterations", -1), ("best_response_share", 5.0), ("best_response_share", np.nan)):
        save_checkpoint(path, space, Checkpoint(0, 0.5, tables))
        set_attribute(path, name, value)
        with pytest.raises(ReadError, match=f"{name}: .* is not allowed"):
            load(path)
    save_checkpoint(path, space, Checkpoint(0, 0.5, tables))
    with editing(path) as file:
        file.attrs["answers"] = file.attrs.pop("best_response_share")
    with pytest.raises(ReadError, match=r"a\.h5: best_response_share: missing$"):
        load(path)


@pytest.fixture
def ask(tiny, tiny_mdp, tmp_path, monkeypatch):
    """Ask the cache for a solution; return it and True if it had to be computed."""
    (tmp_path / "solutions").mkdir()
    monkeypatch.setattr(solution_cache, "place", lambda: Place(tmp_path / "solutions", "a test"))
    monkeypatch.setattr(solution_cache, "_FEW_STATES", 0)

    def asked(policy=None, settings="wins"):
        calls = []

        def compute():
            calls.append(1)
            return solve(tiny_mdp, objective="reach-probability")

        return cached_solution(ModelRows(tiny.state_ptr, tiny.action), policy, settings, compute), bool(calls)

    return asked


def test_a_solution_is_computed_once_for_each_enemy_and_setting(ask, tiny):
    for arguments in ((), (uniform_policy(tiny),), (None, "discount 1")):
        (first, computed), (second, again) = ask(*arguments), ask(*arguments)
        assert (computed, again) == (True, False)
        for name, value in vars(first).items():
            if name not in ("log", "rows"):
                assert np.array_equal(getattr(second, name), value), name
        assert np.array_equal(first.rows.action, second.rows.action)
    assert len(solution_cache.files()) == 3
    solution_cache.clear()
    assert ask()[1]


def test_damaged_files_are_replaced_and_the_oldest_are_removed(ask, monkeypatch):
    ask()
    [path] = solution_cache.files()
    content = path.read_bytes()
    for damaged in (content[:-100], content[:1000] + b"?" + content[1001:], b""):
        path.write_bytes(damaged)
        assert ask()[1]
        assert not ask()[1]
    os.utime(path, (1, 1))
    monkeypatch.setattr(solution_cache, "MOST_BYTES", 3 * len(content) // 2)
    ask(settings="other")
    assert path not in solution_cache.files()
    assert len(solution_cache.files()) == 1
    monkeypatch.setattr(solution_cache, "MOST_BYTES", 100)
    solution_cache.clear()
    ask()
    assert not solution_cache.files()


def _change(name, value):
    def change(file):
        file.attrs["header"] = json.dumps(json.loads(file.attrs["header"]) | {name: value})

    return change


def _fill(name, value, at=slice(None)):
    def change(file):
        file[f"/arrays/{name}"][at] = value

    return change


def _drop(file):
    header = json.loads(file.attrs["header"])
    file.attrs["header"] = json.dumps({name: value for name, value in header.items() if name != "residual"})


def _replace(name, value):
    def change(file):
        del file[f"/arrays/{name}"]
        file[f"/arrays/{name}"] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _drop,
        *(_change("error_bound", value) for value in ("no", None, -1.0, True, float("nan"))),
        *(_change("objective", value) for value in (7, "profit", None)),
        *(
            _change(name, value)
            for name, value in (("sweeps", 1.5), ("discount", 2.0), ("method", 3), ("tolerance", []))
        ),
        *(_fill("v", value) for value in (1e9, np.nan)),
        *(_fill("q", value) for value in (2.0, -np.inf, 1e200)),
        *(_fill("choice", value, 1) for value in (-1, 0, 10**12)),
        *(_replace(name, np.zeros(2)) for name in ("v", "q")),
        *(_replace("choice", value) for value in (np.zeros(3), np.zeros(0, np.int64))),
        lambda file: file.__delitem__("/arrays/q"),
        lambda file: file.attrs.__delitem__("header"),
        lambda file: file.attrs.modify("kind", "agent"),
    ],
)
def test_forged_solutions_are_ignored_and_replaced(ask, change):
    right, _ = ask()
    [path] = solution_cache.files()
    with editing(path) as file:
        change(file)
    for is_computed in (True, False):
        found, computed = ask()
        assert computed is is_computed
        assert np.array_equal(found.v, right.v)
        assert (found.objective, found.error_bound) == (right.objective, right.error_bound)


def test_a_link_in_the_cache_is_replaced_and_its_target_is_not(ask, tmp_path):
    ask()
    [path] = solution_cache.files()
    target = tmp_path / "target"
    for content in (path.read_bytes(), b"mine"):
        target.write_bytes(content)
        path.unlink()
        try:
            path.symlink_to(target)
        except OSError:
            pytest.skip("this user must not make links")
        assert ask()[1]
        assert (target.read_bytes(), path.is_symlink()) == (content, False)
        assert not ask()[1]


def test_a_cache_that_cannot_be_written_is_read(ask, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(path)

    ask()
    monkeypatch.setattr(Path, "touch", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert not ask()[1]
    solution_cache.clear()
    assert len(solution_cache.files()) == 1


def test_without_a_folder_solutions_are_computed(ask, tmp_path, monkeypatch):
    (tmp_path / "solutions").rmdir()
    (tmp_path / "solutions").write_text("a file")
    assert ask()[1]
    assert ask()[1]
    monkeypatch.setattr(solution_cache, "place", lambda: Place(None, "a test"))
    assert ask()[1]
    assert solution_cache.files() == []
