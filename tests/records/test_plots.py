import warnings
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure

from punish_fast.records import plots
from punish_fast.records.database import RecordsError
from punish_fast.records.games import Selection
from punish_fast.records.plots import draw
from punish_fast.records.summary import Results, read_results
from punish_fast.runtime.errors import OutputError
from punish_fast.runtime.figures import FigureError
from punish_fast.runtime.results import wilson_interval
from records.conftest import run_sql


@pytest.fixture
def results(db):
    return read_results(db)


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("durations", "Games take 1.5 breaths on average, and half of them end within 1.5"),
        ("contributions", r"$\frac_{2}$ played most: 2 of 2 games"),
        ("win-rates", "naive wins most often: 100%"),
        ("games-win-rate", "Those who play more win less often (rank correlation "),
        ("over-time", "Win rates vary from game to game"),
        ("matchups", "Human players won 0% of their 1 game against bots"),
    ],
)
def test_few_games_and_odd_names_are_drawn(tmp_path, original, kind, title):
    run_sql(original, r"UPDATE players SET username = '$\frac_{' || player_id || '}$' WHERE player_id < 3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(kind, read_results(original), tmp_path / "x.svg")
    ET.parse(tmp_path / "x.svg")
    assert f"<!-- {title}" in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize("kind", ["contributions", "win-rates", "games-win-rate", "over-time"])
def test_legends_cover_nothing_at_four_inches(results, kind):
    figure = Figure(layout="constrained")
    plots.PLOTS[kind][1](figure, results, None)
    figure.set_size_inches(4, 4 * figure.get_figheight() / figure.get_figwidth())
    figure.draw_without_rendering()
    drawn = [*(axes.get_tightbbox() for axes in figure.axes), *(text.get_window_extent() for text in figure.texts)]
    assert figure.legends
    assert not any(legend.get_window_extent().overlaps(box) for legend in figure.legends for box in drawn)


def test_what_cannot_be_drawn_is_refused(tmp_path, db, results):
    path = tmp_path / "x.png"
    path.write_bytes(b"old")
    with pytest.raises(RecordsError, match="the plots are durations"):
        draw("pie", results, path)
    with pytest.raises(FigureError, match=r"it must be \.png, \.svg or \.pdf"):
        draw("durations", results, tmp_path / "x.eps")
    with pytest.raises(RecordsError, match="nothing to draw"):
        draw("durations", read_results(db, Selection(until=5)), path)
    with pytest.raises(RecordsError, match="no game between a bot and a person"):
        draw("matchups", read_results(db, Selection(humans_only=True)), path)
    with pytest.raises(OutputError):
        draw("durations", results, tmp_path / "none" / "x.png")
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob(".*"))


def test_players_without_a_panel_are_counted_and_form_needs_twenty_games(tmp_path, monkeypatch):
    names = np.array([f"player {k}" for k in range(5)])
    monkeypatch.setattr(plots, "_MOST_PANELS", 3)
    for n in (5, 3):
        draw("over-time", made_up_results(names[:n], np.roll(names[:n], 1)), tmp_path / "x.svg")
        text = (tmp_path / "x.svg").read_text()
        assert ("(3 most active of 5 players)" in text) == (n == 5)
        assert "<!-- player 0" in text
    for n, title in (
        (19, "Win rates vary from game to game"),
        (20, "a won 100% of the last 20 games, more than anyone"),
    ):
        draw("over-time", made_up_results(np.full(n, "a"), np.full(n, "b")), tmp_path / "x.svg")
        assert f"<!-- {title}" in (tmp_path / "x.svg").read_text()


def test_what_is_drawn_agrees_with_the_results(monkeypatch):
    winner, loser = np.array(list("aanbab")), np.array(list("bncnna"))
    lengths = np.array([1, 2, 3, 3, 1, 2])
    results = Results(np.arange(6), np.arange(6), winner, loser, winner == "n", loser == "n", lengths, np.zeros(0))
    monkeypatch.setattr(plots, "_FORM", 3)

    def drawn(kind, player=None):
        figure = Figure()
        plots.PLOTS[kind][1](figure, results, player)
        return figure.axes

    panels = drawn("durations")
    assert [axes.get_title() for axes in panels[:2]] == ["all\n6 games, mean 2.0", "a\n4 games, mean 1.5"]
    assert [bar.get_height() for bar in panels[1].patches] == [50, 50, 0]
    (axes,) = drawn("contributions")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "b", "a", "n (bot)"]
    assert [[(bar.get_x(), bar.get_width()) for bar in part] for part in axes.containers] == [
        [(0, 0), (0, 2), (0, 3), (0, 1)],
        [(0, 1), (2, 1), (3, 1), (1, 3)],
    ]
    assert [text.get_text() for text in axes.texts] == ["1", "3", "4", "4"]
    (axes,) = drawn("win-rates")
    assert [text.get_text() for text in axes.texts] == ["0 of 1", "1 of 4", "2 of 3", "3 of 4"]
    marks = [line.get_xydata().tolist() for line in axes.lines[1:8:2]]
    assert marks == [[[0, 0]], [[25, 1]], [[pytest.approx(200 / 3), 2]], [[75, 3]]]
    assert axes.lines[2].get_xdata() == pytest.approx([100 * end for end in wilson_interval(1 / 4, 4)])
    (axes,) = drawn("games-win-rate")
    assert [line.get_xydata().tolist()[0] for line in axes.lines[1:4:2]] == [[4, 75], [3, pytest.approx(200 / 3)]]
    assert axes.lines[0].get_ydata() == pytest.approx([100 * end for end in wilson_interval(3 / 4, 4)])
    (axes,) = drawn("over-time", "a")
    assert axes.lines[0].get_xydata().tolist() == [[1, 100], [2, 100], [3, 100], [4, 75]]
    assert axes.lines[1].get_xydata().tolist() == [[3, 100], [4, pytest.approx(200 / 3)]]
    axes = drawn("matchups")[0]
    assert [text.get_text() for text in axes.texts] == ["100\n2 of 2", "100\n1 of 1", "0\n0 of 1"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]


def made_up_results(winners, losers):
    n = len(winners)
    flags = np.zeros(n, dtype=np.bool_)
    return Results(np.arange(n), np.arange(n), winners, losers, flags, flags, np.arange(1, n + 1), np.zeros(0))


def test_a_title_claims_no_trend_of_chance(tmp_path, results, monkeypatch):
    rates = [0.3, 0.5, 0.4, 0.6, 0.45]
    table = [{"name": f"p{k}", "games": 10 + k, "win_rate": rate, "is_bot": False} for k, rate in enumerate(rates)]
    monkeypatch.setattr(plots, "player_table", lambda _: table)
    titles = []
    monkeypatch.setattr(plots.figures, "set_headline", lambda _, title: titles.append(title))
    draw("games-win-rate", results, tmp_path / "x.svg")
    assert titles[0].startswith("Those who play more do not clearly win more often (rank correlation +")
