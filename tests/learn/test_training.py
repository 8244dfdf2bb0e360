"""Training sessions and learning curves."""

from __future__ import annotations

import pytest

from punish_fast.games.positions import enumerate_positions
from punish_fast.games.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap
from punish_fast.learn.qlearning import Hyperparameters, LearnError, new_learner
from punish_fast.learn.training import assess, points_of, train


@pytest.fixture(scope="module")
def game():
    positions = enumerate_positions(TapnSwap())
    return positions, solve_game(positions)


@pytest.mark.parametrize("n_games", [1, 2, 99, 100, 101, 1000, 200_000])
def test_points_ascend_to_the_end(n_games):
    points = points_of(n_games)
    assert points == sorted(set(points))
    assert points[-1] == n_games
    assert len(points) <= 30


def test_perfect_play_makes_no_mistakes_and_random_play_many(game):
    positions, perfect = game
    expert, random = (assess(*game, policy) for policy in (perfect.policy(), positions.uniform()))
    assert (expert["mistakes"], expert["perfect"]) == (0, 1)
    assert expert["win_share"] > 0.99999
    assert random["win_share"] == pytest.approx(0.5)
    assert random["mistakes"] == sum(
        not all(perfect.keeps_value()[list(positions.rows(number))]) for number in range(len(positions))
    )


def test_curves_go_through_all_sessions(game):
    learner = new_learner(game[0], Hyperparameters())
    learner.plan("random", 150)
    learner.plan("self", 250)
    seen = []
    train(*game, [learner], lambda done, wanted: seen.append((done, wanted)))
    assert [point["games"] for point in learner.curve] == [*points_of(150), *(150 + n for n in points_of(250))]
    assert seen[len(points_of(150)) - 1] == (150, 150)
    assert seen[-1] == (250, 250)
    assert learner.curve[-1] == {"games": 400.0} | assess(*game, learner.policy(game[0]))


def test_stopped_training_resumes_exactly(game):
    whole, stopped = (new_learner(game[0], Hyperparameters("author", 0.4, None, 1.0), 3) for _ in range(2))
    for learner in (whole, stopped):
        learner.plan("random", 300)
        learner.plan("self", 300)
    train(*game, [whole])

    def stop(_done, _wanted):
        raise KeyboardInterrupt

    while stopped.session is not None:
        with pytest.raises(KeyboardInterrupt):
            train(*game, [stopped], stop)
    assert stopped.digest == whole.digest
    assert stopped.curve == whole.curve


def test_learners_of_different_sessions_are_refused(game):
    learners = [new_learner(game[0], Hyperparameters(), seed) for seed in range(2)]
    learners[0].plan("self", 5)
    with pytest.raises(LearnError, match=r"^learners: their sessions differ$"):
        train(*game, learners)


def test_nothing_planned_is_nothing_done(game):
    learner = new_learner(game[0], Hyperparameters())
    train(*game, [learner])
    assert learner.curve == []


def test_pauses_come_when_due_and_change_nothing(game):
    learners = [new_learner(game[0], Hyperparameters()) for _ in range(2)]
    for learner in learners:
        learner.plan("random", 150)
        learner.plan("self", 150)
    pauses = []
    train(*game, learners[:1], pause=(70, lambda: pauses.append(learners[0].games)))
    train(*game, learners[1:])
    assert pauses == [70, 140, 210, 280]
    assert learners[0].digest == learners[1].digest
    assert learners[0].curve == learners[1].curve
