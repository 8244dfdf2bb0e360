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
from punish_fast.mdp.conversion import umb
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.codes import ACTIONS, FIELDS, action_name
from punish_fast.punish.rules import from_mapping
from punish_fast.store.formats.labeled_process import process_of
from punish_fast.store.formats.umb import export_punish_umb
from punish_fast.store.formats.umb_import import import_umb

NAMES = [action_name(action).replace(" ", "_") for action in ACTIONS]


def members_of(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


@pytest.fixture
def path(tiny, tiny_mdp, tmp_path):
    export_punish_umb(tmp_path / "x.umb", tiny, tiny_mdp, {"kind": "naive"})
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
        "#branches": tiny_mdp.nnz + 2,
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
        export_punish_umb(tmp_path / f"{piece}.umb", game.space, game.mdp)
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
    assert counts == (tiny_mdp.n_columns, tiny_mdp.n_rows + 2, tiny_mdp.nnz + 2)
    assert model.labeling.get_labels() == {"init", "win", "loss"}
    assert len(model.initial_states) == tiny.n_openings
    chances = solve(tiny_mdp, tolerance=1e-9, objective="reach-probability")
    assert storm_values(model, 'Pmax=? [F "win"]')[:-2] == pytest.approx(chances.v, abs=1e-6)
    discounted = storm_values(model, 'R{"reward"}max=? [Cdiscount=0.95]')
    expected = np.append(solve(tiny_mdp, 0.95).v, tiny_mdp.terminal_reward / 0.05)
    assert discounted == pytest.approx(expected, abs=1e-6)


@pytest.mark.full
def test_the_whole_game_is_written_without_a_copy(notebook, notebook_mdp, tmp_path):
    path = tmp_path / "x.umb"
    tracemalloc.start()
    try:
        export_punish_umb(path, notebook, notebook_mdp)
        _, peak = tracemalloc.get_traced_memory()
        assert path.stat().st_size > 300e6
    finally:
        tracemalloc.stop()
        path.unlink()
    assert notebook_mdp.nbytes > 200e6
    assert peak < 80e6


TOLERANCE = 1e-9

# A fair die of a coin that may be loaded once [Knuth and Yao 1976].
DIE = """
mdp
module die
    s : [0..7] init 0;
    d : [0..6] init 0;
    [flip] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
    [load] s=0 -> 0.3:(s'=1) + 0.7:(s'=2);
    [] s=1 -> 0.5:(s'=3) + 0.5:(s'=4);
    [] s=2 -> 0.5:(s'=5) + 0.5:(s'=6);
    [] s=3 -> 0.5:(s'=1) + 0.5:(s'=7)&(d'=1);
    [] s=4 -> 0.5:(s'=7)&(d'=2) + 0.5:(s'=7)&(d'=3);
    [] s=5 -> 0.5:(s'=7)&(d'=4) + 0.5:(s'=7)&(d'=5);
    [] s=6 -> 0.5:(s'=2) + 0.5:(s'=7)&(d'=6);
    [] s=7 -> 1:(s'=7);
endmodule
label "six" = d=6;
label "done" = s=7;
rewards "flips"
    s<7 : 1;
    [load] true : 0.25;
endrewards
"""
# A gambler bets up to three of his coins, and may wait, which is paid nothing.
GAMBLER = """
mdp
const int N = 12;
module gambler
    coins : [0..N] init 4;
    [bet1] coins>0 & coins<N -> 0.45:(coins'=coins+1) + 0.55:(coins'=coins-1);
    [bet3] coins>2 & coins<N-2 -> 0.4:(coins'=coins+3) + 0.6:(coins'=coins-3);
    [wait] coins>0 & coins<N -> true;
    [over] coins=0 | coins=N -> true;
endmodule
label "rich" = coins=N;
label "broke" = coins=0;
label "over" = coins=0 | coins=N;
rewards "bets"
    [bet1] true : 1;
    [bet3] true : 3;
endrewards
"""
PROGRAMS = {"die": DIE, "gambler": GAMBLER}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, tuple[Any, Path]]:
    """Each program as Storm has it, and the file that Storm makes of it."""
    stormpy = pytest.importorskip("stormpy")
    from stormpy.io import export_to_umb

    folder = tmp_path_factory.mktemp("storm")
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    options.set_build_all_reward_models()
    options.set_build_choice_labels(True)
    made = {}
    for name, text in PROGRAMS.items():
        (folder / f"{name}.prism").write_text(text)
        program = stormpy.parse_prism_program(str(folder / f"{name}.prism"))
        model = stormpy.build_model(program, options=options)
        export_to_umb(model, folder / f"{name}.umb")
        made[name] = model, folder / f"{name}.umb"
    return made


def storm_values(model: Any, formula: str) -> np.ndarray:
    import stormpy

    environment = stormpy.environments.sound()
    solver = environment.solver().min_max()
    solver.precision = stormpy.Rational(repr(TOLERANCE))
    solver.relative_termination_criterion = False
    result = stormpy.model_checking(model, stormpy.parse_properties(formula)[0], environment=environment)
    return np.array(result.get_value_vector(), dtype=float)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("die", 'Pmax=? [F "six"]'),
        ("die", 'Pmin=? [F "six"]'),
        ("gambler", 'Pmax=? [F "rich"]'),
        ("gambler", 'Pmin=? [F "broke"]'),
        ("gambler", 'Pmax=? [!"broke" U "rich"]'),
        ("die", 'R{"flips"}max=? [F "done"]'),
        ("die", 'R{"flips"}min=? [F "done"]'),
        ("die", 'R{"flips"}max=? [F "six"]'),
        ("gambler", 'R{"bets"}min=? [F "over"]'),
        ("gambler", 'R{"bets"}max=? [F "over"]'),
        ("gambler", 'R{"bets"}min=? [F "rich"]'),
    ],
)
def test_probabilities_and_rewards_are_those_of_storm(models, name, formula):
    model, path = models[name]
    found = import_umb(path).solve(formula, tolerance=TOLERANCE)
    theirs = storm_values(model, formula)
    assert np.array_equal(np.isinf(found.v), np.isinf(theirs))
    finite = np.isfinite(theirs)
    assert finite.any()
    assert found.error_bound <= TOLERANCE
    assert np.abs(found.v[finite] - theirs[finite]).max() <= found.error_bound + TOLERANCE


def test_names_and_discounted_rewards_are_those_of_the_program(models):
    model, path = models["gambler"]
    process = import_umb(path)
    assert set(process.labels) >= {"init", "rich", "broke", "over"}
    assert list(process.rewards) == ["bets"]
    assert set(process.mdp.names.actions) >= {"bet1", "bet3", "wait", "over"}
    assert process.initial.tolist() == list(model.initial_states)
    assert process.mdp.n_states == model.nr_states == 13
    assert process.mdp.n_rows == model.nr_choices
    theirs = storm_values(model, 'R{"bets"}max=? [Cdiscount=0.9]')
    found = process.solve('max R{"bets"}', 0.9, TOLERANCE)
    assert np.abs(found.v - theirs).max() <= found.error_bound + TOLERANCE
