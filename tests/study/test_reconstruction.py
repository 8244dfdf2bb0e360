"""What players bore in mind, against games in which it is known."""

from dataclasses import replace

import numpy as np
import pytest
from policies import mixed
from recorded_games import part_of, play_games
from seen import keys_of

from punish_fast.duel.graph import GameGraph
from punish_fast.punish.codes import indices_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import belongs_to
from punish_fast.study.reconstruction import reconstruct
from punish_fast.study.selfplay import self_play

# Measures of three breaths, so that there is something to remember.
RULES = PRESETS["tiny"]._replace(redeal="reshuffle", breaths=3)


@pytest.fixture(scope="module")
def view():
    return StateSpace(RULES)


@pytest.fixture(scope="module")
def play():
    space = StateSpace(RULES, "memory")
    return self_play(GameGraph(space), mixed(space, 1))


@pytest.fixture(scope="module")
def recorded(play):
    space = play.graph.space
    choices, keys = play_games(RULES, 40, space.information.name)
    number = {key: row for row, key in enumerate(keys_of(space))}
    return choices, np.array([number[key] for key in keys])


def states_of(found, n):
    states = [set() for _ in range(n)]
    for choice, state in zip(found.choice.tolist(), found.state.tolist(), strict=True):
        states[choice].add(state)
    return states


def test_the_true_state_is_among_those_recalled_and_mostly_the_only_one(play, view, recorded):
    choices, true = recorded
    index = indices_of(view, choices.decimal)
    found = reconstruct(play, view, index, choices)
    states = states_of(found, len(choices))
    assert all(state in recalled for state, recalled in zip(true.tolist(), states, strict=True))
    assert found.n_exact == sum(len(recalled) == 1 for recalled in states)
    # The view alone leaves more open.
    match = belongs_to(play.graph.space, view)
    assert found.n_exact > 0.9 * len(choices)
    assert (np.bincount(match)[index] == 1).mean() < 0.8
    assert np.bincount(found.choice, weights=found.weight) == pytest.approx(1, abs=1e-12)
    assert (match[found.state] == index[found.choice]).all()


def test_less_on_record_leaves_more_open(play, view, recorded):
    choices, true = recorded
    everything = reconstruct(play, view, indices_of(view, choices.decimal), choices)
    for which in (choices.won, np.arange(len(choices)) % 7 != 3):
        few = part_of(choices, which)
        found = reconstruct(play, view, indices_of(view, few.decimal), few)
        states = states_of(found, len(few))
        assert all(state in recalled for state, recalled in zip(true[which].tolist(), states, strict=True))
        assert found.n_exact / len(few) < everything.n_exact / len(choices)


def test_what_cannot_have_been_is_passed_over(play, view, recorded):
    """An action that is none, or that nothing follows from, leaves the view alone to go by."""
    choices, _ = recorded
    index = indices_of(view, choices.decimal)
    for action in (91, 0, 250):
        wrong = replace(choices, action=np.full(len(choices), action, dtype=np.uint8))
        found = reconstruct(play, view, index, wrong)
        assert np.bincount(found.choice, weights=found.weight) == pytest.approx(1, abs=1e-12)
        assert len(found.state) > len(choices)


def test_choices_without_a_state_are_left_out(play, view, recorded):
    choices, _ = recorded
    index = indices_of(view, choices.decimal)
    index[::2] = -1
    assert set(reconstruct(play, view, index, choices).choice.tolist()) == set(range(1, len(choices), 2))
    assert len(reconstruct(play, view, np.full(len(choices), -1), choices).choice) == 0


def test_records_that_name_no_state_are_no_trouble(play, view, recorded):
    choices, _ = recorded
    spoilt = choices.decimal.copy()
    # HP, statuses and breaths that there are not.
    for place, digits in enumerate((10**11, 8 * 10**10, 10**17 * 4, 10**9 * 5)):
        spoilt[place::9] += digits
    changed = replace(choices, decimal=spoilt)
    index = indices_of(view, spoilt)
    found = reconstruct(play, view, index, changed)
    assert set(found.choice.tolist()) == set(np.flatnonzero(index >= 0).tolist())


def test_the_view_needs_no_recollection(view, recorded):
    choices, _ = recorded
    index = indices_of(view, choices.decimal)
    found = reconstruct(self_play(GameGraph(view), mixed(view, 2)), view, index, choices)
    assert np.array_equal(found.state, index)
    assert found.n_exact == len(choices)
