from __future__ import annotations

import numpy as np
import pytest

from punish_fast.arena.tournament import Tournament
from punish_fast.arena.tournament_plot import draw_heatmap


@pytest.fixture(params=[None, 10_000])
def tournament(request):
    win = np.array([[0.5, 0.9, 0.02], [0.1, 0.5, 0.4], [0.98, 0.6, 0.5]])
    return Tournament(["a", "$b_", "some one"], win, np.zeros((3, 3)), np.full((3, 3), 4.0), request.param)


def test_plots_are_the_same_every_time_and_say_what_they_show(tmp_path, tournament):
    for name in ("a.svg", "b.svg"):
        draw_heatmap(tournament, tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    for label in (
        "some one",
        "$b_",
        "98.0",
        "2.0",
        "games won, in per cent",
        "exact" if tournament.games is None else "10,000 games a pair",
    ):
        assert f"<!-- {label}" in text or label in text
