"""The learning curve of MuZero at Connect Four."""

from __future__ import annotations

import pytest

from bench import muzero_curve
from bench.muzero_curve import CurvePoint, curve_of, draw_curve, kept_by
from punish_fast.games.connect4_sets import PositionSet, position_sets, search_policy, shares
from punish_fast.games.registry import make_game, vectorise
from punish_fast.learn.muzero.checkpoint import save_muzero
from punish_fast.learn.muzero.learner import new_muzero
from punish_fast.learn.muzero.method import muzero_method_for


@pytest.fixture(scope="module")
def sets():
    return {name: PositionSet(each.boards[:20], each.scores[:20]) for name, each in position_sets().items()}


def test_perfect_values_keep_all_values(sets):
    vector = vectorise(make_game("connect4", {}))
    for each in sets.values():
        assert kept_by(vector, lambda _states, found=each: found.scores.astype(float), {"x": each}) == {"x": 1}
        worst = kept_by(vector, lambda _states, found=each: -found.scores.astype(float), {"x": each})
        assert worst["x"] < shares(each, search_policy(each, 0)).keeps_value


@pytest.mark.usefixtures("fast_compilation")
def test_each_snapshot_is_judged_and_drawn(sets, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    vector = vectorise(make_game("connect4", {}))
    learner = new_muzero(vector, muzero_method_for(vector, filters=(2,), width=4, simulations=2, games=2), 1)
    learner.rounds = learner.wanted = 0
    save_muzero(tmp_path / "x.h5", learner)
    assert curve_of(tmp_path / "x.h5", sets) == []
    monkeypatch.setattr(muzero_curve, "SIMULATIONS", (0, 2))
    kept = {n: kept_by(vector, learner.values_of(learner.weights, n), sets) for n in (0, 2)}
    points = [CurvePoint(10, kept), CurvePoint(20, kept)]
    draw_curve(points, sets, tmp_path / "x.svg")
    assert "after 20 games" in (tmp_path / "x.svg").read_text()
    monkeypatch.setattr(muzero_curve, "curve_of", lambda *_args: points)
    assert muzero_curve.main([str(tmp_path / "x.h5"), "--plot", str(tmp_path / "y.png")]) == 0
    assert "       20 games,   2 simulations: easy-ends 0." in capsys.readouterr().out
