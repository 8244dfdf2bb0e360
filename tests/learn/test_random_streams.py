"""Random numbers of learners: one stream for each use in each round."""

from __future__ import annotations

from punish_fast.learn.random_streams import stream_of


def test_each_use_in_each_round_has_numbers_of_its_own():
    keys = [(seed, number, stream) for seed in (0, 2**63 - 1) for number in (0, 1, 2**40) for stream in range(4)]
    drawn = {key: stream_of(*key).integers(2**62) for key in keys}
    assert len(set(drawn.values())) == len(keys)
    assert drawn == {key: stream_of(*key).integers(2**62) for key in keys}
