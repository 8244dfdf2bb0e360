"""The examples in docstrings."""

from __future__ import annotations

import doctest

import pytest

from punish_fast.mdp import policy, solver
from punish_fast.mdp.graph import reachable_states


@pytest.mark.parametrize("module", [policy, reachable_states, solver], ids=lambda module: module.__name__)
def test_examples_hold(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)
