from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import agreement, reference
from bench.agreement import ENEMIES, Disagreement, Game, check, compare, extrapolate, make_game
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS, REDEALS

PROGRESS = [("agreement", 1, 3), ("agreement", 2, 3), ("agreement", 3, 3)]


@pytest.fixture(scope="module")
def game() -> Game:
    return make_game(PRESETS["tiny"], "random", np.random.default_rng(1), name="tiny")


def generator() -> np.random.Generator:
    return np.random.default_rng(2)


def refuses(game: Game, mdp: MDP, message: str) -> None:
    """Check that comparing ``game`` with the altered tensor fails, with ``message`` after the state."""
    with pytest.raises(Disagreement, match=r"^rules tiny, enemy random, redeal discard, state \d{18}" + message):
        compare(replace(game, mdp=mdp), None, generator())


@pytest.mark.parametrize("redeal", REDEALS)
@pytest.mark.parametrize("enemy", ENEMIES)
def test_all_of_tiny_agrees(enemy, redeal):
    calls = []
    found = check("tiny", enemy, redeal, None, 3, lambda *call: calls.append(call))
    assert found.states == 558
    assert found.rows == 911
    assert 0 < found.max_difference < 1e-14
    assert calls == PROGRESS


def test_counts_are_those_of_the_tensor(game):
    found = compare(game, None, generator())
    assert found[:3] == (game.mdp.n_states, game.mdp.n_rows, game.mdp.n_entries)


def test_a_sample_has_the_given_number_of_states_of_each_breath(game):
    assert check("tiny", "random", "discard", 30, 3).states == 90
    assert check("tiny", "random", "discard", 48, 3).states == 46 + 48 + 48
    samples = agreement.sample_rows(game.space, 48, generator())
    for number, rows in enumerate(samples):
        begin, end = game.space.layer_ptr[number : number + 2]
        assert len(set(rows.tolist())) == min(48, end - begin)
        assert begin <= rows.min() <= rows.max() < end


@settings(max_examples=12)
@given(house_rules(largest_hp=2, most_breaths=2), st.sampled_from(ENEMIES), st.integers(0, 99))
def test_house_rules_agree(rules, enemy, seed):
    drawn = np.random.default_rng(seed)
    compare(make_game(rules, enemy, drawn, name="house"), 40, drawn)


def test_rules_come_from_files_too(tmp_path):
    # Three breaths with two cards, so hands run empty.
    house = tmp_path / "house.toml"
    house.write_text("copies = [2, 1, 1, 1, 2]\nhand_size = 2\nreveal_size = 1\nhp = 2\nbreaths = 3\n")
    assert check(str(house), "table", "reshuffle", None, 3).states == 46 + 507 + 318 + 18


@pytest.mark.full
@pytest.mark.parametrize(("enemy", "redeal"), [("random", "reshuffle"), ("table", "discard")])
def test_a_sample_of_the_notebook_agrees(enemy, redeal):
    found = check("notebook", enemy, redeal, 20, 4)
    assert found.states == 100
    assert found.max_difference < 1e-14


# Errors are found


def test_an_altered_probability_is_found(game):
    data = game.mdp.data.copy()
    data[100] += 2e-12
    refuses(
        game, replace(game.mdp, data=data), r", action \d\d, successor (\d{18}|win|loss): package has \S+, reference "
    )


def test_an_altered_reward_is_found(game):
    reward = game.mdp.reward.copy()
    reward[300] -= 1e-9
    refuses(game, replace(game.mdp, reward=reward), r", action \d\d, reward: package has ")


def test_an_altered_successor_is_found(game):
    row = int(np.argmin(np.diff(game.mdp.indptr)))
    begin, end = game.mdp.indptr[row : row + 2]
    indices = game.mdp.indices.copy()
    indices[begin] = np.setdiff1d(np.arange(game.mdp.n_states), indices[begin:end])[0]
    refuses(game, replace(game.mdp, indices=indices), r", action \d\d, successor \S+: package has ")


def test_a_successor_with_probability_zero_is_found(game):
    begin, end = game.mdp.indptr[:2]
    absent = np.setdiff1d(np.arange(game.space.layer_ptr[1], game.space.layer_ptr[2]), game.mdp.indices[begin:end])[0]
    altered = replace(
        game.mdp,
        indptr=np.append(0, game.mdp.indptr[1:] + 1),
        indices=np.append(absent, game.mdp.indices).astype(np.int32),
        data=np.append(0.0, game.mdp.data),
    )
    refuses(game, altered, r", action \d\d, successor \d{18}: package has 0.0, reference 0.0$")


def test_a_duplicate_successor_is_found(game):
    row = int(np.flatnonzero(np.diff(game.mdp.indptr) > 1)[0])
    indices = game.mdp.indices.copy()
    indices[game.mdp.indptr[row] + 1] = indices[game.mdp.indptr[row]]
    refuses(game, replace(game.mdp, indices=indices), r", action \d\d: package lists a successor twice$")


def test_a_nan_probability_is_found(game):
    data = game.mdp.data.copy()
    data[7] = math.nan
    refuses(game, replace(game.mdp, data=data), r", action \d\d, successor \S+: package has nan, reference ")


def test_other_actions_are_found(game):
    action = game.mdp.action.copy()
    action[5] += 10
    refuses(game, replace(game.mdp, action=action), r": package has actions \[.*\], reference \[.*\]$")


def test_other_rules_are_found(game):
    stronger = replace(game, rules=game.rules._replace(damage=(0, 1, 0, 2, 1)))
    with pytest.raises(Disagreement):
        compare(stronger, None, generator())


@pytest.mark.parametrize("changed", [{"healing": 0}, {"hp": 3}, {"feints": 0}])
def test_other_states_are_found(game, changed):
    other = replace(game, rules=game.rules._replace(**changed))
    with pytest.raises(Disagreement, match=r"state \d{18}: only the (package|reference) has this state$"):
        compare(other, None, generator())


def test_another_strategy_is_found(game):
    table = make_game(PRESETS["tiny"], "table", generator(), name="tiny")
    with pytest.raises(Disagreement):
        compare(replace(game, mdp=table.mdp), None, generator())


def test_check_compares_the_tensor_of_build(monkeypatch):
    def build(space: object) -> MDP:
        mdp = original(space)
        return replace(mdp, data=np.where(mdp.data == mdp.data.max(), 0.5, mdp.data))

    original = agreement.build
    monkeypatch.setattr(agreement, "build", build)
    with pytest.raises(Disagreement):
        check("tiny", "random", "discard", None, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tiny", "clever", "discard", 10), "enemy: 'clever' is not allowed, it must be one of random, table"),
        (("tiny", "random", "none", 10), "redeal: 'none' is not allowed, it must be one of discard, reshuffle"),
        (("tiny", "random", "discard", 0), "per_breath: 0 is not allowed, it must be 1 or more"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        check(*arguments, 1)


# The random strategy


def test_the_random_table_has_every_kind_of_state(game):
    states, p = agreement.random_table(game.space, generator())
    assert 0.4 < len(states) / game.space.n_states < 0.6
    assert p.sum(axis=1) == pytest.approx(np.ones(len(states)))
    counts = np.diff(game.space.state_ptr)[states]
    assert (np.count_nonzero(p, axis=1) < counts).any()
    assert ((p > 0) & (p < 1)).any()


def test_the_reference_sees_the_same_table(game):
    states, table = agreement.random_table(game.space, generator())
    look_up = agreement.strategy_of(game.space, game.rules, states, table)
    uniform = reference.uniform(game.rules, 1.0)
    covered = set(states.tolist())
    for row in range(game.space.n_states):
        state = game.state(row)
        if row not in covered:
            assert look_up(state) == uniform(state)
    for row, p in zip(states.tolist(), table.tolist(), strict=True):
        assert sorted(look_up(game.state(row)).values()) == sorted(x for x in p if x)
    nowhere = game.state(0)._replace(own_hp=1)
    assert look_up(nowhere) == uniform(nowhere)


# Times


def test_the_sample_of_a_whole_game_extrapolates_to_itself(game):
    calls = []
    found = extrapolate(1_000, 5, "tiny", lambda *call: calls.append(call))
    assert found.states == (46, 462, 50)
    assert sum(found.rows) == game.mdp.n_rows
    assert found.rows_ratio == found.nonzeros_ratio == 1
    assert found.episodes == solve(game.mdp, 0.95, "jacobi", 1e-9).sweeps
    parts = found.enumeration_seconds + found.maps_seconds
    assert found.total_seconds == pytest.approx(parts + found.episodes * found.episode_seconds)
    assert found.sample_seconds > parts > 0
    assert [stage for stage, *_ in calls] == ["reference"] * 3


def test_a_sample_is_scaled_up_to_the_whole_game(monkeypatch):
    monkeypatch.setattr(agreement, "TOLERANCE", 1.0)
    found = extrapolate(25, 5, "tiny")
    assert found.states == (25, 25, 25)
    assert found.rows_ratio == pytest.approx(1, abs=0.3)
    assert found.nonzeros_ratio == pytest.approx(1, abs=0.3)
    assert found.sample_seconds < found.enumeration_seconds + found.maps_seconds + found.episodes * (
        found.episode_seconds
    )


def test_equal_seeds_give_equal_samples(monkeypatch):
    monkeypatch.setattr(agreement, "TOLERANCE", 1.0)
    first, second = extrapolate(25, 5, "tiny"), extrapolate(25, 5, "tiny")
    assert (first.rows, first.rows_ratio, first.nonzeros_ratio) == (
        second.rows,
        second.rows_ratio,
        second.nonzeros_ratio,
    )
