import json
import math
import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from enemies.recorded import recorded, recorded_counts, taste
from punish_fast.enemies import cross_validation
from punish_fast.enemies.counts import FoldsError, count_choices, folds_of, locate_choices
from punish_fast.enemies.cross_validation import Located, free_choices, games_needed, held_out_losses, mean_by_games
from punish_fast.enemies.parless import parless
from punish_fast.enemies.pawnn import NetworkError, encode, mean_squared_error, network_of, output
from punish_fast.enemies.training import Examples, TrainingOptions, cross_validate, examples_of, train
from punish_fast.punish.rules import PRESETS as RULES
from punish_fast.punish.strategy import legal_mask, table_of_policy
from punish_fast.runtime.errors import ArgumentError, ExtraError

TINY = RULES["tiny"]
QUICK = TrainingOptions(hidden=(6, 5), dropout=(0.5,), epochs=3)

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")


@pytest.fixture(scope="module")
def examples(space) -> Examples:
    return learned(space, recorded_counts(space, n_games=20))


def learned(space, counts) -> Examples:
    return examples_of(space, parless(space, counts), counts.state)


def numbers_of(network):
    return np.concatenate([array.ravel() for layer in network.layers for array in layer])


def test_examples_are_the_states_that_a_strategy_covers(space, examples):
    counts = recorded_counts(space, n_games=20)
    policy = parless(space, counts)
    assert np.array_equal(examples.p, table_of_policy(space, policy, counts.state))
    with pytest.raises(NetworkError, match=r"^strategy: covers 0 states; at least 1 is needed to train on$"):
        examples_of(space, policy, counts.state[:0])


def test_without_jax_it_says_what_to_install(examples, monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.errors.find_spec", lambda _name: None)
    with pytest.raises(ExtraError, match="pip install jax optax"):
        train(TINY, examples, QUICK)


@pytest.mark.slow
@needs_jax
def test_same_seed_same_network_and_another_seed_another(examples):
    first = train(TINY, examples, QUICK)
    again = train(TINY, examples, QUICK)
    other = train(TINY, examples, replace(QUICK, seed=1))
    assert np.array_equal(numbers_of(first.network), numbers_of(again.network))
    assert np.array_equal(first.train, again.train)
    assert not np.array_equal(numbers_of(first.network), numbers_of(other.network))


@pytest.mark.slow
@needs_jax
def test_losses_are_those_of_the_network_with_dropout_off(examples):
    trained = train(TINY, examples, QUICK, held_out=examples)
    assert trained.train.shape == (3, 2)
    assert np.array_equal(trained.train, trained.test)
    assert trained.train[-1, 1] == pytest.approx(
        mean_squared_error(trained.network, TINY, examples.digits, examples.p), rel=1e-4
    )
    entropic = train(TINY, examples, replace(QUICK, loss="cross-entropy"))
    y = output(entropic.network, TINY, examples.digits)
    assert entropic.train[-1, 0] == pytest.approx(-(examples.p * np.log(y)).sum(axis=1).mean(), rel=1e-4)
    assert entropic.train[-1, 1] == pytest.approx(((examples.p - y) ** 2).mean(), rel=1e-4)


def slow_step(layers, x, target, rate):
    """One step of gradient descent on one sample and its squared error, by differences: layers of float64."""

    def loss():
        z = np.maximum(x @ layers[0][0] + layers[0][1], 0) @ layers[1][0] + layers[1][1]
        y = np.exp(z - z.max())
        return ((y / y.sum() - target) ** 2).mean()

    gradients = []
    for array in (array for layer in layers for array in layer):
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            kept = array[index]
            array[index] = kept + 1e-5
            up = loss()
            array[index] = kept - 1e-5
            down = loss()
            array[index] = kept
            gradient[index] = (up - down) / 2e-5
        gradients.append(gradient)
    for k, gradient in enumerate(gradients):
        layers[k // 2][k % 2] -= rate * gradient


@needs_jax
def test_plain_descent_follows_the_gradient(examples):
    """Two epochs differ from one by a single step on the single sample there is."""
    one = examples.part(np.array([3]))
    method = TrainingOptions(hidden=(4,), dropout=(), encoding="scaled", optimizer="descent", rate=0.5, epochs=1)
    before, after = (train(TINY, one, replace(method, epochs=n)).network for n in (1, 2))
    layers = [[array.astype(np.float64) for array in layer] for layer in before.layers]
    slow_step(layers, encode(TINY, one.digits, "scaled")[0].astype(np.float64), one.p[0], 0.5)
    expected = np.concatenate([array.ravel() for layer in layers for array in layer])
    assert np.abs(numbers_of(after) - numbers_of(before)).max() > 1e-4
    assert numbers_of(after) == pytest.approx(expected, abs=2e-6)


@pytest.mark.slow
@needs_jax
def test_a_batch_takes_the_mean_and_what_fills_up_the_last_one_counts_nothing(examples):
    """Of three samples in a batch of eight, the step is the one of a batch of three."""
    three = examples.part(np.arange(3))
    small = TrainingOptions(hidden=(4,), dropout=(), encoding="scaled", optimizer="descent", rate=0.5)
    method = replace(small, epochs=4, batch=3)
    exact = train(TINY, three, method).network
    filled = train(TINY, three, replace(method, batch=8)).network
    assert numbers_of(filled) == pytest.approx(numbers_of(exact), abs=1e-6)


@pytest.mark.slow
@needs_jax
def test_dropout_keeps_the_mean_and_silences_as_often_as_it_should():
    import jax

    from punish_fast.enemies.training import _kept

    options = TrainingOptions(hidden=(30, 20), dropout=(0.25, 0.6))
    kept, later = _kept(jax.random.key(0), options, (18, 30, 20, 11), (50, 8))
    assert kept.shape == (50, 8, 30)
    assert later.shape == (50, 8, 20)
    for factors, rate in ((np.array(kept), 0.25), (np.array(later), 0.6)):
        assert set(np.unique(factors.round(4))) == {0, np.float32(1 / (1 - rate)).round(4)}
        assert factors.mean() == pytest.approx(1, abs=0.05)


@needs_jax
def test_every_sample_is_used_once_in_an_epoch():
    import jax

    from punish_fast.enemies.training import _batches

    order, weight = _batches(jax.random.key(1), 10, 4)
    assert order.shape == weight.shape == (3, 4)
    used = np.array(order).ravel()[np.array(weight).ravel() == 1]
    assert sorted(used.tolist()) == list(range(10))
    assert used.tolist() != list(range(10))


@pytest.mark.slow
@needs_jax
def test_divergence_is_said(examples):
    method = TrainingOptions(hidden=(5,), dropout=(), softmax=False, optimizer="descent", rate=1e6, epochs=3)
    with pytest.raises(NetworkError, match=r"^training: diverged; try a lower learning rate$"):
        train(TINY, examples, method)


def real_examples(notebook, choices):
    return learned(notebook, count_choices(notebook, choices.decimal, choices.action))


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.skipif(not os.environ.get("PUNISH_FAST_SAVES"), reason="needs published weights")
@pytest.mark.parametrize(("name", "winners", "error"), [("general", False, 0.0033879), ("champion", True, 0.0032672)])
def test_published_weights_have_the_published_error(notebook, published_choices, name, winners, error):
    arrays = json.loads((Path(os.environ["PUNISH_FAST_SAVES"]) / f"{name}_pawnn_parameters.json").read_text())
    network = network_of(notebook.rules, list(zip(arrays[::2], arrays[1::2], strict=True)))
    found = real_examples(notebook, published_choices(winners=winners))
    assert mean_squared_error(network, notebook.rules, found.digits, found.p) == pytest.approx(error, abs=5e-8)


@needs_jax
@pytest.mark.slow
@pytest.mark.full
def test_training_by_default_is_as_good_as_published(notebook, published_choices):
    found = real_examples(notebook, published_choices())
    trained = train(notebook.rules, found)
    assert len(found) == 3991
    assert mean_squared_error(trained.network, notebook.rules, found.digits, found.p) <= 0.0036


@pytest.mark.slow
@needs_jax
def test_a_fold_says_nothing_of_what_it_holds_out(examples):
    """Other targets in the fold held out change its errors there, and nothing else."""
    method = replace(QUICK, epochs=2)
    changed = examples.p.copy()
    changed[folds_of(np.arange(len(examples)), 3, method.seed) == 0] = np.eye(11)[0]
    before, after = (cross_validate(TINY, each, method, 3)[0] for each in (examples, replace(examples, p=changed)))
    assert np.array_equal(before.train, after.train)
    assert not np.array_equal(before.test, after.test)


def test_each_example_is_held_out_once_and_epochs_are_counted_over_all_folds(examples, monkeypatch):
    def train(_rules, learned, options, held_out, on_epoch):
        for done in range(1, options.epochs + 1):
            on_epoch(done, options.epochs)
        return len(learned), held_out.digits.tolist()

    monkeypatch.setattr("punish_fast.enemies.training.train", train)
    steps = []
    found = cross_validate(TINY, examples, QUICK, 3, lambda *step: steps.append(step))
    assert steps == [(k, 9) for k in range(1, 10)]
    assert [n_learned + len(held_out) for n_learned, held_out in found] == [len(examples)] * 3
    assert sorted(row for _, held_out in found for row in held_out) == sorted(examples.digits.tolist())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden", (5, 0)),
        ("dropout", (0.1, 0.1, 0.1, 0.1)),
        ("dropout", (1.0,)),
        ("dropout", (-0.1,)),
        ("loss", "hinge"),
        ("optimizer", "luck"),
        ("rate", 0.0),
        ("rate", float("nan")),
        ("epochs", 0),
        ("batch", 0),
        ("encoding", "roman"),
        ("seed", -1),
        ("seed", 2**32),
    ],
)
def test_options_out_of_range_are_refused(field, value):
    with pytest.raises(NetworkError, match=f"^{field}: "):
        replace(TrainingOptions(), **{field: value})


FAST = ("uniform", "parless", "logit")


@pytest.fixture(scope="module")
def choices(space) -> Located:
    return Located(*recorded(space))


@pytest.fixture(scope="module")
def costs(space, choices) -> dict[str, np.ndarray]:
    return held_out_losses(space, choices, FAST)


def test_uniform_costs_the_logarithm_of_the_number_of_actions(space, choices, costs):
    n_legal = legal_mask(space)[choices.state].sum(axis=1)
    assert costs["uniform"] == pytest.approx(np.log(n_legal[n_legal > 1]))


def test_games_of_unknown_states_teach_nothing(space, choices):
    """Two games, one of them of other rules: of the sound one nothing can be learned but that."""
    game = np.array([1, 1, 2, 2])
    row, column = np.append(choices.state[:2], [-1, -1]), np.append(choices.column[:2], [-1, -1])
    costs = held_out_losses(space, Located(row, column, game), ("uniform", "parless"), n_folds=2)
    assert costs["parless"].tolist() == costs["uniform"].tolist()
    assert len(costs["uniform"]) > 0


def test_no_model_beats_the_truth_and_the_habit_comes_near(space, choices, costs):
    free = free_choices(space, choices)
    truth = -np.log(taste(space, choices.state)[np.arange(len(choices.state)), choices.column])[free].mean()
    means = {name: cost.mean() for name, cost in costs.items()}
    assert truth < means["logit"] < means["parless"] < means["uniform"]
    assert means["logit"] - truth < 0.3 * (means["uniform"] - truth)


def test_no_model_sees_the_games_it_is_tested_on(space, choices, monkeypatch):
    """Every choice is predicted once, by a model that learned from all games but those of its fold."""
    predicted = []

    def spy(_space, known):
        def predict(rows, legal):
            predicted.append(rows)
            seen.append(set(known.game.tolist()))
            return legal / legal.sum(axis=1, keepdims=True)

        return predict

    seen: list[set[int]] = []
    monkeypatch.setitem(cross_validation.MODELS, "spy", spy)
    held_out_losses(space, choices, ["spy"], n_folds=4, seed=2)
    fold = folds_of(choices.game, 4, 2)
    everyone = set(choices.game.tolist())
    assert len(seen) == 4
    for number, games in enumerate(seen):
        assert games == everyone - set(choices.game[fold == number].tolist())
    assert sorted(np.concatenate(predicted)) == sorted(choices.state[free_choices(space, choices)])


def test_standard_error_is_that_of_a_ratio_of_sums_over_games():
    game, cost = np.array([1, 1, 1, 2, 3, 3]), np.array([1.0, 2.0, 3.0, 4.0, 0.0, 2.0])
    # Sums 6, 4 and 2 over 3, 1 and 2 choices; the mean is 2.
    assert mean_by_games(cost, game).error == pytest.approx(math.sqrt(3 / 2 * (0**2 + 2**2 + 2**2)) / 6)
    cost = np.random.default_rng(0).normal(size=400)
    mean = mean_by_games(cost, np.arange(400))
    assert mean.value == pytest.approx(cost.mean())
    assert mean.error == pytest.approx(cost.std(ddof=1) / 20)
    assert mean.interval == pytest.approx((mean.value - 1.959964 * mean.error, mean.value + 1.959964 * mean.error))


def test_a_single_game_has_no_error_to_speak_of():
    assert mean_by_games(np.ones(3), np.zeros(3)).error == math.inf


def test_so_many_games_are_needed_and_enough(space, choices):
    for models, n_folds in ((["uniform", "parless"], 5), (["logit"], 2)):
        needed = games_needed(models, n_folds)
        games = np.unique(choices.game)
        enough, fewer = (choices.part(np.isin(choices.game, games[:n])) for n in (needed, needed - 1))
        held_out_losses(space, enough, models, n_folds)
        with pytest.raises(FoldsError, match=rf"needs at least {needed} games, but there are {needed - 1}$"):
            held_out_losses(space, fewer, models, n_folds)


def test_wrong_wishes_are_refused(space, choices):
    with pytest.raises(
        ArgumentError, match=r"^model: 'oracle' is unknown; the models are uniform, parless, pawnn, logit$"
    ):
        held_out_losses(space, choices, ["oracle"])
    with pytest.raises(FoldsError, match=r"^folds: 1 is not allowed"):
        held_out_losses(space, choices, n_folds=1)
    nobody = Located(np.array([-1, -1]), np.array([-1, -1]), np.arange(2))
    with pytest.raises(
        ArgumentError, match=r"^choices: 0 of 2 were between two or more legal actions; at least 1 is needed to predict"
    ):
        held_out_losses(space, nobody, ["uniform"], n_folds=2)


@pytest.mark.slow
@pytest.mark.full
def test_the_habit_predicts_people_better_than_parless(notebook, published_choices):
    found = published_choices()
    people = Located(*locate_choices(notebook, found.decimal, found.action), found.game)
    costs = held_out_losses(notebook, people, FAST)
    game = people.game[free_choices(notebook, people)]
    assert len(game) == 4501
    assert mean_by_games(costs["parless"] - costs["logit"], game).interval[0] > 0.6
    assert mean_by_games(costs["logit"], game).value < 1.05
