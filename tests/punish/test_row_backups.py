from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from punish_fast.mdp.process import NonzeroCount, Payment, RowChoices
from punish_fast.punish.transitions import row_backups
from punish_fast.punish.transitions.row_builder import RowBuilder
from punish_fast.punish.transitions.row_maker import BlockRange, RowMaker
from punish_fast.punish.transitions.tensor import build, build_compact

DISCOUNT = 0.9


@pytest.fixture
def parts(tiny):
    """All blocks but the first of the first layer, the tensor, and some values."""
    maker = RowMaker(RowBuilder(tiny))
    made = maker.make(BlockRange(0, 1, len(tiny.layers[0].first) - 1))
    mdp = build_compact(tiny)
    return made, mdp, np.random.default_rng(1).normal(size=mdp.n_columns)


def expected(mdp, v):
    """The values of rows, by scipy."""
    return mdp.reward + DISCOUNT * (mdp.to_scipy() @ v)


def test_sweeps_take_the_best_row(tiny, parts):
    made, _, v = parts
    mdp = build(tiny)
    best = np.maximum.reduceat(expected(mdp, v), mdp.state_ptr[:-1])[made.states]
    out = v[made.states].copy()
    change = row_backups.sweep(made, Payment(mdp.reward[made.rows], DISCOUNT), v, out)
    assert out == pytest.approx(best, abs=1e-13)
    assert change == pytest.approx(np.abs(best - v[made.states]).max())


def test_evaluations_take_the_mean_of_rows(tiny, parts):
    made, _, v = parts
    mdp, weight = build(tiny), mixed(tiny, 2)
    mean = np.add.reduceat(weight * expected(mdp, v), mdp.state_ptr[:-1])[made.states]
    out = v[made.states].copy()
    row_backups.evaluate(made, Payment(mdp.reward[made.rows], DISCOUNT), weight[made.rows], v, out)
    assert out == pytest.approx(mean, abs=1e-13)


def test_closing_finds_values_and_choices_of_rows(tiny, parts):
    made, _, v = parts
    mdp = build(tiny)
    q = expected(mdp, v)
    choices = RowChoices(np.zeros(made.rows.stop - made.rows.start), mdp.state_ptr[:-1][made.states].copy())
    out = v[made.states].copy()
    change, squares, n_changed = row_backups.close(made, Payment(mdp.reward[made.rows], DISCOUNT), choices, v, out)
    assert choices.q == pytest.approx(q[made.rows], abs=1e-13)
    assert squares == pytest.approx((q[made.rows] ** 2).sum())
    assert q[choices.row] == pytest.approx(out, abs=1e-13)
    assert change == pytest.approx(np.abs(out - v[made.states]).max())
    assert n_changed == (choices.row != mdp.state_ptr[:-1][made.states]).sum()


def test_impossible_entries_are_not_counted(tiny):
    policy = mixed(tiny, 5)
    whole = BlockRange(0, 0, len(tiny.layers[0].first) - 1)
    made = RowMaker(RowBuilder(tiny, policy)).make(whole)
    mdp = build(tiny, policy)
    length = np.diff(mdp.indptr)[made.rows]
    assert row_backups.possible_entries(made) == NonzeroCount(length.sum(), length.max())


def test_parts_are_added():
    assert row_backups.total([]) == (0, 0)
    assert row_backups.total([NonzeroCount(3, 2), NonzeroCount(4, 1)]) == (7, 2)
    assert row_backups.total_change([]).tolist() == [0, 0, 0]
    parts = [np.array([1.0, 2.0, 3.0]), np.array([0.5, 4.0, 1.0])]
    assert row_backups.total_change(parts).tolist() == [1, 6, 4]
