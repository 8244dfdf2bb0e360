from __future__ import annotations

import numpy as np
import pytest
from policies import uniform

from punish_fast.arena.players import Player
from punish_fast.duel.public_states import PublicPolicy, PublicStates
from punish_fast.mdp.objectives.solver import solve
from punish_fast.play.punish.punish_player import TEMPERATURES, PunishPlayer
from punish_fast.play.session import NoAnswerError
from punish_fast.punish.codes import decimals_of
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.policies import save_policy
from punish_fast.store.tensors import save

RULES = true_rules(PRESETS["tiny"])


@pytest.fixture(scope="module")
def naive():
    return PunishPlayer("naive", RULES)


def test_agents_at_the_same_rules_share_a_table():
    first, second = PunishPlayer("naive", RULES), PunishPlayer("random", RULES)
    assert first.data is second.data
    assert PunishPlayer("random", RULES._replace(hp=1)).data is not first.data


def test_it_plays_as_a_player_of_the_arena(naive):
    for temperature in (None, TEMPERATURES[0], TEMPERATURES[-1]):
        policy = Player("naive" if temperature is None else f"naive@{temperature}").policy(naive.space)
        agent = naive.opponents(temperature)[0]
        assert np.array_equal(agent.policy, policy)
        assert agent.temperature == temperature


def test_it_plays_at_no_other_temperature(naive):
    for model, temperature in ((naive, 0.3), (naive, -1.0), (PunishPlayer("random", RULES), 0.1)):
        for ask in (model.opponents, model.coach):
            with pytest.raises(NoAnswerError, match=f"{model.name} does not play at {temperature:g}; allowed:"):
                ask(temperature)


def test_a_strategy_has_probabilities_and_no_values():
    model = PunishPlayer("random", RULES)
    found = model.values(int(decimals_of(model.space, [0])[0]))
    assert found["v"] is None
    assert {entry["q"] for entry in found["actions"]} == {None}
    assert sum(entry["probability"] for entry in found["actions"]) == pytest.approx(1)
    # Its judge knows the best choices against it.
    assert model.facts()["judges"]
    assert np.allclose(model.explainer.enemy, uniform(model.space))


def test_practice_has_shares_between_a_loss_and_a_win(tmp_path):
    space = StateSpace(RULES)
    mdp = build(space)
    save(tmp_path / "x.h5", space, mdp, solve(mdp), enemy={"kind": "built-in", "name": "random"})
    for position in PunishPlayer(str(tmp_path / "x.h5")).practice(None, 3, 1)["positions"]:
        values = sorted(action["value"] for action in position["actions"])
        assert 0 <= values[0] <= values[-1] <= 1
        assert position["loss"] == pytest.approx(values[-1] - values[-2])


def test_the_digest_is_that_of_the_strategy_whatever_its_file(tmp_path):
    space = StateSpace(RULES)
    first, second = (tmp_path / name for name in ("first.h5", "second.h5"))
    for path in (first, second):
        save_policy(path, space, uniform(space))
    digests = {PunishPlayer(str(path)).digest for path in (first, second)}
    assert digests == {PunishPlayer("random", RULES).digest}
    assert digests != {PunishPlayer("naive", RULES).digest}


def test_the_digest_depends_on_strategies_after_public_states(tmp_path):
    space, naive = StateSpace(RULES), Player("naive").policy(StateSpace(RULES))
    for name, policy in (("first", naive), ("second", uniform(space))):
        public = PublicPolicy(PublicStates([[0, 1, 0, 1, 0, 0, 0]]), [uniform(space), policy])
        save_policy(tmp_path / f"{name}.h5", space, public)
    digests = [PunishPlayer(str(tmp_path / f"{name}.h5")).digest for name in ("first", "second", "second")]
    assert digests[0] != digests[1] == digests[2]
    assert {len(digest) for digest in digests} == {32}


def test_what_remembers_more_than_a_position_tells_is_not_asked_about_one(tmp_path):
    space = StateSpace(RULES, "memory")
    save_policy(tmp_path / "memory.h5", space, uniform(space))
    model = PunishPlayer(str(tmp_path / "memory.h5"))
    model.open()
    assert not any(model.facts()[key] for key in ("coaches", "explains", "judges"))
    view = int(decimals_of(StateSpace(RULES), [0])[0])
    for ask in (lambda: model.values(view), lambda: model.why(view), lambda: model.judge, lambda: model.coach(None)):
        with pytest.raises(NoAnswerError, match="remembers more than they show"):
            ask()
