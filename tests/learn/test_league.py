"""Grids, tournaments and retraining: the same results after interruptions and with any number of processes."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from numba import config

from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.learn.agent_plans import AgentPlan, LeagueError, grid_plans
from punish_fast.learn.league import League, points_of_agent, train_agent
from punish_fast.learn.qlearning import Hyperparameters, LearnError
from punish_fast.learn.round_robin import pair_points, rank, score_table

SEQUENCES = [("random",), ("self", "random")]


def plans(games=120):
    return grid_plans(["negamax", "author"], [0.2, 0.7], SEQUENCES, games)


def begun(folder, seed=3, **options):
    league = League(folder, TapnSwap(), seed)
    league.start_grid(plans(**options))
    return league


def digests(league, number):
    return {plan.name: league.learner(number, plan.name).digest for plan in league.plans(number)}


@pytest.fixture(scope="module")
def _whole(tmp_path_factory):
    league = begun(tmp_path_factory.mktemp("whole"))
    league.train(0)
    league.tournament(0)
    league.start_round(league.next_plans(0, 0.5, ["same", "other"], 80))
    league.train(1)
    league.tournament(1)
    return league.folder


@pytest.fixture
def whole(_whole, tmp_path):
    """A folder with a grid, a tournament, and a second round."""
    shutil.copytree(_whole, tmp_path / "whole")
    return League(tmp_path / "whole")


def test_names_tell_how_an_agent_is_trained():
    assert [plan.name for plan in plans()] == [
        f"{scheme}-e{epsilon}-{against}"
        for scheme in ("negamax", "author")
        for epsilon in ("0.2", "0.7")
        for against in ("random", "self-random")
    ]
    assert plans()[0].method == Hyperparameters("negamax", 0.2, 1.0, 0.95)
    assert plans()[-1].method == Hyperparameters("author", 0.7, None, 1.0)


def test_missing_work_is_repeated_exactly(whole, tmp_path):
    """A league that was killed has some agents, and some rows of the tournament."""
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
    resumed = League(again, TapnSwap(), 3)
    assert resumed.ranking(1) is None
    for number in (0, 1):
        assert not resumed.is_complete(number)
        resumed.train(number)
        resumed.tournament(number)
        assert resumed.is_complete(number)
    assert [digests(resumed, number) for number in (0, 1)] == expected
    assert [(again / f"tournament-{number}.json").read_text() for number in (0, 1)] == tables


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="processes run with the JIT on")
def test_results_do_not_depend_on_processes(tmp_path):
    results = []
    for n_processes in (1, 2):
        league = begun(tmp_path / str(n_processes), games=40)
        reports = league.train(0, n_processes)
        names, table, places = league.tournament(0, n_processes)
        results.append((reports, digests(league, 0), names, table.tolist(), places))
    assert results[0] == results[1]


def test_seeds_make_a_difference(tmp_path):
    leagues = [begun(tmp_path / str(seed), seed=seed, games=40) for seed in (3, 4)]
    for league in leagues:
        league.train(0)
    first, second = (digests(league, 0) for league in leagues)
    assert all(first[name] != second[name] for name in first)
    assert len(set(first.values())) == len(first)


def test_points_of_a_tournament_add_up(whole):
    names, table, places = whole.tournament(0)
    assert np.allclose(table + table.T, 1)
    assert {agent for agent, _ in places} == set(names)
    scores = [score for _, score in places]
    assert scores == sorted(scores, reverse=True)
    assert np.mean(scores) == pytest.approx(0.5)
    assert whole.ranking(0) == places


def test_the_best_are_trained_on_in_both_ways(whole):
    places = dict(whole.ranking(0))
    kept = {name for name, score in places.items() if score >= 0.5 * max(places.values())}
    later = whole.plans(1)
    assert {plan.former for plan in later} == {f"round-0/{name}.h5" for name in kept}
    for plan in later:
        former = plan.former.removeprefix("round-0/").removesuffix(".h5")
        assert plan.is_contest == (plan.name == former)
        assert plan.name in (former, f"{former}-self")
        before = whole.learner(0, former).games
        assert whole.learner(1, plan.name).games in (before, before + 80)


def test_an_agent_that_loses_to_its_former_self_is_rejected(whole, monkeypatch):
    name = whole.plans(0)[0].name
    plan = AgentPlan(name, Hyperparameters(), ("random",), 50, f"round-0/{name}.h5", is_contest=True)
    number = whole.start_round([plan])
    (whole.folder / f"round-{number}").mkdir()
    monkeypatch.setattr("punish_fast.learn.league.pair_points", lambda *_policies: 0.49)
    report = train_agent(whole.folder, number, plan)
    assert report["is_rejected"]
    assert report["games"] == whole.learner(0, name).games
    assert np.array_equal(whole.learner(number, name).q, whole.learner(0, name).q)


def test_an_agent_that_does_not_lose_to_its_former_self_is_kept(whole):
    name = whole.plans(0)[0].name
    plan = AgentPlan(name, Hyperparameters(), ("random",), 50, f"round-0/{name}.h5", is_contest=True)
    number = whole.start_round([plan])
    (report,) = whole.train(number)
    learner, former = whole.learner(number, name), whole.learner(0, name)
    lost = pair_points(*_policies(learner, former)) < 0.5
    assert report["is_rejected"] == lost
    assert report["games"] == former.games + (0 if lost else 50)


def _policies(learner, former):
    from punish_fast.games.positions import enumerate_positions

    positions = enumerate_positions(TapnSwap())
    return positions, learner.policy(positions), former.policy(positions)


def test_ranks_break_ties_by_name():
    names, rows = ["b", "a", "c"], {"b": {"a": 0.5, "c": 1.0}, "a": {"c": 1.0}}
    assert score_table(names, rows).tolist() == [[0.5, 0.5, 1.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.5]]
    assert rank(names, rows) == [("a", 0.75), ("b", 0.75), ("c", 0)]


def test_a_folder_belongs_to_one_grid(tmp_path):
    league = begun(tmp_path)
    league.start_grid(plans())
    with pytest.raises(LeagueError, match=r"holds another grid, choose another folder$"):
        league.start_grid(plans(games=121))
    for game, seed in ((TapnSwap(), 4), (TapnSwap(Variant(limit=6)), 3)):
        with pytest.raises(LeagueError, match=r"holds .* with seed 3, choose another folder$"):
            League(tmp_path, game, seed)


def test_retraining_resumes_with_the_same_options(whole):
    assert whole.start_retraining(0.9, ["same"], 50) == 2
    assert whole.start_retraining(0.9, ["same"], 50) == 2
    with pytest.raises(LeagueError, match=r"round 2 was started with .*; resume it, or hold its tournament first$"):
        whole.start_retraining(0.9, ["same"], 60)


def test_steps_out_of_order_are_refused(tmp_path):
    league = begun(tmp_path)
    with pytest.raises(LeagueError, match=r"round 0 is incomplete, resume it first$"):
        league.tournament(0)
    league.train(0)
    with pytest.raises(LeagueError, match=r"round 0 has no tournament yet, hold it first$"):
        league.next_plans(0, 0.5, ["same"], 10)
    league.tournament(0)
    with pytest.raises(LeagueError, match=r"^share: 2 is not allowed, it must be from 0 to 1$"):
        league.next_plans(0, 2, ["same"], 10)
    with pytest.raises(LeagueError, match=r"^opponents: 'me' is not allowed, each must be one of same, other"):
        league.next_plans(0, 0.5, ["me"], 10)


def test_impossible_grids_are_refused():
    with pytest.raises(LeagueError, match=r"^opponents: 'me' is not allowed, each must be one of random, self$"):
        grid_plans(["negamax"], [0.5], [("self", "me")], 10)
    with pytest.raises(LeagueError, match=r"^grid: 2 agents with 1 names, each may occur once$"):
        grid_plans(["negamax"], [0.5, 0.5], [("self",)], 10)
    with pytest.raises(LearnError, match=r"^scheme: 'x' is not allowed"):
        grid_plans(["x"], [0.5], [("self",)], 10)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "punish-fast league", "format_version": 9}'])
def test_damaged_files_are_refused_in_one_line(tmp_path, text):
    begun(tmp_path)
    (tmp_path / "round-0.json").write_text(text)
    with pytest.raises(LeagueError, match=r"round-0\.json: is not a file of a league$"):
        League(tmp_path)


@pytest.mark.parametrize(
    "change", [{"game": 1}, {"game": {"name": "chess"}}, {"seed": "x"}, {"seed": None}, {"seed": 10**400}]
)
def test_damaged_descriptions_are_refused_in_one_line(tmp_path, change):
    begun(tmp_path)
    path = tmp_path / "round-0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(LeagueError, match=r"round-0\.json: is damaged \(.*\)$"):
        League(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LeagueError, match=r"file: is a file, not a folder$"):
        begun(tmp_path / "file")


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["agents"].reverse(),
        lambda content: content["points"].update(me={}),
        lambda content: content.update(points=3),
        lambda content: next(iter(content["points"].values())).update(dict.fromkeys(content["agents"][1:], 5e9)),
        lambda content: next(iter(content["points"].values())).update(dict.fromkeys(content["agents"][1:])),
        lambda content: next(iter(content["points"].values())).update(dict.fromkeys(content["agents"][1:], "0.5")),
        lambda content: next(iter(content["points"].values())).update(dict.fromkeys(content["agents"][1:], True)),
        lambda content: next(iter(content["points"].values())).update(dict.fromkeys(content["agents"][1:], 10**400)),
        lambda content: next(iter(content["points"].values())).update({key: [0.5] for key in content["agents"][1:]}),
        lambda content: content["points"].update({content["agents"][-1]: {}, content["agents"][0]: []}),
        lambda content: content.pop("points"),
        lambda content: content.update(agents=5),
    ],
)
def test_damaged_points_are_refused(whole, change):
    path = whole.folder / "tournament-0.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(LeagueError, match=r"tournament-0\.json: is damaged, or of other agents$"):
        whole.tournament(0)


def test_there_must_be_a_folder(tmp_path):
    with pytest.raises(LeagueError, match=r"holds no league \(round-0\.json is missing\); start one with a grid$"):
        League(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../../x"},
        {"name": 5},
        {"name": "negamax-e" + "0" * 10**5},
        {"name": "n" + "9" * 10**5 + "-e0.2-self"},
        {"name": "negamax-e" + "é" * 200},
        {"games": 0},
        {"games": "9"},
        {"games": 10**400},
        {"opponents": []},
        {"opponents": "self"},
        {"opponents": ["dragon" * 1000]},
        {"method": {}},
        {"method": {"scheme": "negamax", "epsilon": "x", "rate": 1.0, "discount": 1.0}},
        {"former": "/etc/passwd"},
        {"former": "round-0/../x.h5"},
        {"former": f"round-0/n{'9' * 1000}-e0.2-self.h5"},
        {"is_contest": 1},
        {"more": 1},
    ],
)
def test_damaged_plans_are_refused_in_one_line(tmp_path, change):
    league = begun(tmp_path)
    path = tmp_path / "round-0.json"
    content = json.loads(path.read_text())
    content["plans"][0] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(LeagueError, match=r"round-0\.json: is damaged \(.{1,200}\)$"):
        league.plans(0)


@pytest.mark.parametrize("plans", [None, [], 5, "x", [5], [None]])
def test_a_round_without_plans_is_refused(tmp_path, plans):
    league = begun(tmp_path)
    path = tmp_path / "round-0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"plans": plans}))
    with pytest.raises(LeagueError, match=r"round-0\.json: is damaged"):
        league.plans(0)


def test_two_agents_of_one_name_are_refused(tmp_path):
    league = begun(tmp_path)
    path = tmp_path / "round-0.json"
    content = json.loads(path.read_text())
    content["plans"].append(content["plans"][0])
    path.write_text(json.dumps(content))
    with pytest.raises(LeagueError, match="two agents have one name"):
        league.plans(0)


def test_an_agent_whose_file_is_replaced_is_read_again(whole):
    names, table, _ = whole.tournament(0)
    one, other = next((names[i], names[j]) for i, j in np.argwhere(table != 0.5))
    assert points_of_agent(whole.folder, 0, one, [other]) != {other: 0.5}
    shutil.copy(whole.path(0, other), whole.path(0, one))
    assert points_of_agent(whole.folder, 0, one, [other]) == {other: 0.5}


def test_a_folder_may_get_another_game(tmp_path):
    for limit in (5, 6):
        league = League(tmp_path / "league", TapnSwap(Variant(limit=limit)), 3)
        league.start_grid(plans(games=20))
        assert len(league.train(0)) == len(plans())
        shutil.rmtree(league.folder)
