"""Observations and masks of all states, and policies from tables of weights."""

import numpy as np
import pytest
from houses import few, house_rules
from hypothesis import example, given
from policies import mixed

from punish_fast.punish.codes import ACTIONS, digits_of
from punish_fast.punish.encoding import encode
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import StrategyError, belongs_to
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load


@few
@given(house_rules(largest_hp=2, most_breaths=2))
def test_features_describe_the_state_and_masks_its_actions(rules):
    space = StateSpace(rules)
    encoding = encode(space)
    digits = dict(zip(encoding.feature_names, encoding.features[-1].tolist(), strict=True))
    state = space.state(space.n_states - 1)
    assert digits["breath"] == state.breath
    assert (digits["own_hp"], digits["enemy_hand"]) == (state.own_hp, state.enemy_hand)
    assert tuple(digits[f"discard_{card}"] for card in ("guard", "rush", "dodge", "strike", "punish")) == state.discard
    assert (encoding.features <= encoding.maximum).all()
    legal = [encoding.actions[row].tolist() for row in encoding.mask]
    assert np.concatenate(legal).tolist() == space.action.tolist()
    assert list(map(len, legal)) == np.diff(space.state_ptr).tolist()


# No game reaches the second breath.
SHORT = PRESETS["tiny"]._replace(
    copies=(1, 1, 0, 0, 0), hand_size=1, reveal_size=0, hp=1, healing=0, feints=0, damage=(0, 1, 0, 0, 0)
)


@few
@given(house_rules(largest_hp=2, most_breaths=2))
@example(SHORT._replace(guard_reduction=0, dodge_stops=(0,) * 5, exhausting=(0,) * 5))
def test_features_with_memory_refine_those_without(rules):
    fine, coarse = StateSpace(rules, "memory"), StateSpace(rules)
    encoding, without = encode(fine), digits_of(coarse)[belongs_to(fine, coarse)]
    assert encoding.features.shape == (fine.n_states, len(encoding.feature_names)) == (fine.n_states, 28)
    assert np.array_equal(encoding.features[:, :13], without[:, :13])
    assert np.array_equal(encoding.features[:, 13:].reshape(-1, 3, 5).sum(axis=1), without[:, 13:])
    assert len(np.unique(encoding.features, axis=0)) == fine.n_states


@pytest.mark.parametrize("information", ["memoryless", "memory"])
def test_a_table_of_weights_becomes_a_policy_and_a_file(information, tmp_path):
    space = StateSpace(PRESETS["tiny"], information)
    encoding, policy = encode(space), mixed(space, seed=3)
    table = encoding.table(policy)
    assert table.shape == (space.n_states, len(ACTIONS))
    assert np.array_equal(encoding.policy(table), policy)
    wild = np.where(encoding.mask, 7 * table, -1).astype(np.float32)
    assert encoding.policy(wild) == pytest.approx(policy, rel=1e-6)
    assert np.array_equal(encoding.policy(1.7e308 * encoding.mask), encoding.policy(encoding.mask))
    save_policy(tmp_path / "learned.h5", space, encoding.policy(table))
    assert encoding.table(load(tmp_path / "learned.h5")) == pytest.approx(table, abs=1e-4)


@pytest.mark.parametrize(
    ("weight", "problem"),
    [(-0.5, "row 4 contains -0.5"), (np.nan, "row 4 contains nan"), (0.0, "row 4 has weight 0 for every legal action")],
)
def test_wrong_weights_are_refused(space, weight, problem):
    encoding = encode(space)
    weights = np.ones(encoding.mask.shape)
    weights[4] = weight
    with pytest.raises(StrategyError, match=f"^weights: {problem}"):
        encoding.policy(weights)
    with pytest.raises(StrategyError, match=r"^weights: shape is \(558, 10\); it must be \(558, 11\)"):
        encoding.policy(weights[:, :10])
