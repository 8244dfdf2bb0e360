"""Data frames and files of results, with stand-ins for pandas and polars."""

import csv
import sys
import types

import numpy as np
import pytest

from punish_fast.arena.players import Player
from punish_fast.arena.tournament import round_robin
from punish_fast.punish.encoding import encode
from punish_fast.punish.states.openings import openings
from punish_fast.runtime.errors import ArgumentError
from punish_fast.runtime.results import save_columns, to_frame


class Frame(dict[str, list]):
    """A data frame: columns of equal lengths."""

    def __init__(self, columns):
        assert len({len(column) for column in columns.values()}) == 1
        super().__init__({name: np.asarray(column).tolist() for name, column in columns.items()})


@pytest.fixture(params=["pandas", "polars"])
def _frames(request, monkeypatch):
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name) if name == request.param else None)
    sys.modules[request.param].DataFrame = Frame
    monkeypatch.setattr("punish_fast.runtime.results.are_installed", lambda name: sys.modules[name] is not None)


@pytest.mark.usefixtures("_frames")
def test_columns_of_several_types_become_text():
    columns = {"mixed": [1, "x"], "whole": [1, 2], "tuple": [(1, 2), (3, 4)], "array": np.array([0.5, 1.0])}
    columns["numpy"] = [*np.array([0.5, 1.0])]
    assert to_frame(columns) == {
        "mixed": ["1", "x"],
        "whole": [1, 2],
        "tuple": ["(1, 2)", "(3, 4)"],
        "array": [0.5, 1.0],
        "numpy": [0.5, 1.0],
    }


@pytest.mark.usefixtures("_frames")
def test_a_tournament_is_a_frame_of_pairs(graph):
    found = round_robin(graph, [Player(name).in_game(graph.space) for name in ("naive", "random")])
    frame = found.to_frame()
    assert list(zip(frame["agent"], frame["enemy"], strict=True))[1] == ("naive", "random")
    assert frame["win_probability"] == found.win.ravel().tolist()
    assert frame["standard_error"] == [0.0] * 4


@pytest.mark.usefixtures("_frames")
def test_openings_and_policies_are_frames_of_states(space):
    v = np.arange(space.n_states, dtype=np.float64)
    dealt, frame = openings(space), openings(space).to_frame(v)
    assert frame["value"] == frame["state"] == dealt.state.tolist()
    assert [frame[f"hand_{card}"][0] for card in ("strike", "punish")] == [1, 1]
    assert sum(frame["probability"]) == pytest.approx(1)
    assert "value" not in dealt.to_frame()
    encoding = encode(space)
    frame = encoding.to_frame("naive")
    assert list(frame) == [*encoding.feature_names, *encoding.action_names]
    assert frame["strike"] == encoding.table("naive")[:, 6].tolist()


def test_files_have_all_digits(tmp_path):
    columns = {"p": np.array([1 / 3, 2.0]), "name": ["a", "b"]}
    save_columns(tmp_path / "t.csv", columns)
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["p", "name"], [repr(1 / 3), "a"], ["2.0", "b"]]
    save_columns(tmp_path / "t.npz", columns)
    assert np.load(tmp_path / "t.npz")["p"].tolist() == [1 / 3, 2.0]
    with pytest.raises(ArgumentError, match=r"^path: .* it must be a file that ends with \.csv, \.npz, \.parquet"):
        save_columns(tmp_path / "t.txt", columns)
