from __future__ import annotations

import json
import subprocess
import sys
import warnings

import pytest

from punish_fast.cluster.result_folder import Outcome, ResultFolder, address_of
from punish_fast.runtime.files import OutputError, ReadError

KEY = {"study": "agent", "rules": {"hp": 3}}
OUTCOME = Outcome({"length": 0.1 + 0.2}, None, True, 1.5)


@pytest.fixture
def folder(tmp_path):
    return ResultFolder(tmp_path / "results")


def test_a_result_is_found_by_its_key(folder):
    assert folder.find(KEY) is None
    folder.keep(KEY, OUTCOME)
    assert ResultFolder(folder.path).find({"rules": {"hp": 3}, "study": "agent"}) == OUTCOME
    assert folder.find(KEY | {"study": "equilibrium"}) is None
    assert [path.name for path in folder.path.iterdir()] == [f"{address_of(KEY)}.json"]


def test_a_reason_is_a_result_unless_another_machine_could_do_better(folder):
    endless = Outcome(None, "play never ends")
    folder.keep(KEY, endless)
    assert folder.find(KEY) == endless
    folder.keep(KEY, Outcome(None, "too large", is_final=False))
    assert folder.find(KEY) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda text: text.replace("0.3", "0.4"),
        lambda text: text.replace('"hp": 3', '"hp": 4'),
        lambda text: text.replace("version", "vision"),
        lambda text: json.dumps({name: value for name, value in json.loads(text).items() if name != "seconds"}),
        lambda _: "[]",
        lambda _: "",
    ],
)
def test_a_damaged_result_counts_as_missing(folder, damage):
    folder.keep(KEY, OUTCOME)
    path = folder.path_of(KEY)
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.warns(UserWarning, match="is damaged, its result is computed again"):
        assert folder.find(KEY) is None
    with warnings.catch_warnings():  # told once
        warnings.simplefilter("error")
        assert folder.find(KEY) is None
    folder.keep(KEY, OUTCOME)
    assert folder.find(KEY) == OUTCOME


def test_a_folder_that_cannot_be_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="file: is a file, not a folder for results"):
        ResultFolder(tmp_path / "file")
    with pytest.raises(OutputError, match="cannot be made"):
        ResultFolder(tmp_path / "file" / "below")
    folder = ResultFolder(tmp_path / "results")
    folder.path_of(KEY).mkdir()
    with pytest.raises(ReadError, match="cannot be read"):
        folder.find(KEY)


def test_one_process_at_a_time_holds_a_result(folder):
    with folder.claim(KEY) as ours, ResultFolder(folder.path).claim(KEY) as theirs:
        assert (ours, theirs) == (True, False)
        with folder.claim(KEY | {"study": "other"}) as other:
            assert other
    with folder.claim(KEY) as again:
        assert again
    assert list(folder.path.iterdir()) == []


def test_a_process_that_dies_holds_nothing(folder):
    source = (
        "import os, pathlib\nfrom punish_fast.cluster.result_folder import ResultFolder\n"
        f"claim = ResultFolder(pathlib.Path({str(folder.path)!r})).claim({KEY!r})\n"
        "assert claim.__enter__()\nos._exit(1)\n"
    )
    assert subprocess.run([sys.executable, "-c", source], check=False).returncode == 1
    assert len(list(folder.path.iterdir())) == 1
    with folder.claim(KEY) as ours:
        assert ours
