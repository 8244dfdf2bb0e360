"""Pictures of learning."""

from importlib.util import find_spec

import pytest

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


def test_the_strength_of_a_network_is_drawn(tmp_path):
    seat = {"win": 0.5, "draw": 0.2, "loss": 0.2, "illegal": 0.1}
    point = {"first": seat, "second": seat, "loss_share": 0.3, "perfect": 0.75}
    curve = [point | {"games": 10**k, "earlier": [0.5] * k} for k in range(4)]
    draw_strength(curve, "dqn-mc-mask", tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    for word in ("won, moving first", "lost, moving second", "points against earlier snapshots"):
        assert f"<!-- {word} -->" in text
    assert "dqn-mc-mask loses 30.00% against random play after 1,000 games" in text
    assert "states played without a mistake" in text
