import math

import numpy as np
import pytest

from enemies.recorded import recorded, taste
from punish_fast.enemies import cross_validation
from punish_fast.enemies.counts import CountsError, FoldsError, folds_of, locate_choices
from punish_fast.enemies.cross_validation import Located, free_choices, games_needed, held_out_losses, mean_by_games
from punish_fast.punish.strategy import legal_mask

FAST = ("uniform", "parless", "choice-model")


@pytest.fixture(scope="module")
def choices(space) -> Located:
    return Located(*recorded(space))


@pytest.fixture(scope="module")
def costs(space, choices) -> dict[str, np.ndarray]:
    return held_out_losses(space, choices, FAST)


def test_uniform_costs_the_logarithm_of_the_number_of_actions(space, choices, costs):
    n_legal = legal_mask(space)[choices.row].sum(axis=1)
    assert costs["uniform"] == pytest.approx(np.log(n_legal[n_legal > 1]))


def test_games_of_unknown_states_teach_nothing(space, choices):
    """Two games, one of them of other rules: of the sound one nothing can be learned but that."""
    game = np.array([1, 1, 2, 2])
    row, column = np.append(choices.row[:2], [-1, -1]), np.append(choices.column[:2], [-1, -1])
    costs = held_out_losses(space, Located(row, column, game), ("uniform", "parless"), n_folds=2)
    assert costs["parless"].tolist() == costs["uniform"].tolist()
    assert len(costs["uniform"]) > 0


def test_no_model_beats_the_truth_and_the_habit_comes_near(space, choices, costs):
    free = free_choices(space, choices)
    truth = -np.log(taste(space, choices.row)[np.arange(len(choices.row)), choices.column])[free].mean()
    means = {name: cost.mean() for name, cost in costs.items()}
    assert truth < means["choice-model"] < means["parless"] < means["uniform"]
    assert means["choice-model"] - truth < 0.3 * (means["uniform"] - truth)


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
    assert sorted(np.concatenate(predicted)) == sorted(choices.row[free_choices(space, choices)])


def test_standard_error_is_that_of_a_ratio_of_sums_over_games():
    game, cost = np.array([1, 1, 1, 2, 3, 3]), np.array([1.0, 2.0, 3.0, 4.0, 0.0, 2.0])
    # Sums 6, 4 and 2 over 3, 1 and 2 choices; the mean is 2.
    assert mean_by_games(cost, game).error == pytest.approx(math.sqrt(3 / 2 * (0**2 + 2**2 + 2**2)) / 6)
    cost = np.random.default_rng(0).normal(size=400)
    mean = mean_by_games(cost, np.arange(400))
    assert mean.value == pytest.approx(cost.mean())
    assert mean.error == pytest.approx(cost.std(ddof=1) / 20)
    assert mean.interval == pytest.approx((mean.value - 1.96 * mean.error, mean.value + 1.96 * mean.error))


def test_a_single_game_has_no_error_to_speak_of():
    assert mean_by_games(np.ones(3), np.zeros(3)).error == math.inf


def test_so_many_games_are_needed_and_enough(space, choices):
    for models, n_folds in ((["uniform", "parless"], 5), (["choice-model"], 2)):
        needed = games_needed(models, n_folds)
        games = np.unique(choices.game)
        enough, fewer = (choices.part(np.isin(choices.game, games[:n])) for n in (needed, needed - 1))
        held_out_losses(space, enough, models, n_folds)
        with pytest.raises(FoldsError, match=rf"needs at least {needed} games, but there are {needed - 1}$"):
            held_out_losses(space, fewer, models, n_folds)


def test_wrong_wishes_are_refused(space, choices):
    with pytest.raises(
        CountsError, match=r"^model: 'oracle' is unknown; the models are uniform, parless, pawnn, choice-model$"
    ):
        held_out_losses(space, choices, ["oracle"])
    with pytest.raises(FoldsError, match=r"^folds: 1 is not allowed"):
        held_out_losses(space, choices, n_folds=1)
    nobody = Located(np.array([-1, -1]), np.array([-1, -1]), np.arange(2))
    with pytest.raises(
        CountsError, match=r"^choices: 0 of 2 were between two or more legal actions; at least 1 is needed to predict"
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
    assert mean_by_games(costs["parless"] - costs["choice-model"], game).interval[0] > 0.6
    assert mean_by_games(costs["choice-model"], game).value < 1.05
