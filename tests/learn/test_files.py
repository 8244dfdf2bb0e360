"""Learners in files."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.positions import enumerate_positions
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.learn.files import fetch, fetch_for, keep
from punish_fast.learn.qlearning import Method, learn, new_learner
from punish_fast.runtime.files import ReadError
from punish_fast.store.learners import save_learner


@pytest.fixture
def kept(tmp_path):
    positions = enumerate_positions(TapnSwap())
    learner = new_learner(positions, Method("author", 0.25, None, 1.0), 9)
    learner.plan("self", 100)
    learn(positions, [learner], 60)
    learner.curve.append({"games": 60.0, "win_share": 0.5})
    keep(tmp_path / "agent.h5", positions.game, learner, round=3)
    return tmp_path / "agent.h5", positions, learner


def test_what_is_fetched_is_what_was_kept(kept):
    path, positions, learner = kept
    game, found = fetch(path)
    assert game.parameters() == positions.game.parameters()
    assert found.digest == learner.digest
    assert found.to_mapping() == learner.to_mapping()
    assert found.session.games == 60


def test_a_learner_goes_on_as_if_it_had_not_been_away(kept):
    path, positions, learner = kept
    found = fetch_for(path, TapnSwap())
    for each in (learner, found):
        learn(positions, [each], 40)
    assert found.digest == learner.digest


def test_learners_of_other_games_are_refused(kept):
    with pytest.raises(ReadError, match=r"agent\.h5: belongs to .*'limit': 5.*, but the game is .*'limit': 6"):
        fetch_for(kept[0], TapnSwap(Variant(limit=6)))


@pytest.mark.parametrize(
    ("game", "text"),
    [
        ({"name": "chess", "parameters": {}}, "game: 'chess' is not known, allowed is tapnswap"),
        ({}, "game: None is not known, allowed is tapnswap"),
        ({"name": "tapnswap", "parameters": {"limit": "5"}}, "game: tapnswap with parameters"),
        ({"name": "tapnswap", "parameters": Variant(limit=1)._asdict()}, "limit: 1 is not allowed"),
    ],
)
def test_unknown_games_are_refused(kept, game, text):
    path, _, learner = kept
    save_learner(path, game, learner.to_mapping(), learner.q, learner.visits)
    with pytest.raises(ReadError, match=rf"agent\.h5: {text}"):
        fetch(path)


def test_tables_that_cannot_be_are_refused(kept):
    path, positions, learner = kept
    learner.q[0, 0] = np.nan
    keep(path, positions.game, learner)
    with pytest.raises(ReadError, match=r"agent\.h5: learner: its numbers are none that learning leads to"):
        fetch(path)
