"""``agents``: what is built in, and what the files of a folder are."""

from __future__ import annotations

import re

from punish_fast.arena.players import NAMES
from punish_fast.punish.rules import PRESETS
from punish_fast.store.bundles import save_bundle


def test_every_built_in_agent_and_preset_is_listed(run):
    report = run("agents", "--json").report
    assert list(report["agents"]) == list(NAMES)
    assert list(report["rules"]) == list(PRESETS)
    text = run("agents").out
    assert all(name in text for name in (*NAMES, *PRESETS))


def save_small_network(path):
    save_bundle(path, "network", {"game": {"name": "tictactoe"}}, {})


def test_every_file_is_named_with_its_kind(run, files):
    save_small_network(files / "network.h5")
    (files / "house.toml").write_text("hp = 2\n")
    (files / "pyproject.toml").write_text("[project]\n")
    (files / "foreign.h5").write_text("not ours")
    save_bundle(files / "learner.h5", "learner", {"game": {"name": "tapnswap"}}, {})
    report = run("agents", "--json").report
    found = {entry["file"]: entry for entry in report["files"]}
    assert found.keys() == {path.name for path in files.iterdir()} - {"pyproject.toml"}
    kinds = {"agent.h5": "agent", "tensor.h5": "tensor", "strategy.h5": "strategy", "house.toml": "rules"}
    assert {name: found[name]["kind"] for name in kinds} == kinds
    assert (found["foreign.h5"]["kind"], found["learner.h5"]["kind"]) == (None, "learner")
    assert found["learner.h5"]["about"] == "trained on tapnswap"
    assert (found["network.h5"]["kind"], found["network.h5"]["about"]) == ("network", "trained on tictactoe")
    assert found["agent.h5"]["rules"] == "tiny"
    text = run("agents").out
    assert all(name in text for name in found)
    assert re.search(r"^  file +kind +rules +about$", text, re.MULTILINE)


def test_the_folder_may_be_another(run, files):
    (files / "sub").mkdir()
    (files / "agent.h5").rename(files / "sub" / "agent.h5")
    assert [entry["file"] for entry in run("agents", "sub", "--json").report["files"]] == ["sub/agent.h5"]
    run("agents", "none").refused("none: cannot be listed (No such file or directory)")
    run("agents", "strategy.h5").refused("strategy.h5: cannot be listed (Not a directory)")


def test_a_learner_is_shown_elsewhere(run, files):
    save_bundle(files / "learner.h5", "learner", {"game": {"name": "tapnswap"}}, {})
    run("show", "learner.h5").refused("learner.h5: is a learner of tapnswap", "punish-fast games")
    save_small_network(files / "network.h5")
    run("show", "network.h5").refused("network.h5: is a network of tictactoe", "punish-fast games")
