from __future__ import annotations

import numpy as np
import pytest

from bench.race import work
from bench.tensor import Tensor, save
from punish_fast.mdp.solver import solve


def test_a_peer_solves_repeatedly_and_writes_its_values(tiny_mdp, tmp_path):
    save(tmp_path, Tensor(*(getattr(tiny_mdp, name) for name in Tensor._fields)))
    found = work(
        {
            "peer": "scipy_csr",
            "small": str(tmp_path),
            "folder": str(tmp_path),
            "values": str(tmp_path / "v.npy"),
            "repeats": 2,
            "settings": {"discount": 0.95, "tolerance": 1e-9, "threads": 1},
        }
    )
    assert len(found["seconds"]) == 2
    assert found["error_bound"] <= 1e-9
    ours = solve(tiny_mdp)
    # Without layers, each sweep shrinks the error only by the discount.
    assert found["iterations"] > ours.sweeps
    assert np.load(tmp_path / "v.npy") == pytest.approx(ours.v, abs=2e-9)
