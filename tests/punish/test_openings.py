from itertools import combinations

import numpy as np
import pytest

from punish_fast.punish.states.openings import openings, worth
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.reader import load
from punish_fast.store.tensors import save

pytestmark = pytest.mark.kernels


def test_openings_have_the_probabilities_of_all_deals(tiny):
    found = openings(tiny)
    rules = tiny.rules
    cards = [kind for kind, copies in enumerate(rules.copies) for _ in range(copies)]
    counted: dict[tuple, int] = {}
    for hand in combinations(range(len(cards)), rules.hand_size):
        rest = [k for k in range(len(cards)) if k not in hand]
        for revealed in combinations(rest, rules.reveal_size):
            key = tuple(tuple([cards[k] for k in pile].count(kind) for kind in range(5)) for pile in (hand, revealed))
            counted[key] = counted.get(key, 0) + 1
    total = sum(counted.values())
    keys = [(tuple(h), tuple(r)) for h, r in zip(found.hand.tolist(), found.revealed.tolist(), strict=True)]
    assert dict(zip(keys, found.p.tolist(), strict=True)) == pytest.approx({k: n / total for k, n in counted.items()})
    assert found.p.sum() == pytest.approx(1, abs=1e-14)


def test_worth_is_a_conditional_expectation():
    found = worth(np.array([0, 1, 1, 2]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2.0, 4.0, 5.0]))
    assert found.copies.tolist() == [0, 1, 2]
    assert found.p.tolist() == pytest.approx([0.1, 0.5, 0.4])
    assert found.mean.tolist() == pytest.approx([1.0, 3.2, 5.0])


def test_worth_of_a_linear_value_is_its_slope():
    counts = np.array([1, 0, 3])
    assert worth(counts, np.array([0.2, 0.3, 0.5]), 7.0 - 2.5 * counts).step == pytest.approx(-2.5)


def test_a_card_with_equal_counts_has_no_step():
    assert np.isnan(worth(np.array([2, 2]), np.array([0.5, 0.5]), np.array([1.0, 3.0])).step)


def test_a_loaded_file_has_the_same_openings(tiny, tmp_path):
    save(tmp_path / "x.h5", tiny, build(tiny))
    for ours, theirs in zip(openings(tiny), openings(load(tmp_path / "x.h5")), strict=True):
        assert np.array_equal(ours, theirs)
