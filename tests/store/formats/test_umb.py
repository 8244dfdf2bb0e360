"""The Unified Markov Binary format: read by hand after its specification, by its authors' library, and by Storm."""

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
from punish_fast.mdp.solver import solve
from punish_fast.punish.codes import ACTIONS, FIELDS, action_name
from punish_fast.punish.rules import from_mapping
from punish_fast.store.formats import umb
from punish_fast.store.formats.labelled_process import process_of
from punish_fast.store.formats.umb import export_umb
from store.formats.test_umb_storm import storm_values

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


def test_pieces_make_no_difference(game, tmp_path, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1.5)
    for piece in (umb._PIECE, 1, 1 << 20):
        monkeypatch.setattr(umb, "_PIECE", piece)
        export_umb(tmp_path / f"{piece}.umb", game.space, game.mdp)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


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
    assert list(read.state_is_initial) == process_of(tiny, tiny_mdp, None).is_initial.tolist()
    assert json.loads(members_of(path)["index.json"])["valuations"]["states"]["unique"]
    assert [read.choice_action_to_string[k] for k in read.choice_to_choice_action[-2:]] == ["rest", "rest"]
    assert [list(valuation) for valuation in read.valuations["states"]] == [[*FIELDS, "outcome"]] * (tiny.n_states + 2)
    assert [list(read.valuations["states"][k].values()) for k in (-2, -1)] == [[0] * 18 + [1], [0] * 18 + [2]]
    for row in range(tiny.n_states):
        state = tiny.state(row)
        expected = [state.breath, *state.hand, *state[2:9], *state.discard, 0]
        assert list(read.valuations["states"][row].values()) == expected


def test_storm_finds_the_same_values(path, tiny, tiny_mdp):
    stormpy = pytest.importorskip("stormpy")
    model = stormpy.build_model_from_umb(path)
    assert model.model_type.name == "MDP"
    counts = (model.nr_states, model.nr_choices, model.nr_transitions)
    assert counts == (tiny_mdp.n_columns, tiny_mdp.n_rows + 2, tiny_mdp.n_entries + 2)
    assert model.labeling.get_labels() == {"init", "win", "loss"}
    assert len(model.initial_states) == tiny.n_openings
    chances = solve(tiny_mdp, tolerance=1e-9, objective="win-probability")
    assert storm_values(model, 'Pmax=? [F "win"]')[:-2] == pytest.approx(chances.v, abs=1e-6)
    discounted = storm_values(model, 'R{"reward"}max=? [Cdiscount=0.95]')
    expected = np.append(solve(tiny_mdp, 0.95).v, tiny_mdp.terminal_reward / 0.05)
    assert discounted == pytest.approx(expected, abs=1e-6)


@pytest.mark.full
def test_the_whole_game_is_written_without_a_copy(notebook, notebook_mdp, tmp_path):
    path = tmp_path / "x.umb"
    tracemalloc.start()
    try:
        export_umb(path, notebook, notebook_mdp)
        _, peak = tracemalloc.get_traced_memory()
        assert path.stat().st_size > 300e6
    finally:
        tracemalloc.stop()
        path.unlink()
    assert notebook_mdp.nbytes > 200e6
    assert peak < 80e6
