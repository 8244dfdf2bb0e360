"""Mistakes in lists of rows: each is named by state, row and value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import random_processes

from punish_fast.mdp.model import ModelError, check, from_rows

FINE = [(0.0, {1: 1.0})]


@pytest.mark.parametrize(
    ("states", "match"),
    [
        ([], r"^states: there are none, at least one state is needed$"),
        (5, r"^states: 5 is not a list$"),
        ([FINE, []], r"^state 1: there are no rows, every state must have at least one$"),
        ([FINE, ["ab"]], r"^state 1, row 0: 'ab' is not a pair \(reward, \{successor: probability\}\)$"),
        ([FINE, [(1.0, {0: 1.0}, "label")]], r"^state 1, row 0: \(1\.0, \{0: 1\.0\}, 'label'\) is not a pair"),
        ([FINE, [(0.0, [(0, 1.0)])]], r"^state 1, row 0: \(0\.0, \[\(0, 1\.0\)\]\) is not a pair"),
        ([FINE, [(float("inf"), {0: 1.0})]], r"^state 1, row 0: reward is inf, allowed are finite numbers$"),
        ([FINE, [("1", {0: 1.0})]], r"^state 1, row 0: reward is '1', allowed are finite numbers$"),
        ([FINE, [(10**400, {0: 1.0})]], r"^state 1, row 0: reward is 10+ \.\.\. 0+, allowed"),
        ([FINE, [(10**9000, {0: 1.0})]], r"^state 1, row 0: reward is int, allowed"),
        ([FINE, [(Decimal("sNaN"), {0: 1.0})]], r"^state 1, row 0: reward is Decimal\('sNaN'\), allowed"),
        ([FINE, [(0.0, {7: 1.0})]], r"^state 1, row 0: successor 7 is not from 0 to 1 \(2 states and 0 terminals\)$"),
        ([FINE, [(0.0, {"a": 1.0})]], r"^state 1, row 0: successor is 'a', allowed are whole numbers$"),
        ([FINE, [(0.0, {True: 1.0})]], r"^state 1, row 0: successor is True, allowed"),
        ([FINE, [(0.0, {10**400: 1.0})]], r"^state 1, row 0: successor (is )?10+"),
        ([FINE, [(0.0, {0: "1"})]], r"^state 1, row 0: probability of successor 0 is '1', allowed are finite"),
        ([FINE, [(0.0, {0: 0.5, 1: -0.5})]], r"^transitions: state 1, row 0 has -0\.5 in column 1, allowed are prob"),
        ([FINE, [(0.0, {})]], r"^transitions: the probabilities of state 1, row 0 add up to 0\.0, 1 below 1"),
    ],
)
def test_mistakes_are_named(states, match):
    with pytest.raises(ModelError, match=match) as error:
        from_rows(states)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"layers": 3}, r"^layers: 3 is not a list$"),
        ({"layers": [1]}, r"^layers: \[1\] is not allowed, sizes must add up to 2 states$"),
        ({"layers": [3, -1]}, r"^layers: \[3, -1\] is not allowed, sizes must add up to 2 states$"),
        ({"layers": [1.5, 0.5]}, r"^layers: entry 0 is 1\.5, allowed are whole numbers$"),
        ({"terminals": 3}, r"^terminals: 3 is not a list$"),
        ({"terminals": [0.0, np.nan]}, r"^terminals: entry 1 is nan, allowed are finite numbers$"),
    ],
)
def test_mistakes_of_layers_and_terminals_are_named(options, match):
    with pytest.raises(ModelError, match=match):
        from_rows([FINE, FINE], **options)


def test_numbers_of_any_type_are_taken():
    half = Fraction(1, 2)
    mdp = from_rows(
        ((row for row in [(np.float32(0.5), {np.int64(1): np.float64(1)})]), [[Decimal(1), {0.0: half, 2: True / 2}]]),
        layers=np.array([1, 1]),
        terminals=(np.int8(3),),
    )
    assert mdp.reward.tolist() == [0.5, 1.0]
    assert mdp.indices.tolist() == [1, 0, 2]
    assert mdp.data.tolist() == [1.0, 0.5, 0.5]
    assert mdp.layer_ptr.tolist() == [0, 1, 2]
    assert mdp.terminal_reward.tolist() == [3.0]


def test_zeros_are_left_out_and_sums_are_normalized_on_purpose():
    assert from_rows([[(0.0, {0: 1.0, 1: -0.0})], FINE]).indices.tolist() == [0, 1]
    assert from_rows([[(0.0, {0: 3, 1: 1})], FINE], normalize=True).data.tolist() == [0.75, 0.25, 1.0]


JUNK = st.sampled_from([None, True, "1", 1.5, -1, np.nan, 1j, (), [], {}, (0.0, {0: 1.0}), object(), 10**400])


@given(random_processes(), st.integers(0, 5), JUNK, st.randoms(use_true_random=False))
def test_only_model_errors_leave_it(sample, part, junk, random):
    """Any part of a process, replaced by something else."""
    states, layers, terminals = sample
    states = [[(reward, dict(successors)) for reward, successors in rows] for rows in states]
    state = random.randrange(len(states))
    row = random.randrange(len(states[state]))
    reward, successors = states[state][row]
    column = random.choice(list(successors))
    if part == 0:
        states[state] = junk
    elif part == 1:
        states[state][row] = junk
    elif part == 2:
        states[state][row] = (junk, successors)
    elif part == 3:
        states[state][row] = (reward, junk)
    elif part == 4:
        states[state][row] = (reward, successors | {column: junk})
    else:
        layers = junk
    try:
        mdp = from_rows(states, layers, terminals)
    except ModelError as error:
        assert "\n" not in str(error)
    else:
        check(mdp)
