"""When games end: laws of the tables that ``arena`` shows for two agents."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.cli.game_lengths import course_of_chances, course_of_games, print_course


def test_chances_add_up_measure_by_measure():
    law = np.random.default_rng(1).random((5, 4, 2))
    law /= law.sum()
    course = course_of_chances(law)
    assert [entry["measure"] for entry in course] == [1, 2, 3, 4, 5]
    left = 1.0
    for entry, expected in zip(course, law, strict=True):
        assert entry["wins"] == pytest.approx(expected.sum(axis=0).tolist())
        assert sum(entry["wins"]) == pytest.approx(sum(entry["ended"]))
        left -= sum(entry["ended"])
        assert entry["going_on"] == pytest.approx(left, abs=1e-15)


@pytest.mark.parametrize("n", range(9))
def test_games_are_those_of_their_lengths(n):
    lengths = np.array([0, *range(1, n + 2)])
    course = course_of_games(lengths, 4)
    ended = [chance for entry in course for chance in entry["ended"]]
    assert len(course) == -(-(n + 1) // 4)
    assert ended[: n + 1] == pytest.approx((lengths[1:] / lengths.sum()).tolist())
    assert not any(ended[n + 1 :])
    assert all(entry["wins"] is None for entry in course)


def test_measures_that_no_game_reaches_are_not_printed(capsys):
    law = np.zeros((4, 2, 2))
    law[0, 1], law[1, 0], law[3, 0, 0] = (0.5, 0.25), (0.25 - 1e-9, 0), 1e-9
    print_course(course_of_chances(law), ["ann", "bob"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["measure", "ann", "wins", "bob", "wins", "going", "on", "breath", "1", "breath", "2"]
    assert [line.split() for line in lines[1:]] == [
        ["1", "50.00%", "25.00%", "25.00%", "0.00%", "75.00%"],
        ["2", "25.00%", "0.00%", "0.00%", "25.00%", "0.00%"],
    ]
