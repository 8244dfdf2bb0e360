"""Pictures of learning."""

from contextlib import nullcontext
from importlib.util import find_spec

import pytest
from matplotlib.figure import Figure

from punish_fast.games.learn import plots
from punish_fast.games.learn.plots import draw_learning, draw_strength

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")


CURVE = [{"games": 10.0**j, "win_share": 1 - 1 / (j + 1), "perfect": j / 5} for j in range(1, 5)]


def test_pictures_are_drawn_and_come_out_the_same(tmp_path):
    path = tmp_path / "b.svg"
    draw_learning(CURVE, "negamax", path)
    first = path.read_bytes()
    draw_learning(CURVE, "negamax", path)
    assert path.read_bytes() == first
    for word in (b"negamax", b"1,000", b"games won against random play", b"positions played without a mistake"):
        assert b"<!-- %s -->" % word in first


def test_the_strength_of_a_network_is_drawn(tmp_path, monkeypatch):
    seat = {"win": 0.5, "draw": 0.2, "loss": 0.2, "illegal": 0.1}
    point = {"first": seat, "second": seat | {"win": 0.25, "loss": 0.4}, "loss_share": 0.3, "perfect": 0.75}
    curve = [point | {"games": 10**k, "earlier": [0.25, 0.5, 1.0][:k]} for k in range(4)]
    draw_strength(curve, "dqn-mc-mask", tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    for word in ("won, moving first", "lost, moving second", "points against earlier snapshots"):
        assert f"<!-- {word} -->" in text
    assert "dqn-mc-mask loses 30.00% against random play after 1,000 games" in text
    assert "states played without a mistake" in text
    figure = Figure()
    monkeypatch.setattr(plots, "picture", lambda *_: nullcontext(figure))
    draw_strength(curve, "dqn-mc-mask", tmp_path / "x.svg")
    shown = [(line.get_label(), line.get_ydata()[-1]) for panel in figure.axes for line in panel.lines]
    wanted = {
        **{"won, moving first": 50, "won, moving second": 25, "lost, moving first": 30, "lost, moving second": 50},
        **{"points against earlier snapshots": 100 * 1.75 / 3, "states played without a mistake": 75},
    }
    assert shown == [(label, pytest.approx(share)) for label, share in wanted.items()]
    assert figure.axes[0].lines[0].get_xdata().tolist() == [1, 10, 100, 1000]
