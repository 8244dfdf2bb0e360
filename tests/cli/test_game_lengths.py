"""When games end: laws of the tables that ``arena`` shows for two agents."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.cli.strategies.arena import lengths_of_duel, lengths_of_games, print_lengths


def test_chances_add_up_measure_by_measure():
    law = np.random.default_rng(1).random((5, 4, 2))
    law /= law.sum()
    lengths = lengths_of_duel(law)
    assert [entry["measure"] for entry in lengths] == [1, 2, 3, 4, 5]
    left = 1.0
    for entry, expected in zip(lengths, law, strict=True):
        assert entry["wins"] == pytest.approx(expected.sum(axis=0).tolist())
        assert sum(entry["wins"]) == pytest.approx(sum(entry["ended"]))
        left -= sum(entry["ended"])
        assert entry["going_on"] == pytest.approx(left, abs=1e-15)


@pytest.mark.parametrize("n", range(9))
def test_games_are_those_of_their_lengths(n):
    counts = np.array([0, *range(1, n + 2)])
    lengths = lengths_of_games(counts, 4)
    ended = [chance for entry in lengths for chance in entry["ended"]]
    assert len(lengths) == -(-(n + 1) // 4)
    assert ended[: n + 1] == pytest.approx((counts[1:] / counts.sum()).tolist())
    assert not any(ended[n + 1 :])
    assert all(entry["wins"] is None for entry in lengths)


def test_measures_that_no_game_reaches_are_not_printed(capsys):
    law = np.zeros((4, 2, 2))
    law[0, 1], law[1, 0], law[3, 0, 0] = (0.5, 0.25), (0.25 - 1e-9, 0), 1e-9
    print_lengths(lengths_of_duel(law), ["ann", "bob"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["measure", "ann", "wins", "bob", "wins", "continue", "breath", "1", "breath", "2"]
    assert [line.split() for line in lines[1:]] == [
        ["1", "50.00%", "25.00%", "25.00%", "0.00%", "75.00%"],
        ["2", "25.00%", "0.00%", "0.00%", "25.00%", "0.00%"],
    ]
