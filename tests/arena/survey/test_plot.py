from __future__ import annotations

import pytest

from punish_fast.arena.survey.plot import draw_survey
from punish_fast.arena.survey.points import survey_of
from punish_fast.arena.survey.studies import run_survey
from punish_fast.arena.survey.table import table_of
from punish_fast.runtime.figures import FigureError


@pytest.fixture(scope="module")
def columns():
    survey = survey_of({"base": "tiny", "grid": {"hp": [1, 2]}, "points": [{"damage": [0, 0, 0, 0, 0]}]})
    return table_of(survey, run_survey(survey))


def test_a_sweep_is_drawn(columns, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "survey.svg"
    draw_survey(columns, path)
    text = path.read_text(encoding="utf-8")
    # Of each point that has results.
    assert "2 points: the agent of each" in text


def test_too_many_points_or_none_are_not_drawn(columns, tmp_path):
    pytest.importorskip("matplotlib")
    for some, told in (
        ({name: values[2:] for name, values in columns.items()}, "0 points"),
        ({name: values[:1] * 201 for name, values in columns.items()}, "201 points"),
    ):
        with pytest.raises(FigureError, match=f"{told} have results, allowed are 1 to 200"):
            draw_survey(some, tmp_path / "survey.png")
