from __future__ import annotations

import pytest


@pytest.mark.slow
def test_built_in_agents_are_judged_exactly(run):
    report = run("games", "evaluate", "tictactoe", "--json").report
    agents = {each["agent"]: each for each in report["agents"]}
    assert list(agents) == ["random", "perfect", "best-response", "safe-response"]
    assert agents["best-response"]["second"]["win"] == pytest.approx(887 / 945, rel=1e-12)
    assert agents["safe-response"]["second"]["win"] == pytest.approx(866 / 945, rel=1e-12)
    assert agents["safe-response"]["second"]["loss"] == agents["perfect"]["first"]["loss"] == 0
    assert agents["random"]["losing_lines"] == {"first": 77_904, "second": 131_184}
    assert (agents["perfect"]["keeps_value"], agents["perfect"]["keeps_choice"]) == (1, 1)


def test_agents_of_files_are_judged(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    run("games", "train", "tapnswap:taps_only=true", "--games", "300", "--quiet")
    done = run("games", "evaluate", "tapnswap:taps_only=true", "tapnswap.h5", "perfect")
    assert (done.code, done.err) == (0, "")
    assert done.then == "punish-fast games play tapnswap:taps_only=true --agent tapnswap.h5"
    words = [line.split() for line in done.out.splitlines()]
    (header,) = [line for line in words if line[:1] == ["agent"]]
    assert header == ["agent", "as", "first", "as", "second", "losing", "lines", "keeps", "value", "keeps", "choice"]
    (perfect,) = [line for line in words if line[:1] == ["perfect"]]
    assert perfect[1] == "93.8/0.0/6.2"
    assert perfect[-2:] == ["100.0%", "100.0%"]
    assert "\nkeeps choice: the same" in done.out


def test_variants_that_end_are_judged_and_others_refused(run):
    (agent,) = run("games", "evaluate", "tapnswap:taps_only=true", "best-response", "--json").report["agents"]
    assert (agent["first"]["win"], agent["second"]["win"]) == pytest.approx((15 / 16, 1))
    (table,) = run("games", "evaluate", "tapnswap:taps_only=true", "trained", "--json").report["agents"]
    assert (table["agent"], table["first"]["win"], table["keeps_value"]) == ("trained", pytest.approx(15 / 16), 1)
    run("games", "evaluate", "tapnswap").refused("tapnswap: play can continue forever, so agents cannot be judged")
    run("games", "evaluate", "tictactoe", "\x1b[31m").refused("unknown agent; use random, perfect, best-response")
