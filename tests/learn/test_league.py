"""Grids, tournaments and rounds: the same results whatever stops them, and however many processes there are."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from numba import config

from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.learn.league import Championship, ChampionshipError, Entry, grid_entries, train_entry
from punish_fast.learn.qlearning import LearnError, Method
from punish_fast.learn.tournament import points, rank, table_of

SEQUENCES = [("random",), ("self", "random")]


def entries(games=120):
    return grid_entries(["negamax", "author"], [0.2, 0.7], SEQUENCES, games)


def begun(folder, seed=3, **options):
    championship = Championship(folder, TapnSwap(), seed)
    championship.begin_grid(entries(**options))
    return championship


def digests(championship, number):
    return {entry.name: championship.learner(number, entry.name).digest for entry in championship.entries(number)}


@pytest.fixture(scope="module")
def _whole(tmp_path_factory):
    championship = begun(tmp_path_factory.mktemp("whole"))
    championship.train(0)
    championship.tournament(0)
    championship.begin_round(championship.next_entries(0, 0.5, ["same", "other"], 80))
    championship.train(1)
    championship.tournament(1)
    return championship.folder


@pytest.fixture
def whole(_whole, tmp_path):
    """A folder with a grid, a tournament, and a second round."""
    shutil.copytree(_whole, tmp_path / "whole")
    return Championship(tmp_path / "whole")


def test_names_tell_how_an_agent_is_trained():
    assert [entry.name for entry in entries()] == [
        f"{scheme}-e{epsilon}-{against}"
        for scheme in ("negamax", "author")
        for epsilon in ("0.2", "0.7")
        for against in ("random", "self-random")
    ]
    assert entries()[0].method == Method("negamax", 0.2, 1.0, 0.95)
    assert entries()[-1].method == Method("author", 0.7, None, 1.0)


def test_whatever_is_missing_is_made_as_it_was(whole, tmp_path):
    """Killed at any moment: some agents are there, and some rows of the tournament."""
    expected = [digests(whole, number) for number in (0, 1)]
    tables = [(whole.folder / f"tournament-{number}.json").read_text() for number in (0, 1)]
    again = tmp_path / "again"
    shutil.copytree(whole.folder, again)
    for path in sorted(again.glob("round-*/*.h5"))[::2]:
        path.unlink()
    kept = json.loads(tables[1])
    kept["points"] = dict(list(kept["points"].items())[:2])
    kept.pop("ranking")
    (again / "tournament-1.json").write_text(json.dumps(kept))
    resumed = Championship(again, TapnSwap(), 3)
    assert resumed.ranking(1) is None
    for number in (0, 1):
        assert not resumed.is_complete(number)
        resumed.train(number)
        resumed.tournament(number)
        assert resumed.is_complete(number)
    assert [digests(resumed, number) for number in (0, 1)] == expected
    assert [(again / f"tournament-{number}.json").read_text() for number in (0, 1)] == tables


@pytest.mark.skipif(config.DISABLE_JIT, reason="processes are tried with the JIT on")
def test_processes_do_not_show_in_results(tmp_path):
    results = []
    for n_processes in (1, 2):
        championship = begun(tmp_path / str(n_processes), games=40)
        reports = championship.train(0, n_processes)
        names, table, places = championship.tournament(0, n_processes)
        results.append((reports, digests(championship, 0), names, table.tolist(), places))
    assert results[0] == results[1]


def test_seeds_make_a_difference(tmp_path):
    championships = [begun(tmp_path / str(seed), seed=seed, games=40) for seed in (3, 4)]
    for championship in championships:
        championship.train(0)
    first, second = (digests(championship, 0) for championship in championships)
    assert all(first[name] != second[name] for name in first)
    assert len(set(first.values())) == len(first)


def test_points_of_a_tournament_add_up(whole):
    names, table, places = whole.tournament(0)
    assert np.allclose(table + table.T, 1)
    assert {place.agent for place in places} == set(names)
    scores = [place.score for place in places]
    assert scores == sorted(scores, reverse=True)
    assert np.mean(scores) == pytest.approx(0.5)
    assert whole.ranking(0) == places


def test_the_best_are_trained_on_in_both_ways(whole):
    places = {place.agent: place.score for place in whole.ranking(0)}
    kept = {name for name, score in places.items() if score >= 0.5 * max(places.values())}
    later = whole.entries(1)
    assert {entry.former for entry in later} == {f"round-0/{name}.h5" for name in kept}
    for entry in later:
        former = entry.former.removeprefix("round-0/").removesuffix(".h5")
        assert entry.is_contest == (entry.name == former)
        assert entry.name in (former, f"{former}-self")
        before = whole.learner(0, former).games
        assert whole.learner(1, entry.name).games in (before, before + 80)


def test_who_loses_to_its_former_self_stays_it(whole, monkeypatch):
    name = whole.entries(0)[0].name
    entry = Entry(name, Method(), ("random",), 50, f"round-0/{name}.h5", is_contest=True)
    number = whole.begin_round([entry])
    (whole.folder / f"round-{number}").mkdir()
    monkeypatch.setattr("punish_fast.learn.league.points", lambda *_policies: 0.49)
    report = train_entry(whole.folder, number, entry)
    assert report.is_rejected
    assert report.games == whole.learner(0, name).games
    assert np.array_equal(whole.learner(number, name).q, whole.learner(0, name).q)


def test_who_does_not_lose_to_its_former_self_goes_on(whole):
    name = whole.entries(0)[0].name
    entry = Entry(name, Method(), ("random",), 50, f"round-0/{name}.h5", is_contest=True)
    number = whole.begin_round([entry])
    (report,) = whole.train(number)
    learner, former = whole.learner(number, name), whole.learner(0, name)
    lost = points(*_policies(learner, former)) < 0.5
    assert report.is_rejected == lost
    assert report.games == former.games + (0 if lost else 50)


def _policies(learner, former):
    from punish_fast.games.positions import enumerate_positions

    positions = enumerate_positions(TapnSwap())
    return positions, learner.policy(positions), former.policy(positions)


def test_ranks_break_ties_by_name():
    table = table_of(["b", "a", "c"], {"b": {"a": 0.5, "c": 1.0}, "a": {"c": 1.0}})
    assert table.tolist() == [[0.5, 0.5, 1.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.5]]
    places = [(place.agent, place.score) for place in rank(["b", "a", "c"], table)]
    assert places == [("a", 0.75), ("b", 0.75), ("c", 0)]


def test_a_folder_belongs_to_one_grid(tmp_path):
    championship = begun(tmp_path)
    championship.begin_grid(entries())
    with pytest.raises(ChampionshipError, match=r"holds another grid, choose another folder$"):
        championship.begin_grid(entries(games=121))
    for game, seed in ((TapnSwap(), 4), (TapnSwap(Variant(limit=6)), 3)):
        with pytest.raises(ChampionshipError, match=r"holds .* with seed 3, choose another folder$"):
            Championship(tmp_path, game, seed)


def test_what_is_out_of_turn_is_refused(tmp_path):
    championship = begun(tmp_path)
    with pytest.raises(ChampionshipError, match=r"round 0 is not complete, go on with it first$"):
        championship.tournament(0)
    championship.train(0)
    with pytest.raises(ChampionshipError, match=r"round 0 has had no tournament, hold one first$"):
        championship.next_entries(0, 0.5, ["same"], 10)
    championship.tournament(0)
    with pytest.raises(ChampionshipError, match=r"^share: 2 is not allowed, it must be from 0 to 1$"):
        championship.next_entries(0, 2, ["same"], 10)
    with pytest.raises(ChampionshipError, match=r"^opponents: \['me'\] are not allowed, they must be same, other"):
        championship.next_entries(0, 0.5, ["me"], 10)


def test_impossible_grids_are_refused():
    with pytest.raises(ChampionshipError, match=r"^opponents: \['me'\] are not allowed, they must be of random, self$"):
        grid_entries(["negamax"], [0.5], [("self", "me")], 10)
    with pytest.raises(ChampionshipError, match=r"^grid: 2 agents with 1 names, each may be there once$"):
        grid_entries(["negamax"], [0.5, 0.5], [("self",)], 10)
    with pytest.raises(LearnError, match=r"^scheme: 'x' is not allowed"):
        grid_entries(["x"], [0.5], [("self",)], 10)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "punish-fast championship", "format_version": 9}'])
def test_damaged_files_are_refused_in_one_line(tmp_path, text):
    begun(tmp_path)
    (tmp_path / "round-0.json").write_text(text)
    with pytest.raises(ChampionshipError, match=r"round-0\.json: is no file of a championship$"):
        Championship(tmp_path)


@pytest.mark.parametrize("change", [{"game": 1}, {"game": {"name": "chess"}}, {"seed": "x"}, {"seed": None}])
def test_damaged_descriptions_are_refused_in_one_line(tmp_path, change):
    begun(tmp_path)
    path = tmp_path / "round-0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ChampionshipError, match=r"round-0\.json: is damaged \(.*\)$"):
        Championship(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ChampionshipError, match=r"file: cannot be made \("):
        begun(tmp_path / "file")


def test_points_of_other_agents_are_refused(whole):
    path = whole.folder / "tournament-0.json"
    content = json.loads(path.read_text())
    content["agents"] = content["agents"][::-1]
    path.write_text(json.dumps(content))
    with pytest.raises(ChampionshipError, match=r"tournament-0\.json: is damaged, or of other agents$"):
        whole.tournament(0)


def test_there_must_be_a_folder(tmp_path):
    with pytest.raises(ChampionshipError, match=r"round-0\.json: cannot be read \(No such file or directory\)$"):
        Championship(tmp_path / "nowhere")
