from __future__ import annotations

from bench import checkpoints


def test_sweeps_and_checkpoints_are_measured(capsys, tmp_path):
    assert checkpoints.main(["tiny", "--runs", "1", "--folder", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "558 states" in out
    for objective in ("discounted", "win-probability"):
        assert f"| {objective} |" in out
    assert list(tmp_path.iterdir()) == []
