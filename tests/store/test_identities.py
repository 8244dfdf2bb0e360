"""The hash of what a file holds is that of the agent, whatever else the file says."""

from __future__ import annotations

from policies import uniform

from punish_fast.mdp.solver import solve
from punish_fast.play.punish.player import PunishPlayer
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.identities import identity_of
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load
from punish_fast.store.tensors import save

RULES = true_rules(PRESETS["tiny"])
ENEMY = {"kind": "built-in", "name": "random"}


def test_an_agent_is_the_same_in_every_file(tmp_path):
    space = StateSpace(RULES)
    mdp = build(space)
    solution = solve(mdp, discount=1.0)
    for name, enemy in (("one.h5", ENEMY), ("other.h5", None)):
        save(tmp_path / name, space, mdp, solution, enemy)
    identities = {identity_of(load(tmp_path / name)) for name in ("one.h5", "other.h5")}
    assert identities == {
        PunishPlayer("naive", {}, RULES).identity,
        PunishPlayer(str(tmp_path / "one.h5"), {}).identity,
    }


def test_a_tensor_has_no_identity(tmp_path):
    space = StateSpace(RULES)
    save(tmp_path / "tensor.h5", space, build(space))
    assert identity_of(load(tmp_path / "tensor.h5")) is None


def test_a_strategy_has_an_identity_if_it_is_of_the_view(tmp_path):
    for information, wanted in (("view", PunishPlayer("random", {}, RULES).identity), ("memory", None)):
        space = StateSpace(RULES, information)
        save_policy(tmp_path / f"{information}.h5", space, uniform(space))
        assert identity_of(load(tmp_path / f"{information}.h5")) == wanted
