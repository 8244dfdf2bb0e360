import pytest

from punish_fast.arena.survey.results_file import Outcome, ResultsFile
from punish_fast.runtime.files import OutputError

KEY = {"study": "agent", "rules": {"hp": 3}}
OTHER = KEY | {"study": "equilibrium"}
OUTCOME = Outcome({"length": 0.1 + 0.2}, None, True, 1.5)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


def test_a_result_is_found_by_its_key(path):
    results = ResultsFile(path)
    assert results.find(KEY) is None
    results.keep(KEY, OUTCOME)
    results.keep(OTHER, Outcome(None, "play never ends"))
    again = ResultsFile(path)
    assert again.find({"rules": {"hp": 3}, "study": "agent"}) == results.find(KEY) == OUTCOME
    assert again.find(OTHER) == Outcome(None, "play never ends")
    assert again.find(KEY | {"study": "other"}) is None


def test_results_that_another_machine_could_improve_are_not_kept(path):
    ResultsFile(path).keep(KEY, Outcome(None, "too large", is_final=False))
    assert not path.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda text: text.replace("0.3", "0.4", 1),
        lambda text: text.replace('"hp": 3', '"hp": 4', 1),
        lambda text: text.replace("seconds", "minutes", 1),
        lambda text: "[]\n" + text.splitlines()[1],
    ],
)
def test_a_damaged_line_counts_as_missing(path, damage):
    results = ResultsFile(path)
    results.keep(KEY, OUTCOME)
    results.keep(OTHER, OUTCOME)
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.warns(UserWarning, match="1 damaged lines, their results are computed again"):
        results = ResultsFile(path)
    (missing,) = (key for key in (KEY, OTHER) if results.find(key) is None)
    results.keep(missing, OUTCOME)
    with pytest.warns(UserWarning, match="damaged"):
        assert ResultsFile(path).find(KEY) == ResultsFile(path).find(OTHER) == OUTCOME


def test_a_first_line_that_was_cut_is_no_other_file(path):
    path.write_text('{"key": {"rules": ', encoding="utf-8")
    with pytest.warns(UserWarning, match="damaged"):
        results = ResultsFile(path)
    results.keep(KEY, OUTCOME)
    with pytest.warns(UserWarning, match="damaged"):
        assert ResultsFile(path).find(KEY) == OUTCOME


def test_other_files_and_folders_are_refused(path, tmp_path):
    path.write_text("a diary\n", encoding="utf-8")
    with pytest.raises(OutputError, match="is not a file of results"):
        ResultsFile(path)
    with pytest.raises(OutputError, match="is a folder"):
        ResultsFile(tmp_path)
