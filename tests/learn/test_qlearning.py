"""Q-learning: the kernels against a plain twin, perfect play, and going on where one stopped."""

import signal

import numpy as np
import pytest
from games.small import Corridor, Nim
from numba import config

from learn.twin import Table, learn_by_author, learn_negamax
from punish_fast.games.learn import qlearning
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.qlearning import Hyperparameters, learn, new_learner
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap

pytestmark = pytest.mark.kernels

GAMES = 60
WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="hundreds of thousands of games want the JIT")


@pytest.fixture(scope="module")
def tapnswap():
    return enumerate_positions(TapnSwap())


def taught(positions, method, opponent="self", n_games=GAMES, seed=0):
    learner = new_learner(positions, method, seed)
    learner.plan(opponent, n_games)
    learn(learner, n_games)
    return learner


def rows_of(positions, table: Table):
    """Values and visits of a twin's table by rows."""
    keys = [
        (positions.game.position(positions.states[number]), int(positions.action[row]))
        for number in range(len(positions))
        for row in positions.rows(number)
    ]
    return np.array([table.q.get(key, 0.0) for key in keys]), np.array([table.visits.get(key, 0) for key in keys])


METHODS = [
    Hyperparameters("negamax", 0.3, 1.0, 0.9),
    Hyperparameters("negamax", 1.0, None, 1.0),
    Hyperparameters("author", 0.3, None, 1.0),
    Hyperparameters("author", 0.6, 0.4, 0.9),
]


@pytest.mark.parametrize("opponent", ["self", "random"])
@pytest.mark.parametrize(
    ("game", "method"),
    [
        *((game, method) for game in (TapnSwap(), Nim(9)) for method in METHODS),
        *((Corridor({5: 1.0, 3: -1.0}, keeps=True), method) for method in METHODS[:2]),
    ],
)
def test_learners_learn_what_the_twin_does(game, method, opponent):
    positions = enumerate_positions(game)
    learner = taught(positions, method, opponent, seed=11)
    tables = [Table(), Table()]
    for number in range(GAMES):
        if method.scheme == "negamax":
            learn_negamax(game, tables[0], method, opponent == "self", 11, number)
        else:
            learn_by_author(game, tables, method, opponent == "self", 11, number)
    for k in range(2):
        q, visits = rows_of(positions, tables[k])
        assert np.array_equal(learner.visits[k], visits)
        assert learner.q[k] == pytest.approx(q, abs=1e-12)


@WITH_JIT
def test_negamax_finds_the_discounted_values(tapnswap):
    learner = taught(tapnswap, Hyperparameters(epsilon=1.0, discount=0.9), n_games=200_000)
    perfect = solve_game(tapnswap)
    won = perfect.row_values != 0
    distance = perfect.distance[tapnswap.after][won]
    assert learner.q[0][won] == pytest.approx(perfect.row_values[won] * 0.9**distance, abs=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.scheme}-{m.rate}")
def test_games_in_pieces_are_the_same_games(tapnswap, method):
    whole = taught(tapnswap, method, n_games=90, seed=5)
    pieces = new_learner(tapnswap, method, 5)
    pieces.plan("self", 90)
    for n in (1, 0, 50, 39):
        learn(pieces, n)
    assert whole.digest == pieces.digest
    assert pieces.session is None
    assert taught(tapnswap, method, n_games=90, seed=6).digest != whole.digest


def test_both_agents_of_the_author_start_a_session_with_the_table_that_is_kept(tapnswap):
    learner = taught(tapnswap, METHODS[2])
    assert not np.array_equal(learner.q[0], learner.q[1])
    learner.plan("random", 10)
    before = learner.q[0].copy()
    learn(learner, 0)
    assert np.array_equal(learner.q[1], before)
    learn(learner, 10)
    assert np.array_equal(learner.q[1], before)
    assert not np.array_equal(learner.q[0], before)


@pytest.mark.skipif(config.DISABLE_JIT, reason="interpreted kernels set items of the tables, too")
def test_an_interrupt_finds_tables_and_numbers_of_games_that_agree(tapnswap, monkeypatch):
    monkeypatch.setattr(qlearning, "_BATCH", 10)

    class Tables(np.ndarray):
        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            signal.raise_signal(signal.SIGINT)

    learner, twin = (new_learner(tapnswap, METHODS[0], 5) for _ in range(2))
    for each in (learner, twin):
        each.plan("self", 30)
    learn(twin, 20)
    learn(learner, 10)
    learner.q = learner.q.view(Tables)
    with pytest.raises(KeyboardInterrupt):
        learn(learner, 20)
    learner.q = np.asarray(learner.q)
    assert learner.games == 20
    assert learner.digest == twin.digest


def test_impossible_training_is_refused_and_endless_games_are_stopped(tapnswap, monkeypatch):
    with pytest.raises(LearnError, match=r"^seed: -1 is not allowed"):
        new_learner(tapnswap, Hyperparameters(), -1)
    with pytest.raises(LearnError, match=r"^scheme: 'author' is impossible in a game where a player may move twice"):
        new_learner(enumerate_positions(Corridor({5: 1.0}, keeps=True)), METHODS[2])
    learner = new_learner(tapnswap, Hyperparameters())
    with pytest.raises(LearnError, match=r"^opponent: 'me' is not allowed; it must be one of random, self$"):
        learner.plan("me", 5)
    with pytest.raises(LearnError, match=r"^games: 0 is not allowed; it must be from 1 to"):
        learner.plan("self", 0)
    monkeypatch.setattr(qlearning, "_MAX_PLIES", 20)
    positions = enumerate_positions(Corridor({}))
    learner = new_learner(positions, Hyperparameters(), 0)
    learner.plan("self", 3)
    learn(learner, 3)
    assert (learner.games, learner.visits.sum()) == (3, 60)
