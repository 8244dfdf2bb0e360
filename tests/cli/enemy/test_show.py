from __future__ import annotations

import numpy as np
import pytest

from punish_fast.store.reader import load


@pytest.mark.usefixtures("games")
def test_entropies_of_a_strategy(run, space):
    run("enemy", "parless", "--db", "games.db", "--rules", "tiny")
    report = run("enemy", "show", "tiny-general.h5", "--json").report
    state, p = load("tiny-general.h5").strategy()
    assert (report["kind"], report["name"], report["rules"]) == ("strategy", "general PARLESS", "tiny")
    assert report["origin"]["database"] == "games.db"
    assert (report["states"], report["covered"]) == (space.n_states, len(state))
    entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1)
    assert report["entropy"] == pytest.approx(entropy.mean(), rel=1e-12)
    assert 0 < report["entropy"] < report["uniform_entropy"]
    assert [entry["states"] for entry in report["breaths"]] == space.states_by_breath
    assert sum(entry["covered"] for entry in report["breaths"]) == len(state)
    played = report["breaths"][:2]
    for name in ("entropy", "uniform_entropy"):
        assert sum(entry["covered"] * entry[name] for entry in played) == pytest.approx(len(state) * report[name])
    assert report["breaths"][-1] == {"breath": 3, "states": 50, "covered": 0, "entropy": None, "uniform_entropy": None}
    text = run("enemy", "show", "tiny-general.h5").out
    assert f"rules digest     {space.rules.digest}" in text
    assert "method parless, prior 3, database games.db" in text


@pytest.mark.usefixtures("files")
def test_entropies_of_an_agent(run):
    report = run("enemy", "show", "agent.h5", "--json").report
    assert (report["kind"], report["entropy"], report["covered"]) == ("agent", 0.0, 558)
    soft = run("enemy", "show", "agent.h5", "--temperature", "1", "--json").report
    assert soft["entropy"] == pytest.approx(run("enemy", "show", "strategy.h5", "--json").report["entropy"], rel=1e-12)
    softer = run("enemy", "show", "agent.h5", "--temperature", "5", "--json").report
    assert soft["entropy"] < softer["entropy"] < softer["uniform_entropy"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["tensor.h5"], ["tensor.h5 is a tensor, not an agent. Solve it first"]),
        (["strategy.h5", "--temperature", "1"], ["strategy.h5@1.0: has no values"]),
        (["agent.h5", "--temperature", "0"], ["temperature 0.0 is not allowed"]),
    ],
)
def test_what_is_no_enemy_is_refused(run, arguments, texts):
    run("enemy", "show", *arguments).refused(*texts)
