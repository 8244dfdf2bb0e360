"""Models in the Unified Markov Binary format: written by hand, by the library of its authors, and by this package."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from mdp.test_construction import assert_same, flat
from processes import random_processes

from punish_fast.mdp.model.mdp import from_rows
from punish_fast.runtime.errors import ReadError
from punish_fast.store.formats.umb import export_punish_umb
from punish_fast.store.formats.umb_import import import_umb

DOUBLE = {"type": "double", "size": 64}
BIT = {"type": "bool", "size": 1}


def bits(flags) -> bytes:
    flags = np.asarray(flags, dtype=bool)
    return np.packbits(np.pad(flags, (0, -len(flags) % 64)), bitorder="little").tobytes()


def numbers(values, dtype: str) -> bytes:
    return np.asarray(values, dtype=dtype).tobytes()


def small_model() -> tuple[dict[str, Any], dict[str, bytes]]:
    """Index and files: three states, of which the last has no choice; rewards of states, choices and branches."""
    index = {
        "format-version": 1,
        "format-revision": 0,
        "transition-system": {
            "time": "discrete",
            "#players": 1,
            "#states": 3,
            "#initial-states": 1,
            "#choices": 3,
            "#choice-actions": 2,
            "#branches": 5,
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": DOUBLE,
        },
        "annotations": {
            "aps": {"id1": {"alias": "the goal", "applies-to": ["states"], "type": BIT}},
            "rewards": {"cost": {"applies-to": ["states", "choices", "branches"], "type": DOUBLE}},
        },
    }
    files = {
        "state-to-choices.bin": numbers([0, 2, 3, 3], "<u8"),
        "state-is-initial.bin": bits([True, False, False]),
        "choice-to-branches.bin": numbers([0, 2, 3, 5], "<u8"),
        # Twice the same target, and one out of order.
        "branch-to-target.bin": numbers([1, 1, 2, 2, 0], "<u8"),
        "branch-to-probability.bin": numbers([0.25, 0.75, 1.0, 0.5, 0.5], "<f8"),
        "actions/choices/values.bin": numbers([1, 0, 1], "<u4"),
        "actions/choices/string-mapping.bin": numbers([0, 2, 6], "<u8"),
        "actions/choices/strings.bin": b"gowait",
        "annotations/aps/id1/states/values.bin": bits([False, False, True]),
        "annotations/rewards/cost/states/values.bin": numbers([1.0, 2.0, 4.0], "<f8"),
        "annotations/rewards/cost/choices/values.bin": numbers([0.5, 0.25, 0.0], "<f8"),
        "annotations/rewards/cost/branches/values.bin": numbers([8.0, 16.0, 32.0, 64.0, 0.0], "<f8"),
    }
    return index, files


def archive(path: Path, index: Any, files: dict[str, bytes], mode: str = "w") -> Path:
    return pack(path, {"index.json": json.dumps(index).encode(), **files}, mode)


def pack(path: Path, members: dict[str, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_small_model_is_read(tmp_path, mode):
    model = import_umb(archive(tmp_path / "x.umb", *small_model(), mode))
    # The state without a choice leads to itself.
    expected = from_rows([[(0.0, {1: 1.0}), (0.0, {2: 1.0})], [(0.0, {0: 0.5, 2: 0.5})], [(0.0, {2: 1.0})]])
    assert model.mdp.to_scipy().toarray().tolist() == expected.to_scipy().toarray().tolist()
    assert model.mdp.state_ptr.tolist() == [0, 2, 3, 4]
    assert {name: states.tolist() for name, states in model.labels.items()} == {
        "init": [True, False, False],
        "the goal": [False, False, True],
    }
    assert model.rewards["cost"].tolist() == [1 + 0.5 + 2 + 12, 1 + 0.25 + 32, 2 + 32, 4]
    assert model.initial.tolist() == [0]
    assert model.mdp.names.actions == ("go", "wait")
    assert model.mdp.action.tolist() == [1, 0, 1, 0]


@given(random_processes().filter(lambda sample: not sample[2]))
def test_a_process_comes_back_to_the_bit(tmp_path_factory, sample):
    mdp = flat(sample)
    index, _ = small_model()
    index["transition-system"] |= {
        "#states": mdp.n_states,
        "#initial-states": 0,
        "#choices": mdp.n_rows,
        "#choice-actions": 0,
        "#branches": mdp.nnz,
    }
    index["annotations"] = {"rewards": {"r": {"applies-to": ["choices"], "type": DOUBLE}}}
    files = {
        "state-to-choices.bin": numbers(mdp.state_ptr, "<u8"),
        "choice-to-branches.bin": numbers(mdp.indptr, "<u8"),
        "branch-to-target.bin": numbers(mdp.indices, "<u8"),
        "branch-to-probability.bin": numbers(mdp.data, "<f8"),
        "annotations/rewards/r/choices/values.bin": numbers(mdp.reward, "<f8"),
    }
    model = import_umb(archive(tmp_path_factory.mktemp("umb") / "x.umb", index, files))
    assert_same(model.paying(), mdp)
    assert model.initial.tolist() == []


def test_our_own_files_come_back(tiny, tiny_mdp, tmp_path):
    export_punish_umb(tmp_path / "x.umb", tiny, tiny_mdp)
    model = import_umb(tmp_path / "x.umb")
    matrix, back = tiny_mdp.to_scipy(), model.mdp.to_scipy()
    assert back.shape == (matrix.shape[0] + 2, matrix.shape[1])
    assert np.array_equal(back.data[:-2], matrix.data)
    assert np.array_equal(back.indices[:-2], matrix.indices)
    assert np.array_equal(model.paying().reward, [*tiny_mdp.reward, 1.0, -1.0])
    assert set(model.labels) == {"init", "win", "loss"}
    assert len(model.initial) == tiny.n_openings
    assert "feint_with_rush" in model.mdp.names.actions


def test_files_of_the_authors_library_are_read(tmp_path):
    # Its versions name the types of a system differently, but all of them read and write files.
    ats = pytest.importorskip("umbi.ats")
    ours = archive(tmp_path / "ours.umb", *small_model())
    ats.write(ats.read(ours), tmp_path / "theirs.umb")
    expected, model = import_umb(ours), import_umb(tmp_path / "theirs.umb")
    assert_same(model.paying(), expected.paying())
    assert (model.mdp.names.actions, model.initial.tolist()) == (expected.mdp.names.actions, expected.initial.tolist())
    found = model.solve('min P [F "the goal"]')
    assert found.v.tolist() == [1.0, 1.0, 1.0]


# Chains, rational numbers, and what may be left out


def changed(tmp_path, system=(), files=(), index=(), drop=()):
    described, contents = small_model()
    described["transition-system"] |= dict(system)
    described |= dict(index)
    contents |= dict(files)
    for name in drop:
        contents.pop(name, None)
        described["transition-system"].pop(name, None)
    return import_umb(archive(tmp_path / "x.umb", described, contents))


def test_a_chain_needs_no_choices(tmp_path):
    drop = ["state-to-choices.bin", "actions/choices/values.bin"]
    model = changed(tmp_path, {"#players": 0, "#choice-actions": 0}, drop=drop)
    assert model.mdp.state_ptr.tolist() == [0, 1, 2, 3]
    assert model.mdp.names.actions == ()


def test_choices_without_probabilities_lead_to_one_state(tmp_path):
    files = {
        "choice-to-branches.bin": numbers([0, 1, 2, 3], "<u8"),
        "branch-to-target.bin": numbers([1, 2, 0], "<u8"),
        "annotations/rewards/cost/branches/values.bin": numbers([0.0, 0.0, 0.0], "<f8"),
    }
    model = changed(tmp_path, {"#branches": 3}, files, drop=["branch-probability-type"])
    assert model.mdp.data.tolist() == [1.0] * 4
    with pytest.raises(ReadError, match="has choices with several branches, but no probabilities"):
        changed(tmp_path, drop=["branch-probability-type"])


def test_rational_numbers_are_rounded_once_or_refused(tmp_path):
    kind = {"branch-probability-type": {"type": "rational", "size": 128}}
    thirds = {"branch-to-probability.bin": numbers([1, 4, 3, 4, 1, 1, 1, 3, 2, 3], "<i8")}
    model = changed(tmp_path, kind, thirds)
    assert model.mdp.to_scipy().toarray()[2].tolist() == [2 / 3, 0, 1 / 3]
    for wrong in ([2, 0], [2**53 + 1, 3], [2, -3]):
        files = {"branch-to-probability.bin": numbers([1, 4, 3, 4, 1, 1, 1, 3, *wrong], "<i8")}
        refused(r"rational numbers with terms above 2\^53 are not supported", tmp_path, system=kind, files=files)


def test_rows_in_single_precision_are_normalized_on_purpose(tmp_path):
    third = float(np.float32(1 / 3))
    p = {"branch-to-probability.bin": numbers([third / 2, third, 1, third, third], "<f8")}
    paid = {"annotations/rewards/cost/branches/values.bin": numbers([8.0, 8.0, 0.0, 8.0, 16.0], "<f8")}
    with pytest.raises(ReadError, match=r"of state 0 add up to 0\.5.*; the option normalize divides them by"):
        changed(tmp_path, files=p)
    model = import_umb(tmp_path / "x.umb", normalize=True)
    assert model.mdp.to_scipy().toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0.5, 0, 0.5], [0, 0, 1]]
    changed(tmp_path, files=paid)
    normalized = {"branch-to-probability.bin": numbers([1, 3, 1, 2, 2], "<f8")}
    described, contents = small_model()
    model = import_umb(archive(tmp_path / "x.umb", described, contents | normalized | paid), normalize=True)
    assert model.rewards["cost"].tolist() == [1 + 0.5 + 8, 1 + 0.25, 2 + 12, 4]


# What is refused


def aps(**more):
    return {"annotations": {"aps": {"x": more}}}


@pytest.mark.parametrize(
    ("part", "change", "match"),
    [
        ("system", {"time": "stochastic"}, r"is a continuous-time model \(CTMC\); time must be discrete$"),
        ("system", {"time": "urgent-stochastic"}, "is a Markov automaton; time must be discrete"),
        ("system", {"time": ["x"]}, r"is a model in time \['x'\]; time must"),
        ("system", {"#players": 2}, "is a game of 2 players; only one is possible"),
        ("system", {"#players": 0, "#states": 2}, "is a chain, but has 3 choices in 2 states"),
        ("system", {"#observations": 1}, r"is partially observable \(POMDP\)"),
        ("system", {"branch-probability-type": {"type": "double-interval", "size": 128}}, "with intervals are not"),
        ("system", {"branch-probability-type": {"type": "rational", "size": 256}}, "rational of 256 bits is not"),
        ("system", {"branch-probability-type": 3}, "unknown type of 0 bits is not supported"),
        ("system", {"#states": 0}, "0 states; there must be 1 to"),
        ("system", {"#states": 1 << 40}, "1,099,511,627,776 states; there must be"),
        ("system", {"#states": True}, "#states is True; it must be a count"),
        ("system", {"#choices": -1}, "#choices is -1; it must be a count"),
        ("system", {"#choices": 1 << 61}, "choice-to-branches.bin: 32 bytes, but must be"),
        ("system", {"#branches": 1 << 61}, "branch-to-target.bin: 40 bytes, but must be"),
        ("system", {"#initial-states": None}, "#initial-states is None"),
        ("system", {"#choice-actions": 1}, "action 1, but there are 1"),
        ("system", {"#choice-actions": 1 << 40}, "string-mapping.bin: 24 bytes, but must be"),
        ("index", {"format-version": 2}, "format-version 2; it must be 1"),
        ("index", {"transition-system": []}, "has no transition-system"),
        ("index", {"annotations": []}, "annotations are not objects"),
        ("index", {"annotations": {"aps": {"x": 3}}}, "annotations are not objects"),
        ("index", aps(), "aps x has no valid applies-to"),
        ("index", aps(**{"applies-to": ["states"], "type": DOUBLE}), "label x is not one bit for each state"),
        ("index", {"annotations": {"aps": {key: {"alias": "a", "applies-to": []} for key in "xy"}}}, "aps has a twice"),
        ("index", {"annotations": {"rewards": {"x": {"applies-to": ["players"]}}}}, "reward x is of players, which is"),
        (
            "index",
            {"annotations": {"rewards": {"x": {"applies-to": ["states"], "probability-type": DOUBLE}}}},
            "reward x is random",
        ),
    ],
)
def test_models_of_other_kinds_and_damaged_indices_are_named(tmp_path, part, change, match):
    refused(match, tmp_path, **{part: change})


def refused(match: str, tmp_path: Path, **changes: Any) -> None:
    with pytest.raises(ReadError, match=match) as error:
        changed(tmp_path, **changes)
    assert str(error.value).startswith(f"{tmp_path / 'x.umb'}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "values", "match"),
    [
        ("state-to-choices.bin", numbers([0, 2, 3, 4], "<u8"), "state-to-choices.bin: must ascend from 0 to 3"),
        ("state-to-choices.bin", numbers([0, 3, 2, 3], "<u8"), "state-to-choices.bin: must ascend from 0 to 3"),
        ("state-to-choices.bin", numbers([0, 1 << 63, 2, 3], "<u8"), "state-to-choices.bin: must ascend"),
        ("choice-to-branches.bin", numbers([0, 2, 2, 5], "<u8"), "choice 1 has no branch"),
        ("branch-to-target.bin", numbers([1, 1, 2, 3, 0], "<u8"), "branch-to-target.bin: state 3, but there are 3"),
        ("branch-to-target.bin", b"123", "branch-to-target.bin: 3 bytes, but must be 40"),
        ("branch-to-probability.bin", numbers([0.25, 0.5, 1, 0.5, 0.5], "<f8"), r"of state 0 add up to 0\.75"),
        ("branch-to-probability.bin", numbers([np.nan, 0.5, 1, 0.5, 0.5], "<f8"), r"of state 0 has nan in"),
        # Twice the same target, whose sum is a probability.
        ("branch-to-probability.bin", numbers([1.5, -0.5, 1, 0.5, 0.5], "<f8"), r"of state 0 has 1\.5 in column 1"),
        ("state-is-initial.bin", b"", "state-is-initial.bin: 0 bytes"),
        ("annotations/aps/id1/states/values.bin", b"1" * 9, "id1/states/values.bin: 9 bytes, but must be 8"),
        ("actions/choices/values.bin", numbers([2, 0, 1], "<u4"), "values.bin: action 2, but there are 2"),
        ("annotations/rewards/cost/states/values.bin", numbers([1, np.inf, 0], "<f8"), "reward cost is not finite"),
        ("actions/choices/string-mapping.bin", numbers([0, 9, 6], "<u8"), "mapping.bin: must ascend from 0 to 6"),
    ],
)
def test_damaged_arrays_are_named(tmp_path, name, values, match):
    refused(match, tmp_path, files={name: values})


def test_a_missing_file_is_named_unless_it_may_be_left_out(tmp_path):
    for name in small_model()[1]:
        if name in ("actions/choices/values.bin", "actions/choices/string-mapping.bin"):
            assert changed(tmp_path, drop=[name]).mdp.names.actions == ()
        elif name == "state-to-choices.bin":
            assert changed(tmp_path, drop=[name]).mdp.state_ptr.tolist() == [0, 1, 2, 3]
        else:
            refused(f"{name} is missing|{name}: ", tmp_path, drop=[name])


def test_an_index_that_is_no_json_is_refused(tmp_path):
    for content in (b"{", b"[" * 100_000, b"3", b"\xff\xfe", b""):
        path = pack(tmp_path / "x.umb", {"index.json": content, **small_model()[1]})
        with pytest.raises(ReadError, match=r"index\.json (is not valid JSON|has no transition-system)"):
            import_umb(path)
