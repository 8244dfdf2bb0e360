from itertools import pairwise

import numpy as np
import pytest

from punish_fast.enemies.pawnn import (
    ENCODINGS,
    NetworkError,
    encode,
    largest_digits,
    mean_squared_error,
    n_inputs,
    network_of,
    network_policy,
    output,
    probabilities,
)
from punish_fast.punish.codes import ACTIONS, digits_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.strategy import legal_mask, table_of_policy, uniform_policy

TINY = PRESETS["tiny"]


def random_layers(sizes, seed=0, scale=0.4):
    generator = np.random.default_rng(seed)
    return [
        (generator.normal(0, scale, (n_in, n_out)), generator.normal(0, scale, n_out))
        for n_in, n_out in pairwise(sizes)
    ]


def slow_output(layers, x, softmax=True):
    """One state at a time, one unit at a time, as the formula says."""
    values = [float(value) for value in x]
    for number, (weight, bias) in enumerate(layers):
        sums = [
            sum(values[i] * float(np.float32(weight[i][j])) for i in range(len(values))) + float(np.float32(bias[j]))
            for j in range(len(bias))
        ]
        values = sums if number == len(layers) - 1 else [max(0.0, value) for value in sums]
    if not softmax:
        return values
    weights = np.exp(np.array(values) - max(values))
    return (weights / weights.sum()).tolist()


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_output_is_what_the_formula_says(tiny, encoding, softmax):
    layers = random_layers((n_inputs(tiny.rules, encoding), 7, 5, 11))
    network = network_of(tiny.rules, layers, encoding, softmax)
    digits = digits_of(tiny, np.arange(0, tiny.n_states, 97))
    expected = [slow_output(layers, x, softmax) for x in encode(tiny.rules, digits, encoding)]
    assert output(network, tiny.rules, digits) == pytest.approx(np.array(expected), abs=2e-5)


def test_encodings(tiny):
    digits = digits_of(tiny)
    largest = largest_digits(tiny.rules)
    assert np.array_equal(encode(tiny.rules, digits, "raw"), digits)
    scaled = encode(tiny.rules, digits, "scaled")
    assert scaled == pytest.approx(digits / np.maximum(largest, 1), abs=1e-7)
    assert scaled.max() == 1
    hot = encode(tiny.rules, digits, "one-hot")
    assert hot.shape == (len(digits), n_inputs(tiny.rules, "one-hot"))
    assert set(np.unique(hot)) == {0, 1}
    assert (hot.sum(axis=1) == 18).all()
    # Which value of which digit is hot gives the digits back.
    ends = np.cumsum(largest + 1)
    for k in range(18):
        assert np.array_equal(hot[:, ends[k] - largest[k] - 1 : ends[k]].argmax(axis=1), digits[:, k])


@pytest.mark.slow
@pytest.mark.full
def test_no_digit_is_larger_than_the_largest(notebook):
    assert np.array_equal(digits_of(notebook).max(axis=0), largest_digits(notebook.rules))


@pytest.mark.parametrize("softmax", [True, False])
def test_strategy_is_the_output_over_legal_actions_normalized(tiny, softmax):
    network = network_of(tiny.rules, random_layers((18, 9, 11)), softmax=softmax)
    p = table_of_policy(tiny, network_policy(tiny, network), np.arange(tiny.n_states))
    y = np.maximum(output(network, tiny.rules, digits_of(tiny)), 0)
    weight = np.where(legal_mask(tiny), y, 0)
    total = weight.sum(axis=1)
    some = total > 0
    assert some.any()
    assert p[some] == pytest.approx(weight[some] / total[some, np.newaxis], abs=1e-12)


def test_nothing_above_zero_is_played_uniformly(tiny):
    layers = [(np.zeros((18, 11)), np.full(11, -1.0))]
    policy = network_policy(tiny, network_of(tiny.rules, layers, softmax=False))
    assert policy == pytest.approx(uniform_policy(tiny), abs=1e-15)


def test_a_softmax_that_favors_illegal_actions_does_not_underflow(tiny):
    """In a state where rest is illegal, rest leads by a thousand: plain probabilities of the others would be zero."""
    bias = np.zeros(11)
    bias[-1], bias[::2] = 1000, 1
    network = network_of(tiny.rules, [(np.zeros((18, 11)), bias)])
    legal = legal_mask(tiny)
    p = probabilities(network, tiny.rules, digits_of(tiny), legal)
    assert np.isfinite(p).all()
    row = int(np.flatnonzero(legal[:, 2] & legal[:, 3] & (legal.sum(axis=1) == 2))[0])
    assert p[row, 2] / p[row, 3] == pytest.approx(np.e)


def test_mean_squared_error_counts_illegal_actions_too(tiny):
    network = network_of(tiny.rules, random_layers((18, 11)))
    rows = np.array([0, 5])
    legal = legal_mask(tiny)[rows]
    digits, p = digits_of(tiny, rows), legal / legal.sum(axis=1, keepdims=True)
    y = output(network, tiny.rules, digits)
    expected = sum((y[i, a] - p[i, a]) ** 2 for i in range(2) for a in range(11)) / 22
    assert mean_squared_error(network, tiny.rules, digits, p) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("layers", "text"),
    [
        ([], "layers: the last one has 18 outputs; it must have 11"),
        (random_layers((18, 10)), "layers: the last one has 10 outputs; it must have 11"),
        ([*random_layers((18, 5)), *random_layers((6, 11))], r"layer 2: shapes are \(6, 11\)"),
        ([(np.zeros((18, 11)), np.zeros(10))], r"layer 1: shapes are \(18, 11\) and \(10,\)"),
        ([(np.zeros(18), np.zeros(11))], r"layer 1: shapes are \(18,\)"),
        ([(np.zeros((18, 11)), np.full(11, np.inf))], "layer 1: a number is not finite"),
    ],
)
def test_layers_that_do_not_fit_are_refused(layers, text):
    with pytest.raises(NetworkError, match=text):
        network_of(TINY, layers)


def test_unknown_encodings_are_refused(tiny):
    with pytest.raises(NetworkError, match=r"^encoding: 'two-hot' is unknown; the encodings are raw, scaled, one-hot$"):
        encode(tiny.rules, digits_of(tiny), "two-hot")


def test_actions_have_the_order_of_the_outputs(tiny):
    for column, action in enumerate(ACTIONS):
        bias = np.zeros(11)
        bias[column] = 50
        policy = network_policy(tiny, network_of(tiny.rules, [(np.zeros((18, 11)), bias)]))
        assert policy[tiny.action == action] == pytest.approx(1)
