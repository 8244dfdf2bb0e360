"""The Unified Markov Binary format: read by hand after its specification, by its authors' library, and by Storm."""

from __future__ import annotations

import errno
import io
import itertools
import json
import tarfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from punish_fast import __version__
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve
from punish_fast.punish.codes import ACTIONS, FIELDS, action_name
from punish_fast.punish.rules import from_mapping
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.files import OutputError, WriteError
from punish_fast.store.formats import umb
from punish_fast.store.formats.umb import export_umb
from punish_fast.store.reader import load

BITS = {
    "state-is-initial": "state-is-initial.bin",
    "win": "annotations/aps/win/states/values.bin",
    "loss": "annotations/aps/loss/states/values.bin",
}
NAMES = [action_name(action).replace(" ", "_") for action in ACTIONS]


def members_of(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


@pytest.fixture
def path(tiny, tiny_mdp, tmp_path):
    export_umb(tmp_path / "x.umb", tiny, tiny_mdp, {"kind": "naive"})
    return tmp_path / "x.umb"


@pytest.fixture
def members(path):
    return members_of(path)


@pytest.fixture
def index(members):
    return json.loads(members["index.json"])


def array(members: dict[str, bytes], name: str, dtype: str) -> list[Any]:
    return np.frombuffer(members[name], dtype=dtype).tolist()


def test_the_index_counts_and_types(index, tiny, tiny_mdp):
    assert (index["format-version"], index["format-revision"]) == (1, 0)
    assert index["transition-system"] == {
        "time": "discrete",
        "#players": 1,
        "#states": tiny.n_states + 2,
        "#initial-states": tiny.n_openings,
        "#choices": tiny_mdp.n_rows + 2,
        "#choice-actions": 11,
        "#branches": tiny_mdp.n_entries + 2,
        "#branch-actions": 0,
        "#observations": 0,
        "branch-probability-type": {"type": "double", "size": 64},
    }
    assert set(index["annotations"]) == {"aps", "rewards"}
    # A proposition of this name would clash with the label that programs make of the initial states.
    assert set(index["annotations"]["aps"]) == {"win", "loss"}


def test_the_index_tells_where_the_file_comes_from(index, tiny):
    data = index["file-data"]
    assert (data["tool"], data["tool-version"]) == ("punish-fast", __version__)
    assert abs(data["creation-date"] - time.time()) < 3600
    assert data["parameters"]["enemy"] == {"kind": "naive"}
    assert data["parameters"]["rules-digest"] == tiny.rules.digest
    assert from_mapping(data["parameters"]["rules"]) == tiny.rules


def test_choices_are_named(members, tiny_mdp):
    ends = array(members, "actions/choices/string-mapping.bin", "<u8")
    names = [members["actions/choices/strings.bin"][a:b].decode() for a, b in itertools.pairwise(ends)]
    assert names == NAMES
    assert {"rush", "feint_with_rush", "rest"} < set(names)
    chosen = [names[k] for k in array(members, "actions/choices/values.bin", "<u4")]
    assert chosen == [NAMES[ACTIONS.index(action)] for action in tiny_mdp.action.tolist()] + ["rest", "rest"]


def test_every_file_is_of_the_format(members):
    assert set(members) == {
        "index.json",
        "state-to-choices.bin",
        "choice-to-branches.bin",
        "branch-to-target.bin",
        "branch-to-probability.bin",
        "actions/choices/values.bin",
        "actions/choices/string-mapping.bin",
        "actions/choices/strings.bin",
        "annotations/rewards/reward/choices/values.bin",
        "valuations/states/valuations.bin",
        *BITS.values(),
    }


def test_a_file_is_exported_like_what_was_saved(game, originals, tmp_path, monkeypatch):
    monkeypatch.setattr(umb.time, "time", lambda: 1.5)
    file = load(originals["agent"])
    export_umb(tmp_path / "file.umb", file, file.mdp(), file.enemy)
    export_umb(tmp_path / "memory.umb", game.space, game.mdp, file.enemy)
    assert (tmp_path / "file.umb").read_bytes() == (tmp_path / "memory.umb").read_bytes()


@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_pieces_make_no_difference(game, tmp_path, monkeypatch, piece):
    monkeypatch.setattr(umb.time, "time", lambda: 1.5)
    export_umb(tmp_path / "one.umb", game.space, game.mdp)
    monkeypatch.setattr(umb, "_PIECE", piece)
    export_umb(tmp_path / "other.umb", game.space, game.mdp)
    assert (tmp_path / "one.umb").read_bytes() == (tmp_path / "other.umb").read_bytes()


def test_a_stream_is_its_arrays_one_behind_the_other():
    arrays = [np.arange(5, dtype=np.int32), np.zeros(0, dtype=np.int64), np.array([7, 8])]
    stream = umb._Stream("<u8", *arrays)
    assert stream.size == 7 * 8
    assert np.frombuffer(io.BufferedReader(stream, 3).read(), dtype="<u8").tolist() == [0, 1, 2, 3, 4, 7, 8]


def test_a_failure_leaves_the_old_file(game, tmp_path, monkeypatch):
    def fail(archive, _member, _content):
        archive.fileobj.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.umb"
    path.write_bytes(b"old")
    monkeypatch.setattr(tarfile.TarFile, "addfile", fail)
    with pytest.raises(WriteError, match=r"x\.umb: cannot be written .*; nothing was changed"):
        export_umb(path, game.space, game.mdp)
    assert path.read_bytes() == b"old"
    assert [other.name for other in tmp_path.iterdir()] == ["x.umb"]


def test_a_folder_that_is_missing_is_named(game, tmp_path):
    with pytest.raises(OutputError, match="there is no folder"):
        export_umb(tmp_path / "no" / "x.umb", game.space, game.mdp)


def is_opening(space: StateSpace) -> list[bool]:
    states, full = [space.state(row) for row in range(space.n_states)], space.rules.hp
    return [state.breath == 1 and state.own_hp == state.enemy_hp == full for state in states]


def test_the_library_of_the_format_reads_all_of_it(path, tiny, tiny_mdp):
    library = pytest.importorskip("umbi.umb")
    read = library.read(path, strict=True)
    read.validate()
    assert read.state_to_choices[:-2] == tiny_mdp.state_ptr.tolist()
    assert read.choice_to_branches[:-2] == tiny_mdp.indptr.tolist()
    assert read.branch_to_target[:-2] == tiny_mdp.indices.tolist()
    assert read.branch_to_probability == [*tiny_mdp.data.tolist(), 1.0, 1.0]
    assert read.annotations["rewards"]["reward"]["choices"] == [*tiny_mdp.reward.tolist(), 1.0, -1.0]
    assert np.flatnonzero(read.annotations["aps"]["win"]["states"]).tolist() == [tiny.n_states]
    assert np.flatnonzero(read.annotations["aps"]["loss"]["states"]).tolist() == [tiny.n_states + 1]
    assert np.flatnonzero(read.state_is_initial).tolist() == np.flatnonzero(is_opening(tiny)).tolist()
    assert json.loads(members_of(path)["index.json"])["valuations"]["states"]["unique"]
    assert [read.choice_action_to_string[k] for k in read.choice_to_choice_action[-2:]] == ["rest", "rest"]
    assert [list(valuation) for valuation in read.valuations["states"]] == [[*FIELDS, "outcome"]] * (tiny.n_states + 2)
    for row in range(tiny.n_states):
        state = tiny.state(row)
        expected = [state.breath, *state.hand, *state[2:9], *state.discard, 0]
        assert list(read.valuations["states"][row].values()) == expected


def chances_to_win(mdp: MDP) -> np.ndarray:
    """The largest chance to ever win from every column."""
    solution = solve(mdp, tolerance=1e-9, objective="win-probability")
    assert solution.converged
    return np.append(solution.v, [1.0, 0.0])


def values_in_storm(stormpy: Any, model: Any, formula: str, precision: str = "1e-9") -> np.ndarray:
    environment = stormpy.environments.default(model)
    settings = environment.solver().min_max()
    settings.precision = stormpy.Rational(precision)
    result = stormpy.model_checking(model, stormpy.parse_properties(formula)[0], environment=environment)
    return np.array(result.get_value_vector())


def assert_storm_agrees(path: Path, space: StateSpace, mdp: MDP) -> None:
    """Storm finds what is in the file, the same chances to win, and the same discounted values."""
    stormpy = pytest.importorskip("stormpy")
    model = stormpy.build_model_from_umb(path)
    assert model.model_type.name == "MDP"
    counts = (model.nr_states, model.nr_choices, model.nr_transitions)
    assert counts == (mdp.n_columns, mdp.n_rows + 2, mdp.n_entries + 2)
    assert model.labeling.get_labels() == {"init", "win", "loss"}
    assert len(model.initial_states) == space.n_openings
    chances = values_in_storm(stormpy, model, 'Pmax=? [F "win"]')
    assert np.abs(chances - chances_to_win(mdp)).max() < 1e-6
    discounted = values_in_storm(stormpy, model, 'R{"reward"}max=? [Cdiscount=0.95]')
    terminal = mdp.terminal_reward / 0.05
    assert np.abs(discounted - np.append(solve(mdp, 0.95).v, terminal)).max() < 1e-6


def test_storm_finds_the_same_values(path, tiny, tiny_mdp):
    assert_storm_agrees(path, tiny, tiny_mdp)


@pytest.fixture
def large_path(tmp_path):
    """A path whose file does not stay on the disk."""
    yield tmp_path / "x.umb"
    (tmp_path / "x.umb").unlink()


@pytest.mark.slow
@pytest.mark.full
def test_storm_finds_the_same_values_of_the_whole_game(notebook, notebook_mdp, large_path):
    export_umb(large_path, notebook, notebook_mdp)
    assert_storm_agrees(large_path, notebook, notebook_mdp)


@pytest.mark.full
def test_the_whole_game_is_written_without_a_copy(notebook, notebook_mdp, large_path):
    tracemalloc.start()
    try:
        export_umb(large_path, notebook, notebook_mdp)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert large_path.stat().st_size > 300e6
    assert notebook_mdp.nbytes > 200e6
    assert peak < 80e6
