from __future__ import annotations

import numpy as np
import pytest

from punish_fast.arena.players import Player
from punish_fast.mdp.arrays.policy import first_best
from punish_fast.mdp.objectives.solver import evaluate
from punish_fast.play.explain.review import win_chances_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.reader import load


@pytest.fixture
def agents(run, files):
    """An agent against the naive enemy, and one against that agent."""
    assert run("solve", "--rules", "tiny", "--enemy", "agent.h5", "-o", "counter.h5").code == 0
    return files


@pytest.mark.usefixtures("agents")
def test_figures_are_those_of_the_files(run):
    report = run("compare", "agent.h5", "counter.h5", "--json").report
    first, second = (load(name).solution() for name in ("agent.h5", "counter.h5"))
    changed = first.choice != second.choice
    assert report["other_choice"] == changed.sum() > 0
    assert report["other_choice_share"] == changed.mean()
    assert [(entry["breath"], entry["states"]) for entry in report["breaths"]] == [(1, 46), (2, 462), (3, 50)]
    assert sum(entry["other_choice"] for entry in report["breaths"]) == changed.sum()
    assert all(0 <= entry["ties"] <= entry["other_choice"] for entry in (report, *report["breaths"]))
    for name in ("v", "q"):
        difference = getattr(second, name) - getattr(first, name)
        figures = report[name]
        assert figures["largest"] == np.abs(difference).max()
        assert figures["mean"] == pytest.approx(np.abs(difference).mean(), rel=1e-12)
        assert figures["rms"] == pytest.approx(np.sqrt((difference**2).mean()), rel=1e-12)
        assert figures["bias"] == pytest.approx(difference.mean(), rel=1e-9)
    assert [agent["file"] for agent in report["agents"]] == ["agent.h5", "counter.h5"]
    assert report["agents"][1]["enemy"]["file"] == "agent.h5"
    assert report["rules_digest"] == PRESETS["tiny"].digest
    # The largest disagreements have the figures that `show` prints.
    assert len(report["biggest"]) == 10
    sizes = [position["disagreement"] for position in report["biggest"]]
    assert sizes == sorted(sizes, reverse=True)
    for position in report["biggest"][::4]:
        for which, name in enumerate(("agent.h5", "counter.h5")):
            shown = run("show", name, str(position["state"]), "--json").report
            best = shown["actions"][shown["best"]]
            choice = position["choices"][which]
            assert (best["action"], best["value"]) == (choice["action"], choice["values"][which])
            others = position["choices"][1 - which]
            found = [(entry["action"], entry["name"], entry["value"]) for entry in shown["actions"]]
            assert (others["action"], others["name"], others["values"][which]) in found


@pytest.mark.usefixtures("agents")
def test_a_comparison_in_words(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    report = run("compare", "agent.h5", "counter.h5", "--json").report
    done = run("compare", "agent.h5", "counter.h5")
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "A agent.h5: against random, discount 0.95" in lines
    assert "B counter.h5: against agent.h5, discount 0.95" in lines
    whole = f"all 558 {report['other_choice']} {report['other_choice_share']:.1%} {report['ties']}"
    assert whole in lines
    v, first = report["v"], report["biggest"][0]
    assert f"values of states {v['largest']:.4g} {v['mean']:.4g} {v['rms']:.4g} {v['bias']:+.4g}" in lines
    where = lines.index(f"state {first['state']} to A to B")
    assert lines[where - 1] == first["position"]
    for letter, choice, line in zip("AB", first["choices"], lines[where + 1 :], strict=False):
        assert line == f"{letter} plays {choice['name']} {choice['values'][0]:+.4g} {choice['values'][1]:+.4g}"
    assert sum(line.startswith("Breath ") for line in lines) == 10


@pytest.mark.usefixtures("files")
def test_what_cannot_be_compared_is_refused(run, folder):
    run("compare", "agent.h5", "tensor.h5").refused("tensor.h5 is a tensor, not an agent. Solve it first")
    rules = "copies = [1, 2, 1, 2, 1]\nhand_size = 2\nreveal_size = 1\nhp = 1\nbreaths = 2\n"
    (folder / "home.toml").write_text(rules)
    run("solve", "--rules", "home.toml", "-o", "home.h5")
    run("compare", "agent.h5", "home.h5").refused("agents must share their rules", "agent.h5 has tiny", "home.h5 has ")


@pytest.mark.usefixtures("files")
def test_agents_that_differ_in_objective_or_redeal_are_compared_by_win_probabilities(run):
    real = load("other-agent.h5").rules
    run("solve", "other-tensor.h5", "--objective", "reach-probability", "-o", "win.h5")
    own = load("win.h5").solution()
    for name in ("agent.h5", "other-agent.h5"):
        done = run("compare", name, "win.h5", "--json")
        assert "compare: by win probabilities under the true redeal" in done.err
        first, second = done.report["agents"]
        assert (first["objective"], second["objective"]) == ("reach-probability", "reach-probability")
        assert second["digest"] == own.digest
        assert done.report["v"]["bias"] >= -1e-9
        space, file = StateSpace(real), load(name)
        v = (1 + evaluate(build(space), file.policy(space), discount=1.0)) / 2
        assert done.report["v"]["bias"] <= (own.v - v).mean() + 1e-8


@pytest.mark.usefixtures("files")
def test_players_without_values_are_compared_by_win_probabilities_against_random(run):
    done = run("compare", "careful", "other-strategy.h5", "--json")
    assert "players without an agent file meet random" in done.err
    assert [agent["file"] for agent in done.report["agents"]] == ["careful", "other-strategy.h5"]
    assert {agent["enemy"]["name"] for agent in done.report["agents"]} == {"random"}
    space = StateSpace(load("other-strategy.h5").rules)
    policies = [Player(name).policy(space) for name in ("careful", "other-strategy.h5")]
    choices = [first_best(space.state_ptr, policy) for policy in policies]
    assert done.report["other_choice"] == (choices[0] != choices[1]).sum() > 0
    values = [(1 + evaluate(build(space), policy, discount=1.0)) / 2 for policy in policies]
    # careful is deterministic, so the value of its choice is its own.
    assert win_chances_of(Player("careful"), space).q[choices[0]] == pytest.approx(values[0], abs=1e-8)


def test_two_files_of_rules_are_for_another_command(run):
    run("compare", "soft.toml", "my hard.toml").refused(
        "compares agents; to compare two sets of rules, run: punish-fast balance 'my hard.toml' --base soft.toml"
    )
