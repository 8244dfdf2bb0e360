import warnings
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from punish_fast.records import plots
from punish_fast.records.choices import Selection
from punish_fast.records.database import RecordsError
from punish_fast.records.plots import draw
from punish_fast.records.summary import Results, read_results
from punish_fast.runtime.figures import FigureError
from punish_fast.runtime.files import OutputError
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
        ("matchups", "People won 0% of their 1 game against bots"),
    ],
)
def test_few_games_and_odd_names_are_drawn(tmp_path, original, kind, title):
    run_sql(original, r"UPDATE players SET username = '$\frac_{' || player_id || '}$' WHERE player_id < 3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(kind, read_results(original), tmp_path / "x.svg")
    ET.parse(tmp_path / "x.svg")
    assert f"<!-- {title}" in (tmp_path / "x.svg").read_text()


def test_what_cannot_be_drawn_is_refused(tmp_path, db, results):
    path = tmp_path / "x.png"
    path.write_bytes(b"old")
    with pytest.raises(RecordsError, match="the plots are durations"):
        draw("pie", results, path)
    with pytest.raises(FigureError, match=r"it must be \.png or \.svg"):
        draw("durations", results, tmp_path / "x.pdf")
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


def made_up_results(winners, losers):
    n = len(winners)
    flags = np.zeros(n, dtype=np.bool_)
    return Results(np.arange(n), winners, losers, flags, flags, np.arange(1, n + 1), np.zeros(0))


def test_a_title_claims_no_trend_of_chance(tmp_path, results, monkeypatch):
    rates = [0.3, 0.5, 0.4, 0.6, 0.45]
    table = [{"name": f"p{k}", "games": 10 + k, "win_rate": rate, "is_bot": False} for k, rate in enumerate(rates)]
    monkeypatch.setattr(plots, "player_table", lambda _: table)
    titles = []
    monkeypatch.setattr(plots, "set_headline", lambda _, title: titles.append(title))
    draw("games-win-rate", results, tmp_path / "x.svg")
    assert titles[0].startswith("Those who play more do not clearly win more often (rank correlation +")
