from __future__ import annotations

import re

from punish_fast.arena.players import NAMES
from punish_fast.punish import rules as punish_rules
from punish_fast.punish.rules import PRESETS
from punish_fast.store.bundles import save_bundle


def test_every_built_in_agent_and_preset_is_listed(run):
    report = run("agents", "--json").report
    assert list(report["agents"]) == list(NAMES)
    assert list(report["rules"]) == list(PRESETS)
    text = run("agents").out
    assert all(name in text for name in (*NAMES, *PRESETS, "AGENT@resolve solves each measure again"))


def test_every_file_is_named_with_its_kind(run, files):
    for kind, game in (("network", "tictactoe"), ("learner", "tapnswap")):
        save_bundle(files / f"{kind}.h5", kind, {"game": {"name": game}}, {})
        run("show", f"{kind}.h5").refused(f"{kind}.h5: is a {kind} of {game}", "punish-fast games")
    save_bundle(files / "bounds.h5", "bounds", {"digest": "1"}, {})
    (files / "house.toml").write_text("base = 'tiny'\ndamage.strike = 3\n")
    run("equilibrium", "--rules", "house.toml", "--iterations", "1", "-o", "found.h5", "-q")
    punish_rules.loaded_names.clear()
    (files / "wrong.toml").write_text("hp = 0\n")
    (files / "pyproject.toml").write_text("[project]\n")
    (files / "foreign.h5").write_text("not ours")
    report = run("agents", "--json").report
    found = {entry["file"]: entry for entry in report["files"]}
    assert found.keys() == {path.name for path in files.iterdir()} - {"pyproject.toml"}
    kinds = {"agent.h5": "agent", "tensor.h5": "tensor", "strategy.h5": "strategy", "house.toml": "rules"}
    kinds |= {"network.h5": "network", "learner.h5": "learner", "foreign.h5": None}
    assert {name: found[name]["kind"] for name in kinds} == kinds
    assert found["learner.h5"]["about"] == "trained on tapnswap"
    assert found["bounds.h5"]["about"] == "for exploit --resume"
    assert found["strategy.h5"]["about"] == "memoryless, origin not recorded"
    assert found["found.h5"]["rules"] == "house"
    assert found["agent.h5"]["rules"] == "tiny"
    assert (found["wrong.toml"]["kind"], found["wrong.toml"]["about"][:17]) == (None, "rules: wrong.toml")
    text = run("agents").out
    assert all(name in text for name in found)
    assert re.search(r"^  file +kind +rules +about$", text, re.MULTILINE)


def test_the_folder_may_be_another(run, files):
    (files / "sub").mkdir()
    (files / "agent.h5").rename(files / "sub" / "agent.h5")
    assert [entry["file"] for entry in run("agents", "sub", "--json").report["files"]] == ["sub/agent.h5"]
    run("agents", "none").refused("none: cannot be listed (No such file or directory)")
    run("agents", "strategy.h5").refused("strategy.h5: cannot be listed (Not a directory)")
