"""What is told of a process in whatever format: where games begin, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.formats import labelled_process
from punish_fast.store.formats.labelled_process import process_of
from punish_fast.store.reader import load


def test_games_begin_at_the_first_breath_with_all_hp(tiny, tiny_mdp):
    is_initial = process_of(tiny, tiny_mdp, None).is_initial
    states = [tiny.state(row) for row in range(tiny.n_states)]
    full = tiny.rules.hp
    expected = [state.breath == 1 and state.own_hp == state.enemy_hp == full for state in states]
    assert is_initial.tolist() == [*expected, False, False]
    assert is_initial.sum() == tiny.n_openings


def test_games_do_not_begin_hurt():
    space = StateSpace(PRESETS["tiny"]._replace(healing=0))
    is_initial = process_of(space, build(space), None).is_initial
    assert 0 < is_initial.sum() == space.n_openings < space.states_by_breath[0]


def test_a_space_and_a_file_tell_the_same(game, originals):
    of_space = process_of(game.space, game.mdp, load(originals["agent"]).enemy)
    file = load(originals["agent"])
    of_file = process_of(file, file.mdp(), file.enemy)
    assert np.array_equal(of_space.fields, of_file.fields)
    assert (of_space.rules, of_space.enemy) == (of_file.rules, of_file.enemy)
    assert np.array_equal(of_space.is_initial, of_file.is_initial)


def test_positions_are_told_in_blocks(game, monkeypatch):
    whole = process_of(game.space, game.mdp, None)
    monkeypatch.setattr(labelled_process, "_BLOCK", 7)
    blocks = process_of(game.space, game.mdp, None)
    assert np.array_equal(whole.fields, blocks.fields)
    assert np.array_equal(whole.decimals, blocks.decimals)
    assert whole.decimals.dtype == np.int64


def test_an_enemy_may_be_unknown(game):
    assert process_of(game.space, game.mdp, None).enemy == {"kind": "unknown"}


def test_a_process_of_other_states_is_refused(game):
    other = StateSpace(PRESETS["tiny"]._replace(hp=1))
    with pytest.raises(ValueError, match=rf"^export: the process has 558 states, the space {other.n_states}$"):
        process_of(other, game.mdp, None)


def test_a_process_with_other_terminals_is_refused(game):
    mdp = replace(game.mdp, terminal_reward=np.zeros(3))
    with pytest.raises(ValueError, match=r"^export: the process has 3 terminals, allowed are win and loss$"):
        process_of(game.space, mdp, None)


def test_a_process_with_other_actions_is_refused(game):
    action = game.mdp.action.copy()
    action[7] = 60
    with pytest.raises(ValueError, match=r"^export: the process has actions other than 10, 11, .*, 90$"):
        process_of(game.space, replace(game.mdp, action=action), None)
