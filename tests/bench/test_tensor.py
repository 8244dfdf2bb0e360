from __future__ import annotations

import numpy as np
import pytest

from bench.tensor import RULES, Tensor, load, save, with_terminals, work
from punish_fast.mdp.model import MDP, check
from punish_fast.punish.rules import PRESETS, from_json


def tensor_of(mdp: MDP) -> Tensor:
    return Tensor(*(getattr(mdp, name) for name in Tensor._fields))


def test_a_tensor_is_read_as_it_was_saved(tiny_mdp, tmp_path):
    save(tmp_path, tensor_of(tiny_mdp))
    loaded = load(tmp_path)
    for name, array in loaded._asdict().items():
        assert array.dtype == getattr(tiny_mdp, name).dtype
        assert (array == getattr(tiny_mdp, name)).all()
    check(MDP(**loaded._asdict()))


def test_terminals_become_absorbing_states(tiny_mdp):
    whole = with_terminals(tensor_of(tiny_mdp))
    n = tiny_mdp.n_columns
    ends = np.cumsum([0, n])
    # Without terminals it is an ordinary process.
    mdp = check(
        MDP(
            state_ptr=whole.state_ptr,
            indptr=whole.indptr.astype(np.int64),
            indices=whole.indices,
            data=whole.data,
            reward=whole.reward,
            terminal_reward=np.zeros(0),
            layer_ptr=ends,
            action=np.zeros(len(whole.reward), dtype=np.uint8),
        )
    )
    assert mdp.n_states == n
    for k, reward in enumerate((1.0, -1.0)):
        row = mdp.state_ptr[n - 2 + k]
        assert mdp.reward[row] == reward
        entries = slice(*mdp.indptr[row : row + 2])
        assert (mdp.indices[entries].tolist(), mdp.data[entries].tolist()) == ([n - 2 + k], [1.0])


def test_a_game_is_built_into_a_folder(tmp_path):
    pytest.importorskip("punish_fast.store.formats.umb")
    sizes = work({"rules": "tiny", "folder": str(tmp_path)})
    assert sizes == {"states": 558, "rows": 911, "nonzeros": 4111}
    assert from_json((tmp_path / RULES).read_text(encoding="utf-8")) == PRESETS["tiny"]
    assert (tmp_path / "model.umb").is_file()
