from __future__ import annotations

import numpy as np
import pytest

from bench.bandwidth import Bandwidth, file_content, write


@pytest.mark.parametrize("n", [1, 7, 8, 4_099, 5_000])
def test_every_number_is_read_and_written_once(n):
    array = np.arange(n, dtype=np.float64)
    bandwidth = Bandwidth(n)
    assert bandwidth.read(array) == n * (n - 1) / 2
    assert (bandwidth.triad(array) == array + 2).all()
    assert (bandwidth.fill(3.0) == np.full(n, 3.0)).all()


def test_fill_returns_a_new_array():
    bandwidth = Bandwidth(10)
    assert not np.shares_memory(bandwidth.fill(1.0), bandwidth.fill(1.0))


@pytest.mark.parametrize("n_bytes", [0, 1, 100, 256, 257])
def test_write_writes_as_many_bytes_as_asked(tmp_path, n_bytes):
    write(tmp_path / "plain", n_bytes, bytes(range(100)))
    assert (tmp_path / "plain").read_bytes() == (bytes(range(100)) * 3)[:n_bytes]


def test_written_bytes_are_incompressible():
    import zlib

    sample = file_content()[: 1 << 16]
    assert len(zlib.compress(sample)) >= len(sample)
