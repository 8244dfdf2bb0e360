"""Scales of values."""

from __future__ import annotations

import pytest

from punish_fast.mdp.solver import solve
from punish_fast.play.explain.reasons import Scale, as_chances


def test_total_rewards_are_chances_to_win(tiny_mdp):
    total = as_chances(solve(tiny_mdp, discount=1, tolerance=1e-10))
    wins = solve(tiny_mdp, objective="win-probability", tolerance=1e-10)
    assert total.objective == "win-probability"
    assert total.v == pytest.approx(wins.v, abs=1e-9)
    assert total.q == pytest.approx(wins.q, abs=1e-9)
    assert as_chances(wins) is wins
    discounted = solve(tiny_mdp)
    assert as_chances(discounted) is discounted


def test_values_are_told_by_their_scale():
    chances, values = Scale(0, 1, True), Scale(-20, 20, False)
    assert (chances.text(0.5), values.text(0.5)) == ("50.00%", "+0.5000")
    assert (chances.sentence(0.5), values.sentence(-1)) == ("wins 50.00%", "is worth -1.0000")
    assert (chances.share(0.1), values.share(4)) == (0.1, 0.1)
