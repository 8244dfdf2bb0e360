"""Q-learning: the kernels against a plain twin, perfect play, and going on where one stopped."""

import signal

import numpy as np
import pytest
from games.small import Corridor, Nim
from numba import config

from learn.twin import Table, learn_by_author, learn_negamax
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import solve_game
from punish_fast.games.enumeration.vector_games import VectorPositions
from punish_fast.games.episodes import NONE, play, random_mover, retrace
from punish_fast.games.learn import qlearning
from punish_fast.games.learn.dqn import Samples, drawn_samples, samples_of
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.qlearning import Hyperparameters, learn, new_learner
from punish_fast.games.registry import make_game, vector_game
from punish_fast.games.tapnswap import TapnSwap

pytestmark = pytest.mark.kernels

GAMES = 60
WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="hundreds of thousands of games want the JIT")


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


def games(*actions):
    width = max(map(len, actions))
    return np.array([[*each, *[NONE] * (width - len(each))] for each in actions], dtype=np.int16)


WON = [0, 3, 1, 4, 2]
DRAWN = [0, 1, 2, 4, 3, 5, 7, 6, 8]


def test_returns_and_differences_of_whole_games(tictactoe):
    samples = samples_of(tictactoe, games(WON), "mc", 0.5)
    assert samples.action.tolist() == WON
    assert samples.value.tolist() == [0.25, -0.5, 0.5, -1, 1]
    assert not samples.sign.any()
    samples = samples_of(tictactoe, games(WON, DRAWN), "td", 0.5)
    assert samples.value.tolist() == [0, 0, 0, 0, 1] + [0] * 9
    assert samples.sign.tolist() == [-1] * 4 + [0] + [-1] * 8 + [0]
    # The state after an action is the one before the next.
    assert np.array_equal(samples.after[:4], samples.state[1:5])
    assert not samples_of(tictactoe, games(WON[:3]), "mc", 0.5).value.any()
    assert samples_of(tictactoe, games(WON[:3]), "td", 0.5).sign.tolist() == [-1, -1, -1]


def test_samples_of_illegal_actions_and_kept_turns(tictactoe):
    for target, n_samples in (("mc", 1), ("td", 3)):
        samples = samples_of(tictactoe, games([0, 1, 0]), target, 0.5)
        assert len(samples.value) == n_samples
        assert (samples.action[-1], samples.value[-1], samples.sign[-1]) == (0, -1, 0)
        assert not samples.value[:-1].any()
    vector = VectorPositions(Corridor({3: 1.0}, keeps=True))
    # From 0 the mover steps on and keeps the turn, from 1 it steps on and passes it, from 2 it ends the game.
    action = games([1, 0, 1])
    differences, returns = (samples_of(vector, action, target, 0.5) for target in ("td", "mc"))
    assert differences.sign.tolist() == [1, -1, 0]
    assert returns.value.tolist() == [-0.5, -1, 1]
    assert differences.value.tolist() == [0, 0, 1]


def test_samples_are_drawn_from_all_parts_as_if_they_were_one(tictactoe):
    parts = [samples_of(tictactoe, games(*each), "td", 0.5) for each in ([WON], [WON, DRAWN], [DRAWN])]
    joined = Samples(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))
    drawn = np.random.default_rng(3).integers(len(joined.state), size=100)
    for found, wanted in zip(drawn_samples(parts, drawn), joined, strict=True):
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted[drawn])


def test_three_players_learn_from_a_trajectory_each_and_chance_from_none():
    vector = vector_game(make_game("incan-gold", {}))
    action = play(vector, [random_mover] * 3, 20, np.random.default_rng(4), 500)
    played, samples = retrace(vector, action), samples_of(vector, action, "mc", 1.0)
    moves = played.player >= 0
    assert samples.action.tolist() == action[(action != NONE) & moves].tolist()
    owner = np.nonzero((action != NONE) & moves)
    assert samples.value.tolist() == played.returns[owner[0], played.player[owner]].tolist()
    assert samples.after.shape == (len(samples.value), 0)
