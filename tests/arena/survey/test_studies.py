import re
from dataclasses import replace

import numpy as np
import pytest

from punish_fast.arena.players import PlayerError
from punish_fast.arena.survey.plot import draw_survey
from punish_fast.arena.survey.points import Point, survey_of
from punish_fast.arena.survey.results_file import Outcome, ResultsFile
from punish_fast.arena.survey.studies import jobs_of, n_missing, run_survey
from punish_fast.arena.survey.table import table_of
from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.run import Target, run_equilibrium
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.arrays.policy import greedy
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.openings import openings
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.cluster.connection import connected
from punish_fast.runtime.errors import OutputError
from punish_fast.runtime.figures import FigureError
from punish_fast.store.tensors import save
from punish_fast.study.lessons import study_game

TINY = PRESETS["tiny"]
FIELDS = {"base": "tiny", "grid": {"hp": [1, 2]}, "points": [{"damage": [0, 0, 0, 0, 0]}]}


@pytest.fixture(scope="module")
def found():
    return run_survey(survey_of(FIELDS), iterations=2)


@pytest.mark.slow
def test_a_point_is_what_its_parts_find(found):
    point, agent, equilibrium = found[1].point, found[1].agent.result, found[1].equilibrium.result
    assert point == Point(TINY)
    space = StateSpace(TINY)
    mdp = build(space)
    solution = solve(mdp, objective="reach-probability")
    dealt = openings(space)
    assert agent["digest"] == solution.digest
    assert agent["value"] == float(dealt.p @ solution.v[dealt.state])
    assert (agent["states"], agent["rows"], agent["nnz"]) == (space.n_states + 2, mdp.n_rows, mdp.nnz)
    graph = GameGraph(StateSpace(true_rules(TINY)))
    policy = greedy(space.state_ptr, solution.q)
    assert {name: agent[name] for name in study_game(graph, policy)} == study_game(graph, policy)
    assert agent["best_response"] == best_response(graph, policy, "belief").win_probability
    learner = Equilibrium(graph, share=0.9)
    exploitability = run_equilibrium(learner, Target(iterations=2)).exploitability
    assert equilibrium["exploitability"] == exploitability
    assert equilibrium["plays"] == study_game(graph, learner.average)["plays"]


def test_a_game_without_an_end_has_its_reason(found):
    assert [each.reason is None for each in found] == [True, True, False]
    assert "may never end" in found[2].reason
    assert found[2].agent.result is None


def test_points_share_equilibria_and_surveys_share_points(tmp_path):
    fields = {"base": "tiny", "grid": {"hp": [1], "redeal": ["discard", "reshuffle"]}, "enemies": ["random", "careful"]}
    of_points = jobs_of(survey_of(fields), 2)
    jobs = [job for of_point in of_points for job in of_point]
    assert len({str(job.key) for job in jobs if job.key["study"] == "equilibrium"}) == 1
    assert len({str(job.key) for job in jobs if job.key["study"] == "agent"}) == 4
    results = ResultsFile(tmp_path / "results.jsonl")
    first = survey_of({"base": "tiny", "grid": {"hp": [1]}})
    run_survey(first, results)
    assert [n_missing(jobs_of(first, n), results) for n in (None, 2)] == [0, 1]
    assert n_missing(jobs_of(survey_of(fields), None), results) == 3


def test_enemies_come_from_files(tmp_path):
    space = StateSpace(TINY)
    mdp = build(space)
    for name in ("one.h5", "two.h5"):
        save(tmp_path / name, space, mdp, solve(mdp), enemy={"kind": "built-in", "name": "random"})
    files = [str(tmp_path / name) for name in ("one.h5", "two.h5", "one.h5@0.5")]
    (one,), (two,), (soft,) = jobs_of(survey_of({"base": "tiny", "enemies": files}), None)
    # What counts is the agent, not the name of its file.
    assert one.key == two.key != soft.key
    assert np.array_equal(one.arguments[1], greedy(space.state_ptr, solve(mdp).q))
    with pytest.raises(PlayerError, match="no such file"):
        jobs_of(survey_of({"enemies": ["nobody"]}), None)


def test_all_results_are_in_the_table(found):
    survey = survey_of(FIELDS)
    columns = table_of(survey, found)
    assert columns["point"] == ["hp=1", "base", "damage.rush=0 damage.strike=0 damage.punish=0"]
    assert (columns["hp"], columns["damage.strike"]) == ([1, 2, 2], [2, 2, 0])
    assert columns["in_hand_dodge"][1] == found[1].agent.result["in_hand"]["dodge"]
    assert columns["equilibrium_plays_feint"][1] == found[1].equilibrium.result["plays"]["feint"]
    assert columns["seconds"][1] == found[1].agent.seconds + found[1].equilibrium.seconds
    assert columns["equilibrium_iterations"] == [2, 2, None]
    assert columns["length"][2] is columns["equilibrium_exploitability"][2] is None
    assert [reason is None for reason in columns["reason"]] == [True, True, False]
    assert "equilibrium_length" not in table_of(survey, run_survey(survey_of({"base": "tiny", "grid": {"hp": [1]}})))


def test_a_survey_is_drawn_unless_there_are_too_many_points_or_none(found, tmp_path):
    pytest.importorskip("matplotlib")
    columns = table_of(survey_of(FIELDS), [replace(each, equilibrium=None) for each in found])
    draw_survey(columns, tmp_path / "survey.svg")
    # Of each point that has results.
    assert "2 points: each agent" in (tmp_path / "survey.svg").read_text(encoding="utf-8")
    draw_survey(columns, tmp_path / "map.svg", heat_map=True)
    numbers = re.findall(r"<!-- (-?[\d.]+) -->", (tmp_path / "map.svg").read_text(encoding="utf-8"))
    assert f"{100 * columns['plays_feint'][0]:.1f}" in numbers
    assert len(numbers) <= 2 * 18
    for some, told in (
        ({name: values[2:] for name, values in columns.items()}, "0 points"),
        ({name: values[:1] * 201 for name, values in columns.items()}, "201 points"),
    ):
        with pytest.raises(FigureError, match=f"{told} have results; a plot shows 1 to 200"):
            draw_survey(some, tmp_path / "survey.png")


@pytest.mark.slow
@pytest.mark.compiled
def test_a_cluster_finds_the_same_bits(found, tmp_path):
    pytest.importorskip("distributed")
    with connected("local:1") as client:
        spread = run_survey(survey_of(FIELDS), ResultsFile(tmp_path / "results.jsonl"), 2, client)
    for own, other in zip(found, spread, strict=True):
        for one, two in ((own.agent, other.agent), (own.equilibrium, other.equilibrium)):
            assert (one.result, one.reason) == (two.result, two.reason)


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
    with pytest.warns(UserWarning, match="1 damaged lines; their results are computed again"):
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
