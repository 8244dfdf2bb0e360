"""Random play."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.random_play import random_mover


def test_all_legal_actions_are_as_likely():
    legal = np.tile([True, False, True, True], (4000, 1))
    found = random_mover(np.zeros((4000, 1), dtype=np.uint64), legal, np.random.default_rng(5))
    assert np.bincount(found, minlength=4) / 4000 == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3], abs=0.03)
