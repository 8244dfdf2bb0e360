from __future__ import annotations

import pytest

from bench.traffic import BANDWIDTHS, SWEEPS, Stopwatches, Traffic, sweep_bytes
from punish_fast.mdp.model import from_rows


def test_bytes_are_those_of_the_arrays():
    # Two states, three rows, four entries, one terminal.
    mdp = from_rows([[(0.0, {1: 1.0})], [(0.0, {0: 0.5, 2: 0.5}), (0.0, {2: 1.0})]], layers=[1, 1], terminals=[0.0])
    tensor = 8 * 3 + 8 * 4 + 4 * 4 + 8 * 4 + 8 * 3
    values = 8 * 3 + 8 * 2
    assert sweep_bytes(mdp) == {
        "layered sweep": tensor + values,
        "jacobi sweep": tensor + values + 2 * 8 * 3 + 2 * 8 * 2,
        "evaluation sweep": tensor + values + 8 * 3,
    }


def test_everything_is_measured_in_every_run(tmp_path):
    traffic = Traffic("tiny", tmp_path)
    watches = Stopwatches()
    traffic.run(watches)
    assert set(watches.seconds) == {*SWEEPS, *BANDWIDTHS, "tensor", "HDF5 file", "write"}
    assert (tmp_path / "plain").stat().st_size == (tmp_path / "game.h5").stat().st_size == traffic.file_bytes


def test_a_stopwatch_returns_the_result():
    watches = Stopwatches()
    assert watches.time("a", lambda: 7) == 7
    assert len(watches.seconds["a"]) == 1


def test_a_tensor_read_incompletely_is_an_error(tmp_path):
    traffic = Traffic("tiny", tmp_path)
    traffic.mdp.data[0] += 1
    with pytest.raises(ArithmeticError, match="add up to"):
        traffic.run(Stopwatches())
