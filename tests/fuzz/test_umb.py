"""UMB files whose members are damaged, in archives that are sound: read soundly, or refused in one line."""

import json
from collections import Counter

import numpy as np
import pytest
from store.formats.test_umb_import import pack, small_model

from fuzz.json_mutations import mutated
from fuzz.trial import is_refusal
from punish_fast.mdp.conversion.objective_text import ObjectiveError
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import validate
from punish_fast.runtime.errors import ReadError
from punish_fast.store.formats.umb_import import import_umb

OBJECTIVES = (
    'max P [F "the goal"]',
    'min P [F "the goal"]',
    'max R{"cost"} [F "the goal"]',
    'min R{"cost"} [F "init"]',
)


def damaged(members: dict[str, bytes], generator: np.random.Generator) -> dict[str, bytes]:
    """The members with one or two of them changed, most often the index; one in ten is left out."""
    found = dict(members)
    for _ in range(generator.integers(1, 3)):
        name = "index.json" if generator.random() < 0.4 else list(members)[generator.integers(len(members))]
        if generator.random() < 0.1:
            found.pop(name, None)
        elif name in found:
            found[name] = mutated(found[name], generator)
    return found


def read_damaged(path, n: int, generator: np.random.Generator) -> Counter[str]:
    """Read ``n`` damaged files; return what became of them."""
    index, files = small_model()
    members = {"index.json": json.dumps(index).encode(), **files}
    became: Counter[str] = Counter()
    for _ in range(n):
        try:
            model = import_umb(pack(path, damaged(members, generator)))
        except ReadError as error:
            became["refused"] += 1
            assert is_refusal(error, path), error
            continue
        became["read"] += 1
        validate(model.mdp)
        for objective in OBJECTIVES:
            try:
                found = model.solve(objective, tolerance=1e-6)
            except (ObjectiveError, SolveError) as error:
                assert "\n" not in str(error)
            else:
                assert found.v.shape == (model.mdp.n_states,)
                assert not np.isnan(found.v).any()
    return became


@pytest.mark.parametrize("n", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_damaged_members(tmp_path, n):
    became = read_damaged(tmp_path / "x.umb", n, np.random.default_rng(1))
    assert became["refused"] > became["read"] > 0
